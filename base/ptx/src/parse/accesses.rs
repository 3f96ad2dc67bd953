//! Loads, stores, atomic accesses and asynchronous copies from their text.

use super::Parser;
use crate::arithmetic::Binary;
use crate::fault::Fault;
use crate::instruction::{Atomic, Operation, Space, Value};
use crate::types::Type;

/// Modifiers that say how memory is cached and who sees it, but not what is accessed.
const HINTS: &[&str] = &[
    "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1", "L2", "volatile", "relaxed", "weak",
    "acquire", "release", "acq_rel", "gpu", "cta", "sys", "noftz",
];

impl Parser<'_, '_> {
    pub(super) fn load(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let (space, ty, width) = self.access(modifiers)?;
        let to = self.vector(width, |parser| parser.register())?;
        self.expect(",")?;
        let space = self.own_space(space);
        Ok(Operation::Load { space, ty, to, address: self.address()? })
    }

    pub(super) fn store(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        let (space, ty, width) = self.access(modifiers)?;
        let space = self.own_space(space);
        let address = self.address()?;
        self.expect(",")?;
        let from = self.vector(width, |parser| parser.operand(ty))?;
        Ok(Operation::Store { space, ty, from, address })
    }

    /// Returns the space of an access to a parameter: arguments of functions are in local memory,
    /// parameters of the launch are not.
    fn own_space(&self, space: Space) -> Space {
        if space == Space::Parameters && self.is_local_next() { Space::Local } else { space }
    }

    /// Parses `atom`, which has a register for the old value, or `red`, which has none.
    pub(super) fn atomic(&mut self, modifiers: &[&str], returns: bool) -> Result<Operation, Fault> {
        const KINDS: &[(&str, Atomic)] = &[
            ("add", Atomic::Combine(Binary::Add)),
            ("min", Atomic::Combine(Binary::Minimum)),
            ("max", Atomic::Combine(Binary::Maximum)),
            ("and", Atomic::Combine(Binary::And)),
            ("or", Atomic::Combine(Binary::Or)),
            ("xor", Atomic::Combine(Binary::Xor)),
            ("exch", Atomic::Exchange),
            ("cas", Atomic::CompareAndSwap),
            ("inc", Atomic::Increment),
            ("dec", Atomic::Decrement),
        ];
        let is_kind = |part: &&str| KINDS.iter().any(|(name, _)| name == part);
        let accesses: Vec<&str> = modifiers.iter().copied().filter(|part| !is_kind(part)).collect();
        let (space, ty, width) = self.access(&accesses)?;
        let kind = KINDS.iter().find(|(name, _)| modifiers.contains(name)).map(|(_, kind)| *kind);
        let Some(kind) = kind.filter(|_| width == 1 && (ty.size() >= 4 || ty.is_float())) else {
            return self.fail(format!("atom.{} is not supported", modifiers.join(".")));
        };
        let mut to = None;
        if returns {
            to = Some(self.register()?);
            self.expect(",")?;
        }
        let address = self.address()?;
        let first = self.further(ty)?;
        let second = if kind == Atomic::CompareAndSwap { self.further(ty)? } else { first };
        Ok(Operation::Atomic { kind, space, ty, to, address, from: [first, second] })
    }

    /// Parses `cp.async`, after its first word.
    pub(super) fn copy(&mut self, modifiers: &[&str]) -> Result<Operation, Fault> {
        match modifiers {
            ["async", "commit_group"] => Ok(Operation::EndCopyGroup),
            ["async", "wait_group"] => {
                Ok(Operation::AwaitCopies { groups_left: Some(self.number()?) })
            }
            ["async", "wait_all"] => Ok(Operation::AwaitCopies { groups_left: None }),
            ["async", "ca" | "cg", "shared" | "shared::cta", "global", hints @ ..]
                if hints.iter().all(|hint| hint.starts_with("L2::")) =>
            {
                let to = self.address()?;
                self.expect(",")?;
                let from = self.address()?;
                self.expect(",")?;
                let size: usize = self.number()?;
                let is_possible = match modifiers[1] {
                    "cg" => size == 16,
                    _ => [4, 8, 16].contains(&size),
                };
                if !is_possible {
                    return self.fail(format!("a copy of {size} bytes is not possible"));
                }
                let read = if self.takes(",") {
                    self.operand(Type::Unsigned(4))?
                } else {
                    self.value(Value::Constant(size as u64))
                };
                Ok(Operation::CopyLater { to, from, size, read })
            }
            _ => self.fail(format!("cp.{} is not supported", modifiers.join("."))),
        }
    }

    /// Returns the space, the type and the vector width of an access.
    pub(super) fn access(&mut self, modifiers: &[&str]) -> Result<(Space, Type, usize), Fault> {
        let (mut space, mut width) = (Space::Generic, 1);
        for modifier in modifiers {
            match *modifier {
                "global" => space = Space::Global,
                "shared" | "shared::cta" => space = Space::Shared,
                "local" => space = Space::Local,
                "const" => space = Space::Module,
                "param" | "param::entry" | "param::func" => space = Space::Parameters,
                "v2" => width = 2,
                "v4" => width = 4,
                hint if HINTS.contains(&hint.split("::").next().unwrap_or(hint)) => {}
                other if Type::parse(other).is_some() => {}
                other => return self.fail(format!("the access .{other} is not supported")),
            }
        }
        Ok((space, self.last_type(modifiers)?, width))
    }
}
