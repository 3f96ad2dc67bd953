//! Cancellation of work on long texts.

/// The error of cancelled work on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work on the text was cancelled")]
pub struct Interrupted;

/// The bytes of a text between two checks for cancellation; they take a fraction of a millisecond.
const INTERVAL: usize = 16 << 10;

/// A regular check of whether work on a text should stop.
pub(crate) struct Checkpoint<'a> {
    should_stop: &'a dyn Fn() -> bool,
    next: usize,
}

impl<'a> Checkpoint<'a> {
    pub(crate) fn new(should_stop: &'a dyn Fn() -> bool) -> Self {
        Checkpoint { should_stop, next: 0 }
    }

    /// Records that the work has reached `position`; positions only grow.
    pub(crate) fn pass(&mut self, position: usize) -> Result<(), Interrupted> {
        if position < self.next {
            return Ok(());
        }
        self.next = position + INTERVAL;
        if (self.should_stop)() { Err(Interrupted) } else { Ok(()) }
    }
}
