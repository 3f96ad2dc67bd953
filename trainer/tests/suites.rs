//! Suites of the trainer.

mod architectures;
mod batching;
mod fast;
mod golden;
mod gradients;
mod marian;
mod options;
mod oracle;
mod overfit;
mod recipe;
mod scripts;
mod workplace;
