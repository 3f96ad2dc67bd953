//! Instructions that only read and write registers.

use super::{LANES, Lanes, Warp, lanes};
use crate::arithmetic::{
    Binary, binary, compare, convert, convert_pair, insert_bits, ternary, unary,
};
use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Combination, Operation, Register};

impl Warp {
    /// Runs an instruction for the `active` lanes. The others compute too, in vain.
    pub(super) fn compute(
        &mut self,
        operation: &Operation,
        active: u32,
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        let values = |register: &Register| &self.registers[*register as usize];
        let (to, results): (Register, Lanes) = match operation {
            Operation::Move { ty, to, from } => {
                let from = values(from);
                (*to, std::array::from_fn(|i| ty.truncate(from[i])))
            }
            Operation::Pack { part, to, from } => {
                let bits = 8 * part.size();
                let joined = |lane: usize| {
                    from.iter().rev().fold(0, |joined, operand| {
                        joined << bits | part.truncate(values(operand)[lane])
                    })
                };
                (*to, std::array::from_fn(joined))
            }
            Operation::Unpack { part, to, from } => {
                let whole = *values(from);
                for (number, register) in to.iter().enumerate() {
                    let shift = 8 * part.size() * number;
                    let results = whole.map(|value| part.truncate(value >> shift));
                    self.write(*register, active, &results);
                }
                return Ok(());
            }
            Operation::Unary { kind, ty, mode, to, from } => {
                let from = values(from);
                (*to, std::array::from_fn(|i| unary(*kind, *ty, *mode, from[i])))
            }
            Operation::Binary {
                kind: kind @ (Binary::Divide | Binary::Remainder),
                ty,
                mode,
                to,
                from,
            } => {
                let [a, b] = [values(&from[0]), values(&from[1])];
                let mut results = [0; LANES];
                for lane in lanes(active) {
                    match binary(*kind, *ty, *mode, a[lane], b[lane]) {
                        Ok(result) => results[lane] = result,
                        Err(reason) => return Err(self.fault(around, lane, reason.to_owned())),
                    }
                }
                (*to, results)
            }
            Operation::Binary { kind, ty, mode, to, from } => {
                let [a, b] = [values(&from[0]), values(&from[1])];
                let result = |i: usize| binary(*kind, *ty, *mode, a[i], b[i]).unwrap_or(0);
                (*to, std::array::from_fn(result))
            }
            Operation::Ternary { kind, ty, mode, to, from } => {
                let [a, b, c] = [values(&from[0]), values(&from[1]), values(&from[2])];
                (*to, std::array::from_fn(|i| ternary(*kind, *ty, *mode, [a[i], b[i], c[i]])))
            }
            Operation::InsertBits { ty, to, from } => {
                let from = [0, 1, 2, 3].map(|i| values(&from[i]));
                (*to, std::array::from_fn(|i| insert_bits(*ty, from.map(|values| values[i]))))
            }
            Operation::Convert { conversion, to, from } => {
                let from = values(from);
                (*to, std::array::from_fn(|i| convert(*conversion, from[i])))
            }
            Operation::ConvertPair { conversion, to, from } => {
                let [a, b] = [values(&from[0]), values(&from[1])];
                (*to, std::array::from_fn(|i| convert_pair(*conversion, [a[i], b[i]])))
            }
            Operation::Compare { comparison, ty, flushes, to, opposite, from, combined } => {
                let [a, b] = [values(&from[0]), values(&from[1])];
                let is_true: [bool; LANES] =
                    std::array::from_fn(|i| compare(*comparison, *ty, *flushes, a[i], b[i]));
                let combine = |lane: usize, is_true: bool| match combined {
                    None => is_true,
                    Some((combination, is_negated, operand)) => {
                        let other = (values(operand)[lane] != 0) != *is_negated;
                        match combination {
                            Combination::And => is_true & other,
                            Combination::Or => is_true | other,
                            Combination::Xor => is_true ^ other,
                        }
                    }
                };
                let results = std::array::from_fn(|i| u64::from(combine(i, is_true[i])));
                let opposites: Lanes = std::array::from_fn(|i| u64::from(combine(i, !is_true[i])));
                if let Some(opposite) = opposite {
                    self.write(*opposite, active, &opposites);
                }
                let Some(to) = to else { return Ok(()) };
                (*to, results)
            }
            Operation::Select { ty, to, from, by } => {
                let [first, second, by] = [values(&from[0]), values(&from[1]), values(by)];
                let chosen = |i: usize| if by[i] != 0 { first[i] } else { second[i] };
                (*to, std::array::from_fn(|i| ty.truncate(chosen(i))))
            }
            Operation::ActiveLanes { to } => (*to, [u64::from(active); LANES]),
            _ => unreachable!("the warp runs it"),
        };
        self.write(to, active, &results);
        Ok(())
    }

    /// Writes the results of the `active` lanes.
    #[inline]
    pub(super) fn write(&mut self, to: Register, active: u32, results: &Lanes) {
        let register = &mut self.registers[to as usize];
        if active == u32::MAX {
            *register = *results;
        } else {
            lanes(active).for_each(|lane| register[lane] = results[lane]);
        }
    }
}
