//! Updates of the parameters: several workers compute gradients of micro-batches, which are summed
//! before the step of the optimiser.

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
pub(crate) use synchronous::{Worker as MicroBatchWorker, gradient_norm, scale_gradient};
pub use tree::MicroBatchTree;
pub(crate) use tree::worker_share;
pub use weight_limit::limit_weights;
