//! The subcommands, one module each.

pub mod align;
pub mod bench;
pub mod demo;
pub mod dump;
mod estimate;
pub mod evaluate;
pub mod extract;
pub mod lm;
pub mod pt;
pub mod train;
pub mod translate;
pub mod tune;
pub mod verify;
