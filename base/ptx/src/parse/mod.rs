//! Parser of modules and their kernels.

mod accesses;
mod body;
mod declarations;
mod exchanges;
mod instruction;
mod operands;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::fault::Fault;
use crate::instruction::{Instruction, Operation, Register, Space, Value};
use crate::lexer::{Word, words};
use crate::tracked::TrackedBytes;

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
    /// The greatest number of threads in a block.
    pub(crate) max_threads: u32,
    /// The module's initialised arrays.
    pub(crate) data: Arc<TrackedBytes>,
    pub(crate) code: Code,
}

/// The parsed parts of a kernel's body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// The arrays in shared memory, without the bytes that a launch adds.
    pub shared_arrays: Vec<Range<usize>>,
    /// The bytes that these arrays take on a device, without gaps other than for alignment.
    pub shared_bytes: usize,
    /// The bytes of each thread's local memory.
    pub local_bytes: usize,
    pub num_registers: usize,
    /// The registers that hold constants and special registers.
    pub values: HashMap<Value, Register>,
    pub body: Vec<Instruction>,
}

impl Code {
    /// Returns the size in bytes of the shortest access that may be to shared memory, at most four.
    /// All atomic accesses count, whatever their space.
    pub fn shortest_access(&self) -> usize {
        let lengths = self.body.iter().filter_map(|instruction| match &instruction.operation {
            Operation::Load { space: Space::Shared | Space::Generic, ty, to, .. } => {
                Some(ty.size() * to.len())
            }
            Operation::Store { space: Space::Shared | Space::Generic, ty, from, .. } => {
                Some(ty.size() * from.len())
            }
            Operation::Atomic { ty, .. } => Some(ty.size()),
            _ => None,
        });
        lengths.chain([4]).min().expect("there is a number")
    }
}

/// The position of a parameter in the bytes of all parameters of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub offset: usize,
    pub size: usize,
}

impl Module {
    /// Parses the text of a module.
    ///
    /// # Errors
    /// [`Fault::Module`] for text that is not PTX, and for directives and instructions that are not
    /// supported.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let words = words(text)?;
        let mut parser = Parser {
            words: &words,
            at: 0,
            scopes: vec![Scope::default()],
            functions: HashMap::new(),
            call_depth: 0,
            data: Vec::new(),
            shared_end: 0,
            code: Code::default(),
        };
        parser.find_functions()?;
        let mut module = Module::default();
        while let Some(word) = parser.peek() {
            match word.text {
                ".version" | ".address_size" => parser.at += 2,
                ".target" => parser.skip_list(),
                ".visible" | ".weak" | ".extern" | ".common" => parser.at += 1,
                ".entry" => {
                    let kernel = parser.kernel()?;
                    module.kernels.insert(kernel.name.clone(), kernel);
                }
                // The function's body is parsed where it is called. Sections have the names of
                // functions that line numbers refer to.
                ".func" | ".section" => parser.skip_body()?,
                ".shared" => {
                    parser.at += 1;
                    parser.shared_variable()?;
                }
                ".global" | ".const" => parser.initialised_variable()?,
                // `.file 1 "name", time, size`: names are strings, which are not among the words.
                ".file" => parser.skip_list(),
                ".pragma" => parser.skip_to(";")?,
                other => {
                    parser.at += 1;
                    return parser.fail(format!("{other:?} is not supported"));
                }
            }
        }
        let data = Arc::new(parser.initialised_data());
        for kernel in module.kernels.values_mut() {
            kernel.data = Arc::clone(&data);
        }
        Ok(module)
    }

    /// Returns the kernel called `name`.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.get(name)
    }

    /// Returns the names of all kernels, in any order.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.kernels.keys().map(String::as_str)
    }
}

impl Kernel {
    /// Returns the offset of parameter `index` among the bytes of all parameters, and its size.
    pub fn parameter(&self, index: usize) -> Option<(usize, usize)> {
        self.parameters.get(index).map(|parameter| (parameter.offset, parameter.size))
    }

    /// Returns the size of all parameters in bytes.
    pub fn parameter_bytes(&self) -> usize {
        self.parameter_bytes
    }

    /// Returns the greatest number of threads in a block.
    pub fn max_threads(&self) -> u32 {
        self.max_threads
    }

    /// Returns the size in bytes of the shared memory that the kernel declares, without the
    /// bytes that a launch adds.
    pub fn shared_bytes(&self) -> usize {
        self.code.shared_bytes
    }
}

/// The object that a name refers to.
#[derive(Clone, Copy, Debug)]
enum Name {
    Register(Register),
    /// A parameter of the kernel, by its offset.
    Parameter(usize),
    /// An array in shared memory, by its offset.
    Shared(usize),
    /// An array in local memory, or an argument of a function, by its offset.
    Local(usize),
    /// An initialised array of the module, by its offset.
    Data(usize),
}

/// The names that are declared between braces, as parameters, or outside of all kernels.
#[derive(Clone, Debug, Default)]
struct Scope {
    names: HashMap<String, Name>,
}

struct Parser<'w, 't> {
    words: &'w [Word<'t>],
    /// The index of the next word.
    at: usize,
    /// The scopes around the next word, the innermost last.
    scopes: Vec<Scope>,
    /// For each function with a body, the index of the word after `.func`.
    functions: HashMap<&'t str, usize>,
    /// The number of calls that are being inlined around the next word.
    call_depth: usize,
    /// The bytes of initialised arrays, by their offsets.
    data: Vec<(usize, Vec<u8>)>,
    /// The end of the last array in shared memory, with the gap after it.
    shared_end: usize,
    /// The code of the kernel that is being parsed; between kernels, the module's shared arrays.
    code: Code,
}

impl<'t> Parser<'_, 't> {
    fn peek(&self) -> Option<Word<'t>> {
        self.words.get(self.at).copied()
    }

    fn line(&self) -> u32 {
        self.words.get(self.at).or(self.words.last()).map_or(1, |word| word.line)
    }

    /// Returns the line of the last word that was read.
    fn last_line(&self) -> u32 {
        self.words[..self.at.min(self.words.len())].last().map_or(1, |word| word.line)
    }

    /// Fails because of the last word that was read, or of words before it.
    fn fail<T>(&self, reason: String) -> Result<T, Fault> {
        Err(Fault::Module { line: self.last_line(), reason })
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
        self.at += 1;
        self.fail(format!("expected {text:?}, found {found:?}"))
    }

    fn skip_to(&mut self, text: &str) -> Result<(), Fault> {
        while self.next()? != text {}
        Ok(())
    }

    /// Skips a directive and its arguments, which are separated by commas.
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
}
