//! The numbers that operators compute with: f64 in the reference, f32 in decoding and training.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{AddAssign, DivAssign, MulAssign, SubAssign};

use miriam_storage::Pod;
use num_traits::Float;

/// f32 or f64.
pub trait Real:
    Float
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
    + Default
    + Debug
    + Send
    + Sync
    + Pod
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// Returns the number of this type that is nearest to `value`.
    fn of(value: f64) -> Self;
    /// Returns the number as f64, which is exact.
    fn as_f64(self) -> f64;

    /// Returns the nearest number from `-limit` to `limit`; NaN is kept, so that it is detected.
    fn clipped(self, limit: Self) -> Self {
        if self > limit {
            limit
        } else if self < -limit {
            -limit
        } else {
            self
        }
    }
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    fn of(value: f64) -> Self {
        value as f32
    }
    fn as_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn of(value: f64) -> Self {
        value
    }
    fn as_f64(self) -> f64 {
        self
    }
}
