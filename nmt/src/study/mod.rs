//! Measurements over models with random weights: what a shape costs does not depend on
//! what it was trained for.

mod batching;
mod devlin;
mod random;
mod transformer;
mod wasteful;

pub use batching::{ParallelText, Pass, Subject, Way, translate};
pub use devlin::{Outcome, SHAPES, Setting, Workload, shape};
pub use random::random_model;
pub use transformer::{SIZES, endless, transformer};

#[cfg(test)]
mod tests;
