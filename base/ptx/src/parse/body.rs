//! Bodies of kernels, and of functions, which are inlined where they are called.

use std::collections::HashMap;
use std::sync::Arc;

use super::declarations::Variable;
use super::{Code, Kernel, Name, Parameter, Parser, Scope};
use crate::fault::Fault;
use crate::instruction::{Instruction, Operation, Register};
use crate::tracked::TrackedBytes;

/// The greatest number of threads in a block.
const MAX_THREADS: u32 = 1024;

/// The greatest depth of calls.
const MAX_CALL_DEPTH: usize = 32;

/// The place at which execution continues after an instruction, given by labels whose places are
/// not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Jump<'t> {
    /// At the next instruction.
    None,
    Label(&'t str),
    /// At one of the labels of a table.
    Table(&'t str),
    /// After a function's body.
    End,
}

/// The labels in the body of a kernel or function, and the jumps to them.
#[derive(Debug, Default)]
struct Labels<'t> {
    places: HashMap<&'t str, usize>,
    tables: HashMap<&'t str, Vec<&'t str>>,
    jumps: Vec<(usize, Jump<'t>)>,
}

impl<'t> Parser<'_, 't> {
    pub(super) fn kernel(&mut self) -> Result<Kernel, Fault> {
        self.expect(".entry")?;
        let name = self.next()?.to_owned();
        // Saves the arrays in shared memory that all kernels of the module have.
        let (outer_code, outer_end) = (self.code.clone(), self.shared_end);
        self.scopes.push(Scope::default());
        let (mut parameters, mut parameter_bytes) = (Vec::new(), 0usize);
        if self.takes("(") && !self.takes(")") {
            loop {
                self.expect(".param")?;
                let Variable { name, alignment, size, .. } = self.variable()?;
                let (offset, size) =
                    (parameter_bytes.next_multiple_of(alignment), size.unwrap_or(0));
                self.declare(name, Name::Parameter(offset));
                parameters.push(Parameter { offset, size });
                parameter_bytes = offset + size;
                if !self.takes(",") {
                    self.expect(")")?;
                    break;
                }
            }
        }
        let mut max_threads = MAX_THREADS;
        loop {
            match self.next()? {
                "{" => break,
                ".maxntid" => {
                    let mut product = self.number::<u32>()?;
                    while self.takes(",") {
                        product = product.saturating_mul(self.number()?);
                    }
                    max_threads = max_threads.min(product);
                }
                // Limits that change only the speed.
                ".minnctapersm" | ".maxnreg" => self.at += 1,
                other => return self.fail(format!("{other:?} is not supported here")),
            }
        }
        self.body(false)?;
        // A thread that reaches the end returns.
        let line = self.last_line();
        self.code.body.push(Instruction { guard: None, operation: Operation::Return, line });
        self.scopes.pop();
        self.shared_end = outer_end;
        let code: Code = std::mem::replace(&mut self.code, outer_code);
        let data = Arc::new(TrackedBytes::default());
        Ok(Kernel { name, parameters, parameter_bytes, max_threads, data, code })
    }

    /// Parses the body of a kernel or function, up to its last brace.
    fn body(&mut self, is_function: bool) -> Result<(), Fault> {
        let mut labels = Labels::default();
        let outer = self.scopes.len();
        loop {
            let text = self.next()?;
            match text {
                "{" => self.scopes.push(Scope::default()),
                "}" if self.scopes.len() == outer => break,
                "}" => {
                    self.scopes.pop();
                }
                ".reg" => self.registers()?,
                ".shared" => self.shared_variable()?,
                ".local" | ".param" => self.local_variable()?,
                ".pragma" => self.skip_to(";")?,
                // `.loc file line column`, perhaps followed by where it was inlined.
                ".loc" => {
                    self.at += 3;
                    while self.takes(",") {
                        self.at += if self.takes("inlined_at") { 3 } else { 2 };
                        self.at += usize::from(self.takes("+"));
                    }
                }
                label if self.takes(":") => {
                    if self.takes(".branchtargets") {
                        let targets = self.list(";")?;
                        labels.tables.insert(label, targets);
                    } else {
                        labels.places.insert(label, self.code.body.len());
                    }
                }
                _ => {
                    self.at -= 1;
                    self.instruction(&mut labels, is_function)?;
                }
            }
        }
        self.resolve(labels)
    }

    fn instruction(&mut self, labels: &mut Labels<'t>, is_function: bool) -> Result<(), Fault> {
        let line = self.line();
        let guard = if self.takes("@") {
            let is_negated = self.takes("!");
            Some((self.register()?, !is_negated))
        } else {
            None
        };
        let name = self.peek().map_or("", |word| word.text);
        if name == "call" || name.starts_with("call.") {
            self.at += 1;
            return self.call(guard, line);
        }
        let (operation, mut jump) = self.operation()?;
        let mut operation = operation;
        if is_function && name.starts_with("ret") {
            (operation, jump) = (Operation::Branch { target: 0 }, Jump::End);
        }
        labels.jumps.push((self.code.body.len(), jump));
        self.code.body.push(Instruction { guard, operation, line });
        Ok(())
    }

    /// Writes the places of labels into the jumps to them.
    fn resolve(&mut self, labels: Labels<'t>) -> Result<(), Fault> {
        let end = self.code.body.len();
        let place = |label: &str, line: u32| {
            labels
                .places
                .get(label)
                .copied()
                .ok_or_else(|| Fault::Module { line, reason: format!("no label {label:?}") })
        };
        for (at, jump) in &labels.jumps {
            let Instruction { operation, line, .. } = &mut self.code.body[*at];
            match (jump, operation) {
                (Jump::Label(label), Operation::Branch { target }) => {
                    *target = place(label, *line)?;
                }
                (Jump::End, Operation::Branch { target }) => *target = end,
                (Jump::Table(name), Operation::BranchIndexed { targets, .. }) => {
                    let Some(table) = labels.tables.get(name) else {
                        let reason = format!("no branch targets {name:?}");
                        return Err(Fault::Module { line: *line, reason });
                    };
                    let places = table.iter().map(|label| place(label, *line));
                    *targets = places.collect::<Result<_, _>>()?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Parses `call (result), name, (arguments);`, after the first word, and inlines the function's
    /// body. The parameters of the function share the memory of the arguments.
    fn call(&mut self, guard: Option<(Register, bool)>, line: u32) -> Result<(), Fault> {
        let results = if self.takes("(") { self.list(")")? } else { Vec::new() };
        if !results.is_empty() {
            self.expect(",")?;
        }
        let name = self.next()?;
        let mut arguments = Vec::new();
        if self.takes(",") {
            self.expect("(")?;
            arguments = self.list(")")?;
        }
        self.expect(";")?;
        let Some(&function) = self.functions.get(name) else {
            return self.fail(format!("the function {name} is not in the module"));
        };
        if self.call_depth == MAX_CALL_DEPTH {
            return self.fail(format!("{name}: functions that call themselves are not supported"));
        }
        let skip = guard.map(|(register, wanted)| {
            let guard = Some((register, !wanted));
            let operation = Operation::Branch { target: 0 };
            self.code.body.push(Instruction { guard, operation, line });
            self.code.body.len() - 1
        });
        let after = std::mem::replace(&mut self.at, function);
        self.call_depth += 1;
        self.scopes.push(Scope::default());
        if self.takes("(") {
            self.bind(&results)?;
        }
        self.at += 1;
        if self.takes("(") {
            self.bind(&arguments)?;
        }
        while !self.takes("{") {
            self.at += 1;
        }
        self.body(true)?;
        self.scopes.pop();
        self.call_depth -= 1;
        self.at = after;
        let end = self.code.body.len();
        if let Some(Operation::Branch { target }) =
            skip.map(|skip| &mut self.code.body[skip].operation)
        {
            *target = end;
        }
        Ok(())
    }

    /// Parses parameters up to the closing bracket, and binds each to the memory of an argument.
    fn bind(&mut self, arguments: &[&str]) -> Result<(), Fault> {
        let mut arguments = arguments.iter();
        while !self.takes(")") {
            self.takes(",");
            self.expect(".param")?;
            let Variable { name, .. } = self.variable()?;
            match arguments.next().and_then(|argument| self.look_up(argument)) {
                Some(place @ Name::Local(_)) => self.declare(name, place),
                _ => return self.fail(format!("no argument for the parameter {name}")),
            }
        }
        Ok(())
    }

    /// Finds all functions that have a body.
    pub(super) fn find_functions(&mut self) -> Result<(), Fault> {
        while let Some(word) = self.peek() {
            self.at += 1;
            if word.text != ".func" {
                continue;
            }
            let start = self.at;
            if self.takes("(") {
                self.skip_to(")")?;
            }
            let name = self.next()?;
            while self.peek().is_some_and(|word| ![";", "{"].contains(&word.text)) {
                self.at += 1;
            }
            if self.takes("{") {
                self.functions.insert(name, start);
            }
        }
        self.at = 0;
        Ok(())
    }

    /// Skips a function or a section with its body, or the declaration of a function.
    pub(super) fn skip_body(&mut self) -> Result<(), Fault> {
        let mut depth = 0usize;
        loop {
            match self.next()? {
                "{" => depth += 1,
                "}" if depth == 1 => return Ok(()),
                "}" => depth -= 1,
                ";" if depth == 0 => return Ok(()),
                _ => {}
            }
        }
    }

    /// Returns the words up to `end`, which are separated by commas.
    fn list(&mut self, end: &str) -> Result<Vec<&'t str>, Fault> {
        let mut items = Vec::new();
        while !self.takes(end) {
            items.push(self.next()?);
            self.takes(",");
        }
        Ok(items)
    }
}
