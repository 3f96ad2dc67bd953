//! Neural networks: layers, the backends that compute them, and networks that searches use.
//!
//! [`layer`] has sublayers, each written once over the traits of a backend. [`engine`] is the
//! backend for CPUs, and [`mod@reference`] is the backend in f64 for tests. The backend of a device
//! is in a crate of its own, which uses [`plain_parameters`] and [`cache_indirection`]. [`network`]
//! builds the encoder and decoder of an architecture from layers, and runs sessions of them.
//! [`model_file`] writes a model in the packed form that the engine reads.

#![forbid(unsafe_code)]

pub mod cache_indirection;
pub mod engine;
pub mod layer;
pub mod model_file;
pub mod network;
pub mod plain_parameters;
pub mod reference;

pub use miriam_nmt_models::{Error, Result};
