//! `miriam pt` end to end.
mod common;
