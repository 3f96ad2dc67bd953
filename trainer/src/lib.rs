//! Training of the neural models that `miriam-nmt` decodes.
//!
//! A model trains through the layers that it decodes with: a [`tape`] is a backend of
//! `nmt`'s layers that records what it computes and gives gradients. Its operators are
//! [`kernels`], in f64 for an oracle and in f32 for training.

#![forbid(unsafe_code)]

pub mod dropout;
pub mod kernels;
mod model;
mod parameters;
pub mod philox;
mod real;
pub mod tape;

pub use model::TrainableModel;
pub use parameters::{ALIGNMENT, Parameter, ParameterLayout};
pub use real::Real;
