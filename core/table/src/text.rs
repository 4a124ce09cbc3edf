//! Texts from files on their way to people: what a terminal would obey, and what nobody sees, is spelled out.

use std::borrow::Cow;

/// Whether a character moves, colours or hides text, or takes no room of its own: nobody sees it in a table, and a
/// terminal may obey it.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A text on one line for people: every hidden character as its escape, such as `\n` or `\u{1b}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// The same for a text of several lines: line feeds stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_hidden(c))
}

fn escaped(text: &str, hide: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) || !text.contains(&hide) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hide(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// A name in which all can be seen: hidden characters escaped, and also the blanks at its ends, and any blank that is
/// not a plain one.
pub fn spelled(name: &str) -> String {
    let (start, end) = (name.len() - name.trim_start().len(), name.trim_end().len());
    let mut out = String::with_capacity(name.len() + 8);
    for (at, c) in name.char_indices() {
        let outer = c.is_whitespace() && (at < start || at >= end);
        if is_hidden(c) || outer || (c.is_whitespace() && c != ' ') {
            match c {
                ' ' => out.push_str("\\u{20}"),
                c => out.extend(c.escape_default()),
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// What a reader sees of a name: without hidden characters and outer blanks, any number of blanks as one. Nothing if
/// that is the name itself.
pub fn visible(name: &str) -> Option<String> {
    let plain = name.bytes().all(|b| (b'!'..=b'~').contains(&b));
    if plain {
        return None;
    }
    let mut out = String::with_capacity(name.len());
    let words = name.split(|c: char| c.is_whitespace()).map(|word| word.replace(is_hidden, ""));
    for word in words.filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
    }
    (out != name).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(shown("Auk é ⊢"), "Auk é ⊢");
        assert_eq!(shown("a\u{1b}[31mb\nc\u{202e}\u{9b}"), "a\\u{1b}[31mb\\nc\\u{202e}\\u{9b}");
        assert_eq!(shown_lines("a\nb\u{1b}"), "a\nb\\u{1b}");
        assert_eq!(spelled(" Auk two\u{a0}\u{200b} "), "\\u{20}Auk two\\u{a0}\\u{200b}\\u{20}");
    }

    #[test]
    fn names_that_look_alike() {
        for odd in ["Auk ", "\u{feff}Auk", "A\u{200b}uk", "\u{202e}Auk", "\tAuk", "Auk\u{a0}"] {
            assert_eq!(visible(odd).as_deref(), Some("Auk"), "{odd:?}");
        }
        assert_eq!(visible("Auk  one").as_deref(), Some("Auk one"));
        for good in ["Auk", "Auk one", "Größe"] {
            assert_eq!(visible(good), None);
        }
    }
}
