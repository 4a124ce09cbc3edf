//! Against a naive reading: sets of all words up to some length over two letters.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const LENGTH: usize = 5;

type Words = BTreeSet<String>;

fn text(literal: &str) -> Text {
    Text::from_literal(literal).expect("it is one")
}

fn all_words() -> Vec<String> {
    let mut words = vec![String::new()];
    let mut i = 0;
    while i < words.len() {
        if words[i].len() < LENGTH {
            for letter in ["a", "b"] {
                words.push(format!("{}{letter}", words[i]));
            }
        }
        i += 1;
    }
    words
}

/// An expression to be made both ways.
#[derive(Clone, Debug)]
enum Tree {
    None,
    All,
    AllChar,
    Literal(String),
    Range(char, char),
    Concat(Box<Tree>, Box<Tree>),
    Union(Box<Tree>, Box<Tree>),
    Inter(Box<Tree>, Box<Tree>),
    Diff(Box<Tree>, Box<Tree>),
    Comp(Box<Tree>),
    Star(Box<Tree>),
    Plus(Box<Tree>),
    Opt(Box<Tree>),
    Loop(Box<Tree>, u64, u64),
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::None),
        Just(Tree::All),
        Just(Tree::AllChar),
        "[ab]{0,3}".prop_map(Tree::Literal),
        (prop::char::range('a', 'b'), prop::char::range('a', 'b')).prop_map(|(a, b)| Tree::Range(a, b)),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            (one(), one()).prop_map(|(a, b)| Tree::Concat(a, b)),
            (one(), one()).prop_map(|(a, b)| Tree::Union(a, b)),
            (one(), one()).prop_map(|(a, b)| Tree::Inter(a, b)),
            (one(), one()).prop_map(|(a, b)| Tree::Diff(a, b)),
            one().prop_map(Tree::Comp),
            one().prop_map(Tree::Star),
            one().prop_map(Tree::Plus),
            one().prop_map(Tree::Opt),
            (one(), 0..4u64, 0..4u64).prop_map(|(a, i, j)| Tree::Loop(a, i, j)),
        ]
    })
}

fn make(tree: &Tree, l: &mut Languages, w: &mut Work) -> Regex {
    match tree {
        Tree::None => Languages::NONE,
        Tree::All => Languages::ALL,
        Tree::AllChar => Languages::ALL_CHAR,
        Tree::Literal(word) => l.literal(&text(word)),
        Tree::Range(a, b) => l.range(&text(&a.to_string()), &text(&b.to_string())),
        Tree::Concat(a, b) => {
            let (a, b) = (make(a, l, w), make(b, l, w));
            l.concat(a, b, w).unwrap()
        }
        Tree::Union(a, b) => {
            let parts = [make(a, l, w), make(b, l, w)];
            l.union(&parts, w).unwrap()
        }
        Tree::Inter(a, b) => {
            let parts = [make(a, l, w), make(b, l, w)];
            l.inter(&parts, w).unwrap()
        }
        Tree::Diff(a, b) => {
            let (a, b) = (make(a, l, w), make(b, l, w));
            l.difference(a, b, w).unwrap()
        }
        Tree::Comp(a) => {
            let a = make(a, l, w);
            l.complement(a)
        }
        Tree::Star(a) => {
            let a = make(a, l, w);
            l.star(a)
        }
        Tree::Plus(a) => {
            let a = make(a, l, w);
            l.plus(a, w).unwrap()
        }
        Tree::Opt(a) => {
            let a = make(a, l, w);
            l.optional(a, w).unwrap()
        }
        Tree::Loop(a, i, j) => {
            let a = make(a, l, w);
            l.repeat(a, *i, *j)
        }
    }
}

fn join(a: &Words, b: &Words) -> Words {
    a.iter().flat_map(|x| b.iter().map(move |y| format!("{x}{y}"))).filter(|w| w.len() <= LENGTH).collect()
}

/// From so many to so many times.
fn times(a: &Words, least: u64, most: u64) -> Words {
    let mut power = Words::from([String::new()]);
    let mut result = Words::new();
    for count in 0..=most {
        if count >= least {
            result.extend(power.iter().cloned());
        }
        power = join(&power, a);
    }
    result
}

fn words(tree: &Tree, all: &Words) -> Words {
    match tree {
        Tree::None => Words::new(),
        Tree::All => all.clone(),
        Tree::AllChar => Words::from(["a".into(), "b".into()]),
        Tree::Literal(word) => Words::from([word.clone()]),
        Tree::Range(a, b) => ['a', 'b'].iter().filter(|c| (a..=b).contains(c)).map(char::to_string).collect(),
        Tree::Concat(a, b) => join(&words(a, all), &words(b, all)),
        Tree::Union(a, b) => words(a, all).union(&words(b, all)).cloned().collect(),
        Tree::Inter(a, b) => words(a, all).intersection(&words(b, all)).cloned().collect(),
        Tree::Diff(a, b) => words(a, all).difference(&words(b, all)).cloned().collect(),
        Tree::Comp(a) => all.difference(&words(a, all)).cloned().collect(),
        Tree::Star(a) => times(&words(a, all), 0, LENGTH as u64),
        Tree::Plus(a) => times(&words(a, all), 1, LENGTH as u64 + 1),
        Tree::Opt(a) => times(&words(a, all), 0, 1),
        Tree::Loop(a, i, j) => times(&words(a, all), *i, *j),
    }
}

/// The shortest leftmost match, by trying all.
fn first_match(word: &str, from: usize, set: &Words, empty: bool) -> Option<(usize, usize)> {
    (from..=word.len())
        .flat_map(|i| (i..=word.len()).map(move |j| (i, j)))
        .find(|(i, j)| (empty || i < j) && set.contains(&word[*i..*j]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]
    #[test]
    fn words_match_as_the_sets_say(tree in trees(), subject in "[ab]{0,5}") {
        let (mut l, mut w) = (Languages::new(), Work::new(1 << 24));
        let all: Words = all_words().into_iter().collect();
        let set = words(&tree, &all);
        let regex = make(&tree, &mut l, &mut w);
        for word in &all {
            prop_assert_eq!(l.matches(regex, &text(word), &mut w), Ok(set.contains(word)), "{}", word);
        }
        let by = text("x");
        let replaced = first_match(&subject, 0, &set, true)
            .map_or(subject.clone(), |(i, j)| format!("{}x{}", &subject[..i], &subject[j..]));
        prop_assert_eq!(l.replace(&text(&subject), regex, &by, &mut w), Ok(text(&replaced)));
        let (mut expected, mut from) = (String::new(), 0);
        while let Some((i, j)) = first_match(&subject, from, &set, false) {
            expected.push_str(&subject[from..i]);
            expected.push('x');
            from = j;
        }
        expected.push_str(&subject[from..]);
        prop_assert_eq!(l.replace_all(&text(&subject), regex, &by, &mut w), Ok(text(&expected)));
    }
}

#[test]
fn ranges_that_are_none_are_empty() {
    let mut l = Languages::new();
    assert_eq!(l.range(&text("b"), &text("a")), Languages::NONE);
    assert_eq!(l.range(&text("ab"), &text("c")), Languages::NONE);
    assert_eq!(l.range(&text(""), &text("c")), Languages::NONE);
    let w = &mut Work::new(1000);
    let range = l.range(&text(r"\u{0}"), &text(r"\u{2FFFF}"));
    assert_eq!(range, Languages::ALL_CHAR);
    assert_eq!(l.matches(range, &text(r"\u{2FFFF}"), w), Ok(true));
}

#[test]
fn depth_and_length_do_not_matter() {
    let (mut l, mut w) = (Languages::new(), Work::new(1 << 26));
    let a = l.literal(&text("a"));
    let b = l.literal(&text("b"));
    let mut deep = a;
    for i in 0..100_000 {
        deep = match i % 4 {
            0 => l.star(deep),
            1 => l.union(&[deep, b], &mut w).unwrap(),
            2 => l.complement(deep),
            _ => l.concat(a, deep, &mut w).unwrap(),
        };
    }
    let _ = l.matches(deep, &text("abab"), &mut w).unwrap();
    let long = text(&"ab".repeat(100_000));
    let literal = l.literal(&long);
    assert_eq!(l.matches(literal, &long, &mut w), Ok(true));
    let many = l.repeat(a, 99_999, u64::MAX);
    assert_eq!(l.matches(many, &text(&"a".repeat(100_000)), &mut w), Ok(true));
    assert_eq!(l.matches(many, &text(&"a".repeat(99_998)), &mut w), Ok(false));
}

#[test]
fn what_takes_too_long_is_given_up() {
    let (mut l, mut w) = (Languages::new(), Work::new(10_000));
    // The letter before the last 30 is an a: two to the power of 31 states.
    let a = l.literal(&text("a"));
    let tail = l.power(Languages::ALL_CHAR, 30);
    let tail = l.concat(a, tail, &mut w).unwrap();
    let regex = l.concat(Languages::ALL, tail, &mut w).unwrap();
    assert_eq!(l.matches(regex, &text(&"aabab".repeat(10_000)), &mut w), Err(NoValue::GaveUp));
}
