//! A stage of the progress that ends itself.

use miriam_textio::Progress;

/// A stage of the progress, over when it is dropped: also after an error.
pub struct ProgressStage<'p>(&'p dyn Progress);

impl<'p> ProgressStage<'p> {
    /// Begins the stage `name` of `total` units of work, if that is known.
    pub fn begin(progress: &'p dyn Progress, name: &str, total: Option<u64>) -> Self {
        progress.begin(name, total);
        ProgressStage(progress)
    }

    /// Says how many units are done in all.
    pub(crate) fn set_position(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Drop for ProgressStage<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
