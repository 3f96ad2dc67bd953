//! The subcommands, one module each.

pub mod align;
pub mod bench;
pub mod demo;
pub mod dump;
mod estimate;
pub mod lm;
pub mod nmt;
pub mod pt;
pub mod translate;
pub mod verify;
