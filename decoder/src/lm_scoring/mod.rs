//! Language-model scores of target phrases: of single phrases without context, of many phrases at
//! once, and within a sentence, where states are interned and scores are cached.

mod interned_states;
mod lm_batch;
mod lm_cache;
mod lm_phrase;

pub(crate) use lm_batch::LmBatch;
pub(crate) use lm_cache::{LmContext, LmScoreCache};
pub(crate) use lm_phrase::{IsolatedPhrase, LmPhrase, LmPhraseParts, read_right_state};
