//! Numeric kernels of neural translation: free functions over borrowed views.
//!
//! Products of rows with weights packed once ([`pack`], [`product`]), activations and
//! softmax ([`function`]), the best words of a row of logits ([`output`]), norms
//! ([`norm`]), attention ([`attention`]), recurrent cells ([`cell`]), embeddings
//! ([`embedding`]) and the choice of the fastest of equal alternatives ([`tuner`]).
//! The crate owns no model: inputs are views ([`Mat`]) of whatever the
//! caller has, a mapped file or a flat vector in training, and what a call needs
//! besides (scratch, rows prepared for products) the caller keeps from call to call.
//!
//! A [`Cpu`] says which instructions are used. What a row gives never
//! depends on the other rows of a call, so sentences translate the same in every
//! batch and on any number of threads.
//!
//! It is one of the three crates in which `unsafe` is allowed, and keeps it in one
//! folder, `isa/`: kernels are safe code over vectors of sixteen lanes. Shapes that do
//! not fit are mistakes of the program and panic; what comes from files is checked
//! where it enters and gives an [`Error`].

#![allow(
    clippy::needless_range_loop,
    reason = "adapters are not inlined into kernels, see `isa::parts`"
)]

pub mod activation;
pub mod attention;
pub mod cell;
pub mod embedding;
mod error;
pub mod gemm;
mod isa;
mod matrix;
pub mod norm;
pub mod pack;
pub mod quantise;
#[cfg(test)]
mod testing;
pub mod topk;
pub mod tuner;

pub use error::{Error, Result};
pub use isa::{Cpu, LANES};
pub use matrix::{Mat, MatMut};
