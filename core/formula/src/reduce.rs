//! What is left of a formula where columns are known to have the same value on every row.
//!
//! The settings of a view are such columns, and most of what steps ask about them (`instances == 'sat'`) is decided
//! before any row is looked at. Only the answer changes nothing: a reduced formula has the values of the whole one.

use agon_table::{Table, Type, Value};

use crate::eval::fold_constant;
use crate::ir::{Aggregate, Const, Graph, Id, Node, Op};

/// The constant that a column of the table is, as a formula that takes it for a column of this type sees it.
fn known(table: &Table, name: &str, ty: &Type) -> Option<Const> {
    match (ty, table.constant(name)?) {
        (Type::Bool, Value::Bool(b)) => Some(Const::Bool(*b)),
        (Type::Symbol(_), Value::Symbol(text)) => Some(Const::Symbol(text.clone())),
        (Type::Number { real: false, .. }, Value::Exact(e)) => Some(Const::Exact(e.clone())),
        (Type::Number { real: true, .. }, Value::Exact(e)) => Some(Const::real(e.to_f64())),
        (Type::Number { real: true, .. }, Value::Real(r)) if r.is_finite() => Some(Const::real(*r)),
        _ => None,
    }
}

/// The formula with the table's constants in place of its columns, or `None` if none of them is one.
pub(crate) fn reduce(nodes: &[Node], root: Id, table: &Table) -> Option<(Vec<Node>, Id)> {
    let constant = |node: &Node| match &node.op {
        Op::Column(name) => known(table, name, &node.ty),
        _ => None,
    };
    nodes.iter().find_map(constant)?;
    let mut reduced: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut place: Vec<Id> = Vec::with_capacity(nodes.len());
    for node in &nodes[..=root] {
        let op = match constant(node) {
            Some(value) => Op::Const(value),
            None => moved(&node.op, &place, &reduced),
        };
        let same = match op {
            Op::If(condition, yes, no) => truth(&reduced, condition).map(|c| if c { yes } else { no }),
            Op::And(a, b) => match (truth(&reduced, a), truth(&reduced, b)) {
                (Some(false), _) | (_, Some(true)) => Some(a),
                (_, Some(false)) | (Some(true), _) => Some(b),
                _ => None,
            },
            Op::Or(a, b) => match (truth(&reduced, a), truth(&reduced, b)) {
                (Some(true), _) | (_, Some(false)) => Some(a),
                (_, Some(true)) | (Some(false), _) => Some(b),
                _ => None,
            },
            _ => None,
        };
        if let Some(id) = same {
            place.push(id);
            continue;
        }
        let mut node = Node { op, ..node.clone() };
        let mut folds = !matches!(node.op, Op::Const(_) | Op::Column(_) | Op::Aggregate(_));
        node.op.operands(|id| folds &= reduced[id].constant().is_some());
        if folds && let Ok(value) = fold_constant(&reduced, node.clone()) {
            node.op = Op::Const(Const::of(&value));
        }
        place.push(reduced.len());
        reduced.push(node);
    }
    Some((reduced, place[root]))
}

fn truth(nodes: &[Node], id: Id) -> Option<bool> {
    match nodes[id].constant() {
        Some(Const::Bool(b)) => Some(*b),
        _ => None,
    }
}

/// The same operation on operands that have moved.
fn moved(op: &Op, place: &[Id], nodes: &[Node]) -> Op {
    let Op::Aggregate(old) = op else { return op.with_operands(|id| place[id]) };
    let mut new = Aggregate {
        value: old.value.map(|id| place[id]),
        filter: old.filter.map(|id| place[id]),
        by: old.by.iter().map(|(id, descending)| (place[*id], *descending)).collect(),
        otherwise: old.otherwise.map(|id| place[id]),
        ..(**old).clone()
    };
    // A filter that lets everything through is none.
    new.filter = new.filter.filter(|id| truth(nodes, *id) != Some(true));
    Op::Aggregate(Box::new(new))
}

/// Several formulas as one list of nodes, in which what they have in common is there once, with the root of each.
pub(crate) fn merge(formulas: &[(&[Node], Id)]) -> (Vec<Node>, Vec<Id>) {
    let mut graph = Graph::default();
    let mut roots = Vec::with_capacity(formulas.len());
    for (nodes, root) in formulas {
        let mut place: Vec<Id> = Vec::with_capacity(nodes.len());
        for node in &nodes[..=*root] {
            let op = moved(&node.op, &place, &graph.nodes);
            place.push(graph.add(Node { op, ..node.clone() }));
        }
        roots.push(place[*root]);
    }
    (graph.nodes, roots)
}
