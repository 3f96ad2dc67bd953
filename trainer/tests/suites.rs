//! Suites of the trainer.

mod architectures;
mod gradients;
