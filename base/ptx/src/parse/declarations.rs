//! Declarations of registers, arrays and parameters.

use super::{Name, Parser};
use crate::fault::Fault;
use crate::instruction::Register;
use crate::shared::{DYNAMIC_SHARED, GAP};
use crate::tracked::{State, TrackedBytes};
use crate::types::Type;

/// A declared array, or a single value.
pub(super) struct Variable<'t> {
    pub name: &'t str,
    pub alignment: usize,
    pub ty: Type,
    /// `None` for an array whose size the launch sets.
    pub size: Option<usize>,
}

impl<'t> Parser<'_, 't> {
    /// Parses a type, as in `.u32`.
    fn declared_type(&mut self) -> Result<Type, Fault> {
        let text = self.next()?;
        let ty = text.strip_prefix('.').and_then(Type::parse);
        ty.map_or_else(|| self.fail(format!("{text:?} is not a supported type")), Ok)
    }

    /// Parses `.align 8 .b8 name[16]`, `.u64 name` or `.b8 name[]`.
    pub(super) fn variable(&mut self) -> Result<Variable<'t>, Fault> {
        let mut alignment = if self.takes(".align") { Some(self.number()?) } else { None };
        let ty = self.declared_type()?;
        // For a parameter: the attributes of the memory that it points to.
        if self.takes(".ptr") {
            while self.peek().is_some_and(|word| word.text.starts_with('.')) {
                self.at += if self.takes(".align") { 1 } else { 0 };
                self.at += usize::from(self.peek().is_some_and(|word| word.text.starts_with('.')));
            }
        }
        alignment = if self.takes(".align") { Some(self.number()?) } else { alignment };
        let name = self.next()?;
        let mut size = Some(ty.size());
        while self.takes("[") {
            if self.takes("]") {
                size = None;
            } else {
                let length: usize = self.number()?;
                size = size.map(|size| size * length);
                self.expect("]")?;
            }
        }
        Ok(Variable { name, alignment: alignment.unwrap_or(ty.size()), ty, size })
    }

    /// Parses `.reg .b32 %r<5>, %x;`: numbered or single registers.
    pub(super) fn registers(&mut self) -> Result<(), Fault> {
        self.declared_type()?;
        loop {
            let name = self.next()?;
            let numbered = self.takes("<");
            let count: usize = if numbered { self.number()? } else { 1 };
            for number in 0..count {
                let name = if numbered { format!("{name}{number}") } else { name.to_owned() };
                let register = self.new_register();
                self.declare(&name, Name::Register(register));
            }
            if numbered {
                self.expect(">")?;
            }
            if !self.takes(",") {
                return self.expect(";");
            }
        }
    }

    pub(super) fn new_register(&mut self) -> Register {
        self.code.num_registers += 1;
        (self.code.num_registers - 1) as Register
    }

    /// Parses an array in shared memory, and leaves a gap after it.
    pub(super) fn shared_variable(&mut self) -> Result<(), Fault> {
        let Variable { name, alignment, size, .. } = self.variable()?;
        self.expect(";")?;
        let Some(size) = size else {
            self.declare(name, Name::Shared(DYNAMIC_SHARED as usize));
            return Ok(());
        };
        let start = self.shared_end.next_multiple_of(alignment);
        self.shared_end = start + size + GAP;
        self.code.shared_bytes = self.code.shared_bytes.next_multiple_of(alignment) + size;
        self.declare(name, Name::Shared(start));
        self.code.shared_arrays.push(start..start + size);
        Ok(())
    }

    /// Parses an array in each thread's local memory, or an argument of a call.
    pub(super) fn local_variable(&mut self) -> Result<(), Fault> {
        let Variable { name, alignment, size, .. } = self.variable()?;
        self.expect(";")?;
        let start = self.code.local_bytes.next_multiple_of(alignment.max(16));
        self.code.local_bytes = start + size.unwrap_or(0);
        self.declare(name, Name::Local(start));
        Ok(())
    }

    /// Parses `.const .align 4 .b8 name[8] = {1, 2};`. Missing values are zero.
    pub(super) fn initialised_variable(&mut self) -> Result<(), Fault> {
        self.at += 1;
        let Variable { name, alignment, ty, size } = self.variable()?;
        let mut bytes = Vec::new();
        if self.takes("=") {
            let has_braces = self.takes("{");
            loop {
                let value = self.constant(ty)?;
                bytes.extend_from_slice(&value.to_le_bytes()[..ty.size()]);
                if !has_braces || !self.takes(",") {
                    break;
                }
            }
            if has_braces {
                self.expect("}")?;
            }
        }
        self.expect(";")?;
        let size = size.unwrap_or(bytes.len());
        if bytes.len() > size {
            return self.fail(format!("{name} has more values than places"));
        }
        bytes.resize(size, 0);
        let end = self.data.last().map_or(0, |(start, bytes)| start + bytes.len() + GAP);
        let start = end.next_multiple_of(alignment);
        self.declare(name, Name::Data(start));
        self.data.push((start, bytes));
        Ok(())
    }

    /// Returns the initialised arrays at their offsets.
    pub(super) fn initialised_data(&self) -> TrackedBytes {
        let end = self.data.last().map_or(0, |(start, bytes)| start + bytes.len());
        let mut data = TrackedBytes::new(end);
        for (start, bytes) in &self.data {
            data.write(*start, bytes).expect("nothing is forbidden yet");
        }
        for pair in self.data.windows(2) {
            let (start, bytes) = &pair[0];
            data.set_states(start + bytes.len()..pair[1].0, State::Gap);
        }
        data
    }
}
