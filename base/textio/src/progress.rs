//! How long work tells how far it is. Libraries report; the program draws.

/// Hears how far a job is. Called from many threads.
pub trait Progress: Sync {
    /// A stage begins; `total` units of work are expected, where known.
    fn begin(&self, stage: &str, total: Option<u64>);
    /// The stage has done this much in all.
    fn set_position(&self, done: u64);
    /// The stage is over.
    fn end(&self);
}

/// Reports to nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn set_position(&self, _: u64) {}
    fn end(&self) {}
}
