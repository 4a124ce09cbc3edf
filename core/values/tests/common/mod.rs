//! What the tests against other implementations share: a random generator, random operands with a bias to the corners,
//! and a solver that is asked whether equations hold.

#![allow(dead_code, reason = "each test program uses a part")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agon_values::{Bits, Float, Format, Rounding};
use dashu_int::UBig;
use dashu_ratio::RBig;

/// The generator splitmix64: the same numbers on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }

    pub fn mode(&mut self) -> Rounding {
        *self.pick(&Rounding::ALL)
    }

    /// Random bits, often with long runs or near the ends of the range.
    pub fn bits(&mut self, width: u32) -> Bits {
        let mut words = Vec::new();
        for _ in 0..width.div_ceil(64) {
            words.push(self.word());
        }
        let random = Bits::new(width, UBig::from_words(&words));
        match self.below(8) {
            0 => Bits::zero(width).add(&Bits::from_u64(width, self.below(4))),
            1 => Bits::zero(width).sub(&Bits::from_u64(width, self.below(4))),
            2 => Bits::least(width).add(&Bits::from_u64(width, self.below(4))),
            3 => Bits::least(width).sub(&Bits::from_u64(width, self.below(4))),
            // A number of random length, also negated.
            4 => random.lshr(&Bits::from_int(width, &self.below(width.into()).into())),
            5 => random.lshr(&Bits::from_int(width, &self.below(width.into()).into())).neg(),
            _ => random,
        }
    }

    /// A random number of a format: the special ones, random patterns, and numbers near one or near integers.
    pub fn float(&mut self, format: Format) -> Float {
        let width = format.width();
        let stored = format.sb() - 1;
        let sign = Bits::bit_of(self.chance(2));
        let with = |exponent: Bits, fraction: Bits| {
            Float::from_bits(format, &sign.concat(&exponent).unwrap().concat(&fraction).unwrap())
        };
        match self.below(10) {
            0 => with(Bits::zero(format.eb()), self.bits(stored)),
            1 => {
                let exponent = *self.pick(&[0, 1, 2]);
                with(Bits::from_u64(format.eb(), exponent), Bits::zero(stored))
            }
            2 => {
                let exponent = Bits::ones(format.eb()).sub(&Bits::from_u64(format.eb(), self.below(3)));
                let fraction = *self.pick(&[0, 1]);
                with(exponent, if fraction == 0 { Bits::zero(stored) } else { Bits::ones(stored) })
            }
            3 => self.pick(&[Float::nan(format), Float::infinite(format, false), Float::zero(format, true)]).clone(),
            4 => {
                let integer = self.below(1 << 12) as i64 - (1 << 11);
                let number = RBig::from_parts(integer.into(), UBig::from(*self.pick(&[1u8, 2, 4])));
                Float::from_rational(format, Rounding::NearestEven, &number)
            }
            5 | 6 => {
                // Near one, and about as far from it as the precision reaches.
                let reach = u64::from(format.sb()) + 3;
                let half = Bits::ones(format.eb()).lshr(&Bits::one(format.eb()));
                let offset =
                    Bits::from_u64(format.eb(), self.below(2 * reach)).sub(&Bits::from_u64(format.eb(), reach));
                with(half.add(&offset), self.bits(stored))
            }
            _ => Float::from_bits(format, &self.bits(width)),
        }
    }
}

/// The workspace's folder.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a solver of `.solvers/bin`, perhaps with options after its name, prints for a script.
fn ask(name: &str, script: &str) -> String {
    let mut words = name.split(' ');
    let program = workspace().join(".solvers/bin").join(words.next().expect("a name has a word"));
    assert!(program.exists(), "{} is missing: run .ci/solvers", program.display());
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join("script.smt2");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(script.as_bytes())).expect("it is written");
    let output = Command::new(&program)
        .args(words)
        .arg(&path)
        .stderr(Stdio::null())
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Which of these closed Boolean terms a solver finds to be false, by position.
pub fn refuted(name: &str, terms: &[String]) -> Vec<usize> {
    let mut wrong = Vec::new();
    let batch = 2000;
    for (part, terms) in terms.chunks(batch).enumerate() {
        let mut script = String::from("(set-option :produce-models true)\n(set-logic ALL)\n");
        for (i, term) in terms.iter().enumerate() {
            let _ = writeln!(script, "(define-fun c{i} () Bool {term})");
        }
        script.push_str("(check-sat)\n(get-value (");
        for i in 0..terms.len() {
            let _ = write!(script, "c{i} ");
        }
        script.push_str("))\n");
        let text = ask(name, &script);
        let answer = text.strip_prefix("sat").unwrap_or_else(|| panic!("{name} says {}", &text[..text.len().min(600)]));
        let mut open = vec![true; terms.len()];
        for pair in answer.split('(') {
            let mut words = pair.trim_end().trim_end_matches(')').split(' ');
            let (Some(term), Some(value)) = (words.next(), words.next()) else { continue };
            let Some(i) = term.strip_prefix('c').and_then(|n| n.parse::<usize>().ok()) else { continue };
            if value == "true" || value == "false" {
                open[i] = false;
            }
            if value == "false" {
                wrong.push(part * batch + i);
            }
        }
        // What a solver leaves as it stands, it has to prove.
        let open: Vec<usize> = (0..terms.len()).filter(|i| open[*i]).collect();
        assert!(open.len() <= terms.len() / 10, "{name} says {}", &answer[..answer.len().min(600)]);
        if open.is_empty() {
            continue;
        }
        let mut script = String::from("(set-logic ALL)\n");
        for i in &open {
            let _ = writeln!(script, "(push 1)\n(assert (not {}))\n(check-sat)\n(pop 1)", terms[*i]);
        }
        let text = ask(name, &script);
        let answers: Vec<&str> = text.lines().collect();
        assert_eq!(answers.len(), open.len(), "{name} says {}", &text[..text.len().min(600)]);
        for (i, answer) in open.iter().zip(answers) {
            match answer {
                "unsat" => {}
                "sat" => wrong.push(part * batch + i),
                _ => panic!("{name} says {answer} to {}", terms[*i]),
            }
        }
    }
    wrong
}

/// Asserts that a solver finds all these terms to be true.
pub fn confirm(name: &str, what: &str, terms: &[String]) {
    let wrong = refuted(name, terms);
    let shown: Vec<&String> = wrong.iter().take(5).map(|i| &terms[*i]).collect();
    assert!(wrong.is_empty(), "{what}: {name} differs in {} of {}: {shown:#?}", wrong.len(), terms.len());
}
