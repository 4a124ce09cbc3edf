//! Writing commands.

use super::{Printer, write_string, write_symbol};
use crate::intern::Symbol;
use crate::lexer::Strings;
use crate::script::{Command, CommandKind, Fun, FunctionKind, Script, Setting};
use crate::sorts::{Sort, SortName};
use crate::terms::{Head, Term};

impl Script {
    /// Writes the whole script, a command a line.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut printer = Printer::new(self);
        for command in &self.commands {
            printer.command(command, out);
            out.push(b'\n');
        }
    }

    /// A term in the concrete syntax, for messages.
    pub fn term_text(&self, term: Term) -> String {
        let mut out = Vec::new();
        Printer::new(self).term(term, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

impl Printer<'_> {
    /// Writes a command.
    pub fn command(&mut self, command: &Command, out: &mut Vec<u8>) {
        use CommandKind as C;
        out.push(b'(');
        if let Some(name) = command.kind.name() {
            out.extend_from_slice(name.as_bytes());
        }
        match &command.kind {
            C::SetLogic(name) => self.spaced(*name, out),
            C::SetInfo(setting) => {
                self.setting(*setting, out);
                let bytes = |s: Symbol| self.script.symbols.bytes(s);
                if bytes(setting.keyword) == b":smt-lib-version" && self.script.version.is_none() {
                    let old = setting.value.is_some_and(|v| bytes(v) == b"2.0");
                    self.strings = if old { Strings::Backslash } else { Strings::Doubled };
                }
            }
            C::SetOption(setting) => self.setting(*setting, out),
            C::DeclareSort(name) => {
                self.spaced(self.script.sort_declaration(*name).name, out);
                out.extend_from_slice(format!(" {}", self.script.sort_declaration(*name).arity).as_bytes());
            }
            C::DeclareSortParameter(name) => self.spaced(*name, out),
            C::DefineSort(name, parameters, body) => {
                self.spaced(*name, out);
                out.push(b' ');
                self.sorts(parameters, out);
                out.push(b' ');
                self.sort(*body, out);
            }
            C::DeclareDatatype(name) => {
                self.spaced(self.script.sort_declaration(*name).name, out);
                out.push(b' ');
                self.datatype(*name, out);
            }
            C::DeclareDatatypes(names) => {
                out.extend_from_slice(b" (");
                for (at, name) in names.iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b"(" } else { b" (" });
                    let declaration = self.script.sort_declaration(*name);
                    write_symbol(self.script.symbols.bytes(declaration.name), out);
                    out.extend_from_slice(format!(" {})", declaration.arity).as_bytes());
                }
                out.extend_from_slice(b") (");
                for (at, name) in names.iter().enumerate() {
                    if at > 0 {
                        out.push(b' ');
                    }
                    self.datatype(*name, out);
                }
                out.push(b')');
            }
            C::DeclareFun(fun) => {
                let function = self.script.function(*fun);
                self.spaced(function.name, out);
                out.push(b' ');
                self.sorts(&function.parameters, out);
                out.push(b' ');
                self.sort(function.result, out);
            }
            C::DeclareConst(fun) => {
                self.spaced(self.script.function(*fun).name, out);
                out.push(b' ');
                self.sort(self.script.function(*fun).result, out);
            }
            C::DefineFun(fun) | C::DefineFunRec(fun) => {
                out.push(b' ');
                self.signature(*fun, out);
                out.push(b' ');
                self.body(*fun, out);
            }
            C::DefineConst(fun) => {
                self.spaced(self.script.function(*fun).name, out);
                out.push(b' ');
                self.sort(self.script.function(*fun).result, out);
                out.push(b' ');
                self.body(*fun, out);
            }
            C::DefineFunsRec(funs) => {
                for (at, fun) in funs.iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b" ((" } else { b" (" });
                    self.signature(*fun, out);
                    out.push(b')');
                }
                out.push(b')');
                for (at, fun) in funs.iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b" (" } else { b" " });
                    self.body(*fun, out);
                }
                out.push(b')');
            }
            C::Assert(term) => {
                out.push(b' ');
                self.term(*term, out);
            }
            C::CheckSatAssuming(terms) | C::GetValue(terms) => {
                out.extend_from_slice(b" (");
                for (at, term) in terms.iter().enumerate() {
                    if at > 0 {
                        out.push(b' ');
                    }
                    self.term(*term, out);
                }
                out.push(b')');
            }
            C::Push(count) | C::Pop(count) => out.extend_from_slice(format!(" {count}").as_bytes()),
            C::GetInfo(keyword) | C::GetOption(keyword) => {
                out.push(b' ');
                out.extend_from_slice(self.script.symbols.bytes(*keyword));
            }
            C::Echo(text) => {
                out.push(b' ');
                write_string(self.script.symbols.bytes(*text), self.strings, out);
            }
            C::Extension(_, text) => {
                out.pop();
                out.extend_from_slice(self.script.symbols.bytes(*text));
                return;
            }
            C::CheckSat
            | C::GetAssertions
            | C::GetAssignment
            | C::GetModel
            | C::GetProof
            | C::GetUnsatAssumptions
            | C::GetUnsatCore
            | C::Reset
            | C::ResetAssertions
            | C::Exit => {}
        }
        out.push(b')');
    }

    fn spaced(&self, symbol: Symbol, out: &mut Vec<u8>) {
        out.push(b' ');
        write_symbol(self.script.symbols.bytes(symbol), out);
    }

    fn setting(&self, setting: Setting, out: &mut Vec<u8>) {
        out.push(b' ');
        out.extend_from_slice(self.script.symbols.bytes(setting.keyword));
        if let Some(value) = setting.value {
            out.push(b' ');
            out.extend_from_slice(self.script.symbols.bytes(value));
        }
    }

    fn sort(&self, sort: Sort, out: &mut Vec<u8>) {
        self.script.sorts.write(sort, &self.script.symbols, out);
    }

    fn sorts(&self, sorts: &[Sort], out: &mut Vec<u8>) {
        out.push(b'(');
        for (at, sort) in sorts.iter().enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            self.sort(*sort, out);
        }
        out.push(b')');
    }

    fn datatype(&self, name: SortName, out: &mut Vec<u8>) {
        let Some(datatype) = &self.script.sort_declaration(name).datatype else { return };
        if !datatype.parameters.is_empty() {
            out.extend_from_slice(b"(par ");
            self.sorts(&datatype.parameters, out);
            out.push(b' ');
        }
        for (at, &constructor) in datatype.constructors.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"((" } else { b" (" });
            write_symbol(self.script.name(constructor), out);
            if let FunctionKind::Constructor { selectors, .. } = &self.script.function(constructor).kind {
                for &selector in selectors {
                    out.extend_from_slice(b" (");
                    write_symbol(self.script.name(selector), out);
                    out.push(b' ');
                    self.sort(self.script.function(selector).result, out);
                    out.push(b')');
                }
            }
            out.push(b')');
        }
        out.push(b')');
        if !datatype.parameters.is_empty() {
            out.push(b')');
        }
    }

    fn signature(&self, fun: Fun, out: &mut Vec<u8>) {
        let function = self.script.function(fun);
        write_symbol(self.script.symbols.bytes(function.name), out);
        out.extend_from_slice(b" (");
        if let FunctionKind::Defined { variables, .. } = &function.kind {
            for (at, &variable) in variables.iter().enumerate() {
                out.extend_from_slice(if at == 0 { b"(" } else { b" (" });
                if let Head::Variable(v) = self.script.terms.head(variable) {
                    write_symbol(self.script.symbols.bytes(v.name), out);
                }
                out.push(b' ');
                self.sort(self.script.terms.sort(variable), out);
                out.push(b')');
            }
        }
        out.extend_from_slice(b") ");
        self.sort(function.result, out);
    }

    fn body(&mut self, fun: Fun, out: &mut Vec<u8>) {
        if let FunctionKind::Defined { body: Some(body), .. } = self.script.function(fun).kind {
            self.term(body, out);
        }
    }
}
