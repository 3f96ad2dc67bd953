//! The subcommands, one module each.

pub mod lm;
pub mod pt;
pub mod verify;
