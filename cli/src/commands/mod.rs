//! The subcommands, one module each.

pub mod bench;
pub mod demo;
pub mod dump;
mod estimate;
pub mod lm;
pub mod pt;
mod raw_text;
pub mod segment;
pub mod translate;
pub mod verify;
