//! Colours of the curves of a chart, one after the other.

use miriam_chart::{Colour, LineStyle};

/// Colours that people with colour blindness can tell apart too.
const COLOURS: [Colour; 7] = [
    Colour(0x1f, 0x5f, 0xa8),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x22, 0x22, 0x22),
];

/// Returns the colour of the subject with this index; after the last one they begin again.
pub fn colour(index: usize) -> Colour {
    COLOURS[index % COLOURS.len()]
}

/// Returns the style of the curve with this index.
pub fn style(index: usize) -> LineStyle {
    LineStyle { colour: colour(index), is_dashed: index >= COLOURS.len() }
}
