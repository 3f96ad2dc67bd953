//! Instructions from their text: the name says the operation, its types and modifiers.

use super::{Name, Parser};
use crate::arithmetic::{Binary, Comparison, Conversion, Ordered, Rounding, Ternary, Unary};
use crate::fault::Fault;
use crate::instruction::{
    Address, Combination, LaneMask, Operand, Operation, Register, Shuffle, Space, Special, Vote,
};
use crate::types::Type;

/// Modifiers that say how memory is cached, or what results need not be, but not what is computed.
const HINTS: &[&str] = &[
    "nc",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "L1",
    "L2",
    "no_allocate",
    "evict_last",
    "evict_first",
    "evict_normal",
    "64B",
    "128B",
    "256B",
    "volatile",
    "relaxed",
    "weak",
    "gpu",
    "cta",
    "sys",
    "uni",
    "approx",
    "rn",
    "sync",
    "aligned",
    "full",
];

impl<'t> Parser<'_, 't> {
    /// An instruction up to its semicolon; of a branch also the label, whose place is not known yet.
    pub(super) fn operation(&mut self) -> Result<(Operation, Option<&'t str>), Fault> {
        let name = self.next()?;
        let (base, modifiers) = name.split_once('.').unwrap_or((name, ""));
        let modifiers: Vec<&str> = modifiers.split('.').filter(|part| !part.is_empty()).collect();
        let mut label = None;
        let operation = match base {
            "bra" => {
                label = Some(self.next()?);
                Operation::Branch { target: 0 }
            }
            "ret" | "exit" => Operation::Return,
            "membar" | "fence" => Operation::Fence,
            "bar" | "barrier" => self.barrier(&modifiers)?,
            "mov" => self.moved(&modifiers)?,
            "cvta" => {
                let ty = self.last_type(&modifiers)?;
                let (to, from) = self.two(ty)?;
                Operation::Move { ty, to, from }
            }
            "ld" | "ldu" => {
                let (space, ty, width) = self.access(&modifiers)?;
                let to = self.vector(width, |parser| parser.register())?;
                self.expect(",")?;
                Operation::Load { space, ty, to, address: self.address()? }
            }
            "st" => {
                let (space, ty, width) = self.access(&modifiers)?;
                let address = self.address()?;
                self.expect(",")?;
                let from = self.vector(width, |parser| parser.operand(ty))?;
                Operation::Store { space, ty, from, address }
            }
            "setp" => self.comparison(&modifiers)?,
            "selp" => {
                let ty = self.last_type(&modifiers)?;
                let to = self.register()?;
                let [first, second] = [self.further(ty)?, self.further(ty)?];
                Operation::Select { ty, to, from: [first, second], by: self.further(Type::Pred)? }
            }
            "cvt" => self.conversion(&modifiers)?,
            "shfl" => self.shuffle(&modifiers)?,
            "vote" => self.vote(&modifiers)?,
            "bfi" => {
                let ty = self.last_type(&modifiers)?;
                let to = self.register()?;
                let [field, value] = [self.further(ty)?, self.further(ty)?];
                let bits = Type::Unsigned(4);
                let [position, length] = [self.further(bits)?, self.further(bits)?];
                Operation::InsertBits { ty, to, from: [field, value, position, length] }
            }
            _ => self.arithmetic(name, base, &modifiers)?,
        };
        self.expect(";")?;
        Ok((operation, label))
    }

    fn arithmetic(
        &mut self,
        name: &str,
        base: &str,
        modifiers: &[&str],
    ) -> Result<Operation, Fault> {
        let ty = self.last_type(modifiers)?;
        if modifiers.contains(&"ftz") {
            return self
                .fail(format!("{name}: subnormal numbers that become zero are not supported"));
        }
        let has = |modifier: &str| modifiers.contains(&modifier);
        let is_float = ty.is_float();
        let unary = match base {
            "not" => Some(Unary::Not),
            "neg" => Some(Unary::Negate),
            "abs" => Some(Unary::Absolute),
            "brev" if !is_float => Some(Unary::ReverseBits),
            "clz" if !is_float => Some(Unary::CountLeadingZeros),
            "popc" if !is_float => Some(Unary::CountOnes),
            "bfind" if !is_float => Some(Unary::FindHighest { as_shift: has("shiftamt") }),
            "sqrt" if is_float => Some(Unary::SquareRoot),
            "rcp" if is_float => Some(Unary::Reciprocal),
            "rsqrt" if is_float => Some(Unary::ReciprocalSquareRoot),
            "ex2" if is_float => Some(Unary::Exp2),
            "lg2" if is_float => Some(Unary::Log2),
            "tanh" if is_float => Some(Unary::Tanh),
            _ => None,
        };
        if let Some(kind) = unary {
            let (to, from) = self.two(ty)?;
            return Ok(Operation::Unary { kind, ty, to, from });
        }
        let ternary = match base {
            "mad" if has("wide") => Some(Ternary::MultiplyAddWide),
            "mad" if has("hi") => Some(Ternary::MultiplyAddHigh),
            "mad" if !is_float => Some(Ternary::MultiplyAddLow),
            "fma" | "mad" if is_float => Some(Ternary::FusedMultiplyAdd),
            "bfe" if !is_float => Some(Ternary::ExtractBits),
            "prmt" if !is_float => Some(Ternary::PermuteBytes),
            _ => None,
        };
        if let Some(kind) = ternary {
            let to = self.register()?;
            let [first, second] = [self.further(ty)?, self.further(ty)?];
            let is_wide = kind == Ternary::MultiplyAddWide;
            let third = if is_wide { Type::Bits(2 * ty.size() as u8) } else { ty };
            let from = [first, second, self.further(third)?];
            return Ok(Operation::Ternary { kind, ty, to, from });
        }
        let kind = match base {
            "add" => Binary::Add,
            "sub" => Binary::Subtract,
            "mul" if has("wide") => Binary::MultiplyWide,
            "mul" if has("hi") => Binary::MultiplyHigh,
            "mul" => Binary::MultiplyLow,
            "div" => Binary::Divide,
            "rem" if !is_float => Binary::Remainder,
            "min" => Binary::Minimum,
            "max" => Binary::Maximum,
            "and" if !is_float => Binary::And,
            "or" if !is_float => Binary::Or,
            "xor" if !is_float => Binary::Xor,
            "shl" if !is_float => Binary::ShiftLeft,
            "shr" if !is_float => Binary::ShiftRight,
            _ => return self.fail(format!("the instruction {name} is not supported")),
        };
        let to = self.register()?;
        let first = self.further(ty)?;
        // A shift's amount has 32 bits.
        let is_shift = matches!(kind, Binary::ShiftLeft | Binary::ShiftRight);
        let second = self.further(if is_shift { Type::Unsigned(4) } else { ty })?;
        Ok(Operation::Binary { kind, ty, to, from: [first, second] })
    }

    /// A copy, or the parts of a register joined or divided.
    fn moved(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let ty = self.last_type(modifiers)?;
        if self.takes("{") {
            let mut to = vec![self.register()?];
            while self.takes(",") {
                to.push(self.register()?);
            }
            self.expect("}")?;
            let part = Type::Bits((ty.size() / to.len()) as u8);
            return Ok(Operation::Unpack { part, to, from: self.further(ty)? });
        }
        let to = self.register()?;
        self.expect(",")?;
        if self.takes("{") {
            let mut from = vec![self.operand(ty)?];
            while self.takes(",") {
                from.push(self.operand(ty)?);
            }
            self.expect("}")?;
            let part = Type::Bits((ty.size() / from.len()) as u8);
            return Ok(Operation::Pack { part, to, from });
        }
        Ok(Operation::Move { ty, to, from: self.operand(ty)? })
    }

    fn comparison(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let ty = self.last_type(modifiers)?;
        let comparison = match modifiers[0] {
            "eq" => Comparison::Equal,
            "ne" => Comparison::NotEqual,
            "lt" | "lo" => Comparison::Less,
            "le" | "ls" => Comparison::LessEqual,
            "gt" | "hi" => Comparison::Greater,
            "ge" | "hs" => Comparison::GreaterEqual,
            "equ" => Comparison::OrUnordered(Ordered::Equal),
            "neu" => Comparison::OrUnordered(Ordered::NotEqual),
            "ltu" => Comparison::OrUnordered(Ordered::Less),
            "leu" => Comparison::OrUnordered(Ordered::LessEqual),
            "gtu" => Comparison::OrUnordered(Ordered::Greater),
            "geu" => Comparison::OrUnordered(Ordered::GreaterEqual),
            "num" => Comparison::IsNumber,
            "nan" => Comparison::IsNan,
            other => return self.fail(format!("the comparison {other:?} is not supported")),
        };
        let combination = modifiers.iter().find_map(|modifier| match *modifier {
            "and" => Some(Combination::And),
            "or" => Some(Combination::Or),
            "xor" => Some(Combination::Xor),
            _ => None,
        });
        let to = self.register()?;
        let opposite = if self.takes("|") { Some(self.register()?) } else { None };
        let from = [self.further(ty)?, self.further(ty)?];
        let combined = match combination {
            Some(combination) => {
                self.expect(",")?;
                let is_negated = self.takes("!");
                Some((combination, is_negated, self.operand(Type::Pred)?))
            }
            None => None,
        };
        Ok(Operation::Compare { comparison, ty, to, opposite, from, combined })
    }

    fn conversion(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let types: Vec<Type> = modifiers.iter().filter_map(|part| Type::parse(part)).collect();
        let &[to_type, from_type] = &types[..] else {
            return self.fail(format!("cvt.{} is not supported", modifiers.join(".")));
        };
        let rounding = modifiers.iter().find_map(|modifier| match *modifier {
            "rni" => Some(Rounding::NearestEven),
            "rzi" => Some(Rounding::Zero),
            "rmi" => Some(Rounding::Down),
            "rpi" => Some(Rounding::Up),
            _ => None,
        });
        let is_known = |part: &&str| {
            Type::parse(part).is_some() || ["rni", "rzi", "rmi", "rpi", "rn", "sat"].contains(part)
        };
        if !modifiers.iter().all(is_known) {
            return self.fail(format!("cvt.{} is not supported", modifiers.join(".")));
        }
        let saturates = modifiers.contains(&"sat");
        let (to, from) = self.two(from_type)?;
        let conversion = Conversion { to: to_type, from: from_type, rounding, saturates };
        Ok(Operation::Convert { conversion, to, from })
    }

    fn shuffle(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let kind = match modifiers {
            ["sync", "idx", "b32"] => Shuffle::Index,
            ["sync", "up", "b32"] => Shuffle::Up,
            ["sync", "down", "b32"] => Shuffle::Down,
            ["sync", "bfly", "b32"] => Shuffle::Butterfly,
            _ => return self.fail(format!("shfl.{} is not supported", modifiers.join("."))),
        };
        let bits = Type::Bits(4);
        let to = self.register()?;
        let is_valid = if self.takes("|") { Some(self.register()?) } else { None };
        let value = self.further(bits)?;
        let [lane, clamp, members] =
            [self.further(bits)?, self.further(bits)?, self.further(bits)?];
        Ok(Operation::Shuffle { kind, to, is_valid, value, lane, clamp, members })
    }

    fn vote(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let kind = match modifiers {
            ["sync", "ballot", "b32"] => Vote::Ballot,
            ["sync", "any", "pred"] => Vote::Any,
            ["sync", "all", "pred"] => Vote::All,
            ["sync", "uni", "pred"] => Vote::Uniform,
            _ => return self.fail(format!("vote.{} is not supported", modifiers.join("."))),
        };
        let to = self.register()?;
        self.expect(",")?;
        let negated = self.takes("!");
        let predicate = self.operand(Type::Pred)?;
        let members = self.further(Type::Bits(4))?;
        Ok(Operation::Vote { kind, to, predicate, negated, members })
    }

    fn barrier(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        match modifiers {
            ["warp", "sync"] => {
                Ok(Operation::WarpBarrier { members: self.operand(Type::Bits(4))? })
            }
            ["sync"] | ["sync", "aligned"] | ["cta", "sync"] | ["cta", "sync", "aligned"] => {
                Ok(Operation::Barrier { number: self.operand(Type::Unsigned(4))? })
            }
            _ => self.fail(format!("bar.{} is not supported", modifiers.join("."))),
        }
    }

    /// Space, type and width of the vector of a load or store.
    fn access(&mut self, modifiers: &[&str]) -> Result<(Space, Type, usize), Fault> {
        let (mut space, mut width) = (None, 1);
        for modifier in modifiers {
            match *modifier {
                "global" => space = Some(Space::Global),
                "shared" => space = Some(Space::Shared),
                "param" => space = Some(Space::Parameters),
                "v2" => width = 2,
                "v4" => width = 4,
                hint if HINTS.contains(&hint.split("::").next().unwrap_or(hint)) => {}
                other if Type::parse(other).is_some() => {}
                other => return self.fail(format!("the access .{other} is not supported")),
            }
        }
        match space {
            Some(space) => Ok((space, self.last_type(modifiers)?, width)),
            None => self.fail("accesses to generic addresses are not supported".to_owned()),
        }
    }

    /// `width` items in braces, or one without.
    fn vector<T>(
        &mut self,
        width: usize,
        item: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        if width == 1 {
            return Ok(vec![item(self)?]);
        }
        self.expect("{")?;
        let mut items = vec![item(self)?];
        while items.len() < width {
            self.expect(",")?;
            items.push(item(self)?);
        }
        self.expect("}")?;
        Ok(items)
    }

    /// `[%rd1+8]`, `[name]`.
    fn address(&mut self) -> Result<Address, Fault> {
        self.expect("[")?;
        let name = self.next()?;
        let (base, start) = match self.look_up(name) {
            Some(Name::Register(register)) => (Some(register), 0),
            Some(Name::Offset(offset)) => (None, offset as i64),
            None => match name.parse() {
                Ok(offset) => (None, offset),
                Err(_) => return self.fail(format!("expected an address, found {name:?}")),
            },
        };
        let offset: i64 = if self.takes("+") {
            let is_negative = self.takes("-");
            let offset = self.number::<i64>()?;
            if is_negative { -offset } else { offset }
        } else if self.takes("-") {
            -self.number::<i64>()?
        } else {
            0
        };
        self.expect("]")?;
        Ok(Address { base, offset: start + offset })
    }

    /// `to, from`.
    fn two(&mut self, ty: Type) -> Result<(Register, Operand), Fault> {
        Ok((self.register()?, self.further(ty)?))
    }

    /// A comma and an operand.
    fn further(&mut self, ty: Type) -> Result<Operand, Fault> {
        self.expect(",")?;
        self.operand(ty)
    }

    fn operand(&mut self, ty: Type) -> Result<Operand, Fault> {
        let is_negative = self.takes("-");
        let text = self.next()?;
        if let (false, Some(name)) = (is_negative, self.look_up(text)) {
            return Ok(match name {
                Name::Register(register) => Operand::Register(register),
                Name::Offset(offset) => Operand::Constant(offset as u64),
            });
        }
        if let Some(special) = special(text) {
            return Ok(Operand::Special(special));
        }
        let Some(value) = constant(text) else {
            return self.fail(format!("expected an operand, found {text:?}"));
        };
        let value = if is_negative { value.wrapping_neg() } else { value };
        Ok(Operand::Constant(ty.truncate(value)))
    }

    /// The type that an instruction ends with.
    fn last_type(&self, modifiers: &[&str]) -> Result<Type, Fault> {
        let ty = modifiers.iter().rev().find_map(|modifier| Type::parse(modifier));
        ty.map_or_else(
            || self.fail(format!("no supported type among .{}", modifiers.join("."))),
            Ok,
        )
    }
}

/// A number: decimal, `0x2A`, or the bits of a float, `0f3F800000` and `0d3FF0000000000000`.
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
            "%lanemask_eq" => Some(Special::LaneMask(LaneMask::Equal)),
            "%lanemask_le" => Some(Special::LaneMask(LaneMask::LessEqual)),
            "%lanemask_lt" => Some(Special::LaneMask(LaneMask::Less)),
            "%lanemask_ge" => Some(Special::LaneMask(LaneMask::GreaterEqual)),
            "%lanemask_gt" => Some(Special::LaneMask(LaneMask::Greater)),
            _ => None,
        },
    }
}
