//! A sentence of a call while a worker translates it.

use std::sync::Arc;

use super::work_queue::ActiveBatch;
use super::{Pending, PoolError, TranslationTask};
use crate::Result;
use crate::search::{Request, Translation};

/// A call to the pool: its task, and the results of its sentences.
pub(super) struct TranslationCall {
    pub task: TranslationTask,
    pub pending: Arc<Pending<Vec<Translation>>>,
}

/// A sentence under translation.
pub(super) struct ActiveJob {
    pub call: Arc<TranslationCall>,
    pub index: usize,
    /// The request, until the search takes it.
    pub request: Request,
    /// The reason to report if the job is dropped.
    pub drop_reason: String,
    /// Counts its batch as active until just before the result is set.
    pub batch: Option<Arc<ActiveBatch>>,
    pub is_done: bool,
}

impl ActiveJob {
    pub fn is_wanted(&self) -> bool {
        !self.call.pending.is_cancelled()
    }

    pub fn finish(mut self, result: Result<Vec<Translation>>) {
        let result = result.map_err(|error| PoolError::Failed(error.to_string()));
        self.batch = None;
        self.call.pending.finish(self.index, result);
        self.is_done = true;
    }
}

impl Drop for ActiveJob {
    /// Ends the wait for a sentence that was dropped.
    fn drop(&mut self) {
        if !self.is_done {
            let reason = std::mem::take(&mut self.drop_reason);
            self.batch = None;
            self.call.pending.finish(self.index, Err(PoolError::Failed(reason)));
        }
    }
}
