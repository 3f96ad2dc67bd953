//! Training of the neural models that `miriam-nmt` decodes.
//!
//! A model trains through the layers that it decodes with: a [`tape`] is a backend of
//! `nmt`'s layers that records what it computes and gives gradients. Its operators are
//! [`kernels`], in f64 for an oracle and in f32 for training. [`data`] divides a corpus into
//! batches, [`update`] goes from a batch to new parameters, [`training`] from a corpus to a
//! model.

#![forbid(unsafe_code)]

pub mod data;
pub mod dropout;
mod init;
pub mod kernels;
mod model;
mod parameters;
pub mod random;
mod real;
pub mod tape;
pub mod training;
pub mod update;

pub use init::initial_values;
pub use model::TrainableModel;
pub use parameters::{ALIGNMENT, Parameter, ParameterLayout};
pub use real::Real;
