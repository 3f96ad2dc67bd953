//! What stands around a sublayer: norms and the way past it.
//!
//! Marian writes both as strings: steps before a sublayer and behind it, in any order. Where
//! a sublayer ends with a product, the sum is part of the product or of the norm behind.

use super::{AffineNames, Backend, Epilogue, LayerNorm, ParameterLoader};
use crate::Result;
use crate::architecture::{ProcessStep, ProcessSteps, TransformerConfig};

/// The steps before and behind a sublayer, with their parameters.
pub struct SublayerConnection<B: Backend> {
    pre_norm: Option<LayerNorm<B::Vector>>,
    post_steps: Vec<PostStep<B::Vector>>,
}

enum PostStep<V> {
    Add,
    Norm(LayerNorm<V>),
}

/// The norm of a prefix.
fn load_norm<B: Backend>(
    parameters: &mut impl ParameterLoader<B>,
    prefix: &str,
    suffix: &str,
    epsilon: f32,
) -> Result<LayerNorm<B::Vector>> {
    Ok(LayerNorm {
        scale: parameters.vector(&format!("{prefix}_ln_scale{suffix}"))?,
        bias: Some(parameters.vector(&format!("{prefix}_ln_bias{suffix}"))?),
        epsilon,
    })
}

impl<B: Backend> SublayerConnection<B> {
    /// What a transformer has around a sublayer, whose norms have these prefixes before and
    /// behind it.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        before: &str,
        behind: &str,
    ) -> Result<Self> {
        // Before a sublayer there is nothing to add.
        let before = if shape.preprocess.has_norm() {
            Some(load_norm(parameters, before, "_pre", shape.norm_epsilon)?)
        } else {
            None
        };
        let behind = Self::load_post_steps(parameters, shape, &shape.postprocess, behind, "")?;
        Ok(SublayerConnection { pre_norm: before, post_steps: behind })
    }

    /// Only what stands behind: embeddings, or a whole stack.
    pub fn load_post(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        process: &ProcessSteps,
        prefix: &str,
        suffix: &str,
    ) -> Result<Self> {
        let behind = Self::load_post_steps(parameters, shape, process, prefix, suffix)?;
        Ok(SublayerConnection { pre_norm: None, post_steps: behind })
    }

    fn load_post_steps(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        process: &ProcessSteps,
        prefix: &str,
        suffix: &str,
    ) -> Result<Vec<PostStep<B::Vector>>> {
        let steps = process.0.iter().map(|step| {
            Ok(match step {
                ProcessStep::Add => PostStep::Add,
                ProcessStep::Norm => {
                    PostStep::Norm(load_norm(parameters, prefix, suffix, shape.norm_epsilon)?)
                }
            })
        });
        steps.collect()
    }

    /// What the sublayer sees of `rows`, unless it is the rows themselves.
    pub fn preprocess(&self, backend: &mut B, rows: &B::Tensor) -> Option<B::Tensor> {
        self.pre_norm.as_ref().map(|norm| backend.layer_norm(rows, norm))
    }

    /// What leaves, where the sublayer got `input` and gave `rows`.
    pub fn postprocess(
        &self,
        backend: &mut B,
        mut rows: B::Tensor,
        input: &B::Tensor,
    ) -> B::Tensor {
        let mut steps = &self.post_steps[..];
        loop {
            (rows, steps) = match steps {
                [] => return rows,
                [PostStep::Add, PostStep::Norm(norm), rest @ ..] => {
                    (backend.add_layer_norm(rows, input, norm), rest)
                }
                [PostStep::Add, rest @ ..] => (backend.add(rows, input), rest),
                [PostStep::Norm(norm), rest @ ..] => (backend.layer_norm(&rows, norm), rest),
            }
        }
    }

    /// The same where the sublayer gives the product of `rows` with `weights`.
    pub fn project_and_postprocess(
        &self,
        backend: &mut B,
        rows: &B::Tensor,
        weights: &B::Weights,
        input: &B::Tensor,
    ) -> B::Tensor {
        if let [PostStep::Add] = &self.post_steps[..] {
            let then = Epilogue { residual: Some(input), ..Epilogue::default() };
            return backend.affine(rows, weights, then);
        }
        let rows = backend.affine(rows, weights, Epilogue::default());
        self.postprocess(backend, rows, input)
    }
}

/// The weights of one matrix, `{prefix}_W{which}`, with the bias `{prefix}_b{which}`.
pub(super) fn load_affine<B: Backend>(
    parameters: &mut impl ParameterLoader<B>,
    prefix: &str,
    which: &str,
) -> Result<B::Weights> {
    load_fused_affine(parameters, prefix, &[which])
}

/// Several of one prefix, side by side.
pub(super) fn load_fused_affine<B: Backend>(
    parameters: &mut impl ParameterLoader<B>,
    prefix: &str,
    which: &[&str],
) -> Result<B::Weights> {
    let name = |kind: &'static str| move |which: &&str| format!("{prefix}_{kind}{which}");
    let matrices: Vec<String> = which.iter().map(name("W")).collect();
    let biases: Vec<String> = which.iter().map(name("b")).collect();
    let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
    let biases: Vec<&str> = biases.iter().map(String::as_str).collect();
    parameters.weights(AffineNames { matrices: &matrices, biases: &biases })
}
