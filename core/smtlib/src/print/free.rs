//! Which variables are free in a term.
//!
//! A variable is known by its name and how many of that name are bound around it. What binds a variable of a name that is
//! bound around it already must stay inside that: it depends on the place, as if it used the outer variable. So there are
//! two keys for each variable: its use, and the place.

use rustc_hash::FxHashMap;

use crate::intern::Symbol;
use crate::script::Script;
use crate::terms::{Head, Term, Terms, Variable};

/// A set of keys, by number; 0 is empty.
type Set = u32;

/// The free variables of terms.
pub(super) struct Free {
    closed: bool,
    keys: FxHashMap<(Symbol, u32, bool), u32>,
    /// The term of a key that is a use.
    variables: Vec<Option<Term>>,
    sets: Vec<Box<[u32]>>,
    set_ids: FxHashMap<Box<[u32]>, Set>,
    unions: FxHashMap<(Set, Set), Set>,
    /// Of each term.
    of: Vec<Set>,
    known: Vec<bool>,
}

impl Free {
    pub(super) fn new(terms: &Terms) -> Self {
        let closed = terms.has_no_variables();
        let count = if closed { 0 } else { terms.len() };
        let mut this = Self {
            closed,
            keys: FxHashMap::default(),
            variables: Vec::new(),
            sets: Vec::new(),
            set_ids: FxHashMap::default(),
            unions: FxHashMap::default(),
            of: vec![0; count],
            known: vec![false; count],
        };
        this.set(Box::default());
        this
    }

    /// Whether the script has no variables at all.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    fn set(&mut self, keys: Box<[u32]>) -> Set {
        if let Some(&id) = self.set_ids.get(&keys) {
            return id;
        }
        let id = self.sets.len() as Set;
        self.sets.push(keys.clone());
        self.set_ids.insert(keys, id);
        id
    }

    fn key(&mut self, name: Symbol, level: u32, place: bool, term: Option<Term>) -> u32 {
        let next = self.variables.len() as u32;
        let key = *self.keys.entry((name, level, place)).or_insert(next);
        if key == next {
            self.variables.push(term);
        } else if let (Some(slot @ None), Some(_)) = (self.variables.get_mut(key as usize), term) {
            *slot = term;
        }
        key
    }

    fn union(&mut self, a: Set, b: Set) -> Set {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 {
            return b;
        }
        let pair = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&pair) {
            return known;
        }
        let mut keys: Vec<u32> = self.sets[a as usize].iter().chain(&*self.sets[b as usize]).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let id = self.set(keys.into());
        self.unions.insert(pair, id);
        id
    }

    /// The keys that a binder or a case binds.
    fn bound(&mut self, variables: &[Term], terms: &Terms) -> Vec<u32> {
        let mut keys = Vec::with_capacity(variables.len() * 2);
        for &variable in variables {
            if let Head::Variable(Variable { name, level, .. }) = terms.head(variable) {
                keys.push(self.key(name, level, false, Some(variable)));
                keys.push(self.key(name, level, true, None));
            }
        }
        keys
    }

    /// Finds the free variables of terms that are given parts before wholes.
    pub(super) fn find(&mut self, reached: &[Term], script: &Script) {
        if self.closed {
            return;
        }
        let terms = &script.terms;
        for &term in reached {
            let at = term.index();
            if self.known[at] {
                continue;
            }
            self.known[at] = true;
            let arguments = terms.arguments(term);
            self.of[at] = match terms.head(term) {
                Head::Variable(Variable { name, level, .. }) => {
                    let key = self.key(name, level, false, Some(term));
                    self.set(Box::new([key]))
                }
                Head::Binder(_) | Head::Case(_) => {
                    let (variables, body) = arguments.split_at(arguments.len() - 1);
                    let inner = self.of[body[0].index()];
                    // The outer of two variables of one name is bound further outside.
                    let mut places = Vec::new();
                    for &variable in variables {
                        if let Head::Variable(Variable { name, level, .. }) = terms.head(variable)
                            && level > 0
                        {
                            places.push(self.key(name, level - 1, true, None));
                        }
                    }
                    let bound = self.bound(variables, terms);
                    let mut keys: Vec<u32> = self.sets[inner as usize].iter().copied().chain(places).collect();
                    keys.retain(|k| !bound.contains(k));
                    keys.sort_unstable();
                    keys.dedup();
                    self.set(keys.into())
                }
                _ => {
                    let mut all = 0;
                    for argument in arguments {
                        all = self.union(all, self.of[argument.index()]);
                    }
                    all
                }
            };
        }
    }

    fn keys_of(&self, term: Term) -> &[u32] {
        if self.closed { &[] } else { &self.sets[self.of[term.index()] as usize] }
    }

    /// Whether all that is free in a term is free in another one.
    pub(super) fn within(&self, term: Term, other: Term) -> bool {
        if self.closed || self.of[term.index()] == 0 || self.of[term.index()] == self.of[other.index()] {
            return true;
        }
        let outer = self.keys_of(other);
        self.keys_of(term).iter().all(|k| outer.binary_search(k).is_ok())
    }

    /// Whether a term depends on a variable that a binder or case binds.
    pub(super) fn depends(&self, term: Term, binder: Term, terms: &Terms) -> bool {
        let keys = self.keys_of(term);
        if keys.is_empty() {
            return false;
        }
        let arguments = terms.arguments(binder);
        arguments[..arguments.len() - 1].iter().any(|&variable| match terms.head(variable) {
            Head::Variable(Variable { name, level, .. }) => [false, true]
                .iter()
                .any(|place| self.keys.get(&(name, level, *place)).is_some_and(|k| keys.binary_search(k).is_ok())),
            _ => false,
        })
    }

    /// The variables of a name that are free in a term.
    pub(super) fn variables_named(&self, term: Term, name: Symbol, terms: &Terms) -> Vec<Term> {
        let named = |v: &Term| matches!(terms.head(*v), Head::Variable(variable) if variable.name == name);
        self.keys_of(term).iter().filter_map(|&k| self.variables[k as usize]).filter(named).collect()
    }
}
