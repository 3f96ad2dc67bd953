//! Suites of the trainer.

mod architectures;
mod fast;
mod golden;
mod gradients;
mod initial_values;
mod oracle;
mod overfit;
mod recipe;
