//! One script for every check-sat, with the commands that are in its scope.

use std::io::Write as _;

use crate::Files;
use crate::core::text;
use crate::numbering::{CHECK_SAT, Numbering, POP, PUSH};
use crate::reader::{Halt, Reader};
use crate::tree::{Ref, What};

/// What is in scope.
enum Scope {
    Command(Ref),
    /// So many levels begin here.
    Levels(u64),
}

/// Prints a script for each of the check-sats that are asked for.
pub(crate) fn unfold(
    numbering: &mut Numbering<'_, '_>,
    (first, last): (u64, Option<u64>),
    prefix: &str,
    files: &mut dyn Files,
) -> Result<(), Halt> {
    let commands = numbering.reader.commands.len();
    let is = |reader: &Reader<'_>, at: usize, word: u32| match Ref::from_bits(reader.commands[at]).what() {
        What::Node(node) => reader.tree.first(node) == Some(Ref::word(word)),
        _ => false,
    };
    let total = (0..commands).filter(|at| is(&numbering.reader, *at, CHECK_SAT)).count();
    writeln!(numbering.reader.out, "Unfolding {total} queries into individual scripts...")?;
    let width = total.to_string().len();
    let mut scope: Vec<Scope> = Vec::new();
    let mut query = 0;
    for at in 0..commands {
        let command = Ref::from_bits(numbering.reader.commands[at]);
        if is(&numbering.reader, at, CHECK_SAT) {
            query += 1;
            if query < first || last.is_some_and(|last| query > last) {
                continue;
            }
            let name = format!("{prefix}.{query:0width$}.smt2");
            let file = files.create(&name)?;
            numbering.reader.out.redirect(Some(file))?;
            for item in &scope {
                if let Scope::Command(command) = item {
                    numbering.print_command(*command)?;
                }
            }
            numbering.print_command(command)?;
            numbering.reader.out.redirect(None)?;
            files.finish(&name)?;
            writeln!(numbering.reader.out, "Written {name}")?;
        } else if is(&numbering.reader, at, PUSH) {
            scope.push(Scope::Levels(levels(&numbering.reader, command)));
        } else if is(&numbering.reader, at, POP) {
            let mut left = levels(&numbering.reader, command);
            while left > 0 {
                match scope.pop() {
                    None => break,
                    Some(Scope::Command(_)) => {}
                    Some(Scope::Levels(levels)) if levels > left => {
                        scope.push(Scope::Levels(levels - left));
                        left = 0;
                    }
                    Some(Scope::Levels(levels)) => left -= levels,
                }
            }
        } else {
            scope.push(Scope::Command(command));
        }
    }
    Ok(())
}

/// How many levels a command pushes or pops.
fn levels(reader: &Reader<'_>, command: Ref) -> u64 {
    let What::Node(node) = command.what() else { return 0 };
    let digits = text(reader, reader.tree.part(node + 2));
    let value = digits.iter().try_fold(0_i64, |sum, digit| {
        digit.is_ascii_digit().then(|| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')))
    });
    u64::try_from(value.unwrap_or(0) as i32).unwrap_or(0)
}
