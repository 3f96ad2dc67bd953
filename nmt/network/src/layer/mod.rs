//! The layers of neural models, each written once over a backend.
//!
//! A layer is its parameters and the order of operations on them. The backend decides how an
//! operation computes: [`Engine`](crate::engine::Engine) multiplies packed weights in f32 or
//! integers, [`ReferenceBackend`](crate::reference::ReferenceBackend) computes plainly in f64, and
//! a tape for training also records the operations. So a model decodes and trains by the same code.
//!
//! Sentences are never padded: the rows of a batch are the positions of one sentence after the
//! other, and operations on sentences take their lengths. So the numbers of a sentence do not
//! depend on its batch.

mod attention;
mod autoregression;
mod backend;
mod decoding_ops;
mod embedding;
mod feed_forward;
mod hypothesis;
mod output_ops;
pub mod recurrent;
mod recurrent_ops;
mod relative_positions;
mod sublayer_connection;

pub use attention::{CrossAttention, SelfAttention};
pub use autoregression::{Autoregression, AutoregressionState, DecodingStep};
pub use backend::{
    Activation, AffineNames, AttentionMask, Backend, ColumnSlice, DropoutSite, Epilogue,
    InPlaceOperator, LayerNorm, NormKind, Operator, ParameterLoader, RowPosition, Side,
};
pub use decoding_ops::{DecodingBackend, DecodingOps, Device};
pub use embedding::Embedding;
pub use feed_forward::FeedForward;
pub use hypothesis::{HypothesisRow, Slot};
pub use output_ops::{OutputColumns, OutputGroup, OutputOps, TokenLogit, TopK};
pub use recurrent_ops::{
    ActivationImpl, AttentionScore, GruVariant, RecurrentOps, RecurrentParameterLoader,
};
pub use relative_positions::{DistanceTerms, RelativePositions};
pub use sublayer_connection::SublayerConnection;
