//! A benchmark as the commands of a trace, read from front to back in memory for the largest of them.
//!
//! Before the script there may be the expected answers, one in a line as the scrambler's preprocessor prints them, and the
//! line `--- BENCHMARK BEGINS HERE ---`; otherwise the `(set-info :status …)` before a check says it.

use std::io::Read;

use agon_judging::Answer;
use agon_smtlib::split::{ReadError, Reader};
use agon_smtlib::{Kind, Lexer, Splitter, Strings};

/// The line between expected answers and script.
const BEGINS: &[u8] = b"--- BENCHMARK BEGINS HERE ---";

/// What a command is to the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `check-sat` or `check-sat-assuming`, with the expected answer.
    Check(Answer),
    /// A command that is answered by what it asks for: `get-…`, `echo`.
    Print,
    /// `reset`, after which `success` has to be asked for again.
    Reset,
    /// Any other, which is answered by `success`.
    Plain,
}

/// A command and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The command.
    pub command: Command,
    /// Its first byte.
    pub from: u64,
    /// The byte after its last.
    pub to: u64,
    /// The line on which it begins, from 1.
    pub line: u64,
}

/// Why a benchmark is no trace.
#[derive(Debug)]
pub enum TraceError {
    /// It cannot be read.
    Read(std::io::Error),
    /// It is not a script: where and why.
    Script(String),
}

/// The commands of a benchmark, without those that are not sent.
#[derive(Debug)]
pub struct Trace<R> {
    reader: Reader<R>,
    /// Expected answers that stand before the script, and whether there are any.
    prefix: Option<std::vec::IntoIter<Answer>>,
    status: Option<Answer>,
    strings: Strings,
    /// What the reader skipped.
    base: Place,
    over: bool,
}

/// Where the script begins.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    byte: u64,
    lines: u64,
}

impl<R: Read> Trace<R> {
    /// Begins to read; `open` gives the benchmark from a byte on.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn new(open: impl Fn(u64) -> R) -> Result<Self, TraceError> {
        let found = prefix(&mut open(0))?;
        let (prefix, base) =
            found.map_or((None, Place::default()), |(answers, base)| (Some(answers.into_iter()), base));
        Ok(Self {
            reader: Reader::new(open(base.byte), Splitter::new(Strings::Doubled)),
            prefix,
            status: None,
            strings: Strings::Doubled,
            base,
            over: false,
        })
    }

    /// Whether the expected answers stand before the script.
    pub fn states_answers(&self) -> bool {
        self.prefix.is_some()
    }

    /// The next command that is sent; none after the last, or after `exit`.
    ///
    /// # Errors
    /// If the benchmark cannot be read, or is not a script.
    pub fn next_command(&mut self) -> Result<Option<Placed>, TraceError> {
        while !self.over {
            let (bytes, offset, line) = match self.reader.next_item() {
                Ok(Some(item)) => (item.bytes, item.offset, item.line + self.base.lines),
                Ok(None) => {
                    self.over = true;
                    break;
                }
                Err(ReadError::Io(error)) => return Err(TraceError::Read(error)),
                Err(ReadError::Split(error)) => {
                    return Err(TraceError::Script(format!("byte {}: {error}", self.base.byte + error.at)));
                }
            };
            let mut lexer = Lexer::new(bytes, self.strings);
            let mut token = || {
                let token = lexer.next_token().ok().flatten()?;
                Some((token.kind, token.name(bytes)))
            };
            let (Some((Kind::Open, _)), Some((Kind::Symbol, name))) = (token(), token()) else {
                let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(30)]).escape_debug().to_string();
                return Err(TraceError::Script(format!("line {line}: `{shown}` is no command")));
            };
            let command = match name {
                b"check-sat" | b"check-sat-assuming" => {
                    let stated = self.status.take();
                    Command::Check(match &mut self.prefix {
                        Some(prefix) => prefix.next().unwrap_or(Answer::Unknown),
                        None => stated.unwrap_or(Answer::Unknown),
                    })
                }
                b"exit" => {
                    self.over = true;
                    break;
                }
                b"set-info" => {
                    match (token(), token()) {
                        (Some((Kind::Keyword, b":status")), Some((_, word))) => self.status = Some(status(word)),
                        (Some((Kind::Keyword, b":smt-lib-version")), Some((_, b"2.0" | b"2"))) => {
                            self.strings = Strings::Backslash;
                            self.reader.set_strings(Strings::Backslash);
                        }
                        _ => {}
                    }
                    continue;
                }
                // The rules forbid to switch it off (2022 §5.1), and nothing could be told apart without it.
                b"set-option" if matches!(token(), Some((_, b":print-success"))) => continue,
                b"reset" => Command::Reset,
                b"echo" => Command::Print,
                name if name.starts_with(b"get-") => Command::Print,
                _ => Command::Plain,
            };
            let from = self.base.byte + offset;
            return Ok(Some(Placed { command, from, to: from + bytes.len() as u64, line }));
        }
        Ok(None)
    }
}

fn status(word: &[u8]) -> Answer {
    match word {
        b"sat" => Answer::Sat,
        b"unsat" => Answer::Unsat,
        _ => Answer::Unknown,
    }
}

/// The expected answers before the script and where it begins, if they are there.
fn prefix(input: &mut impl Read) -> Result<Option<(Vec<Answer>, Place)>, TraceError> {
    let (mut answers, mut place) = (Vec::new(), Place::default());
    let mut line: Vec<u8> = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let got = match input.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(TraceError::Read(error)),
        };
        for &byte in &buffer[..got] {
            place.byte += 1;
            if byte != b'\n' {
                line.push(byte);
                // Nothing of what is looked for is as long.
                if line.len() > 256 {
                    return Ok(None);
                }
                continue;
            }
            place.lines += 1;
            let text = line.trim_ascii();
            if text == BEGINS {
                return Ok(Some((answers, place)));
            }
            match expected(text) {
                Some(answer) => answers.push(answer),
                None => return Ok(None),
            }
            line.clear();
        }
    }
}

/// The answer that a line before the script states: the word alone, or `(set-info :status WORD)`.
fn expected(line: &[u8]) -> Option<Answer> {
    let known = |word: &[u8]| std::str::from_utf8(word).ok().and_then(Answer::of);
    known(line).or_else(|| {
        let mut lexer = Lexer::new(line, Strings::Doubled);
        let mut token = || lexer.next_token().ok().flatten().map(|token| (token.kind, token.name(line)));
        match (token(), token(), token(), token(), token()) {
            (
                Some((Kind::Open, _)),
                Some((Kind::Symbol, b"set-info")),
                Some((Kind::Keyword, b":status")),
                Some((_, word)),
                Some((Kind::Close, _)),
            ) => known(word),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<(Command, &str, u64)>, String> {
        let open = |from: u64| &text.as_bytes()[usize::try_from(from).unwrap()..];
        let mut trace = Trace::new(open).map_err(|e| format!("{e:?}"))?;
        let mut found = Vec::new();
        loop {
            match trace.next_command() {
                Ok(Some(c)) => found.push((c.command, &text[c.from as usize..c.to as usize], c.line)),
                Ok(None) => return Ok(found),
                Err(TraceError::Script(why)) => return Err(why),
                Err(TraceError::Read(error)) => return Err(error.to_string()),
            }
        }
    }

    use Answer::{Sat, Unknown, Unsat};
    use Command::{Check, Plain, Print, Reset};

    #[test]
    fn commands_and_expected_answers() {
        let text = "(set-info :source |a ) b|) ; (check-sat)\n(set-option :print-success false)(set-logic QF_S)\n\
                    (set-info :status sat)\n(assert (= s \")\"))(check-sat)\n(push 1)(check-sat-assuming (p))\n\
                    (set-info :status unsat)(get-value (s))(echo \"(\")(check-sat ) (reset)(exit)(check-sat)";
        let expected = [
            (Plain, "(set-logic QF_S)", 2),
            (Plain, "(assert (= s \")\"))", 4),
            (Check(Sat), "(check-sat)", 4),
            (Plain, "(push 1)", 5),
            (Check(Unknown), "(check-sat-assuming (p))", 5),
            (Print, "(get-value (s))", 6),
            (Print, "(echo \"(\")", 6),
            (Check(Unsat), "(check-sat )", 6),
            (Reset, "(reset)", 6),
        ];
        assert_eq!(all(text).unwrap(), expected);
    }

    #[test]
    fn answers_before_the_script() {
        let script = "--- BENCHMARK BEGINS HERE ---\n(set-info :status sat)(check-sat)\n(check-sat)(check-sat)";
        for before in ["unsat\r\nsat\n", "(set-info :status unsat)\n  (set-info  :status sat)\n"] {
            let text = format!("{before}{script}");
            let found = all(&text).unwrap();
            let answers: Vec<_> = found.iter().map(|(command, _, line)| (*command, *line)).collect();
            assert_eq!(answers, [(Check(Unsat), 4), (Check(Sat), 5), (Check(Unknown), 5)]);
        }
        assert_eq!(all(script).unwrap()[0].0, Check(Unknown));
        // A script that begins with its status has no such line.
        assert_eq!(all("(set-info :status sat)\n(check-sat)").unwrap(), [(Check(Sat), "(check-sat)", 2)]);
        assert_eq!(all("").unwrap(), []);
    }

    #[test]
    fn strings_of_the_old_version() {
        let text = "(set-info :smt-lib-version 2.0)(echo \"\\\")\")(check-sat)";
        assert_eq!(all(text).unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_script_has_a_place() {
        assert_eq!(all("(check-sat)\n p cnf").unwrap_err(), "line 2: `p` is no command");
        assert_eq!(all("()").unwrap_err(), "line 1: `()` is no command");
        assert!(all("(check-sat))").unwrap_err().starts_with("byte 11: "));
        assert!(all("(check-sat)(assert").unwrap_err().starts_with("byte 11: "));
        assert!(all("--- BENCHMARK BEGINS HERE ---\n(assert").unwrap_err().starts_with("byte 30: "));
    }
}
