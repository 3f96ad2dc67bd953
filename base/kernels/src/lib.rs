//! Numeric kernels of neural translation: free functions over borrowed views.
//!
//! The crate has GEMM of rows with packed weights ([`pack`], [`gemm`]), activations and softmax
//! ([`activation`]), quantisation of rows ([`quantize`]), top-k of rows of logits ([`topk`]),
//! attention ([`attention`]), norms, recurrent cells and other operators on elements and rows
//! ([`operators`]), embeddings ([`embedding`]) and the choice of the fastest of equivalent tilings
//! ([`autotuner`]). For training, in f32, the same modules have gradients (functions that end in
//! `_gradient`). There are also [`cross_entropy`], sums of matrices ([`elementwise`]), steps of
//! optimisers ([`optimizer`]) and dropout masks ([`random`]). Gradients are added to existing ones,
//! since a tensor may be used several times. The crate owns no model: inputs are views ([`MatRef`])
//! of the caller's memory, such as a mapped file or the flat vector of training. Callers pass
//! scratch buffers, which they can reuse.
//!
//! Shapes are written `[rows, columns]`. A [`Cpu`] says which instructions are used. Except in
//! bf16, which only training uses, the result of a row never depends on the other rows of a call.
//! So sentences translate the same in every batch and on any number of threads.
//!
//! This is one of the few crates in which `unsafe` is allowed. All of it is in the folder `isa/`:
//! kernels are safe code over vectors of sixteen lanes. Shapes that do not fit are errors of the
//! program and panic; data of files is checked where it enters and gives an [`Error`].
//!
//! ```
//! use miriam_kernels::gemm::{Epilogue, Tiling, gemm_f32};
//! use miriam_kernels::pack::{UnpackedWeights, WeightsF32};
//! use miriam_kernels::{Cpu, MatRef, MatMut};
//!
//! // [2, 3] x [3, 2], with a bias.
//! let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let weights = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
//! let weights = WeightsF32::pack(UnpackedWeights::inputs_by_outputs(MatRef::new(&weights, 3, 2)))?;
//!
//! let (cpu, mut out) = (Cpu::detect(), [0.0; 4]);
//! let epilogue = Epilogue { bias: Some(&[0.0, 10.0]), ..Epilogue::default() };
//! let into = MatMut::new(&mut out, 2, 2);
//! gemm_f32(cpu, Tiling::default_for(cpu), MatRef::new(&rows, 2, 3), weights.view(), epilogue, into);
//! assert_eq!(out, [4.0, 15.0, 10.0, 21.0]);
//! # Ok::<(), miriam_kernels::Error>(())
//! ```

#![allow(
    clippy::needless_range_loop,
    reason = "adapters are not inlined into kernels, see `isa::lane_chunks`"
)]

pub mod activation;
mod aligned_vec;
pub mod attention;
pub mod autotuner;
pub mod cross_entropy;
pub mod elementwise;
pub mod embedding;
mod error;
pub mod gemm;
mod isa;
mod matrix;
pub mod operators;
pub mod optimizer;
pub mod pack;
pub mod plain;
pub mod quantize;
pub mod random;
mod real;
#[cfg(test)]
mod testing;
pub mod topk;

pub use aligned_vec::AlignedVec;
pub use error::{Error, Result};
pub use isa::{Cpu, LANES};
pub use matrix::{MatMut, MatRef};
pub use real::Real;
