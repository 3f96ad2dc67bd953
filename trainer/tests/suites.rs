//! Test suites of the trainer.

mod architectures;
mod asynchronous;
mod batching;
mod fast;
mod golden;
mod gradients;
mod initial_values;
mod integers;
mod language_models;
mod marian;
mod memory;
mod options;
mod oracle;
mod overfit;
mod overfit_m30k;
mod recipe;
mod resuming;
mod scripts;
mod validation;
mod workplace;
