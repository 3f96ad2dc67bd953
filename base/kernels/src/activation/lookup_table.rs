//! Sigmoid and tanh from tables (Devlin 2017, section 4.4).
//!
//! Devlin does not say how many entries his tables have. Here each has 4,096 entries over [-8, 8),
//! in 16 KiB: half of a first-level cache of 32 KiB, so a row of values fits in beside a table. The
//! nearest entry is taken without interpolation. The slope is at most 1 (tanh) and 1/4 (sigmoid),
//! and the step is 1/256. So the error is at most about 1/512 and 1/2048.

use std::sync::LazyLock;

use crate::isa::{Isa, TABLE_LEN};

const RANGE: f32 = 8.0;
const STEPS_PER_UNIT: f32 = TABLE_LEN as f32 / (2.0 * RANGE);

type Table = [f32; TABLE_LEN];

fn tabulate(function: impl Fn(f64) -> f64) -> Table {
    std::array::from_fn(|entry| {
        function(entry as f64 / f64::from(STEPS_PER_UNIT) - f64::from(RANGE)) as f32
    })
}

/// Returns the table of sigmoid.
pub(super) fn sigmoid_table() -> &'static Table {
    static SIGMOIDS: LazyLock<Table> = LazyLock::new(|| tabulate(|x| 1.0 / (1.0 + (-x).exp())));
    &SIGMOIDS
}

/// Returns the table of tanh.
pub(super) fn tanh_table() -> &'static Table {
    static TANGENTS: LazyLock<Table> = LazyLock::new(|| tabulate(f64::tanh));
    &TANGENTS
}

/// Returns the nearest entry for each lane; NaN stays NaN.
#[inline(always)]
pub(super) fn look_up<I: Isa>(isa: I, table: &Table, x: I::F) -> I::F {
    let index = isa.mul_add(x, isa.splat(STEPS_PER_UNIT), isa.splat(RANGE * STEPS_PER_UNIT));
    let index = isa.min(isa.splat((TABLE_LEN - 1) as f32), isa.max(isa.splat(0.0), index));
    let entry = isa.gather(table, isa.round(isa.max(index, isa.splat(0.0))));
    // If `index` is NaN, `max` returns its second operand, 0, so that the entry exists.
    // `index - index` is 0, or NaN if `index` is NaN.
    isa.add(entry, isa.sub(index, index))
}
