//! What an SMT-LIB script says of itself: its logic and the expected answers of its check-sats.
//!
//! Only the command level is read. Terms are skipped by counting parentheses, with comments, string literals and
//! quoted symbols respected, so that a `(set-info :status sat)` inside a string or a comment is none.

use std::io::{self, BufRead};

/// What the commands of a script say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmtHeader {
    /// The argument of the first `set-logic`.
    pub logic: Option<String>,
    /// The expected answer of each check-sat: the last `:status` before it and after the check-sat before, else
    /// `unknown`. A script that is all header and has no check-sat has the one status that it states, if any.
    pub statuses: Vec<String>,
}

/// How many tokens of a command matter, and how long one of them may be.
const TOKENS: usize = 3;
const TOKEN_BYTES: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    Space,
    Comment,
    String,
    Quoted,
    Symbol,
}

/// Reads a script to its end.
///
/// # Errors
/// If reading fails. A script that is no SMT-LIB gives what could be found: whether it is one is not judged here.
pub fn read(mut input: impl BufRead) -> io::Result<SmtHeader> {
    let mut found = SmtHeader::default();
    let mut status: Option<String> = None;
    let mut command: Vec<Vec<u8>> = Vec::new();
    let mut token: Vec<u8> = Vec::new();
    let mut depth: u64 = 0;
    let mut place = In::Space;
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        let mut at = 0;
        while at < length {
            let byte = bytes[at];
            match place {
                In::Comment => match memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
                    Some(end) => {
                        at += end;
                        place = In::Space;
                    }
                    None => at = length - 1,
                },
                // `""` inside a literal ends it and begins one at once, which comes to the same here.
                In::String => match memchr::memchr(b'"', &bytes[at..]) {
                    Some(end) => {
                        at += end;
                        place = In::Space;
                    }
                    None => at = length - 1,
                },
                In::Quoted if byte == b'|' => {
                    place = In::Space;
                    if depth == 1 && command.len() < TOKENS {
                        command.push(std::mem::take(&mut token));
                    }
                }
                In::Quoted => keep(&mut token, byte, depth, &command),
                In::Space | In::Symbol => {
                    let ends = matches!(byte, b'(' | b')' | b';' | b'"' | b'|' | b' ' | b'\t' | b'\n' | b'\r');
                    if ends && place == In::Symbol {
                        place = In::Space;
                        if depth == 1 && command.len() < TOKENS {
                            command.push(std::mem::take(&mut token));
                        }
                    }
                    match byte {
                        b';' => place = In::Comment,
                        b'"' => place = In::String,
                        b'|' => {
                            place = In::Quoted;
                            token.clear();
                        }
                        b'(' => {
                            depth += 1;
                            if depth == 1 {
                                command.clear();
                            }
                        }
                        b')' => {
                            if depth == 1 {
                                obey(&command, &mut found, &mut status);
                            }
                            depth = depth.saturating_sub(1);
                        }
                        _ if ends => {}
                        _ => {
                            if place == In::Space {
                                token.clear();
                                place = In::Symbol;
                            }
                            keep(&mut token, byte, depth, &command);
                        }
                    }
                }
            }
            at += 1;
        }
        input.consume(length);
    }
    if found.statuses.is_empty() {
        found.statuses.extend(status);
    }
    Ok(found)
}

fn keep(token: &mut Vec<u8>, byte: u8, depth: u64, command: &[Vec<u8>]) {
    if depth == 1 && command.len() < TOKENS && token.len() < TOKEN_BYTES {
        token.push(byte);
    }
}

fn obey(command: &[Vec<u8>], found: &mut SmtHeader, status: &mut Option<String>) {
    let text = |index: usize| command.get(index).map(|t| String::from_utf8_lossy(t).into_owned());
    match command.first().map(Vec::as_slice) {
        Some(b"set-logic") if found.logic.is_none() => found.logic = text(1),
        Some(b"set-info") if command.get(1).is_some_and(|t| t == b":status") => {
            // What is neither sat nor unsat is as good as unknown; anything else would be taken for a claim.
            *status = Some(text(2).filter(|s| s == "sat" || s == "unsat").unwrap_or_else(|| "unknown".into()));
        }
        Some(b"check-sat" | b"check-sat-assuming") => {
            found.statuses.push(status.take().unwrap_or_else(|| "unknown".into()));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> SmtHeader {
        let whole = read(text.as_bytes()).unwrap();
        // A buffer that ends anywhere makes no difference.
        for size in [1, 2, 3, 7] {
            assert_eq!(read(io::BufReader::with_capacity(size, text.as_bytes())).unwrap(), whole, "{size}");
        }
        whole
    }

    #[test]
    fn a_usual_script() {
        let found = header("(set-logic QF_BV)\n(set-info :status unsat)\n(assert false)\n(check-sat)\n(exit)\n");
        assert_eq!(found.logic.as_deref(), Some("QF_BV"));
        assert_eq!(found.statuses, ["unsat"]);
    }

    #[test]
    fn statuses_belong_to_the_next_check() {
        let found = header(
            "(set-info :status sat)(check-sat)(push 1)(set-info :status unsat) (check-sat-assuming (a)) (check-sat)",
        );
        assert_eq!(found.statuses, ["sat", "unsat", "unknown"]);
    }

    #[test]
    fn what_only_looks_like_a_status() {
        let found = header(
            "; (set-info :status sat)\n(set-info :source |(set-info :status sat)\n(check-sat)|)\n\
             (echo \"(set-info :status sat) \"\"(check-sat)\"\"\")\n(set-logic |QF_LIA|)\
             (assert (set-info :status sat))(set-info :status maybe)(check-sat)",
        );
        assert_eq!(found.logic.as_deref(), Some("QF_LIA"));
        assert_eq!(found.statuses, ["unknown"]);
    }

    #[test]
    fn several_commands_on_a_line_and_none_at_all() {
        assert_eq!(header("(set-info :status sat) (set-logic UF) (check-sat)").statuses, ["sat"]);
        assert_eq!(header(""), SmtHeader::default());
        assert_eq!(header(")))(((("), SmtHeader::default());
        assert_eq!(header("(set-info :status sat)").statuses, ["sat"]);
    }
}
