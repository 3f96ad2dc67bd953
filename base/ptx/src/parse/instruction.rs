//! Instructions from their text: the name says the operation, its types and modifiers.

use super::Parser;
use super::body::Jump;
use crate::arithmetic::{Binary, Comparison, Conversion, Mode, Ordered, Rounding, Ternary, Unary};
use crate::fault::Fault;
use crate::instruction::{Combination, Operation, Value};
use crate::space::{LOCAL_WINDOW, SHARED_WINDOW};
use crate::types::Type;

/// Modifiers of arithmetic other than types.
const MODIFIERS: &[&str] = &[
    "rn", "rz", "rm", "rp", "ftz", "sat", "approx", "full", "lo", "hi", "wide", "shiftamt", "NaN",
    "relu", "l", "r", "wrap", "clamp",
];

impl<'t> Parser<'_, 't> {
    /// Parses an instruction up to its semicolon. Returns it with the place where execution
    /// continues.
    pub(super) fn operation(&mut self) -> Result<(Operation, Jump<'t>), Fault> {
        let name = self.next()?;
        let (base, modifiers) = name.split_once('.').unwrap_or((name, ""));
        let modifiers: Vec<&str> = modifiers.split('.').filter(|part| !part.is_empty()).collect();
        let mut jump = Jump::None;
        let operation = match base {
            "bra" => {
                jump = Jump::Label(self.next()?);
                Operation::Branch { target: 0 }
            }
            "brx" => {
                let index = self.operand(Type::Unsigned(4))?;
                self.expect(",")?;
                jump = Jump::Table(self.next()?);
                Operation::BranchIndexed { targets: Vec::new(), index }
            }
            "ret" | "exit" => Operation::Return,
            "trap" => Operation::Trap,
            "membar" | "fence" => Operation::Fence,
            // A hint to read ahead into a cache.
            "prefetch" | "prefetchu" => {
                self.address()?;
                Operation::Fence
            }
            "bar" | "barrier" => self.barrier(&modifiers)?,
            "mov" => self.moved(&modifiers)?,
            "cvta" => self.address_conversion(&modifiers)?,
            "ld" | "ldu" => self.load(&modifiers)?,
            "st" => self.store(&modifiers)?,
            "atom" => self.atomic(&modifiers, true)?,
            "red" => self.atomic(&modifiers, false)?,
            "cp" => self.copy(&modifiers)?,
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
            "redux" => self.reduction(&modifiers)?,
            "match" => self.matching(&modifiers)?,
            "activemask" => Operation::ActiveLanes { to: self.register()? },
            "mma" => self.matrix_product(&modifiers)?,
            "ldmatrix" => self.matrix_load(&modifiers)?,
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
        Ok((operation, jump))
    }

    /// Parses the modifiers of arithmetic that say how floats are treated.
    fn mode(&self, name: &str, modifiers: &[&str]) -> Result<Mode, Fault> {
        let is_known = |part: &&str| MODIFIERS.contains(part) || Type::parse(part).is_some();
        if let Some(other) = modifiers.iter().find(|part| !is_known(part)) {
            return self.fail(format!("{name}: the modifier .{other} is not supported"));
        }
        let has = |modifier: &str| modifiers.contains(&modifier);
        Ok(Mode {
            flushes: has("ftz"),
            saturates: has("sat"),
            rounding: rounding(modifiers),
            keeps_nan: has("NaN"),
            is_rectified: has("relu"),
        })
    }

    fn arithmetic(
        &mut self,
        name: &str,
        base: &str,
        modifiers: &[&str],
    ) -> Result<Operation, Fault> {
        let ty = self.last_type(modifiers)?;
        let mode = self.mode(name, modifiers)?;
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
            "sin" if is_float => Some(Unary::Sine),
            "cos" if is_float => Some(Unary::Cosine),
            _ => None,
        };
        let is_directed = mode.rounding != Rounding::NearestEven;
        let is_sum = ["add", "sub", "mul", "fma", "mad"].contains(&base);
        if is_directed && (!is_sum || ty == Type::F64) || mode.saturates && !is_float {
            return self.fail(format!("{name}: this rounding is not supported"));
        }
        if let Some(kind) = unary {
            let (to, from) = self.two(ty)?;
            return Ok(Operation::Unary { kind, ty, mode, to, from });
        }
        let ternary = match base {
            "mad" if has("wide") => Some(Ternary::MultiplyAddWide),
            "mad" if has("hi") => Some(Ternary::MultiplyAddHigh),
            "mad" if !is_float => Some(Ternary::MultiplyAddLow),
            "fma" | "mad" if is_float => Some(Ternary::FusedMultiplyAdd),
            "bfe" if !is_float => Some(Ternary::ExtractBits),
            "prmt" if ty.size() == 4 && modifiers.len() == 1 => Some(Ternary::PermuteBytes),
            "shf" if has("l") || has("r") => {
                Some(Ternary::FunnelShift { to_left: has("l"), clamps: has("clamp") })
            }
            "sad" if !is_float => Some(Ternary::AddDistance),
            "lop3" => Some(Ternary::Logic(0)),
            "dp4a" => {
                let is_signed = [modifiers[0] == "s32", modifiers.last() == Some(&"s32")];
                Some(Ternary::DotProduct { is_signed })
            }
            _ => None,
        };
        if let Some(mut kind) = ternary {
            let to = self.register()?;
            let [first, second] = [self.further(ty)?, self.further(ty)?];
            let third = match kind {
                Ternary::MultiplyAddWide => Type::Bits(2 * ty.size() as u8),
                Ternary::ExtractBits => Type::Unsigned(4),
                _ => ty,
            };
            let from = [first, second, self.further(third)?];
            if kind == Ternary::Logic(0) {
                self.expect(",")?;
                kind = Ternary::Logic(self.constant(Type::Unsigned(1))? as u8);
            }
            return Ok(Operation::Ternary { kind, ty, mode, to, from });
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
            "copysign" if is_float => Binary::CopySign,
            _ => return self.fail(format!("the instruction {name} is not supported")),
        };
        let to = self.register()?;
        let first = self.further(ty)?;
        // A shift's amount has 32 bits.
        let is_shift = matches!(kind, Binary::ShiftLeft | Binary::ShiftRight);
        let second = self.further(if is_shift { Type::Unsigned(4) } else { ty })?;
        Ok(Operation::Binary { kind, ty, mode, to, from: [first, second] })
    }

    /// Parses a copy, or an instruction that joins or divides the parts of a register.
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

    /// Parses a conversion between generic addresses and addresses of a space.
    fn address_conversion(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let ty = self.last_type(modifiers)?;
        let has = |modifier: &str| modifiers.contains(&modifier);
        let window = match () {
            () if has("shared") || has("shared::cta") => SHARED_WINDOW,
            () if has("local") => LOCAL_WINDOW,
            () if has("global") || has("const") => 0,
            () => return self.fail(format!("cvta.{} is not supported", modifiers.join("."))),
        };
        let (to, from) = self.two(ty)?;
        let from = [from, self.value(Value::Constant(window))];
        let kind = if has("to") { Binary::Subtract } else { Binary::Add };
        Ok(Operation::Binary { kind, ty, mode: Mode::default(), to, from })
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
        if ty.half().is_some() {
            return self.fail(format!("setp.{} is not supported", modifiers.join(".")));
        }
        let combination = modifiers.iter().find_map(|modifier| match *modifier {
            "and" => Some(Combination::And),
            "or" => Some(Combination::Or),
            "xor" => Some(Combination::Xor),
            _ => None,
        });
        let to = if self.takes("_") { None } else { Some(self.register()?) };
        let opposite = if self.takes("|") { Some(self.register()?) } else { None };
        let from = [self.further(ty)?, self.further(ty)?];
        let combined = match combination {
            Some(combination) => {
                let (is_negated, other) = self.further_predicate()?;
                Some((combination, is_negated, other))
            }
            None => None,
        };
        let flushes = modifiers.contains(&"ftz");
        Ok(Operation::Compare { comparison, ty, flushes, to, opposite, from, combined })
    }

    fn conversion(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let types: Vec<Type> = modifiers.iter().filter_map(|part| Type::parse(part)).collect();
        let to_integer = modifiers.iter().find_map(|modifier| match *modifier {
            "rni" => Some(Rounding::NearestEven),
            "rzi" => Some(Rounding::Zero),
            "rmi" => Some(Rounding::Down),
            "rpi" => Some(Rounding::Up),
            _ => None,
        });
        let is_known = |part: &&str| {
            let known = ["rni", "rzi", "rmi", "rpi", "rn", "rz", "rm", "rp", "sat", "ftz", "relu"];
            Type::parse(part).is_some() || known.contains(part)
        };
        let &[to_type, from_type] = &types[..] else {
            return self.fail(format!("cvt.{} is not supported", modifiers.join(".")));
        };
        let is_pair = to_type.half().is_some();
        if !modifiers.iter().all(is_known)
            || from_type.half().is_some()
            || is_pair && from_type != Type::F32
            || to_type == Type::F64 && rounding(modifiers) != Rounding::NearestEven
        {
            return self.fail(format!("cvt.{} is not supported", modifiers.join(".")));
        }
        let conversion = Conversion {
            to: to_type.half().unwrap_or(to_type),
            from: from_type,
            to_integer,
            rounding: rounding(modifiers),
            saturates: modifiers.contains(&"sat"),
            flushes: modifiers.contains(&"ftz"),
            is_rectified: modifiers.contains(&"relu"),
        };
        let (to, from) = self.two(from_type)?;
        if is_pair {
            let from = [from, self.further(from_type)?];
            return Ok(Operation::ConvertPair { conversion, to, from });
        }
        Ok(Operation::Convert { conversion, to, from })
    }
}

/// Returns the rounding that the modifiers name, or rounding to nearest even.
fn rounding(modifiers: &[&str]) -> Rounding {
    let named = modifiers.iter().find_map(|modifier| match *modifier {
        "rz" => Some(Rounding::Zero),
        "rm" => Some(Rounding::Down),
        "rp" => Some(Rounding::Up),
        _ => None,
    });
    named.unwrap_or_default()
}
