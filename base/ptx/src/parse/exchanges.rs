//! Barriers and exchanges between lanes from their text.

use super::Parser;
use crate::arithmetic::Binary;
use crate::fault::Fault;
use crate::instruction::{Count, Exchange, Operation, Register, Shuffle, Space, Value, Vote};
use crate::types::Type;

impl Parser<'_, '_> {
    pub(super) fn shuffle(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
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
        let exchange = Exchange::Shuffle { kind, to, is_valid, value, lane, clamp };
        Ok(Operation::Exchange { exchange, members })
    }

    pub(super) fn vote(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let kind = match modifiers {
            ["sync", "ballot", "b32"] => Vote::Ballot,
            ["sync", "any", "pred"] => Vote::Any,
            ["sync", "all", "pred"] => Vote::All,
            ["sync", "uni", "pred"] => Vote::Uniform,
            _ => return self.fail(format!("vote.{} is not supported", modifiers.join("."))),
        };
        let to = self.register()?;
        let (negated, predicate) = self.further_predicate()?;
        let members = self.further(Type::Bits(4))?;
        let exchange = Exchange::Vote { kind, to, predicate, negated };
        Ok(Operation::Exchange { exchange, members })
    }

    /// Parses `redux.sync.add.s32`.
    pub(super) fn reduction(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let kind = match modifiers {
            ["sync", "add", _] => Binary::Add,
            ["sync", "min", _] => Binary::Minimum,
            ["sync", "max", _] => Binary::Maximum,
            ["sync", "and", _] => Binary::And,
            ["sync", "or", _] => Binary::Or,
            ["sync", "xor", _] => Binary::Xor,
            _ => return self.fail(format!("redux.{} is not supported", modifiers.join("."))),
        };
        let ty = self.last_type(modifiers)?;
        let (to, value) = self.two(ty)?;
        let members = self.further(Type::Bits(4))?;
        let exchange = Exchange::Reduce { kind, ty, to, value };
        Ok(Operation::Exchange { exchange, members })
    }

    /// Parses `match.any.sync.b32`.
    pub(super) fn matching(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let ty = self.last_type(modifiers)?;
        let to = self.register()?;
        let is_all = match modifiers {
            ["any", "sync", _] => None,
            ["all", "sync", _] if self.takes("|") => Some(Some(self.register()?)),
            ["all", "sync", _] => Some(None),
            _ => return self.fail(format!("match.{} is not supported", modifiers.join("."))),
        };
        let value = self.further(ty)?;
        let members = self.further(Type::Bits(4))?;
        let exchange = Exchange::Match { ty, to, is_all, value };
        Ok(Operation::Exchange { exchange, members })
    }

    pub(super) fn barrier(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let parts: Vec<&str> =
            modifiers.iter().copied().filter(|part| !["cta", "aligned"].contains(part)).collect();
        let number = Type::Unsigned(4);
        match parts[..] {
            ["warp", "sync"] => {
                let members = self.operand(Type::Bits(4))?;
                Ok(Operation::Exchange { exchange: Exchange::Nothing, members })
            }
            ["sync"] => Ok(Operation::Barrier { number: self.operand(number)?, count: None }),
            ["red", kind, "u32" | "pred"] => {
                let kind = match kind {
                    "popc" => Count::Number,
                    "and" => Count::All,
                    "or" => Count::Any,
                    _ => return self.fail(format!("bar.red.{kind} is not supported")),
                };
                let to = self.register()?;
                let number = self.further(number)?;
                let (negated, predicate) = self.further_predicate()?;
                Ok(Operation::Barrier { number, count: Some((kind, to, negated, predicate)) })
            }
            _ => self.fail(format!("bar.{} is not supported", modifiers.join("."))),
        }
    }

    /// Parses `mma.sync` of the shapes m16n8k8 and m16n8k16, with sums in `f32`.
    pub(super) fn matrix_product(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let (ty, num_left, num_right) = match modifiers {
            ["sync", "aligned", "m16n8k8", "row", "col", "f32", "f16", "f16", "f32"] => {
                (Type::F16, 2, 1)
            }
            ["sync", "aligned", "m16n8k8", "row", "col", "f32", "bf16", "bf16", "f32"] => {
                (Type::Bf16, 2, 1)
            }
            ["sync", "aligned", "m16n8k16", "row", "col", "f32", "f16", "f16", "f32"] => {
                (Type::F16, 4, 2)
            }
            ["sync", "aligned", "m16n8k16", "row", "col", "f32", "bf16", "bf16", "f32"] => {
                (Type::Bf16, 4, 2)
            }
            _ => return self.fail(format!("mma.{} is not supported", modifiers.join("."))),
        };
        let bits = Type::Bits(4);
        let four = |found: Vec<Register>| <[Register; 4]>::try_from(found).expect("four were read");
        let to = four(self.vector(4, |parser| parser.register())?);
        self.expect(",")?;
        let left = self.vector(num_left, |parser| parser.operand(bits))?;
        self.expect(",")?;
        let right = self.vector(num_right, |parser| parser.operand(bits))?;
        self.expect(",")?;
        let added = four(self.vector(4, |parser| parser.operand(bits))?);
        let exchange = Exchange::MultiplyMatrices { ty, to, left, right, added };
        Ok(Operation::Exchange { exchange, members: self.all_lanes() })
    }

    /// Parses `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16`.
    pub(super) fn matrix_load(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let is_transposed = modifiers.contains(&"trans");
        let parts: Vec<&str> = modifiers.iter().copied().filter(|part| *part != "trans").collect();
        let (count, space) = match parts[..] {
            ["sync", "aligned", "m8n8", count, "b16"] => (count, Space::Generic),
            ["sync", "aligned", "m8n8", count, "shared" | "shared::cta", "b16"] => {
                (count, Space::Shared)
            }
            _ => ("", Space::Generic),
        };
        let width = match count {
            "x1" => 1,
            "x2" => 2,
            "x4" => 4,
            _ => return self.fail(format!("ldmatrix.{} is not supported", modifiers.join("."))),
        };
        let to = self.vector(width, |parser| parser.register())?;
        self.expect(",")?;
        let address = self.address()?;
        let exchange = Exchange::LoadMatrices { space, to, is_transposed, address };
        Ok(Operation::Exchange { exchange, members: self.all_lanes() })
    }

    /// Returns the register with the mask of an exchange that all lanes of a warp take part in.
    fn all_lanes(&mut self) -> Register {
        self.value(Value::Constant(u64::from(u32::MAX)))
    }
}
