//! Whether a script keeps to what a competition allows: which commands, how many, in which order, with which arguments,
//! and terms of the declared logic.
//!
//! The rules are data: an edition says them. Commands are looked at as they stand, so that every rule is checked even
//! where the script cannot be read to its end.

use crate::lexer::{Kind, Lexer, Strings, Token};
use crate::position::Position;
use crate::problem::{Class, Problem};
use crate::session::{Options, Session, Version};
use crate::split::items;

/// Where a command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is the first command.
    First,
    /// It is the second command.
    Second,
    /// It is the last command.
    Last,
}

/// What is asked of a script's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermRule {
    /// They belong to the declared logic.
    InLogic,
    /// Every symbol is declared once, before it is used.
    Declared,
    /// None has a name.
    Unnamed,
    /// Only asserted terms have names.
    NamedAssertions,
}

/// A rule for scripts. What is empty or `None` asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Its name in the edition.
    pub name: String,
    /// There are no commands but these.
    pub only: Vec<String>,
    /// The commands that the rest is about.
    pub commands: Vec<String>,
    /// Of these, the ones whose arguments begin like this.
    pub beginning: Option<String>,
    /// There are so many.
    pub exactly: Option<u64>,
    /// There are so many or more.
    pub at_least: Option<u64>,
    /// There are so many or fewer.
    pub at_most: Option<u64>,
    /// Their arguments are one of these.
    pub arguments: Vec<String>,
    /// Where they stand.
    pub place: Option<Place>,
    /// Only these commands stand before them.
    pub only_behind: Vec<String>,
    /// One of these commands stands before each.
    pub after: Vec<String>,
    /// None of these commands stands before them.
    pub not_after: Vec<String>,
    /// This command is the next.
    pub followed_by: Option<String>,
    /// The sorts that they declare take so many arguments.
    pub arity: Option<u64>,
    /// They stand only in scripts whose logic has datatypes.
    pub needs_datatypes: bool,
    /// What is asked of the terms.
    pub terms: Option<TermRule>,
}

/// A place where a script breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the rule; `None` if the script is no SMT-LIB, or ill-sorted.
    pub rule: Option<String>,
    /// What is wrong, and where.
    pub problem: Problem,
}

/// A command as it stands.
struct Seen {
    name: String,
    /// The first of its tokens behind the name, a blank between two.
    arguments: String,
    arity: Option<u64>,
    start: usize,
    /// Terms with names: where, and whether the name is that of the asserted term.
    names: Vec<(usize, bool)>,
}

/// How many tokens of a command's arguments are compared.
const TOKENS: usize = 16;

fn look(text: &[u8], strings: Strings) -> Vec<Seen> {
    let mut found = Vec::new();
    for span in items(text, strings).filter_map(Result::ok) {
        let mut lexer = Lexer::new(&text[..span.end], strings);
        lexer.set_offset(span.start);
        let tokens: Vec<Token> = lexer.collect::<Result<_, _>>().unwrap_or_default();
        let [open, name, rest @ ..] = &tokens[..] else { continue };
        if open.kind != Kind::Open {
            continue;
        }
        let name = String::from_utf8_lossy(name.bytes(text)).into_owned();
        let rest = rest.split_last().map_or(rest, |(_, rest)| rest);
        let texts: Vec<_> = rest.iter().take(TOKENS).map(|t| String::from_utf8_lossy(t.bytes(text))).collect();
        let arity = match name.as_str() {
            "declare-sort" => texts.get(1).and_then(|n| n.parse().ok()),
            "define-sort" => rest.iter().skip(2).position(|t| t.kind == Kind::Close).map(|n| n as u64),
            _ => None,
        };
        let mut depth = 1_u64;
        let mut names = Vec::new();
        for token in rest {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                Kind::Keyword if depth > 1 && token.bytes(text) == b":named" => {
                    names.push((token.start, depth == 2 && name == "assert"));
                }
                _ => {}
            }
        }
        found.push(Seen { arguments: texts.join(" "), arity, start: span.start, names, name });
    }
    found
}

/// Where a script breaks rules, in the order of the places.
pub fn lint(text: &[u8], version: Option<Version>, rules: &[Rule]) -> Vec<Finding> {
    let mut session = Session::new(Options { version, ..Options::default() });
    let outcome = session.read(text);
    let script = session.script();
    let seen = look(text, session.strings);
    let mut findings = Vec::new();
    let asks = |what| rules.iter().find(|r| r.terms == Some(what)).map(|r| r.name.clone());
    if let Err(problem) = outcome {
        let rule = match problem.class {
            Class::Scope => asks(TermRule::Declared),
            Class::Extension => asks(TermRule::InLogic),
            _ => None,
        };
        findings.push(Finding { rule, problem });
    }
    if let Some(rule) = asks(TermRule::InLogic) {
        let extensions = script.extensions.iter().filter(|e| !e.what.starts_with("the command ")).map(|e| Problem {
            class: Class::Extension,
            at: e.at,
            position: Position::of(text, e.at),
            message: format!("extension of {}: {}", e.of, e.what),
        });
        let outside = script.outside_logic.iter().cloned().chain(extensions);
        findings.extend(outside.map(|problem| Finding { rule: Some(rule.clone()), problem }));
    }
    for rule in rules {
        Commands { text, seen: &seen, rule, datatypes: script.logic.datatypes, findings: &mut findings }.check();
    }
    findings.sort_by_key(|f| f.problem.at);
    findings
}

struct Commands<'a> {
    text: &'a [u8],
    seen: &'a [Seen],
    rule: &'a Rule,
    datatypes: bool,
    findings: &'a mut Vec<Finding>,
}

impl Commands<'_> {
    fn complain(&mut self, at: usize, message: String) {
        let message = message.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        let problem = Problem { class: Class::Flow, at, position: Position::of(self.text, at), message };
        self.findings.push(Finding { rule: Some(self.rule.name.clone()), problem });
    }

    /// The command in words.
    fn what(&self) -> String {
        let names = self.rule.commands.join("` or `");
        match &self.rule.beginning {
            Some(beginning) => format!("`({names} {beginning} ...)`"),
            None => format!("`{names}`"),
        }
    }

    fn check(&mut self) {
        let (seen, rule) = (self.seen, self.rule);
        if !rule.only.is_empty() {
            for command in seen.iter().filter(|c| !rule.only.contains(&c.name)) {
                self.complain(command.start, format!("the command `{}` is not allowed here", short(&command.name)));
            }
        }
        match rule.terms {
            Some(TermRule::Unnamed) => {
                for &(at, _) in seen.iter().flat_map(|c| &c.names) {
                    self.complain(at, "terms have no names here".into());
                }
            }
            Some(TermRule::NamedAssertions) => {
                for &(at, _) in seen.iter().flat_map(|c| &c.names).filter(|(_, asserted)| !asserted) {
                    self.complain(at, "only asserted terms have names here".into());
                }
            }
            _ => {}
        }
        if rule.commands.is_empty() {
            return;
        }
        let chosen: Vec<usize> = (0..seen.len())
            .filter(|&n| {
                let begins = |b: &String| {
                    seen[n].arguments.strip_prefix(b.as_str()).is_some_and(|r| r.is_empty() || r.starts_with(' '))
                };
                rule.commands.contains(&seen[n].name) && rule.beginning.as_ref().is_none_or(begins)
            })
            .collect();
        self.count(&chosen);
        for &number in &chosen {
            self.one(number);
        }
    }

    fn count(&mut self, chosen: &[usize]) {
        let count = chosen.len() as u64;
        let what = self.what();
        // What is missing is missing at the end; what is too much has a place.
        let end = self.seen.last().map_or(0, |c| c.start);
        let least = self.rule.exactly.max(self.rule.at_least).unwrap_or(0);
        if count < least {
            self.complain(end, format!("there must be {least} of {what}, but there are {count}"));
        }
        let most = self.rule.exactly.or(self.rule.at_most).unwrap_or(u64::MAX);
        if count > most {
            let at = self.seen[chosen[most as usize]].start;
            self.complain(at, format!("there must be no more than {most} of {what}, but there are {count}"));
        }
    }

    fn one(&mut self, number: usize) {
        let (seen, rule) = (self.seen, self.rule);
        let command = &seen[number];
        let (at, before) = (command.start, &seen[..number]);
        let what = format!("`{}`", short(&command.name));
        let wanted = match rule.place {
            Some(Place::First) => (number != 0).then_some("the first"),
            Some(Place::Second) => (number != 1).then_some("the second"),
            Some(Place::Last) => (number + 1 != seen.len()).then_some("the last"),
            None => None,
        };
        if let Some(place) = wanted {
            self.complain(at, format!("{what} must be {place} command"));
        }
        if !rule.arguments.is_empty() && !rule.arguments.contains(&command.arguments) {
            let list = rule.arguments.join("` or `");
            let found = short(&command.arguments);
            self.complain(at, format!("{what} must have the argument `{list}`, not `{found}`"));
        }
        if !rule.only_behind.is_empty()
            && let Some(other) = before.iter().find(|c| !rule.only_behind.contains(&c.name))
        {
            self.complain(at, format!("`{}` must not stand before {what}", short(&other.name)));
        }
        if !rule.after.is_empty() && !before.iter().any(|c| rule.after.contains(&c.name)) {
            self.complain(at, format!("`{}` must stand before {what}", rule.after.join("` or `")));
        }
        if let Some(other) = before.iter().find(|c| rule.not_after.contains(&c.name)) {
            self.complain(at, format!("{what} must not stand behind `{}`", short(&other.name)));
        }
        if let Some(next) = &rule.followed_by
            && seen.get(number + 1).is_none_or(|c| c.name != *next)
        {
            self.complain(at, format!("`{next}` must follow {what}"));
        }
        if let (Some(wanted), Some(found)) = (rule.arity, command.arity)
            && wanted != found
        {
            self.complain(at, format!("the sort that {what} declares must take {wanted} arguments, but takes {found}"));
        }
        if rule.needs_datatypes && !self.datatypes {
            self.complain(at, format!("{what} needs a logic with datatypes"));
        }
    }
}

fn short(text: &str) -> String {
    if text.chars().count() > 60 { text.chars().take(60).chain("...".chars()).collect() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(script: &str, rule: Rule) -> Vec<(u64, u64, String)> {
        let rule = Rule { name: "r".into(), ..rule };
        let findings = lint(script.as_bytes(), None, &[rule]);
        findings.into_iter().map(|f| (f.problem.position.line, f.problem.position.column, f.problem.message)).collect()
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_rule_has_its_place() {
        let script = "(set-option :print-success true)\n(set-logic QF_UF)\n(declare-sort S 1)\n(push 2)\n(assert true)(check-sat)\n(echo \"(\")\n(exit)";
        let of = |rule| found(script, rule).into_iter().map(|(l, c, _)| (l, c)).collect::<Vec<_>>();
        let about = |commands: &[&str]| Rule { commands: names(commands), ..Rule::default() };
        assert_eq!(
            of(Rule {
                only: names(&["set-option", "set-logic", "declare-sort", "push", "assert", "check-sat", "exit"]),
                ..Rule::default()
            }),
            [(6, 1)]
        );
        assert_eq!(of(Rule { exactly: Some(1), ..about(&["check-sat"]) }), []);
        assert_eq!(of(Rule { exactly: Some(2), ..about(&["check-sat"]) }), [(7, 1)]);
        assert_eq!(of(Rule { at_most: Some(0), ..about(&["check-sat"]) }), [(5, 14)]);
        assert_eq!(of(Rule { arguments: names(&["1"]), ..about(&["push", "pop"]) }), [(4, 1)]);
        assert_eq!(of(Rule { arity: Some(0), ..about(&["declare-sort"]) }), [(3, 1)]);
        assert_eq!(of(Rule { place: Some(Place::Last), ..about(&["echo"]) }), [(6, 1)]);
        assert_eq!(of(Rule { place: Some(Place::First), ..about(&["set-logic"]) }), [(2, 1)]);
        assert_eq!(of(Rule { place: Some(Place::Second), ..about(&["set-logic"]) }), []);
        assert_eq!(of(Rule { only_behind: names(&["set-option"]), ..about(&["set-logic"]) }), []);
        assert_eq!(of(Rule { only_behind: names(&["set-info"]), ..about(&["set-logic"]) }), [(2, 1)]);
        assert_eq!(of(Rule { after: names(&["pop"]), ..about(&["check-sat"]) }), [(5, 14)]);
        assert_eq!(of(Rule { not_after: names(&["push"]), ..about(&["assert"]) }), [(5, 1)]);
        assert_eq!(of(Rule { followed_by: Some("check-sat".into()), ..about(&["assert"]) }), []);
        assert_eq!(of(Rule { followed_by: Some("exit".into()), ..about(&["assert"]) }), [(5, 1)]);
        assert_eq!(
            of(Rule { beginning: Some(":print-success".into()), at_most: Some(0), ..about(&["set-option"]) }),
            [(1, 1)]
        );
        assert_eq!(of(Rule { beginning: Some(":print".into()), at_most: Some(0), ..about(&["set-option"]) }), []);
        assert_eq!(of(Rule { needs_datatypes: true, ..about(&["declare-sort"]) }), [(3, 1)]);
    }

    #[test]
    fn terms_have_rules() {
        let terms = |terms| Rule { terms: Some(terms), ..Rule::default() };
        let named = "(set-logic QF_LIA)(declare-const x Int)\n(assert (! (= x 1) :named a))\n(assert (not (! (= x 2) :named b)))";
        let places = |script: &str, rule| found(script, rule).iter().map(|f| (f.0, f.1)).collect::<Vec<_>>();
        assert_eq!(places(named, terms(TermRule::Unnamed)), [(2, 20), (3, 25)]);
        assert_eq!(places(named, terms(TermRule::NamedAssertions)), [(3, 25)]);
        let outside =
            "(set-logic QF_LIA)(declare-const x Int)\n(assert (= (* x x) 1))(assert (forall ((y Int)) (= y x)))";
        assert_eq!(places(outside, terms(TermRule::InLogic)), [(2, 12), (2, 31)]);
        let twice = "(declare-const x Int)(declare-const x Int)(check-sat)";
        let finding = &lint(twice.as_bytes(), None, &[Rule { name: "once".into(), ..terms(TermRule::Declared) }])[0];
        assert_eq!((finding.rule.as_deref(), finding.problem.at), (Some("once"), 36));
    }
}
