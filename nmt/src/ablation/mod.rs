//! Ablation studies on models with random weights: the cost of an architecture does not
//! depend on the values of its weights.

mod ablated_session;
mod batching;
mod devlin;
mod random;
mod transformer;

pub use batching::{BatchingRun, BatchingVariant, BenchmarkModel, ParallelText, run_variant};
pub use devlin::{AblationSetting, STACKED_SHAPES, Workload, WorkloadResult, stacked_shape};
pub use random::random_model;
pub use transformer::{TRANSFORMER_SIZES, random_transformer_without_eos, transformer_shape};

#[cfg(test)]
mod tests;
