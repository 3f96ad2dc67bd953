//! Asynchronous SGD with a sharded parameter server (`docs/spec/training.md` A.4 to A.9).
//!
//! The flat vector of parameters is cut into one shard per worker. A worker fetches all shards,
//! computes the gradients of some batches with its copy, and pushes their sum into each shard,
//! whose optimiser takes a step after each push or after several pushes. Between the fetch and the
//! push, other workers change the shards, so gradients are stale. The code of shards and workers
//! knows neither threads nor time: it is driven by threads (`training`) or by the simulator of a
//! machine ([`simulation`]).

mod coordinator;
mod gradient_dropping;
mod options;
mod shard;
pub mod simulation;
mod snapshot;
mod worker;

pub use coordinator::Coordinator;
pub use gradient_dropping::{SparseGradient, drop_gradient, threshold};
pub use options::{
    AsyncOptions, DroppingOptions, DroppingRates, DroppingScope, FetchMode, LocalOptimizer,
    ShardUpdate,
};
pub use shard::{GatheredShards, ParameterShard, PushTerms, PushedGradient, gather, shard_ranges};
pub use snapshot::AsyncSnapshot;
pub use worker::{AsyncWorker, BatchTerms};
