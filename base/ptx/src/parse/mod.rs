//! Modules and kernels from their text.

mod instruction;

use std::collections::HashMap;

use crate::fault::Fault;
use crate::instruction::{Instruction, Operation, Register};
use crate::lexer::{Word, words};
use crate::types::Type;

/// The kernels of a module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    kernels: HashMap<String, Kernel>,
}

/// A kernel, ready to run.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The size of all parameters in bytes.
    pub(crate) parameter_bytes: usize,
    /// The bytes of shared memory, without those that a launch adds.
    pub(crate) shared_bytes: usize,
    pub(crate) num_registers: usize,
    pub(crate) body: Vec<Instruction>,
}

/// A parameter's place among the parameters of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub offset: usize,
    pub size: usize,
}

impl Module {
    /// Parses the text of a module.
    ///
    /// # Errors
    /// [`Fault::Module`] for text that is not PTX, and for instructions that are not supported.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let words = words(text)?;
        let mut parser = Parser { words: &words, at: 0, scopes: vec![Scope::default()] };
        let mut module = Module::default();
        while let Some(word) = parser.peek() {
            match word.text {
                ".version" | ".address_size" => parser.at += 2,
                ".target" => parser.skip_list(),
                ".visible" | ".weak" => parser.at += 1,
                ".entry" => {
                    let kernel = parser.kernel()?;
                    module.kernels.insert(kernel.name.clone(), kernel);
                }
                // Constants that the compiler has put into the code.
                ".global" | ".const" => parser.skip_to(";")?,
                other => return parser.fail(format!("{other:?} is not supported")),
            }
        }
        Ok(module)
    }

    /// The kernel called `name`.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.get(name)
    }

    /// The names of all kernels.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.kernels.keys().map(String::as_str)
    }
}

impl Kernel {
    /// The place of parameter `index`: its offset among the bytes of all, and its size.
    pub fn parameter(&self, index: usize) -> Option<(usize, usize)> {
        self.parameters.get(index).map(|parameter| (parameter.offset, parameter.size))
    }

    /// The size of all parameters in bytes.
    pub fn parameter_bytes(&self) -> usize {
        self.parameter_bytes
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Name {
    Register(Register),
    /// A parameter or an array in shared memory, by its offset.
    Offset(usize),
}

/// The names that are declared between braces.
#[derive(Clone, Debug, Default)]
struct Scope {
    names: HashMap<String, Name>,
}

struct Parser<'w, 't> {
    words: &'w [Word<'t>],
    at: usize,
    /// The innermost is the last.
    scopes: Vec<Scope>,
}

impl<'t> Parser<'_, 't> {
    fn peek(&self) -> Option<Word<'t>> {
        self.words.get(self.at).copied()
    }

    fn line(&self) -> u32 {
        self.words.get(self.at).or(self.words.last()).map_or(1, |word| word.line)
    }

    fn fail<T>(&self, reason: String) -> Result<T, Fault> {
        Err(Fault::Module { line: self.line(), reason })
    }

    fn next(&mut self) -> Result<&'t str, Fault> {
        match self.peek() {
            Some(word) => {
                self.at += 1;
                Ok(word.text)
            }
            None => self.fail("the text ends early".to_owned()),
        }
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.peek().is_some_and(|word| word.text == text);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, text: &str) -> Result<(), Fault> {
        if self.takes(text) {
            return Ok(());
        }
        let found = self.peek().map_or("the end", |word| word.text);
        self.fail(format!("expected {text:?}, found {found:?}"))
    }

    fn skip_to(&mut self, text: &str) -> Result<(), Fault> {
        while self.next()? != text {}
        Ok(())
    }

    /// Skips a word and those after it that commas join.
    fn skip_list(&mut self) {
        self.at += 2;
        while self.takes(",") {
            self.at += 1;
        }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, Fault> {
        let text = self.next()?;
        text.parse().or_else(|_| self.fail(format!("expected a number, found {text:?}")))
    }

    fn declare(&mut self, name: &str, meaning: Name) {
        let scope = self.scopes.last_mut().expect("there is always one");
        scope.names.insert(name.to_owned(), meaning);
    }

    fn look_up(&self, name: &str) -> Option<Name> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name)).copied()
    }

    /// A type, as in `.u32`.
    fn declared_type(&mut self) -> Result<Type, Fault> {
        let text = self.next()?;
        let ty = text.strip_prefix('.').and_then(Type::parse);
        ty.map_or_else(|| self.fail(format!("{text:?} is not a supported type")), Ok)
    }

    /// `.align 8 .b8 name[16]` or `.u64 name`: name, alignment and size.
    fn variable(&mut self) -> Result<(&'t str, usize, usize), Fault> {
        let alignment = if self.takes(".align") { Some(self.number()?) } else { None };
        let ty = self.declared_type()?;
        let name = self.next()?;
        let mut size = ty.size();
        if self.takes("[") {
            size *= self.number::<usize>()?;
            self.expect("]")?;
        }
        Ok((name, alignment.unwrap_or(ty.size()), size))
    }

    fn kernel(&mut self) -> Result<Kernel, Fault> {
        self.expect(".entry")?;
        let name = self.next()?.to_owned();
        self.scopes.push(Scope::default());
        let (mut parameters, mut parameter_bytes) = (Vec::new(), 0usize);
        if self.takes("(") && !self.takes(")") {
            loop {
                self.expect(".param")?;
                let (name, alignment, size) = self.variable()?;
                let offset = parameter_bytes.next_multiple_of(alignment);
                self.declare(name, Name::Offset(offset));
                parameters.push(Parameter { offset, size });
                parameter_bytes = offset + size;
                if !self.takes(",") {
                    self.expect(")")?;
                    break;
                }
            }
        }
        // Limits of launches, which do not change results.
        while self.peek().is_some_and(|word| word.text != "{") {
            self.at += 1;
        }
        self.expect("{")?;
        let mut kernel = Kernel {
            name,
            parameters,
            parameter_bytes,
            shared_bytes: 0,
            num_registers: 0,
            body: Vec::new(),
        };
        self.body(&mut kernel)?;
        self.scopes.pop();
        Ok(kernel)
    }

    /// The body of a kernel, up to its last brace.
    fn body(&mut self, kernel: &mut Kernel) -> Result<(), Fault> {
        let mut labels: HashMap<&str, usize> = HashMap::new();
        let mut branches: Vec<(usize, &str)> = Vec::new();
        let outer = self.scopes.len();
        loop {
            let (line, text) = (self.line(), self.next()?);
            match text {
                "{" => self.scopes.push(Scope::default()),
                "}" if self.scopes.len() == outer => break,
                "}" => {
                    self.scopes.pop();
                }
                ".reg" => self.registers(kernel)?,
                ".shared" => {
                    let (name, alignment, size) = self.variable()?;
                    let offset = kernel.shared_bytes.next_multiple_of(alignment);
                    self.declare(name, Name::Offset(offset));
                    kernel.shared_bytes = offset + size;
                    self.expect(";")?;
                }
                ".pragma" | ".loc" | ".file" => self.skip_to(";")?,
                label if self.takes(":") => {
                    labels.insert(label, kernel.body.len());
                }
                _ => {
                    let guard = match text {
                        "@" => {
                            let is_negated = self.takes("!");
                            Some((self.register()?, !is_negated))
                        }
                        _ => {
                            self.at -= 1;
                            None
                        }
                    };
                    let (operation, label) = self.operation()?;
                    if let Some(label) = label {
                        branches.push((kernel.body.len(), label));
                    }
                    kernel.body.push(Instruction { guard, operation, line });
                }
            }
        }
        for (at, label) in branches {
            let Instruction { operation, line, .. } = &mut kernel.body[at];
            let Some(&target) = labels.get(label) else {
                return Err(Fault::Module { line: *line, reason: format!("no label {label:?}") });
            };
            *operation = Operation::Branch { target };
        }
        // What falls off the end returns.
        let line = self.line();
        kernel.body.push(Instruction { guard: None, operation: Operation::Return, line });
        Ok(())
    }

    /// `.reg .b32 %r<5>, %x;`: numbered or single registers.
    fn registers(&mut self, kernel: &mut Kernel) -> Result<(), Fault> {
        self.declared_type()?;
        loop {
            let name = self.next()?;
            let numbered = self.takes("<");
            let count: usize = if numbered { self.number()? } else { 1 };
            for number in 0..count {
                let name = if numbered { format!("{name}{number}") } else { name.to_owned() };
                self.declare(&name, Name::Register(kernel.num_registers as Register));
                kernel.num_registers += 1;
            }
            if numbered {
                self.expect(">")?;
            }
            if !self.takes(",") {
                return self.expect(";");
            }
        }
    }

    fn register(&mut self) -> Result<Register, Fault> {
        let name = self.next()?;
        match self.look_up(name) {
            Some(Name::Register(register)) => Ok(register),
            _ => self.fail(format!("expected a register, found {name:?}")),
        }
    }
}
