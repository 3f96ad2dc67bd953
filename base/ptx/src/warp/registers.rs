//! Instructions between registers, and between registers and memory.

use super::{LANES, Warp, lanes};
use crate::arithmetic::{
    Binary, Comparison, binary, compare, convert, insert_bits, ternary, unary,
};
use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Address, Combination, Operand, Operation, Register, Space};
use crate::types::Type;

impl Warp {
    /// Runs one of the most frequent instructions on registers for all lanes in one loop; returns
    /// whether it is one of them. [`Warp::compute`] runs any.
    pub(super) fn compute_together(
        &mut self,
        operation: &Operation,
        active: u32,
        around: &Surroundings<'_>,
    ) -> bool {
        let mut results = [0; LANES];
        let mut constants = [[0; LANES]; 3];
        let [first_constants, second_constants, third_constants] = &mut constants;
        let to = match operation {
            Operation::Move { ty, to, from } => {
                let values = self.values(*from, around, first_constants);
                (0..LANES).for_each(|i| results[i] = ty.truncate(values[i]));
                to
            }
            Operation::Select { ty, to, from: [first, second], by } => {
                let first = self.values(*first, around, first_constants);
                let second = self.values(*second, around, second_constants);
                let by = self.values(*by, around, third_constants);
                for i in 0..LANES {
                    results[i] = ty.truncate(if by[i] != 0 { first[i] } else { second[i] });
                }
                to
            }
            Operation::Compare { comparison, ty, to, opposite: None, from, combined: None }
                if !ty.is_float() =>
            {
                let a = self.values(from[0], around, first_constants);
                let b = self.values(from[1], around, second_constants);
                // A type without a sign is compared as if its highest bit were one.
                let flip = if ty.is_signed() { 0 } else { i64::MIN };
                let number = |value: u64| ty.extend(value) ^ flip;
                match comparison {
                    Comparison::Equal => combine(a, b, &mut results, |a, b| number(a) == number(b)),
                    Comparison::NotEqual => {
                        combine(a, b, &mut results, |a, b| number(a) != number(b))
                    }
                    Comparison::Less => combine(a, b, &mut results, |a, b| number(a) < number(b)),
                    Comparison::LessEqual => {
                        combine(a, b, &mut results, |a, b| number(a) <= number(b))
                    }
                    Comparison::Greater => {
                        combine(a, b, &mut results, |a, b| number(a) > number(b))
                    }
                    Comparison::GreaterEqual => {
                        combine(a, b, &mut results, |a, b| number(a) >= number(b))
                    }
                    _ => return false,
                }
                to
            }
            Operation::Binary { kind, ty, to, from } if !ty.is_float() => {
                let a = self.values(from[0], around, first_constants);
                let b = self.values(from[1], around, second_constants);
                match kind {
                    Binary::Add => {
                        combine(a, b, &mut results, |a, b| ty.truncate(a.wrapping_add(b)))
                    }
                    Binary::Subtract => {
                        combine(a, b, &mut results, |a, b| ty.truncate(a.wrapping_sub(b)));
                    }
                    Binary::And => combine(a, b, &mut results, |a, b| ty.truncate(a & b)),
                    Binary::Or => combine(a, b, &mut results, |a, b| ty.truncate(a | b)),
                    Binary::Xor => combine(a, b, &mut results, |a, b| ty.truncate(a ^ b)),
                    _ => return false,
                }
                to
            }
            _ => return false,
        };
        let register = &mut self.registers[*to as usize];
        if active == u32::MAX {
            *register = results;
        } else {
            lanes(active).for_each(|lane| register[lane] = results[lane]);
        }
        true
    }

    /// An operand's values in all lanes; `constants` takes those that are in no register.
    fn values<'v>(
        &'v self,
        operand: Operand,
        around: &Surroundings<'_>,
        constants: &'v mut [u64; LANES],
    ) -> &'v [u64; LANES] {
        match operand {
            Operand::Register(register) => return &self.registers[register as usize],
            Operand::Constant(value) => constants.fill(value),
            Operand::Special(special) => {
                for (lane, constant) in constants.iter_mut().enumerate() {
                    *constant = u64::from(self.special(special, lane, around));
                }
            }
        }
        constants
    }

    /// Runs an instruction of one lane that only reads and writes registers.
    pub(super) fn compute(
        &mut self,
        operation: &Operation,
        lane: usize,
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        let (to, result) = match operation {
            Operation::Move { ty, to, from } => (*to, ty.truncate(self.value(*from, lane, around))),
            Operation::Pack { part, to, from } => {
                let bits = 8 * part.size();
                let joined = from.iter().rev().fold(0, |joined, operand| {
                    joined << bits | part.truncate(self.value(*operand, lane, around))
                });
                (*to, joined)
            }
            Operation::Unpack { part, to, from } => {
                let value = self.value(*from, lane, around);
                for (number, register) in to.iter().enumerate() {
                    let bits = part.truncate(value >> (8 * part.size() * number));
                    self.registers[*register as usize][lane] = bits;
                }
                return Ok(());
            }
            Operation::Unary { kind, ty, to, from } => {
                (*to, unary(*kind, *ty, self.value(*from, lane, around)))
            }
            Operation::Binary { kind, ty, to, from } => {
                let [a, b] = from.map(|operand| self.value(operand, lane, around));
                match binary(*kind, *ty, a, b) {
                    Ok(result) => (*to, result),
                    Err(reason) => return Err(self.fault(around, lane, reason.to_owned())),
                }
            }
            Operation::Ternary { kind, ty, to, from } => {
                (*to, ternary(*kind, *ty, from.map(|operand| self.value(operand, lane, around))))
            }
            Operation::InsertBits { ty, to, from } => {
                (*to, insert_bits(*ty, from.map(|operand| self.value(operand, lane, around))))
            }
            Operation::Convert { conversion, to, from } => {
                (*to, convert(*conversion, self.value(*from, lane, around)))
            }
            Operation::Compare { comparison, ty, to, opposite, from, combined } => {
                let [a, b] = from.map(|operand| self.value(operand, lane, around));
                let is_true = compare(*comparison, *ty, a, b);
                let combine = |is_true: bool| match combined {
                    None => is_true,
                    Some((combination, is_negated, operand)) => {
                        let other = (self.value(*operand, lane, around) != 0) != *is_negated;
                        match combination {
                            Combination::And => is_true & other,
                            Combination::Or => is_true | other,
                            Combination::Xor => is_true ^ other,
                        }
                    }
                };
                let (result, negated) = (combine(is_true), combine(!is_true));
                if let Some(register) = opposite {
                    self.registers[*register as usize][lane] = u64::from(negated);
                }
                (*to, u64::from(result))
            }
            Operation::Select { ty, to, from: [first, second], by } => {
                let chosen = if self.value(*by, lane, around) != 0 { first } else { second };
                (*to, ty.truncate(self.value(*chosen, lane, around)))
            }
            // Accesses are in order here.
            Operation::Fence => return Ok(()),
            Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Branch { .. }
            | Operation::Return
            | Operation::Shuffle { .. }
            | Operation::Vote { .. }
            | Operation::Barrier { .. }
            | Operation::WarpBarrier { .. } => unreachable!("the warp runs it"),
        };
        self.registers[to as usize][lane] = result;
        Ok(())
    }

    pub(super) fn load(
        &mut self,
        lane: usize,
        (space, ty): (Space, Type),
        to: &[Register],
        address: Address,
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        let length = ty.size() * to.len();
        let address = self.checked_address(lane, address, length, around)?;
        let bytes = match space {
            Space::Global => around.memory.load(address, length),
            Space::Shared => around.shared.load(address, length),
            Space::Parameters => {
                let bytes =
                    around.parameters.get(address as usize..).and_then(|all| all.get(..length));
                bytes.ok_or_else(|| format!("a read at {address} of the parameters"))
            }
        };
        let bytes = bytes.map_err(|reason| self.fault(around, lane, reason))?;
        for (register, part) in to.iter().zip(bytes.chunks_exact(ty.size())) {
            let mut whole = [0; 8];
            whole[..part.len()].copy_from_slice(part);
            // Registers may be wider than what is loaded.
            let value = ty.extend(u64::from_le_bytes(whole)) as u64;
            self.registers[*register as usize][lane] = value;
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        lane: usize,
        (space, ty): (Space, Type),
        from: &[Operand],
        address: Address,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let address = self.checked_address(lane, address, ty.size() * from.len(), around)?;
        let mut bytes = [0; 32];
        for (place, operand) in from.iter().enumerate() {
            let value = self.value(*operand, lane, around).to_le_bytes();
            bytes[place * ty.size()..][..ty.size()].copy_from_slice(&value[..ty.size()]);
        }
        let bytes = &bytes[..ty.size() * from.len()];
        let stored = match space {
            Space::Global => around.memory.store(address, bytes),
            Space::Shared => around.shared.store(address, bytes),
            Space::Parameters => Err("a write to the parameters".to_owned()),
        };
        stored.map_err(|reason| self.fault(around, lane, reason))
    }

    /// The address of an access of `length` bytes, which must be a multiple of them.
    fn checked_address(
        &self,
        lane: usize,
        Address { base, offset }: Address,
        length: usize,
        around: &Surroundings<'_>,
    ) -> Result<u64, Fault> {
        let base = base.map_or(0, |register| self.registers[register as usize][lane]);
        let address = base.wrapping_add(offset as u64);
        if address.is_multiple_of(length as u64) {
            return Ok(address);
        }
        let reason = format!("an access of {length} bytes at {address:#x}, which is not aligned");
        Err(self.fault(around, lane, reason))
    }
}

/// Writes the result of `operation` for each lane.
fn combine<T: Into<u64>>(
    a: &[u64; LANES],
    b: &[u64; LANES],
    results: &mut [u64; LANES],
    operation: impl Fn(u64, u64) -> T,
) {
    for lane in 0..LANES {
        results[lane] = operation(a[lane], b[lane]).into();
    }
}
