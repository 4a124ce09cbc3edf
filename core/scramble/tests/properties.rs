//! What holds for all scripts: on random ones.

use agon_scramble::enumerate::models;
use agon_scramble::{Mode, Naming, Options, scramble};
use proptest::prelude::*;

fn run(options: &Options, script: &str) -> String {
    let mut out = Vec::new();
    scramble(script.as_bytes(), options, &mut out).unwrap_or_else(|e| panic!("{e}\n{script}"));
    String::from_utf8(out).unwrap()
}

/// Draws a script from numbers.
struct Writer<'a> {
    numbers: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    names: Vec<String>,
    vectors: Vec<String>,
    /// Whether binders may take names that are in use.
    shadow: bool,
    bound: usize,
}

impl Writer<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(*self.numbers.next().unwrap()) % n
    }

    /// A name for a binder: one that is in use, or a new one.
    fn fresh(&mut self, used: &str) -> String {
        self.bound += 1;
        if self.shadow && self.below(2) == 0 { used.to_string() } else { format!("v{}", self.bound) }
    }

    fn vector(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 3 } else { 9 }) {
            0 => {
                let at = self.below(self.vectors.len());
                self.vectors[at].clone()
            }
            1 => format!("#b{:02b}", self.below(4)),
            2 => format!("(_ bv{} 2)", self.below(4)),
            3 => format!("(ite {} {} {})", self.truth(depth - 1), self.vector(depth - 1), self.vector(depth - 1)),
            4 => format!("((_ rotate_left 1) {})", self.vector(depth - 1)),
            5 => format!("(bvsub {} {})", self.vector(depth - 1), self.vector(depth - 1)),
            n => {
                let function = ["bvadd", "bvmul", "bvand", "bvor", "bvxor", "bvudiv"][(n + self.below(6)) % 6];
                format!("({function} {} {})", self.vector(depth - 1), self.vector(depth - 1))
            }
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 10 }) {
            0 => ["a", "b"][self.below(2)].to_string(),
            1 => {
                let at = self.below(self.names.len());
                self.names[at].clone()
            }
            2 => format!("(not {})", self.truth(depth - 1)),
            3 => {
                let (left, right) = (self.vector(depth - 1), self.vector(depth - 1));
                format!("({} {left} {right})", ["bvult", "bvsle", "bvuge", "bvsgt", "=", "distinct"][self.below(6)])
            }
            4 => {
                let value = self.truth(depth - 1);
                let name = self.fresh("b");
                self.names.push(name.clone());
                let body = self.truth(depth - 1);
                self.names.pop();
                format!("(let (({name} {value})) {body})")
            }
            5 => {
                let name = self.fresh("p");
                self.vectors.push(name.clone());
                let body = self.truth(depth - 1);
                self.vectors.pop();
                format!("({} (({name} (_ BitVec 2))) {body})", ["forall", "exists"][self.below(2)])
            }
            6 => format!("(! {} :named n{})", self.truth(depth - 1), self.below(9)),
            n => {
                let function = ["and", "or", "xor", "=", "=>"][(n + self.below(5)) % 5];
                let count = 2 + self.below(2);
                let parts: Vec<String> = (0..count).map(|_| self.truth(depth - 1)).collect();
                format!("({function} {})", parts.join(" "))
            }
        }
    }

    fn script(&mut self) -> String {
        let mut out = String::from(
            "(set-logic BV)\n(declare-fun a () Bool)\n(declare-fun b () Bool)\n(declare-fun p () (_ BitVec 2))\n\
             (declare-fun q () (_ BitVec 2))\n",
        );
        let mut levels = 0;
        for _ in 0..2 + self.below(3) {
            for _ in 0..1 + self.below(3) {
                let depth = 1 + self.below(4);
                out += &format!("(assert {})\n", self.truth(depth));
            }
            match self.below(4) {
                0 => {
                    out += "(push 1)\n";
                    levels += 1;
                }
                1 if levels > 0 => {
                    out += "(pop 1)\n";
                    levels -= 1;
                }
                _ => out += "(check-sat)\n",
            }
        }
        out + "(check-sat)\n"
    }
}

fn script(numbers: &[u8], shadow: bool) -> String {
    let names = vec!["a".into(), "b".into()];
    let vectors = vec!["p".into(), "q".into()];
    Writer { numbers: numbers.iter().cycle(), names, vectors, shadow, bound: 0 }.script()
}

/// The modes that make one script of one.
const MODES: [Mode; 8] = [
    Mode::SingleQuery,
    Mode::Incremental,
    Mode::ModelValidation,
    Mode::UnsatCore,
    Mode::Proof,
    Mode::Plain,
    Mode::Main,
    Mode::Application,
];

fn options(mode: Mode, seed: u32) -> Options {
    let mut options = Options::new(mode, seed);
    options.answers = false;
    options
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_scrambled_script_has_as_many_models(numbers in prop::collection::vec(any::<u8>(), 20..200), seed in 0_u32..=i32::MAX as u32) {
        for mode in MODES {
            // The older scrambler does not give a name its old number back where a binder's scope ends.
            let script = script(&numbers, mode.naming() == Naming::Permuting);
            let before = models(&script);
            prop_assert!(before.is_ok(), "{:?}\n{script}", before);
            let out = run(&options(mode, seed), &script);
            prop_assert_eq!(&models(&out), &before, "{}\n{}", mode.word(), out);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes(numbers in prop::collection::vec(any::<u8>(), 20..200), seed in 0_u32..1000) {
        let script = script(&numbers, true);
        for mode in MODES {
            prop_assert_eq!(run(&options(mode, seed), &script), run(&options(mode, seed), &script));
        }
    }

    #[test]
    fn without_a_seed_nothing_moves(numbers in prop::collection::vec(any::<u8>(), 20..200)) {
        let script = script(&numbers, true);
        let plain = run(&options(Mode::Plain, 0), &script);
        prop_assert_eq!(plain.strip_prefix("(set-option :print-success false)\n"), Some(script.as_str()));
        prop_assert_eq!(run(&options(Mode::Main, 0), &script), script);
    }

    #[test]
    fn names_are_exchanged_one_for_one(numbers in prop::collection::vec(any::<u8>(), 20..200), seed in 1_u32..1000) {
        // As many different words, and all words as often as before: only comparisons change their names.
        let script = script(&numbers, true);
        let count = |text: &str| {
            let mut all = std::collections::BTreeMap::<String, usize>::new();
            for word in text.split(|c: char| c.is_whitespace() || "()".contains(c)).filter(|w| !w.is_empty()) {
                let word = match word {
                    "bvugt" => "bvult",
                    "bvuge" => "bvule",
                    "bvsgt" => "bvslt",
                    "bvsge" => "bvsle",
                    other => other,
                };
                *all.entry(word.to_string()).or_default() += 1;
            }
            let mut counts: Vec<usize> = all.into_values().collect();
            counts.sort_unstable();
            counts
        };
        let out = run(&options(Mode::Plain, seed), &script);
        let out = out.strip_prefix("(set-option :print-success false)\n").unwrap();
        prop_assert_eq!(count(out), count(&script));
    }

    #[test]
    fn any_bytes_are_taken_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), seed in 0_u32..4) {
        for mode in MODES {
            let _ = scramble(&bytes[..], &options(mode, seed), &mut Vec::new());
        }
    }

    #[test]
    fn any_tokens_are_taken_without_panic(words in prop::collection::vec(0_usize..WORDS.len(), 0..80), seed in 0_u32..4) {
        let text: Vec<&str> = words.iter().map(|w| WORDS[*w]).collect();
        let text = text.join(" ");
        for mode in MODES {
            let _ = scramble(text.as_bytes(), &options(mode, seed), &mut Vec::new());
        }
    }
}

const WORDS: &[&str] = &[
    "(",
    "(",
    "(",
    "(",
    ")",
    ")",
    ")",
    ")",
    "(assert",
    "(check-sat)",
    "(set-logic QF_BV)",
    "(push 1)",
    "(pop 1)",
    "(let ((",
    "(forall ((",
    "(match",
    "(!",
    "(as",
    "(_",
    "a",
    "b",
    "|a|",
    "||",
    "1",
    "1.0",
    "#b1",
    "\"s\"",
    ":named",
    ":pattern",
    ":k",
    "(declare-fun f (",
    "(define-fun g (",
    "(declare-datatype",
    "(declare-datatypes ((",
    "and",
    "=",
    "bvult",
    "(exit)",
    ";\n",
    "(define-sort",
];
