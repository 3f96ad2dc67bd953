//! Configuration of a phrase-based system that the command line has read already.

use std::sync::{Arc, Mutex, PoisonError};

use miriam_decoder::Configuration;

/// The configuration of a system for its first opening: reading it again would repeat its
/// warnings. Later openings read it again, because it may have changed. Clones share it.
#[derive(Clone, Debug)]
pub struct MosesSystem(Arc<Mutex<Option<Configuration>>>);

impl MosesSystem {
    /// Creates it from a configuration.
    pub fn new(configuration: Configuration) -> Self {
        MosesSystem(Arc::new(Mutex::new(Some(configuration))))
    }

    /// Takes the configuration, if no opening has taken it.
    pub(crate) fn take(&self) -> Option<Configuration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl PartialEq for MosesSystem {
    /// Returns true: the file and the options of a model identify its system.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
