//! Numeric kernels of neural translation: free functions over borrowed views.
//!
//! GEMM of rows with packed weights ([`pack`], [`gemm`]), activations and softmax
//! ([`activation`]), quantisation of rows ([`quantise`]), top-k of rows of logits
//! ([`topk`]), norms ([`norm`]), attention ([`attention`]), recurrent cells ([`cell`]),
//! embeddings ([`embedding`]) and the choice of the fastest of equivalent tilings
//! ([`tuner`]). The crate owns no model: inputs are views ([`Mat`]) of memory of the
//! caller, a mapped file or a flat vector in training, and scratch buffers are the
//! caller's to reuse.
//!
//! Shapes are written `[rows, columns]`. A [`Cpu`] says which instructions are used. The
//! result of a row never depends on the other rows of a call, so sentences translate the
//! same in every batch and on any number of threads.
//!
//! It is one of the three crates in which `unsafe` is allowed, and keeps it in one
//! folder, `isa/`: kernels are safe code over vectors of sixteen lanes. Shapes that do
//! not fit are errors of the program and panic; data of files is checked where it enters
//! and gives an [`Error`].

#![allow(
    clippy::needless_range_loop,
    reason = "adapters are not inlined into kernels, see `isa::lane_chunks`"
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
