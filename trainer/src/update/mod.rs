//! Synchronous updates of the parameters: workers compute gradients of micro-batches, and the
//! optimiser takes a step with their sum. Asynchronous training shares parts of this.

mod flexible_rate;
mod momentum;
mod quantizer;
mod synchronous;
mod tree;
mod weight_limit;

pub use crate::kernels::{BiasCorrections, OptimizerKind, Shard, Smoothing, Step};
pub use flexible_rate::FlexibleRate;
pub use momentum::MomentumSchedule;
pub use quantizer::QuantizationOptions;
pub use synchronous::{
    ClipScope, MicroBatch, NormLimit, OptimizerState, SynchronousTrainer, UpdateOptions,
    UpdateReport,
};
pub(crate) use synchronous::{MicroBatchWorker, gradient_norm, scale_gradient};
pub use tree::MicroBatchTree;
pub(crate) use tree::worker_share;
pub use weight_limit::limit_weights;
