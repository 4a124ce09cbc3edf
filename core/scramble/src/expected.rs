//! The expected answers of a script, which come first in what a trace executor reads. They are taken from the text, line by
//! line and without regard to comments or literals, as the competitions' own scripts did.

use std::io::{self, BufRead as _, BufReader, Read, Write};

use memchr::memmem;

/// The line between the answers and the script.
pub(crate) const SEPARATOR: &[u8] = b"--- BENCHMARK BEGINS HERE ---\n";

const BEGINNING: &[u8] = b"(set-info :status ";
const ANSWERS: [&[u8]; 3] = [b"sat)", b"unsat)", b"unknown)"];

/// One line for each status, whatever else is on its line.
pub(crate) fn alone(input: Box<dyn Read + '_>, out: &mut dyn Write) -> io::Result<()> {
    const LONGEST: usize = BEGINNING.len() + 8;
    let mut input = BufReader::with_capacity(1 << 16, input);
    // What may be the beginning of a status, from the end of what was read before.
    let mut held: Vec<u8> = Vec::new();
    loop {
        let bytes = input.fill_buf()?;
        let length = bytes.len();
        held.extend_from_slice(bytes);
        input.consume(length);
        let mut at = 0;
        while let Some(found) = memmem::find(&held[at..], BEGINNING) {
            let rest = &held[at + found + BEGINNING.len()..];
            if rest.len() < LONGEST - BEGINNING.len() && length > 0 {
                at += found;
                break;
            }
            at += found + BEGINNING.len();
            if let Some(answer) = ANSWERS.iter().find(|answer| rest.starts_with(answer)) {
                out.write_all(&answer[..answer.len() - 1])?;
                out.write_all(b"\n")?;
            }
        }
        if length == 0 {
            return Ok(());
        }
        let kept = held.len() - at.max(held.len().saturating_sub(LONGEST));
        held.drain(..held.len() - kept);
    }
}

/// Every line with a status, with the command replaced by the answer and the rest of the line left as it is.
pub(crate) fn lines(input: Box<dyn Read + '_>, out: &mut dyn Write) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if memmem::find(&line, &BEGINNING[1..BEGINNING.len() - 1]).is_none() {
            continue;
        }
        // From the first beginning to the last parenthesis of the line.
        let begin = memmem::find(&line, BEGINNING);
        let close = begin.and_then(|begin| memchr::memrchr(b')', &line[begin + BEGINNING.len()..]));
        match (begin, close) {
            (Some(begin), Some(close)) => {
                let answer = begin + BEGINNING.len();
                out.write_all(&line[..begin])?;
                out.write_all(&line[answer..answer + close])?;
                out.write_all(&line[answer + close + 1..])?;
            }
            _ => out.write_all(&line)?,
        }
        out.write_all(b"\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let (now, later) = self.0.split_at(self.1.min(self.0.len()).min(out.len()));
            out[..now.len()].copy_from_slice(now);
            self.0 = later;
            Ok(now.len())
        }
    }

    fn both(text: &str) -> (String, String) {
        let mut all = Vec::new();
        alone(Box::new(text.as_bytes()), &mut all).unwrap();
        for step in [1, 2, 5, 17] {
            let mut again = Vec::new();
            alone(Box::new(Drops(text.as_bytes(), step)), &mut again).unwrap();
            assert_eq!(again, all, "{step} bytes at a time");
        }
        let mut whole = Vec::new();
        lines(Box::new(text.as_bytes()), &mut whole).unwrap();
        (String::from_utf8(all).unwrap(), String::from_utf8(whole).unwrap())
    }

    #[test]
    fn answers_of_usual_scripts() {
        let text =
            "(set-logic UF)\n(set-info :status sat)\n(check-sat)\n(set-info :status unsat)\n(set-info :status unknown)";
        assert_eq!(both(text), ("sat\nunsat\nunknown\n".into(), "sat\nunsat\nunknown\n".into()));
    }

    #[test]
    fn answers_that_share_a_line() {
        // The rest of the line was taken for an answer as well, until that was noticed.
        let text = "(set-info :status sat) (check-sat)\r\n; (set-info :status unsat)(set-info :status sat)\n";
        assert_eq!(
            both(text),
            ("sat\nunsat\nsat\n".into(), "sat) (check-sat\r\n; unsat)(set-info :status sat\n".into())
        );
    }

    #[test]
    fn answers_that_are_none() {
        let text = "(set-info  :status sat)\n( set-info :status sat)\n(set-info :status |sat|)\n(set-info :status sat )\n\
                    (set-info :status satx)\n(set-info :status sat\n)";
        assert_eq!(
            both(text),
            ("".into(), "( set-info :status sat)\n|sat|\nsat \nsatx\n(set-info :status sat\n".into())
        );
    }
}
