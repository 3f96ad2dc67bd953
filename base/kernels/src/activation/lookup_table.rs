//! Sigmoid and tanh from tables (Devlin 2017, section 4.4).
//!
//! 4,096 entries of [-8, 8), the nearest one, no interpolation: 16 KiB each, so both
//! stay in a first-level cache beside a row. The slope is at most 1 (tanh) and 1/4
//! (sigmoid), entries lie 1/256 apart.

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

/// The entries of sigmoid.
pub(super) fn sigmoid_table() -> &'static Table {
    static SIGMOIDS: LazyLock<Table> = LazyLock::new(|| tabulate(|x| 1.0 / (1.0 + (-x).exp())));
    &SIGMOIDS
}

/// The entries of tanh.
pub(super) fn tanh_table() -> &'static Table {
    static TANGENTS: LazyLock<Table> = LazyLock::new(|| tabulate(f64::tanh));
    &TANGENTS
}

/// The entry nearest to each lane; what is not a number stays that.
#[inline(always)]
pub(super) fn look_up<I: Isa>(isa: I, table: &Table, x: I::F) -> I::F {
    let place = isa.mul_add(x, isa.splat(STEPS_PER_UNIT), isa.splat(RANGE * STEPS_PER_UNIT));
    let place = isa.min(isa.splat((TABLE_LEN - 1) as f32), isa.max(isa.splat(0.0), place));
    let entry = isa.gather(table, isa.round(isa.max(place, isa.splat(0.0))));
    // Nothing, or what is not a number.
    isa.add(entry, isa.sub(place, place))
}
