//! Sinusoidal positional encodings, computed once for each position.

use crate::Real;

/// The encodings of the first positions.
#[derive(Default)]
pub(super) struct Sinusoids<R> {
    /// Half the width, and the number of steps in which frequencies fall to 1/10,000.
    shape: [usize; 2],
    rows: Vec<R>,
}

impl<R: Real> Sinusoids<R> {
    /// Returns the encoding of `position`, p: column `i < half` is `sin(p * 10000^(-i / steps))`,
    /// column `half + i` its cosine.
    pub fn row(&mut self, [half, steps]: [usize; 2], position: u32) -> &[R] {
        if self.shape != [half, steps] {
            self.shape = [half, steps];
            self.rows.clear();
        }
        let width = 2 * half;
        let known = self.rows.len().checked_div(width).unwrap_or(0);
        for position in known..=position as usize {
            fn angle(i: usize, position: usize, steps: usize) -> f64 {
                position as f64 * 10_000f64.powf(-(i as f64) / steps as f64)
            }
            self.rows.extend((0..half).map(|i| R::of(angle(i, position, steps).sin())));
            self.rows.extend((0..half).map(|i| R::of(angle(i, position, steps).cos())));
        }
        &self.rows[position as usize * width..][..width]
    }
}
