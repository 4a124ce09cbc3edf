//! The formula language of editions: every rule of a competition that the engine acts on is a formula.
//!
//! The language is small, typed and total: a formula that compiles has a value on every row of every table with the
//! columns it was compiled for (save that a real number may leave its range, which is an [`EvalError`]). Mistakes are
//! found when a formula is compiled, all of them at once, each with the place and a remedy. The reference for authors is
//! the crate's README.
//!
//! From source to value:
//!
//! 1. `lex` and `parse` make the tree of `ast`, which prints itself back.
//! 2. `check` resolves names, types and units, and makes the node list of `ir`.
//! 3. `reduce` puts in what a table knows to be the same on every row, and makes several formulas into one list.
//! 4. `eval` computes the scalar parts block-wise over columns, `aggregate` the folds over groups of rows.
//! 5. `english` says the tree in words.
//!
//! This crate knows tables, not competitions: what a column means is the caller's business.

mod aggregate;
mod ast;
mod check;
mod english;
mod error;
mod eval;
mod ir;
mod lex;
mod parse;
mod real;
mod reduce;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use agon_table::{Column, Table, Type, Value};
use indexmap::IndexMap;

use crate::ast::Expr;
use crate::check::Checker;
pub use crate::english::Voice;
pub use crate::error::{EvalError, FormulaError};
use crate::ir::{Fold, Id, Node, Op};

/// What names mean where a formula stands.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The columns, with their types.
    pub columns: IndexMap<String, Type>,
    /// The constants, with their types and values. A column of the same name hides a constant.
    pub constants: IndexMap<String, (Type, Value)>,
    /// Columns that an aggregate without `per` groups by; none or an empty list stands for all rows together.
    pub per: Option<Vec<String>>,
    /// Names that stand for something, but nothing is known about it because its own definition has a mistake. What
    /// depends on one is not checked, and not reported either: a formula that does not compile for no other reason
    /// has an empty list of mistakes.
    pub unknown: BTreeSet<String>,
    /// Whether every name that is not known is to be taken for such a one.
    pub open: bool,
    /// The type that the place expects, if it expects one. A number must have its dimension, but may be real or exact;
    /// a text must be of its vocabulary. Bare words are looked up in it.
    pub expect: Option<Type>,
}

impl Scope {
    /// The columns of a table, and nothing else.
    pub fn of(table: &Table) -> Self {
        let columns = table.schema().map(|(name, ty)| (name.to_string(), ty.clone())).collect();
        Self { columns, ..Self::default() }
    }
}

/// A compiled formula. Cloning is cheap.
#[derive(Clone)]
pub struct Formula(Arc<Inner>);

struct Inner {
    source: String,
    tree: Expr,
    nodes: Vec<Node>,
    root: Id,
    columns: Vec<String>,
}

/// A formula to sort by.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// What is compared.
    pub formula: Formula,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// Whether a word belongs to the language, so that no column or constant can be used by this name.
pub fn is_reserved(word: &str) -> bool {
    lex::RESERVED.contains(&word)
}

/// Compiles a formula for a scope.
///
/// # Errors
/// All mistakes that can be told apart, in the order of the source; none if the formula only depends on a name of
/// [`Scope::unknown`].
pub fn compile(source: &str, scope: &Scope) -> Result<Formula, Vec<FormulaError>> {
    let (tree, errors) = parse::parse(source);
    finish(source, tree, errors, scope)
}

/// Compiles a formula that a direction may follow: `correct desc`, `wall asc`, `wall`. Without one the least is first.
///
/// # Errors
/// All mistakes that can be told apart, in the order of the source.
pub fn compile_order(source: &str, scope: &Scope) -> Result<SortKey, Vec<FormulaError>> {
    let (tree, (end, descending), errors) = parse::parse_order(source);
    let formula = finish(&source[..end], tree, errors, scope)?;
    Ok(SortKey { formula, descending })
}

fn finish(
    source: &str,
    tree: Expr,
    mut errors: Vec<FormulaError>,
    scope: &Scope,
) -> Result<Formula, Vec<FormulaError>> {
    let mut checker = Checker::new(scope);
    let root = checker.check(&tree, scope.expect.as_ref());
    if let (Some(root), Some(want)) = (root, &scope.expect) {
        checker.expected(root, want, &tree.span);
    }
    errors.append(&mut checker.errors);
    match root {
        Some(root) if errors.is_empty() => {
            let nodes = checker.graph.nodes;
            let columns = columns(&nodes, root);
            Ok(Formula(Arc::new(Inner { source: source.into(), tree, nodes, root, columns })))
        }
        _ => {
            errors.sort_by_key(|e| (e.span.start, e.span.end));
            errors.dedup();
            Err(errors)
        }
    }
}

/// The columns that a node depends on.
fn columns(nodes: &[Node], root: Id) -> Vec<String> {
    let mut reached = vec![false; nodes.len()];
    reached[root] = true;
    let mut names = BTreeSet::new();
    for id in (0..=root).rev() {
        if !reached[id] {
            continue;
        }
        match &nodes[id].op {
            Op::Column(name) => {
                names.insert(name.to_string());
            }
            Op::Aggregate(a) => {
                names.extend(a.per.iter().chain(&a.once).chain(&a.other).map(ToString::to_string));
            }
            _ => {}
        }
        nodes[id].op.operands(|operand| reached[operand] = true);
    }
    names.into_iter().collect()
}

impl Formula {
    /// The type of its values.
    pub fn ty(&self) -> &Type {
        &self.0.nodes[self.0.root].ty
    }

    /// The formula as it was written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// All columns that it reads, also to group or order by; sorted.
    pub fn columns(&self) -> Vec<String> {
        self.0.columns.clone()
    }

    /// The columns that its value can differ with from row to row: rows of a table that agree in these have one value.
    /// What stands inside of an aggregate is not among them, but what the aggregate groups by is. Sorted.
    pub fn varies_with(&self) -> Vec<String> {
        let nodes = &self.0.nodes;
        let mut reached = vec![false; nodes.len()];
        reached[self.0.root] = true;
        let mut names = BTreeSet::new();
        for id in (0..=self.0.root).rev() {
            if !reached[id] {
                continue;
            }
            match &nodes[id].op {
                Op::Column(name) => {
                    names.insert(name.to_string());
                }
                Op::Aggregate(a) => {
                    names.extend(a.per.iter().chain(&a.other).map(ToString::to_string));
                    // The place is that of the row itself.
                    let own = if a.fold == Fold::Place { a.by.iter().map(|(id, _)| *id).collect() } else { Vec::new() };
                    own.into_iter().chain(a.otherwise).for_each(|id| reached[id] = true);
                }
                op => op.operands(|operand| reached[operand] = true),
            }
        }
        names.into_iter().collect()
    }

    /// Its value, if that is the same for every row of every table.
    pub fn constant(&self) -> Option<Value> {
        self.0.nodes[self.0.root].constant().map(ir::Const::value)
    }

    /// Its value, if that is the same for every row of this table as far as the table's constants tell.
    pub fn constant_in(&self, table: &Table) -> Option<Value> {
        match reduce::reduce(&self.0.nodes, self.0.root, table) {
            Some((nodes, root)) => nodes[root].constant().map(ir::Const::value),
            None => self.constant(),
        }
    }

    /// Its value on every row. A formula that is just a column gives the table's own column, uncopied.
    ///
    /// # Errors
    /// If the table lacks a column, or a real number leaves its range.
    pub fn eval(&self, table: &Table) -> Result<Arc<Column>, EvalError> {
        eval::evaluate(&self.0.nodes, self.0.root, table, &self.0.source)
    }

    /// The value at some rows of a table, in their order: what [`eval`](Self::eval) gives there, for less.
    ///
    /// # Errors
    /// As `eval`.
    ///
    /// # Panics
    /// If the table has no such row.
    pub fn eval_at(&self, table: &Table, rows: &[u32]) -> Result<Arc<Column>, EvalError> {
        eval::evaluate_at(&self.0.nodes, self.0.root, table, rows, &self.0.source)
    }

    /// What [`eval_at`](Self::eval_at) gives for each of some formulas, for less: a part that several of them have is
    /// computed once.
    ///
    /// # Errors
    /// As `eval_at`, for the first formula that has a mistake.
    ///
    /// # Panics
    /// If the table has no such row.
    pub fn eval_all_at(formulas: &[&Self], table: &Table, rows: &[u32]) -> Result<Vec<Arc<Column>>, EvalError> {
        let parts: Vec<(&[Node], Id)> = formulas.iter().map(|f| (&f.0.nodes[..], f.0.root)).collect();
        match eval::evaluate_all_at(&parts, table, rows) {
            Some(columns) => Ok(columns),
            // One by one, the mistake is found with its formula and place.
            None => formulas.iter().map(|f| f.eval_at(table, rows)).collect(),
        }
    }

    /// The formula as an English phrase, about runs.
    pub fn english(&self) -> String {
        self.english_as(&Voice::default())
    }

    /// The formula as an English phrase, with the caller's words for rows and names.
    pub fn english_as(&self, voice: &Voice<'_>) -> String {
        english::phrase(voice, &self.0.tree)
    }
}

/// Formulas are equal if they do the same to columns of the same names, however they were written.
impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        let same = |(x, y): (&Node, &Node)| x.op == y.op && x.ty == y.ty;
        Arc::ptr_eq(&self.0, &other.0)
            || (a.root == b.root && a.nodes.len() == b.nodes.len() && a.nodes.iter().zip(&b.nodes).all(same))
    }
}

impl Eq for Formula {}

impl Hash for Formula {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.root.hash(state);
        self.0.nodes.iter().for_each(|node| node.op.hash(state));
    }
}

/// The formula with uniform spacing and no needless parentheses.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.tree.fmt(f)
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Formula({:?})", self.0.source)
    }
}
