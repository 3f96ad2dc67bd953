//! Spans: consecutive source positions.

/// Source positions of a phrase, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first position.
    pub start: u32,
    /// One past the last position.
    pub end: u32,
}

impl Span {
    /// The span moved `offset` positions to the right.
    pub(crate) fn shifted(self, offset: u32) -> Self {
        Span { start: self.start + offset, end: self.end + offset }
    }
}
