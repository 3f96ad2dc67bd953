//! Spans: consecutive source positions.

/// Source positions of a phrase, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first position.
    pub start: u32,
    /// The position after the last one.
    pub end: u32,
}

impl Span {
    /// Returns the span moved `offset` positions to the right.
    pub(crate) fn shifted(self, offset: u32) -> Self {
        Span { start: self.start + offset, end: self.end + offset }
    }
}
