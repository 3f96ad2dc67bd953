//! N-gram language models on the CPU, with KenLM's scores and states to the bit.

#![forbid(unsafe_code)]

mod model;
mod state;

pub use model::{LanguageModel, LmWord, Request, Scored};
pub use state::{MAX_ORDER, State};
