//! What the benchmark library asks of a script beyond the standard: commands in a sensible order, and a header.

use crate::problem::{Class, Fault, Problem};
use crate::script::{CommandKind, Script};

/// Where the order of a script's commands, or its header, is not that of a benchmark: a `set-logic` before everything that
/// needs one, `check-sat` before what asks about its answer, an `exit` at the end and nothing behind it, and an
/// `:smt-lib-version`.
pub fn submission(script: &Script, text: &[u8]) -> Vec<Problem> {
    let mut found = script.flow.clone();
    let mut complain = |at: usize, message: &str| found.push(Fault::new(Class::Flow, at, message).place(text));
    let (mut logic, mut checked, mut version, mut exited) = (false, false, false, false);
    for command in &script.commands {
        use CommandKind as C;
        match &command.kind {
            C::SetLogic(_) => logic = true,
            C::Reset => (logic, checked) = (false, false),
            C::SetInfo(setting) => version |= script.symbols.bytes(setting.keyword) == b":smt-lib-version",
            C::Exit => exited = true,
            C::CheckSat | C::CheckSatAssuming(_) => checked = true,
            C::Assert(_)
            | C::Push(_)
            | C::Pop(_)
            | C::DeclareFun(_)
            | C::DeclareConst(_)
            | C::DefineFun(_)
            | C::DefineConst(_)
            | C::DefineFunRec(_)
            | C::DefineFunsRec(_)
            | C::DeclareSort(_)
            | C::DefineSort(..)
            | C::DeclareDatatype(_)
            | C::DeclareDatatypes(_)
                if !logic =>
            {
                complain(command.start, "this command must stand behind `set-logic`");
                logic = true;
            }
            C::GetModel
            | C::GetValue(_)
            | C::GetProof
            | C::GetUnsatCore
            | C::GetUnsatAssumptions
            | C::GetAssignment
                if !checked =>
            {
                complain(
                    command.start,
                    "this command asks about the answer of a `check-sat`, but there is none before it",
                );
            }
            _ => {}
        }
    }
    let end = script.commands.last().map_or(text.len(), |c| c.start);
    if !exited {
        complain(end, "the last command is no `exit`");
    }
    if !version {
        complain(0, "the script does not say its version: `(set-info :smt-lib-version 2.6)`");
    }
    found.sort_by_key(|p| p.at);
    found
}
