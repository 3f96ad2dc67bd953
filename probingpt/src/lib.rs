//! Memory-mapped phrase tables with integrated lexical reordering.

#![forbid(unsafe_code)]
