//! Suites of the trainer.

mod architectures;
mod fast;
mod gradients;
mod oracle;
mod recipe;
