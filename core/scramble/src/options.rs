//! What is wanted of the scrambler.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

/// The largest seed: the official tools read it as a signed number of 32 bits.
pub const LARGEST_SEED: u32 = i32::MAX as u32;

/// What a scrambled script is for. A mode stands for what the competitions' own scripts call the scramblers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// One check-sat; of annotations, patterns stay.
    SingleQuery,
    /// For a trace executor: the expected answers come first.
    Incremental,
    /// Asks for a model after the check-sat.
    ModelValidation,
    /// Names the assertions and asks for an unsatisfiable core.
    UnsatCore,
    /// Asks for a proof.
    Proof,
    /// The same scrambler called with nothing but a seed: all annotations stay.
    Plain,
    /// Names are numbered in the order of their declarations, and only the sequential reading of `let` is known.
    Main,
    /// The same for a trace executor: the expected answers come first.
    Application,
    /// The same, one script for every check-sat.
    Unfold,
}

impl Mode {
    /// All modes with the words that name them.
    pub const ALL: [(&'static str, Self); 9] = [
        ("single-query", Self::SingleQuery),
        ("incremental", Self::Incremental),
        ("model-validation", Self::ModelValidation),
        ("unsat-core", Self::UnsatCore),
        ("proof", Self::Proof),
        ("plain", Self::Plain),
        ("main", Self::Main),
        ("application", Self::Application),
        ("unfold", Self::Unfold),
    ];

    /// The mode of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, mode)| mode)
    }

    /// The word that names it.
    pub fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, mode)| *mode == self).map_or("", |(word, _)| word)
    }

    /// How names are given.
    pub fn naming(self) -> Naming {
        match self {
            Self::Main | Self::Application | Self::Unfold => Naming::Numbering,
            _ => Naming::Permuting,
        }
    }
}

/// The two scramblers differ most in how they name things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Declared symbols are numbered in the order of their declarations as they are read, within scopes.
    Numbering,
    /// The numbers are permuted at random before they are printed; a number belongs to a symbol for good.
    Permuting,
}

/// Which annotations of terms stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotations {
    /// All.
    Keep,
    /// A `:pattern` that is a term's only annotation.
    Patterns,
    /// None.
    Strip,
}

impl Annotations {
    /// All choices with the words that name them.
    pub const ALL: [(&'static str, Self); 3] =
        [("keep", Self::Keep), ("patterns", Self::Patterns), ("strip", Self::Strip)];

    /// The choice of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, choice)| choice)
    }

    /// The word that names it.
    pub fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, choice)| *choice == self).map_or("", |(word, _)| word)
    }
}

/// A mode, a seed, and what deviates from what the mode stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The mode.
    pub mode: Mode,
    /// The seed, at most [`LARGEST_SEED`]; 0 leaves order and names as they are.
    pub seed: u32,
    /// Which annotations stay.
    pub annotations: Annotations,
    /// Prints the expected answers first, as the official trace executor wants them. Only in the modes for trace executors.
    pub answers: bool,
    /// Accepts `reset` and any `set-option`. Only where names are permuted.
    pub non_smtcomp: bool,
    /// Accepts annotations of z3: `:qid`, `:weight`, `:skolemid`, `:no-pattern`, `:lblpos` and `:lblneg`. Only where names
    /// are permuted.
    pub z3: bool,
    /// Prints nothing but the number of assertions, to the errors. Only where names are permuted.
    pub count_asserts: bool,
    /// Gives the names of annotations numbers too. Only where names are numbered.
    pub scramble_named: bool,
    /// Names assertions instead of the terms in them. Only where names are numbered.
    pub lift_named: bool,
    /// Keeps of the named assertions those in a core.
    pub core: Option<Core>,
    /// The check-sats, from 1, that scripts are made of when unfolding; all without an end.
    pub queries: (u64, Option<u64>),
}

impl Options {
    /// What a mode stands for.
    pub fn new(mode: Mode, seed: u32) -> Self {
        let annotations = match mode {
            Mode::Plain | Mode::Main | Mode::Application | Mode::Unfold => Annotations::Keep,
            _ => Annotations::Patterns,
        };
        Self {
            mode,
            seed,
            annotations,
            answers: matches!(mode, Mode::Incremental | Mode::Application),
            non_smtcomp: false,
            z3: false,
            count_asserts: false,
            scramble_named: false,
            lift_named: false,
            core: None,
            queries: (0, None),
        }
    }

    /// Why these do not go together, as a sentence.
    pub fn conflict(&self) -> Option<String> {
        let mode = self.mode.word();
        if self.seed > LARGEST_SEED {
            return Some(format!("the seed {} is too large: seeds go from 0 to {LARGEST_SEED}", self.seed));
        }
        let (names, other): (&[(&str, bool)], &str) = match self.mode.naming() {
            Naming::Permuting => (
                &[("to scramble names of annotations", self.scramble_named), ("to lift them", self.lift_named)],
                "main, application and unfold",
            ),
            Naming::Numbering => (
                &[
                    ("to accept commands that competitions do not use", self.non_smtcomp),
                    ("to accept annotations of z3", self.z3),
                    ("to count assertions", self.count_asserts),
                    ("to keep only patterns", self.annotations == Annotations::Patterns),
                ],
                "single-query, incremental, model-validation, unsat-core, proof and plain",
            ),
        };
        let wrong = names.iter().find(|(_, on)| *on)?;
        Some(format!("the mode {mode} has no way {}; the modes {other} have it", wrong.0))
    }
}

/// The names in an unsatisfiable core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core(pub BTreeSet<Vec<u8>>);

impl Core {
    /// Reads `unsat` and a list of names in parentheses, separated by blanks. None if the text is something else.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(input: &mut dyn Read) -> io::Result<Option<Self>> {
        let mut text = Vec::new();
        input.read_to_end(&mut text)?;
        // The C locale's white space.
        let blank = |b: &u8| matches!(b, b' ' | b'\t'..=b'\r');
        let start = text.iter().position(|b| !blank(b)).unwrap_or(text.len());
        let word = text[start..].iter().take_while(|b| !blank(b)).count();
        if &text[start..start + word] != b"unsat" {
            return Ok(None);
        }
        let rest = &text[start + word..];
        let Some(open) = rest.iter().position(|b| !blank(b)).filter(|at| rest[*at] == b'(') else { return Ok(None) };
        let mut names = BTreeSet::new();
        for name in rest[open + 1..].split(blank).filter(|name| !name.is_empty()) {
            let last = name.ends_with(b")");
            let name = if last { &name[..name.len() - 1] } else { name };
            if !name.is_empty() {
                names.insert(name.to_vec());
            }
            if last {
                break;
            }
        }
        if rest[open + 1..].iter().all(blank) {
            // Nothing is read there, and the word that was read before counts.
            names.insert(b"unsat".to_vec());
        }
        Ok(Some(Self(names)))
    }

    /// The comment that tells of the names.
    pub(crate) fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, ";; parsed {} names:", self.0.len())?;
        for name in &self.0 {
            out.write_all(b" ")?;
            out.write_all(name)?;
        }
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_modes() {
        for (word, mode) in Mode::ALL {
            assert_eq!((Mode::from_word(word), mode.word()), (Some(mode), word));
        }
        assert_eq!(Mode::from_word("single"), None);
    }

    #[test]
    fn cores() {
        let read = |text: &str| {
            let core = Core::read(&mut text.as_bytes()).unwrap()?;
            Some(core.0.into_iter().map(|n| String::from_utf8(n).unwrap()).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(read("unsat\n(\nb\na a)\nc").as_deref(), Some("a b"));
        assert_eq!(read(" unsat (a b )").as_deref(), Some("a b"));
        // A closing parenthesis belongs to the name it is written to.
        assert_eq!(read("unsat ((a) b)").as_deref(), Some("(a"));
        assert_eq!(read("unsat ()").as_deref(), Some(""));
        assert_eq!(read("unsat (").as_deref(), Some("unsat"));
        for text in ["", "sat (a)", "unsat", "unsat a (b)", "unsat(a)"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_does_not_go_together() {
        let mut options = Options::new(Mode::Main, 1);
        assert_eq!(options.conflict(), None);
        options.annotations = Annotations::Patterns;
        assert!(options.conflict().unwrap().contains("to keep only patterns"));
        let mut options = Options::new(Mode::UnsatCore, 1);
        options.lift_named = true;
        assert!(options.conflict().unwrap().contains("main, application"));
        assert!(Options::new(Mode::Plain, LARGEST_SEED + 1).conflict().is_some());
    }
}
