//! Horizontal sizes of the page, which drawing and the choice of labels that fit share.

use crate::Chart;

/// The pixels left of panels, for the labels of the vertical axis.
pub const LEFT: u32 = 90;
/// The pixels right of panels.
pub const RIGHT: u32 = 30;
/// The pixels between both ends of the horizontal axis.
pub const PLOT_PIXELS: f64 = (Chart::WIDTH - LEFT - RIGHT) as f64;
