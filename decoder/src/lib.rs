//! Phrase-based decoding.

#![forbid(unsafe_code)]
