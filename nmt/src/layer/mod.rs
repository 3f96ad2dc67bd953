//! The layers of neural models, each written once over a backend.
//!
//! A layer is its parameters and the order of operations on them. What an operation does
//! with numbers is the backend's: [`Engine`](crate::engine::Engine) multiplies packed
//! weights and forgets, a tape would multiply and remember. So a model decodes and trains
//! through the same lines.
//!
//! Sentences are never padded: the rows of a batch are the positions of one sentence after
//! the other, and what concerns sentences takes their lengths. A sentence's numbers thus do
//! not depend on its batch.

mod around;
mod attention;
mod backend;
mod embedding;
mod feed_forward;
mod gates;
mod look_back;
pub mod recurrent;

pub use around::Around;
pub use attention::{CrossAttention, SelfAttention};
pub use backend::{Affine, Backend, Decoding, Norm, Parameters, Part, Sequences, Then, Visible};
pub use embedding::Embedding;
pub use feed_forward::FeedForward;
pub use gates::{Fit, GateParameters, Gates, GruForm, Norms, Squash};
pub use look_back::{LookBack, Remembered, Steps};
