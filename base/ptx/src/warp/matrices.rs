//! Products of small matrices (`mma`) and their loads (`ldmatrix`).
//!
//! Elements lie in the lanes as the PTX manual draws them ("Matrix fragments for mma.m16n8k16"). Of
//! each block of 8 by 8, lane `l` holds row `l / 4` and two columns from `2 * (l % 4)` on; in the
//! right matrix, column `l / 4` and two rows from `2 * (l % 4)` on. Factors have two elements of 16
//! bits per register, sums one `f32`.
//!
//! Products are exact; they are added to the accumulator in ascending depth, with one rounding to
//! `f32` each. A device adds several products at once, in an order that is not specified, so the
//! last bits of its results may differ.

use super::{LANES, Warp};
use crate::arithmetic::{Lanes, decode, multiply_add};
use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Address, Register, Space};
use crate::races::Access;
use crate::types::Type;

/// Rows of the product.
const ROWS: usize = 16;

/// Columns of the product.
const COLUMNS: usize = 8;

/// The greatest depth of a product.
const MAX_DEPTH: usize = 16;

/// The bytes of a row of a matrix in memory.
const ROW_BYTES: usize = 16;

impl Warp {
    pub(super) fn multiply_matrices(
        &mut self,
        ty: Type,
        to: [Register; 4],
        (left, right): (&[Register], &[Register]),
        added: [Register; 4],
    ) {
        let depth = 8 * right.len();
        let mut a = [[0.0; MAX_DEPTH]; ROWS];
        let mut b = [[0.0; MAX_DEPTH]; COLUMNS];
        for lane in 0..LANES {
            // The first registers hold the first columns, alternately the upper and the lower rows.
            for (number, register) in left.iter().enumerate() {
                let row = lane / 4 + 8 * (number % 2);
                let column = 2 * (lane % 4) + 8 * (number / 2);
                let pair = self.registers[*register as usize][lane];
                a[row][column] = decode(ty, pair & 0xFFFF);
                a[row][column + 1] = decode(ty, pair >> 16 & 0xFFFF);
            }
            for (number, register) in right.iter().enumerate() {
                let row = 2 * (lane % 4) + 8 * number;
                let pair = self.registers[*register as usize][lane];
                b[lane / 4][row] = decode(ty, pair & 0xFFFF);
                b[lane / 4][row + 1] = decode(ty, pair >> 16 & 0xFFFF);
            }
        }
        let mut results = [[0; LANES]; 4];
        for (number, results) in results.iter_mut().enumerate() {
            for (lane, result) in results.iter_mut().enumerate() {
                let row = &a[lane / 4 + 8 * (number / 2)];
                let column = &b[2 * (lane % 4) + number % 2];
                let start = self.registers[added[number] as usize][lane];
                let sum = row[..depth]
                    .iter()
                    .zip(column)
                    .fold(f32::from_bits(start as u32), |sum, (x, y)| multiply_add(*x, *y, sum));
                *result = u64::from(sum.to_bits());
            }
        }
        for (register, results) in to.iter().zip(&results) {
            self.registers[*register as usize] = *results;
        }
    }

    /// Loads a matrix into each register of `to`. Lanes `8 * i` to `8 * i + 7` have the addresses
    /// of the rows of matrix `i`; the addresses in the remaining lanes are not read.
    pub(super) fn load_matrices(
        &mut self,
        space: Space,
        to: &[Register],
        is_transposed: bool,
        address: Address,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let mut results: Vec<Lanes> = Vec::with_capacity(to.len());
        for number in 0..to.len() {
            let mut rows = [[0; ROW_BYTES]; 8];
            for (row, bytes) in rows.iter_mut().enumerate() {
                let lane = 8 * number + row;
                let address = self.checked_address(lane, address, ROW_BYTES, around)?;
                self.record(lane, space, address, ROW_BYTES, Access::Read, around)?;
                self.read(lane, space, address, bytes, around)?;
            }
            let element = |row: usize, column: usize| {
                u64::from(u16::from_le_bytes([rows[row][2 * column], rows[row][2 * column + 1]]))
            };
            results.push(std::array::from_fn(|lane| {
                let (outer, inner) = (lane / 4, 2 * (lane % 4));
                if is_transposed {
                    element(inner, outer) | element(inner + 1, outer) << 16
                } else {
                    element(outer, inner) | element(outer, inner + 1) << 16
                }
            }));
        }
        for (register, results) in to.iter().zip(&results) {
            self.registers[*register as usize] = *results;
        }
        Ok(())
    }
}
