//! Operands of instructions: registers, constants, addresses.

use super::{Name, Parser};
use crate::fault::Fault;
use crate::instruction::{Address, LaneMask, Register, Special, Value};
use crate::space::MODULE_WINDOW;
use crate::types::Type;

impl<'t> Parser<'_, 't> {
    /// Parses a register. `_`, for a result that is not used, gives a new register.
    pub(super) fn register(&mut self) -> Result<Register, Fault> {
        let name = self.next()?;
        match self.look_up(name) {
            Some(Name::Register(register)) => Ok(register),
            _ if name == "_" => Ok(self.new_register()),
            _ => self.fail(format!("expected a register, found {name:?}")),
        }
    }

    /// Parses `width` items in braces, or a single item without braces.
    pub(super) fn vector<T>(
        &mut self,
        width: usize,
        item: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        if width == 1 && !self.takes("{") {
            return Ok(vec![item(self)?]);
        }
        if width > 1 {
            self.expect("{")?;
        }
        let mut items = vec![item(self)?];
        while items.len() < width {
            self.expect(",")?;
            items.push(item(self)?);
        }
        self.expect("}")?;
        Ok(items)
    }

    /// Parses `[%rd1+8]`, `[name]`.
    pub(super) fn address(&mut self) -> Result<Address, Fault> {
        self.expect("[")?;
        let name = self.next()?;
        let (base, start) = match self.look_up(name) {
            Some(Name::Register(register)) => (Some(register), 0),
            Some(name) => (None, offset(name)),
            None => match name.parse() {
                Ok(offset) => (None, offset),
                Err(_) => return self.fail(format!("expected an address, found {name:?}")),
            },
        };
        let offset = start + self.offset()?;
        self.expect("]")?;
        Ok(Address { base, offset })
    }

    /// Parses `+8`, `+-8`, `-8` or nothing.
    fn offset(&mut self) -> Result<i64, Fault> {
        if self.takes("+") {
            let is_negative = self.takes("-");
            let offset = self.number::<i64>()?;
            Ok(if is_negative { -offset } else { offset })
        } else if self.takes("-") {
            Ok(-self.number::<i64>()?)
        } else {
            Ok(0)
        }
    }

    /// Whether the next address is in local memory, of which each thread has its own.
    pub(super) fn is_local_next(&self) -> bool {
        let name = self.words.get(self.at + 1).map_or("", |word| word.text);
        matches!(self.look_up(name), Some(Name::Local(_)))
    }

    /// Parses `to, from`.
    pub(super) fn two(&mut self, ty: Type) -> Result<(Register, Register), Fault> {
        Ok((self.register()?, self.further(ty)?))
    }

    /// Parses a comma and an operand.
    pub(super) fn further(&mut self, ty: Type) -> Result<Register, Fault> {
        self.expect(",")?;
        self.operand(ty)
    }

    /// Parses a comma and a predicate, perhaps negated.
    pub(super) fn further_predicate(&mut self) -> Result<(bool, Register), Fault> {
        self.expect(",")?;
        Ok((self.takes("!"), self.operand(Type::Pred)?))
    }

    pub(super) fn operand(&mut self, ty: Type) -> Result<Register, Fault> {
        let name = self.peek().map_or("", |word| word.text);
        match self.look_up(name) {
            Some(Name::Register(register)) => {
                self.at += 1;
                return Ok(register);
            }
            Some(name) => {
                self.at += 1;
                let offset = offset(name) + self.offset()?;
                return Ok(self.value(Value::Constant(offset as u64)));
            }
            None => {}
        }
        if let Some(special) = special(name) {
            self.at += 1;
            return Ok(self.value(Value::Special(special)));
        }
        let constant = self.constant(ty)?;
        Ok(self.value(Value::Constant(constant)))
    }

    /// Returns the bits of a number of type `ty`.
    pub(super) fn constant(&mut self, ty: Type) -> Result<u64, Fault> {
        let is_negative = self.takes("-");
        let text = self.next()?;
        let Some(value) = constant(text) else {
            return self.fail(format!("expected an operand, found {text:?}"));
        };
        Ok(ty.truncate(if is_negative { value.wrapping_neg() } else { value }))
    }

    /// Returns the register that holds a constant or a special register.
    pub(super) fn value(&mut self, value: Value) -> Register {
        if let Some(&register) = self.code.values.get(&value) {
            return register;
        }
        let register = self.new_register();
        self.code.values.insert(value, register);
        register
    }

    /// Returns the last type among the modifiers of an instruction.
    pub(super) fn last_type(&self, modifiers: &[&str]) -> Result<Type, Fault> {
        let ty = modifiers.iter().rev().find_map(|modifier| Type::parse(modifier));
        ty.map_or_else(
            || self.fail(format!("no supported type among .{}", modifiers.join("."))),
            Ok,
        )
    }
}

/// Returns the address of a name that is not a register.
fn offset(name: Name) -> i64 {
    match name {
        Name::Register(_) => unreachable!("the caller has excluded registers"),
        Name::Parameter(offset) | Name::Shared(offset) | Name::Local(offset) => offset as i64,
        Name::Data(offset) => MODULE_WINDOW as i64 + offset as i64,
    }
}

/// Parses a number: decimal, `0x2A`, or the bits of a float, `0f3F800000` and `0d3FF0000000000000`.
fn constant(text: &str) -> Option<u64> {
    let radix16 = |digits: &str| u64::from_str_radix(digits, 16).ok();
    match text.get(..2) {
        Some("0x" | "0X" | "0f" | "0F" | "0d" | "0D") => radix16(text[2..].trim_end_matches('U')),
        _ => text.trim_end_matches('U').parse().ok(),
    }
}

fn special(name: &str) -> Option<Special> {
    let axis = |kind: fn(usize) -> Special, axis: &str| {
        ["x", "y", "z"].iter().position(|name| *name == axis).map(kind)
    };
    match name.split_once('.') {
        Some(("%tid", name)) => axis(Special::Thread, name),
        Some(("%ntid", name)) => axis(Special::NumThreads, name),
        Some(("%ctaid", name)) => axis(Special::Block, name),
        Some(("%nctaid", name)) => axis(Special::NumBlocks, name),
        _ => match name {
            "%laneid" => Some(Special::Lane),
            "%warpid" => Some(Special::Warp),
            "%nwarpid" => Some(Special::NumWarps),
            "WARP_SZ" => Some(Special::WarpSize),
            "%dynamic_smem_size" => Some(Special::DynamicSharedBytes),
            "%lanemask_eq" => Some(Special::LaneMask(LaneMask::Equal)),
            "%lanemask_le" => Some(Special::LaneMask(LaneMask::LessEqual)),
            "%lanemask_lt" => Some(Special::LaneMask(LaneMask::Less)),
            "%lanemask_ge" => Some(Special::LaneMask(LaneMask::GreaterEqual)),
            "%lanemask_gt" => Some(Special::LaneMask(LaneMask::Greater)),
            _ => None,
        },
    }
}
