//! Charts of curves as SVG: stacked panels with a common horizontal axis.
//!
//! A [`Chart`] is data without positions. `draw.rs` draws it with the crate `plotters`; text stays
//! text, so that charts can be searched and read by programs.
//!
//! ```
//! use miriam_chart::{Axis, Chart, Colour, Curve, LineStyle, Panel};
//!
//! let loss = [(1e3, 6.1), (1e4, 3.4), (1e5, 2.8)];
//! let style = LineStyle::solid(Colour(0x1f, 0x5f, 0xa8));
//! let chart = Chart {
//!     title: "Training".into(),
//!     notes: Vec::new(),
//!     legend: vec![("cross-entropy of the validation set".into(), style)],
//!     x_axis: Axis::logarithmic("updates", loss.map(|(updates, _)| updates)),
//!     panels: vec![Panel {
//!         height: 300,
//!         y_axis: Axis::linear("nats a token", 0.0, 6.1),
//!         curves: vec![Curve { markers: true, ..Curve::new(style, loss) }],
//!     }],
//!     bands: Vec::new(),
//! };
//! assert!(chart.to_svg().contains("nats a token"));
//! ```

#![forbid(unsafe_code)]

mod axis;
mod draw;
mod layout;

pub use axis::Axis;

/// A colour: red, green and blue, from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// The style of a curve and its entry in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStyle {
    /// The colour of the line and its markers.
    pub colour: Colour,
    /// Whether the line is dashed.
    pub is_dashed: bool,
}

/// The colours of curves, which people with colour blindness can tell apart too.
const CURVE_COLOURS: [Colour; 7] = [
    Colour(0x1f, 0x5f, 0xa8),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x22, 0x22, 0x22),
];

impl Colour {
    /// Returns the colour of the curve `index`; after seven curves the colours repeat.
    pub fn for_curve(index: usize) -> Self {
        CURVE_COLOURS[index % CURVE_COLOURS.len()]
    }
}

impl LineStyle {
    /// Returns the style of the curve `index`: first solid lines of all colours, then dashed ones.
    pub fn for_curve(index: usize) -> Self {
        let is_dashed = index / CURVE_COLOURS.len() % 2 == 1;
        LineStyle { colour: Colour::for_curve(index), is_dashed }
    }

    /// Returns the style of a solid line.
    pub const fn solid(colour: Colour) -> Self {
        LineStyle { colour, is_dashed: false }
    }

    /// Returns the style of a dashed line.
    pub const fn dashed(colour: Colour) -> Self {
        LineStyle { colour, is_dashed: true }
    }
}

/// A chart: a title, a legend, and panels over one horizontal axis.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// Lines below the title, such as the machine and the data.
    pub notes: Vec<String>,
    /// The labels of line styles.
    pub legend: Vec<(String, LineStyle)>,
    /// The axis that all panels share; its label is below the last panel.
    pub x_axis: Axis,
    /// The panels, from top to bottom.
    pub panels: Vec<Panel>,
    /// Parts of the horizontal axis in ascending order, which all panels show. Each reaches to the
    /// next one or to the end of the axis, and has its label above the first panel, if there is
    /// room.
    pub bands: Vec<Band>,
}

impl Chart {
    /// The width of the page in pixels.
    pub const WIDTH: u32 = 860;
}

/// Curves over one vertical axis.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The height in pixels.
    pub height: u32,
    /// The vertical axis. Values outside it are drawn at its nearest end.
    pub y_axis: Axis,
    /// The curves; later ones cover earlier ones.
    pub curves: Vec<Curve>,
}

/// A line through points.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The style of the line.
    pub style: LineStyle,
    /// Whether each point has a dot.
    pub markers: bool,
    /// x and y, in ascending order of x.
    pub points: Vec<(f64, f64)>,
    /// Error bars: x, the lowest and the highest y.
    pub error_bars: Vec<(f64, f64, f64)>,
}

impl Curve {
    /// Returns a line without markers and error bars.
    pub fn new(style: LineStyle, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Curve { style, markers: false, points: points.into(), error_bars: Vec::new() }
    }
}

/// A part of the horizontal axis. A line divides it from the band before.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// The value at which the band begins.
    pub from: f64,
    /// The text above it.
    pub label: String,
    /// Whether its background is coloured.
    pub is_shaded: bool,
}
