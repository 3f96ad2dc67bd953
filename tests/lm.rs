//! `miriam lm` end to end.
mod common;
