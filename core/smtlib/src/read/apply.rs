//! Applying what an application begins with to its arguments: sorts, the sugar of mixed arithmetic, maps, datatypes.

use super::Reader;
use crate::builtin::{Builtin, Rank};
use crate::check::{Checker, Misfit};
use crate::intern::Symbol;
use crate::lexer::{Kind, Token};
use crate::problem::{Class, Fault, shown};
use crate::script::{Fun, FunctionKind};
use crate::session::{Bound, word};
use crate::sorts::{Sort, SortKind};
use crate::terms::{Head, Op, Qualified, Term};

/// What is applied.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Builtin(Builtin),
    /// A builtin with indices.
    Indexed(Op),
    Function(Fun),
    /// A function of the script with `as`.
    FunctionAs(Fun, Sort),
    /// The constructor, as a test: `(_ is cons)`.
    Is(Op, Fun),
    /// `(as const sort)`
    Const(Op, Sort),
    /// A term without arguments that has been made: `(_ bv5 8)`.
    Made(Term),
    /// A map.
    Term(Term),
}

type Found<T> = Result<T, Fault>;

impl Reader<'_, '_> {
    /// Applies a target to the values from `base` on, which stay where they are.
    #[inline]
    pub(super) fn apply(&mut self, target: Target, base: usize, at: usize) -> Found<Term> {
        match target {
            Target::Builtin(Builtin::Apply) => {
                let map = self.s.values[base];
                self.apply_map(map, base, 1, at)
            }
            Target::Builtin(builtin) => {
                if self.s.script.logic.is_mixed() {
                    self.mix(builtin, base);
                }
                let op = Op::builtin(builtin);
                match self.s.script.terms.find(op, &self.s.values[base..]) {
                    Ok(term) => Ok(term),
                    Err(vacant) => {
                        let sort = self.builtin_sort(builtin, op, base, at)?;
                        Ok(self.s.script.terms.add(vacant, op, &self.s.values[base..], sort))
                    }
                }
            }
            Target::Function(fun) => self.function(fun, base, at),
            _ => self.rare(target, base, at),
        }
    }

    /// The sort of a new term of a builtin, and whether the logic has it.
    fn builtin_sort(&mut self, builtin: Builtin, op: Op, base: usize, at: usize) -> Found<Sort> {
        let script = &mut self.s.script;
        let indices: &[u32] = match script.terms.head_of(op) {
            Head::Indexed(head) => &head.indices,
            _ => &[],
        };
        let found = Checker {
            sorts: &mut script.sorts,
            terms: &script.terms,
            symbols: &script.symbols,
            builtin,
            indices,
            arguments: &self.s.values[base..],
        }
        .sort_of();
        let sort = match found {
            Ok(sort) => sort,
            Err(misfit) => return self.unary(builtin, base, at, misfit),
        };
        self.allow_application(builtin, base, at)?;
        Ok(sort)
    }

    /// z3 and cvc5 take one argument for many functions of two or more, and more than two for some of two.
    fn unary(&mut self, builtin: Builtin, base: usize, at: usize, misfit: Misfit) -> Found<Sort> {
        let arguments = &self.s.values[base..];
        let script = &self.s.script;
        let first = arguments.first().map(|&a| script.terms.sort(a));
        let alike = arguments.iter().all(|&a| Some(script.terms.sort(a)) == first);
        if let (Some(sort), true, false) = (first, alike, self.s.options.standard_only) {
            let kind = script.sorts.kind(sort);
            let fits = match builtin.rank() {
                Rank::Many(wanted) => sort_matches(wanted, sort),
                Rank::Arithmetic => matches!(sort, Sort::INT | Sort::REAL),
                Rank::BvMany => matches!(kind, SortKind::BitVec(_)),
                Rank::BvBinary => matches!(kind, SortKind::BitVec(_)) && arguments.len() > 2,
                _ => false,
            };
            let truth = matches!(builtin.rank(), Rank::Equality) && arguments.len() == 1;
            if (fits && (arguments.len() == 1 || matches!(builtin.rank(), Rank::BvBinary))) || truth {
                let count = arguments.len();
                let what = format!("`{}` with {count} argument{}", builtin.name(), if count == 1 { "" } else { "s" });
                self.s.extension("z3, cvc5 and others", what, at)?;
                return Ok(if truth { Sort::BOOL } else { sort });
            }
        }
        let place = misfit.argument.map_or(at, |n| self.argument_place(at, n));
        Err(Fault::new(Class::Sort, place, misfit.message))
    }

    /// Integers among reals become reals, as in the logics with both: `(+ x 1)` is `(+ x (to_real 1))`.
    #[inline]
    fn mix(&mut self, builtin: Builtin, base: usize) {
        let from = match builtin.rank() {
            Rank::Arithmetic | Rank::Comparison | Rank::Equality => base,
            Rank::Own if builtin == Builtin::Ite => base + 1,
            Rank::Many(crate::builtin::S::Real) => base,
            _ => return,
        };
        let terms = &self.s.script.terms;
        let Some(arguments) = self.s.values.get(from..) else { return };
        let (mut ints, mut reals) = (false, builtin == Builtin::Divide);
        for &argument in arguments {
            match terms.sort(argument) {
                Sort::INT => ints = true,
                Sort::REAL => reals = true,
                _ => return,
            }
        }
        if ints && reals {
            for at in from..self.s.values.len() {
                self.make_real(at);
            }
        }
    }

    fn make_real(&mut self, at: usize) {
        let value = self.s.values[at];
        if self.s.script.terms.sort(value) == Sort::INT {
            self.s.values[at] = self.as_real(value);
        }
    }

    /// An integer as a real. A numeral becomes a decimal.
    #[cold]
    pub(super) fn as_real(&mut self, value: Term) -> Term {
        let script = &mut self.s.script;
        if let Head::Numeral(digits) = script.terms.head(value) {
            let mut text = script.symbols.bytes(digits).to_vec();
            text.extend_from_slice(b".0");
            let digits = script.symbols.intern(&text);
            script.terms.leaf(Op::decimal(digits), Sort::REAL)
        } else {
            script.terms.make(Op::builtin(Builtin::ToReal), &[value], Sort::REAL)
        }
    }

    fn function(&mut self, fun: Fun, base: usize, at: usize) -> Found<Term> {
        let op = Op::function(fun);
        let mixed = self.s.script.logic.is_mixed();
        if mixed {
            for number in 0..self.s.values.len() - base {
                if self.s.script.functions[fun.index()].parameters.get(number) == Some(&Sort::REAL) {
                    self.make_real(base + number);
                }
            }
        }
        let script = &mut self.s.script;
        let arguments = &self.s.values[base..];
        let vacant = match script.terms.find(op, arguments) {
            Ok(term) => return Ok(term),
            Err(vacant) => vacant,
        };
        let function = &script.functions[fun.index()];
        if arguments.len() != function.parameters.len() {
            return self.other_count(fun, base, at);
        }
        let mut given: Vec<(Sort, Sort)> = Vec::new();
        for (number, (&parameter, &argument)) in function.parameters.iter().zip(arguments).enumerate() {
            let found = script.terms.sort(argument);
            if found == parameter {
                if script.sorts.is_open(parameter) && !script.sorts.matches(parameter, found, &mut given) {
                    return Err(self.wrong_argument(fun, parameter, found, number, at, &given));
                }
            } else if !(script.sorts.is_open(parameter) && script.sorts.matches(parameter, found, &mut given)) {
                return Err(self.wrong_argument(fun, parameter, found, number, at, &given));
            }
        }
        let mut result = function.result;
        if script.sorts.is_open(result) && !given.is_empty() {
            result = script.sorts.instantiate(result, &given);
        }
        if script.sorts.is_open(result) && !self.parameters_in_scope(result) {
            let name = shown(self.s.script.name(fun));
            return Err(Fault::new(
                Class::Sort,
                at,
                format!(
                    "the arguments of {name} do not tell its sort: write `((as {} sort) ...)`",
                    name.trim_matches('`')
                ),
            ));
        }
        Ok(self.s.script.terms.add(vacant, op, &self.s.values[base..], result))
    }

    /// Whether all sort parameters of a sort are those of a definition that is being read, or declared ones.
    fn parameters_in_scope(&self, sort: Sort) -> bool {
        let mut waiting = vec![sort];
        while let Some(sort) = waiting.pop() {
            if let SortKind::Parameter(name) = self.s.script.sorts.kind(sort) {
                match self.s.sort_bound.get(&name) {
                    Some(crate::session::SortBound::Parameter(known)) if *known == sort => {}
                    _ => return false,
                }
            }
            if self.s.script.sorts.is_open(sort) {
                waiting.extend(self.s.script.sorts.parts(sort));
            }
        }
        true
    }

    #[cold]
    fn wrong_argument(
        &self,
        fun: Fun,
        parameter: Sort,
        found: Sort,
        number: usize,
        at: usize,
        given: &[(Sort, Sort)],
    ) -> Fault {
        let script = &self.s.script;
        let mut sorts = script.sorts.clone();
        let wanted = sorts.instantiate(parameter, given);
        let (wanted, found) = (sorts.text(wanted, &script.symbols), sorts.text(found, &script.symbols));
        let name = shown(script.name(fun));
        let message = format!("argument {} of {name} must be of sort {wanted}, but is of sort {found}", number + 1);
        Fault::new(Class::Sort, self.argument_place(at, number), message)
    }

    /// A function with more or fewer arguments than it has: an application of a map, where the logic has maps.
    fn other_count(&mut self, fun: Fun, base: usize, at: usize) -> Found<Term> {
        let count = self.s.values.len() - base;
        let function = self.s.script.function(fun);
        let wanted = function.parameters.len();
        let mapped = matches!(self.s.script.sorts.kind(function.result), SortKind::Map(..));
        if !self.s.script.logic.maps || count == 0 || (count > wanted && !mapped) {
            let name = shown(self.s.script.name(fun));
            let message =
                format!("{name} takes {wanted} argument{}, but has {count}", if wanted == 1 { "" } else { "s" });
            return Err(Fault::new(Class::Sort, at, message));
        }
        if count < wanted {
            let value = self.function_value(fun, at)?;
            return self.apply_map(value, base, 0, at);
        }
        let more = self.s.values.split_off(base + wanted);
        let value = self.function(fun, base, at)?;
        self.s.values.extend(more);
        self.apply_map(value, base, wanted, at)
    }

    /// A function as a map, without arguments.
    pub(super) fn function_value(&mut self, fun: Fun, at: usize) -> Found<Term> {
        let function = self.s.script.function(fun);
        if function.parameters.is_empty() {
            let (result, text) = (function.result, shown(self.s.script.name(fun)));
            if self.parameters_in_scope(result) {
                return Ok(self.s.script.terms.leaf(Op::function(fun), result));
            }
            let message =
                format!("nothing tells the sort of {text} here: write `(as {} sort)`", text.trim_matches('`'));
            return Err(Fault::new(Class::Sort, at, message));
        }
        let parameters = function.parameters.clone();
        let mut sort = function.result;
        if !self.s.script.logic.maps || parameters.iter().any(|&p| self.s.script.sorts.is_open(p)) {
            let name = shown(self.s.script.name(fun));
            return Err(Fault::new(Class::Sort, at, format!("{name} is a function and needs arguments")));
        }
        for &parameter in parameters.iter().rev() {
            sort = self.s.script.sorts.intern(SortKind::Map(parameter, sort));
        }
        Ok(self.s.script.terms.leaf(Op::function_value(fun), sort))
    }

    /// Applies a map to the values from `base + skip` on.
    fn apply_map(&mut self, map: Term, base: usize, skip: usize, at: usize) -> Found<Term> {
        let mut sort = self.s.script.terms.sort(map);
        let first = base + skip;
        for number in first..self.s.values.len() {
            let SortKind::Map(from, to) = self.s.script.sorts.kind(sort) else {
                let text = self.s.script.sorts.text(sort, &self.s.script.symbols);
                let message = format!("only a function or a map can be applied, but this is of sort {text}");
                return Err(Fault::new(Class::Sort, at, message));
            };
            if from == Sort::REAL && self.s.script.logic.is_mixed() {
                self.make_real(number);
            }
            let found = self.s.script.terms.sort(self.s.values[number]);
            if found != from {
                let script = &self.s.script;
                let (wanted, found) =
                    (script.sorts.text(from, &script.symbols), script.sorts.text(found, &script.symbols));
                let message =
                    format!("argument {} of a map must be of sort {wanted}, but is of sort {found}", number - base + 1);
                return Err(Fault::new(Class::Sort, self.argument_place(at, number - base), message));
            }
            sort = to;
        }
        self.allow(Builtin::Apply, at)?;
        let mut arguments = vec![map];
        arguments.extend_from_slice(&self.s.values[first..]);
        Ok(self.s.script.terms.make(Op::builtin(Builtin::Apply), &arguments, sort))
    }

    fn rare(&mut self, target: Target, base: usize, at: usize) -> Found<Term> {
        let count = self.s.values.len() - base;
        match target {
            Target::Made(term) if count == 0 => Ok(term),
            Target::Made(term) | Target::Term(term) => {
                if !self.s.script.logic.maps && count > 0 {
                    let what = match self.s.script.terms.head(term) {
                        Head::Function(fun) => format!("the constant {}", shown(self.s.script.name(fun))),
                        Head::Variable(variable) => {
                            format!("the variable {}", shown(self.s.script.symbols.bytes(variable.name)))
                        }
                        _ => "a term".to_string(),
                    };
                    return Err(Fault::new(Class::Sort, at, format!("{what} cannot be applied to arguments")));
                }
                self.apply_map(term, base, 0, at)
            }
            Target::Indexed(op) => {
                let arguments = &self.s.values[base..];
                if let Ok(term) = self.s.script.terms.find(op, arguments) {
                    return Ok(term);
                }
                let builtin = match self.s.script.terms.head_of(op) {
                    Head::Indexed(head) => head.base,
                    _ => Builtin::Extract,
                };
                let sort = self.builtin_sort(builtin, op, base, at)?;
                Ok(self.s.script.terms.make(op, &self.s.values[base..], sort))
            }
            Target::Is(op, fun) => {
                let Some(&value) = self.s.values.get(base).filter(|_| count == 1) else {
                    return Err(Fault::new(Class::Sort, at, format!("a tester takes 1 argument, but has {count}")));
                };
                let script = &self.s.script;
                let (found, wanted) = (script.terms.sort(value), script.function(fun).result);
                if found != wanted && !script.sorts.matches(wanted, found, &mut Vec::new()) {
                    return Err(self.wrong_argument(fun, wanted, found, 0, at, &[]));
                }
                self.allow(Builtin::Is, at)?;
                Ok(self.s.script.terms.make(op, &[value], Sort::BOOL))
            }
            Target::Const(op, sort) => {
                if self.s.script.logic.is_mixed()
                    && matches!(self.s.script.sorts.kind(sort), SortKind::Array(_, Sort::REAL))
                    && count == 1
                {
                    self.make_real(base);
                }
                let script = &mut self.s.script;
                let (SortKind::Array(_, element), &[value]) = (script.sorts.kind(sort), &self.s.values[base..]) else {
                    let message = "`(as const sort)` needs the sort of an array and takes 1 argument";
                    return Err(Fault::new(Class::Sort, at, message));
                };
                let found = script.terms.sort(value);
                if found != element {
                    let (wanted, found) =
                        (script.sorts.text(element, &script.symbols), script.sorts.text(found, &script.symbols));
                    let message = format!("the element must be of sort {wanted}, but is of sort {found}");
                    return Err(Fault::new(Class::Sort, self.argument_place(at, 0), message));
                }
                Ok(script.terms.make(op, &[value], sort))
            }
            Target::FunctionAs(fun, sort) => self.function_as(fun, sort, base, at),
            Target::Builtin(_) | Target::Function(_) => self.apply(target, base, at),
        }
    }

    fn function_as(&mut self, fun: Fun, sort: Sort, base: usize, at: usize) -> Found<Term> {
        let script = &mut self.s.script;
        let function = &script.functions[fun.index()];
        let mut given = Vec::new();
        if !script.sorts.matches(function.result, sort, &mut given) {
            let (wanted, found) =
                (script.sorts.text(function.result, &script.symbols), script.sorts.text(sort, &script.symbols));
            let name = shown(script.name(fun));
            return Err(Fault::new(Class::Sort, at, format!("{name} is of sort {wanted}, which cannot be {found}")));
        }
        let arguments = &self.s.values[base..];
        let parameters = function.parameters.clone();
        if parameters.len() != arguments.len() {
            return self.other_count(fun, base, at);
        }
        for (number, &parameter) in parameters.iter().enumerate() {
            let wanted = self.s.script.sorts.instantiate(parameter, &given);
            let found = self.s.script.terms.sort(self.s.values[base + number]);
            if found != wanted && !self.s.script.sorts.matches(wanted, found, &mut given) {
                return Err(self.wrong_argument(fun, wanted, found, number, at, &given));
            }
        }
        let script = &mut self.s.script;
        // Where the arguments tell the sort, `as` says nothing.
        let mut told = Vec::new();
        for (number, &parameter) in parameters.iter().enumerate() {
            script.sorts.matches(parameter, script.terms.sort(self.s.values[base + number]), &mut told);
        }
        let result = script.functions[fun.index()].result;
        let op = if script.sorts.instantiate(result, &told) == sort {
            Op::function(fun)
        } else {
            script.terms.function_as(fun, sort)
        };
        Ok(script.terms.make(op, &self.s.values[base..], sort))
    }

    /// Behind `(_`: the indices up to `)`. `None` if it is the application of a map, of which nothing is read yet.
    pub(super) fn indexed(&mut self) -> Found<Option<Target>> {
        let mark = self.lexer.offset();
        let token = self.next()?;
        if token.kind == Kind::Open && self.s.script.logic.maps {
            self.lexer.set_offset(mark);
            return Ok(None);
        }
        let symbol = self.symbol_of(token, "a symbol behind `_`")?;
        if let Bound::Local(_) | Bound::Constant(_) | Bound::Function(_) = self.s.bound(symbol)
            && self.s.script.logic.maps
        {
            self.lexer.set_offset(mark);
            return Ok(None);
        }
        // No function has more than two indices: of more, only their number matters.
        let mut indices = [token; 3];
        let mut count = 0;
        loop {
            let index = self.next()?;
            match index.kind {
                Kind::Close if count > 0 => break,
                Kind::Numeral | Kind::Hex => {}
                Kind::Symbol | Kind::Quoted => {
                    self.symbol_of(index, "an index (a numeral or a symbol)")?;
                }
                // cvc5 and z3 also allow compound indices, in functions that are not known here.
                _ => return Err(self.unexpected(index, "an index (a numeral or a symbol)")),
            }
            if let Some(slot) = indices.get_mut(count) {
                *slot = index;
            }
            count += 1;
        }
        self.indexed_target(symbol, token, &indices[..count.min(3)]).map(Some)
    }

    fn indexed_target(&mut self, symbol: Symbol, token: Token, indices: &[Token]) -> Found<Target> {
        let name = token.name(self.text);
        let at = token.start;
        if let Some(digits) = name.strip_prefix(b"bv")
            && !digits.is_empty()
            && digits.iter().all(u8::is_ascii_digit)
        {
            let [width] = indices else {
                return Err(Fault::new(Class::Syntax, at, "a bit-vector literal has one index: its width"));
            };
            let width = self.index(*width)?;
            if width == 0 || u64::from(width) > crate::check::WIDTH_LIMIT {
                return Err(Fault::new(Class::Sort, at, format!("there is no bit-vector of {width} bits")));
            }
            self.allow(Builtin::BvLiteral, at)?;
            let script = &mut self.s.script;
            let digits = script.symbols.intern(digits);
            let op = script.terms.indexed(Builtin::BvLiteral, &[digits.0, width]);
            let sort = script.sorts.bit_vector(width);
            return Ok(Target::Made(script.terms.leaf(op, sort)));
        }
        let Some(builtin) = crate::session::builtin_named(symbol) else {
            if let Some(of) = crate::extension::function(name).or_else(|| crate::extension::indexed(name)) {
                let message = format!("extension of {of}: the function {}", shown(name));
                return Err(Fault::new(Class::Extension, at, message));
            }
            return Err(Fault::new(Class::Scope, at, format!("there is no indexed identifier {}", shown(name))));
        };
        match builtin {
            Builtin::Char => {
                let [code] = indices else {
                    return Err(Fault::new(Class::Syntax, at, "`(_ char #x...)` has one index"));
                };
                let digits = code.bytes(self.text).get(2..).unwrap_or_default();
                let value = std::str::from_utf8(digits).ok().and_then(|d| u32::from_str_radix(d, 16).ok());
                if code.kind != Kind::Hex || digits.len() > 5 || value.is_none_or(|v| v > 0x2_ffff) {
                    let message = "a character is `#x` and up to five digits, at most #x2FFFF";
                    return Err(Fault::new(Class::Syntax, code.start, message));
                }
                self.allow(builtin, at)?;
                let script = &mut self.s.script;
                let digits = script.symbols.intern(digits);
                let op = script.terms.qualified(Qualified { base: builtin, indices: Box::new([digits.0]), sort: None });
                Ok(Target::Made(script.terms.leaf(op, Sort::STRING)))
            }
            Builtin::Is => {
                let [name] = indices else {
                    return Err(Fault::new(Class::Syntax, at, "`(_ is constructor)` has one index"));
                };
                let constructor = self.symbol_of(*name, "a constructor")?;
                self.is_target(constructor, name.start)
            }
            Builtin::AsArray => {
                let [name] = indices else {
                    return Err(Fault::new(Class::Syntax, at, "`(_ as-array f)` has one index"));
                };
                let function = self.symbol_of(*name, "a function")?;
                self.as_array(function, name.start)
            }
            _ => {
                let wanted = builtin.indices();
                if wanted != Some(indices.len()) && !(builtin == Builtin::ReLoop && indices.len() == 1) {
                    let message = match wanted {
                        Some(count) => format!("{} has {count} indices, but here are {}", shown(name), indices.len()),
                        None => format!("{} has no indices", shown(name)),
                    };
                    return Err(Fault::new(Class::Syntax, at, message));
                }
                let mut numbers = [0; 2];
                for (number, index) in numbers.iter_mut().zip(indices) {
                    *number = self.index(*index)?;
                }
                if let crate::builtin::Theory::Extension(of) = builtin.theory() {
                    self.s.extension(of, format!("the function `{}`", builtin.name()), at)?;
                }
                Ok(Target::Indexed(self.s.script.terms.indexed(builtin, &numbers[..indices.len().min(2)])))
            }
        }
    }

    pub(super) fn index(&self, token: Token) -> Found<u32> {
        let digits = std::str::from_utf8(token.bytes(self.text)).unwrap_or_default();
        match (token.kind, digits.parse()) {
            (Kind::Numeral, Ok(value)) => Ok(value),
            (Kind::Numeral, Err(_)) => Err(Fault::new(
                Class::Limit,
                token.start,
                format!("the index {} is too large", shown(digits.as_bytes())),
            )),
            _ => Err(self.unexpected(token, "a numeral as index")),
        }
    }

    /// The test for a constructor.
    pub(super) fn is_target(&mut self, constructor: Symbol, at: usize) -> Found<Target> {
        let fun = match self.s.bound(constructor) {
            Bound::Function(fun) => Some(fun),
            Bound::Constant(term) => match self.s.script.terms.head(term) {
                Head::Function(fun) => Some(fun),
                _ => None,
            },
            _ => None,
        };
        match fun {
            Some(fun) if matches!(self.s.script.function(fun).kind, FunctionKind::Constructor { .. }) => {
                let head = Qualified { base: Builtin::Is, indices: Box::new([fun.0]), sort: None };
                Ok(Target::Is(self.s.script.terms.qualified(head), fun))
            }
            _ => {
                let name = shown(self.s.script.symbols.bytes(constructor));
                Err(Fault::new(Class::Scope, at, format!("{name} is no constructor of a datatype")))
            }
        }
    }

    /// `is-cons`, the name that solvers give to `(_ is cons)`.
    pub(super) fn tester(&mut self, symbol: Symbol, at: usize) -> Found<Option<Target>> {
        let Some(constructor) = self.s.script.symbols.bytes(symbol).strip_prefix(b"is-").map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        let Some(constructor) = self.s.script.symbols.find(&constructor) else { return Ok(None) };
        let Ok(target) = self.is_target(constructor, at) else { return Ok(None) };
        self.s.extension("z3 and cvc5", "testers with the name `is-` and the constructor's".into(), at)?;
        Ok(Some(target))
    }

    fn as_array(&mut self, function: Symbol, at: usize) -> Found<Target> {
        let Bound::Function(fun) = self.s.bound(function) else {
            let name = shown(self.s.script.symbols.bytes(function));
            return Err(Fault::new(Class::Scope, at, format!("{name} is no function with arguments")));
        };
        self.s.extension("z3", "the array `(_ as-array f)` of a function".into(), at)?;
        let script = &mut self.s.script;
        let &[from] = &*script.functions[fun.index()].parameters else {
            return Err(Fault::new(Class::Sort, at, "only a function of one argument is an array"));
        };
        let sort = script.sorts.intern(SortKind::Array(from, script.functions[fun.index()].result));
        let head = Qualified { base: Builtin::AsArray, indices: Box::new([fun.0]), sort: None };
        let op = script.terms.qualified(head);
        Ok(Target::Made(script.terms.leaf(op, sort)))
    }

    /// Behind `(as`: an identifier and a sort, and `)`.
    pub(super) fn qualified(&mut self) -> Found<Target> {
        let token = self.next()?;
        if token.kind == Kind::Open {
            let inner = self.next()?;
            if self.word(inner) != Some(word::UNDERSCORE) {
                return Err(self.unexpected(inner, "`_`"));
            }
            let target = self.indexed()?;
            self.sort()?;
            self.expect(Kind::Close, "`)` behind the sort of `as`")?;
            return target
                .ok_or_else(|| Fault::new(Class::Syntax, token.start, "an identifier is expected behind `as`"));
        }
        let symbol = self.symbol_of(token, "an identifier behind `as`")?;
        let sort = self.sort()?;
        self.expect(Kind::Close, "`)` behind the sort of `as`")?;
        let at = token.start;
        let bound = self.s.bound(symbol);
        let name = token.name(self.text);
        match bound {
            Bound::Function(fun) => return Ok(Target::FunctionAs(fun, sort)),
            Bound::Constant(term) | Bound::Local(term) => {
                let found = self.s.script.terms.sort(term);
                if found == sort {
                    return Ok(Target::Made(term));
                }
                let script = &self.s.script;
                let (wanted, found) =
                    (script.sorts.text(sort, &script.symbols), script.sorts.text(found, &script.symbols));
                return Err(Fault::new(Class::Sort, at, format!("{} is of sort {found}, not {wanted}", shown(name))));
            }
            Bound::Builtin(builtin) => return Ok(Target::Builtin(builtin)),
            _ => {}
        }
        let base = match name {
            b"const" => Builtin::Const,
            [b'@', ..] => Builtin::AbstractValue,
            _ => return Err(self.undeclared(symbol, at)),
        };
        let indices: Box<[u32]> = if base == Builtin::Const { Box::new([]) } else { Box::new([symbol.0]) };
        if base == Builtin::Const {
            self.s.extension("z3, cvc5 and others", "the constant array `((as const sort) value)`".into(), at)?;
        }
        let op = self.s.script.terms.qualified(Qualified { base, indices, sort: Some(sort) });
        if base == Builtin::Const {
            return Ok(Target::Const(op, sort));
        }
        Ok(Target::Made(self.s.script.terms.leaf(op, sort)))
    }
}

fn sort_matches(wanted: crate::builtin::S, sort: Sort) -> bool {
    use crate::builtin::S;
    matches!(
        (wanted, sort),
        (S::Bool, Sort::BOOL)
            | (S::Int, Sort::INT)
            | (S::Real, Sort::REAL)
            | (S::Str, Sort::STRING)
            | (S::Re, Sort::REGLAN)
    )
}
