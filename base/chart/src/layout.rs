//! Horizontal layout of panels, which decides which labels fit.

use crate::Chart;

/// The pixels left of panels, for the vertical axis and its labels.
pub const LEFT: u32 = 90;
/// The pixels right of panels.
pub const RIGHT: u32 = 30;
/// The pixels between both ends of the horizontal axis.
pub const PLOT_PIXELS: f64 = (Chart::WIDTH - LEFT - RIGHT) as f64;
