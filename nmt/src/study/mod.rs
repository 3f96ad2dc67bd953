//! Measurements over models with random weights: what a shape costs does not depend on
//! what it was trained for.

mod devlin;
mod random;

pub use devlin::{Outcome, SHAPES, Setting, Workload, shape};
pub use random::random_model;

#[cfg(test)]
mod tests;
