//! Instructions that only read and write registers.

use super::{LANES, Warp, lanes};
use crate::arithmetic::{
    Binary, Lanes, binary, binary_lanes, compare_lanes, convert_lanes, convert_pair, insert_bits,
    one, ternary_lanes, three, two, unary_lanes,
};
use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Combination, Operation, Register};

impl Warp {
    /// Runs an instruction for the `active` lanes. The other lanes compute too, but their results
    /// are not written.
    pub(super) fn compute(
        &mut self,
        operation: &Operation,
        active: u32,
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        let values = |register: &Register| &self.registers[*register as usize];
        let mut results = [0; LANES];
        let to: Register = match operation {
            Operation::Move { ty, to, from } => {
                let ty = *ty;
                one(values(from), &mut results, |value| ty.truncate(value));
                *to
            }
            Operation::Pack { part, to, from } => {
                let bits = 8 * part.size();
                results = std::array::from_fn(|lane| {
                    from.iter().rev().fold(0, |joined, operand| {
                        joined << bits | part.truncate(values(operand)[lane])
                    })
                });
                *to
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
                unary_lanes(*kind, *ty, *mode, values(from), &mut results);
                *to
            }
            Operation::Binary {
                kind: kind @ (Binary::Divide | Binary::Remainder),
                ty,
                mode,
                to,
                from: [first, second],
            } if !ty.is_float() => {
                let [a, b] = [values(first), values(second)];
                for lane in lanes(active) {
                    match binary(*kind, *ty, *mode, a[lane], b[lane]) {
                        Ok(result) => results[lane] = result,
                        Err(reason) => return Err(self.fault(around, lane, reason.to_owned())),
                    }
                }
                *to
            }
            Operation::Binary { kind, ty, mode, to, from: [first, second] } => {
                let from = [values(first), values(second)];
                binary_lanes(*kind, *ty, *mode, from, &mut results);
                *to
            }
            Operation::Ternary { kind, ty, mode, to, from: [first, second, third] } => {
                let from = [values(first), values(second), values(third)];
                ternary_lanes(*kind, *ty, *mode, from, &mut results);
                *to
            }
            Operation::InsertBits { ty, to, from } => {
                let from = [0, 1, 2, 3].map(|i| values(&from[i]));
                results = std::array::from_fn(|i| insert_bits(*ty, from.map(|values| values[i])));
                *to
            }
            Operation::Convert { conversion, to, from } => {
                convert_lanes(*conversion, values(from), &mut results);
                *to
            }
            Operation::ConvertPair { conversion, to, from } => {
                let [a, b] = [values(&from[0]), values(&from[1])];
                two(a, b, &mut results, |a, b| convert_pair(*conversion, [a, b]));
                *to
            }
            Operation::Compare { comparison, ty, flushes, to, opposite, from, combined } => {
                let from = [values(&from[0]), values(&from[1])];
                compare_lanes(*comparison, *ty, *flushes, from, &mut results);
                let mut opposites = [0; LANES];
                if opposite.is_some() {
                    one(&results, &mut opposites, |is_true| is_true ^ 1);
                }
                if let Some((combination, is_negated, operand)) = combined {
                    let others = values(operand);
                    for results in [&mut results, &mut opposites] {
                        for (result, other) in results.iter_mut().zip(others) {
                            let other = u64::from((*other != 0) != *is_negated);
                            *result = match combination {
                                Combination::And => *result & other,
                                Combination::Or => *result | other,
                                Combination::Xor => *result ^ other,
                            };
                        }
                    }
                }
                if let Some(opposite) = opposite {
                    self.write(*opposite, active, &opposites);
                }
                let Some(to) = to else { return Ok(()) };
                *to
            }
            Operation::Select { ty, to, from, by } => {
                let [first, second, by] = [values(&from[0]), values(&from[1]), values(by)];
                let ty = *ty;
                three(first, second, by, &mut results, |first, second, by| {
                    ty.truncate(if by != 0 { first } else { second })
                });
                *to
            }
            Operation::ActiveLanes { to } => {
                results = [u64::from(active); LANES];
                *to
            }
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
