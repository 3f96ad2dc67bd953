//! Work on long texts that ends early because its result is not wanted any more.

/// Work on a text was given up: whoever asked for it said that it should stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text was given up")]
pub struct Interrupted;

/// How many bytes of a text are worked on between two looks at whether to stop: a fraction of a
/// millisecond.
const INTERVAL: usize = 16 << 10;

/// Looks now and then at whether work on a text should stop.
pub(crate) struct Checkpoint<'a> {
    should_stop: &'a dyn Fn() -> bool,
    next: usize,
}

impl<'a> Checkpoint<'a> {
    pub(crate) fn new(should_stop: &'a dyn Fn() -> bool) -> Self {
        Checkpoint { should_stop, next: 0 }
    }

    /// Says that the work has come to `position`; positions only grow.
    pub(crate) fn pass(&mut self, position: usize) -> Result<(), Interrupted> {
        if position < self.next {
            return Ok(());
        }
        self.next = position + INTERVAL;
        if (self.should_stop)() { Err(Interrupted) } else { Ok(()) }
    }
}
