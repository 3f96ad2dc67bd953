//! The subcommands, one module each.

pub mod bench;
pub mod demo;
pub mod dump;
mod estimate;
pub mod evaluate;
pub mod lm;
pub mod pt;
pub mod translate;
pub mod tune;
pub mod verify;
