//! Residual connections and layer norms of sublayers.
//!
//! Marian writes both as strings: steps before and after a sublayer, in any order. Where a
//! sublayer ends with a GEMM, the residual is added in the epilogue of the GEMM or by
//! the norm that follows.

use super::{AffineNames, Backend, DropoutSite, Epilogue, LayerNorm, NormKind, ParameterLoader};
use crate::Result;
use miriam_nmt_models::architecture::{ProcessStep, ProcessSteps, TransformerConfig};

/// The norm before a sublayer and the steps after it, with their parameters.
pub struct SublayerConnection<B: Backend> {
    pre_norm: Option<LayerNorm<B::Vector>>,
    post_steps: Vec<PostStep<B::Vector>>,
    /// The dropout that training applies to the sublayer's output before `post_steps`.
    dropout_site: DropoutSite,
}

enum PostStep<V> {
    Add,
    Norm(LayerNorm<V>),
}

/// Loads the norm of the kind `step` under `prefix`.
fn load_norm<B: Backend>(
    parameters: &mut impl ParameterLoader<B>,
    step: ProcessStep,
    prefix: &str,
    suffix: &str,
    epsilon: f32,
) -> Result<LayerNorm<B::Vector>> {
    let mut vector = |name: &str| parameters.vector(&format!("{prefix}_{name}{suffix}"));
    let (kind, scale, bias) = match step {
        ProcessStep::RmsNorm => (NormKind::Rms, vector("rms_scale")?, None),
        _ => (NormKind::Layer, vector("ln_scale")?, Some(vector("ln_bias")?)),
    };
    Ok(LayerNorm { kind, scale, bias, epsilon })
}

impl<B: Backend> SublayerConnection<B> {
    /// Loads the steps around a sublayer of a transformer. `pre_prefix` and `post_prefix` are
    /// the prefixes of the norms before and after it.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        pre_prefix: &str,
        post_prefix: &str,
    ) -> Result<Self> {
        // Before a sublayer there is nothing to add.
        let pre_norm = match shape.preprocess.norm() {
            Some(step) => {
                Some(load_norm(parameters, step, pre_prefix, "_pre", shape.norm_epsilon)?)
            }
            None => None,
        };
        let post_steps =
            Self::load_post_steps(parameters, shape, &shape.postprocess, post_prefix, "")?;
        Ok(SublayerConnection { pre_norm, post_steps, dropout_site: DropoutSite::SublayerOutput })
    }

    /// Loads the steps after embeddings. There are no steps before them. `side` is `encoder` or
    /// `decoder`.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load_embedding(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        side: &str,
    ) -> Result<Self> {
        let (steps, prefix) = (&shape.postprocess_embedding, format!("{side}_emb"));
        let post_steps = Self::load_post_steps(parameters, shape, steps, &prefix, "_pre")?;
        Ok(SublayerConnection { pre_norm: None, post_steps, dropout_site: DropoutSite::Embedding })
    }

    /// Loads the steps after a whole stack. There are no steps before it. `side` is `encoder` or
    /// `decoder`.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load_top(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        side: &str,
    ) -> Result<Self> {
        let (steps, prefix) = (&shape.postprocess_top, format!("{side}_top"));
        let post_steps = Self::load_post_steps(parameters, shape, steps, &prefix, "")?;
        Ok(SublayerConnection {
            pre_norm: None,
            post_steps,
            dropout_site: DropoutSite::StackOutput,
        })
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
                &step => {
                    let epsilon = shape.norm_epsilon;
                    PostStep::Norm(load_norm(parameters, step, prefix, suffix, epsilon)?)
                }
            })
        });
        steps.collect()
    }

    /// Returns the input of the sublayer: `rows`, `[rows, width]`, after dropout and norm. Returns
    /// `None` if there is neither, so that the input is `rows` itself.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn preprocess(&self, backend: &mut B, rows: &B::Tensor) -> Result<Option<B::Tensor>> {
        let dropped = if backend.drops_out(DropoutSite::SublayerInput) {
            let rows = backend.copy(backend.whole(rows))?;
            Some(backend.drop_out(rows, DropoutSite::SublayerInput)?)
        } else {
            None
        };
        match &self.pre_norm {
            Some(norm) => backend.layer_norm(dropped.as_ref().unwrap_or(rows), norm).map(Some),
            None => Ok(dropped),
        }
    }

    /// Applies the steps after a sublayer with input `input` and output `rows`, `[rows, width]`
    /// both.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn postprocess(
        &self,
        backend: &mut B,
        rows: B::Tensor,
        input: &B::Tensor,
    ) -> Result<B::Tensor> {
        let mut rows = backend.drop_out(rows, self.dropout_site)?;
        let mut steps = &self.post_steps[..];
        loop {
            (rows, steps) = match steps {
                [] => return Ok(rows),
                [PostStep::Add, PostStep::Norm(norm), rest @ ..] => {
                    (backend.add_layer_norm(&rows, input, norm)?, rest)
                }
                [PostStep::Add, rest @ ..] => (backend.add(&rows, input)?, rest),
                [PostStep::Norm(norm), rest @ ..] => (backend.layer_norm(&rows, norm)?, rest),
            }
        }
    }

    /// Multiplies `rows` with `weights`, as the last operation of the sublayer, and applies the
    /// steps after it.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn project_and_postprocess(
        &self,
        backend: &mut B,
        rows: &B::Tensor,
        weights: &B::Weights,
        input: &B::Tensor,
    ) -> Result<B::Tensor> {
        if let [PostStep::Add] = &self.post_steps[..]
            && !backend.drops_out(self.dropout_site)
        {
            let add_input = Epilogue { residual: Some(input), ..Epilogue::default() };
            return backend.affine(rows, weights, add_input);
        }
        let rows = backend.affine(rows, weights, Epilogue::default())?;
        self.postprocess(backend, rows, input)
    }

    /// Applies the output projection, if the model has one, and the steps after the sublayer.
    ///
    /// # Errors
    /// If the backend fails.
    pub(super) fn finish(
        &self,
        backend: &mut B,
        rows: B::Tensor,
        output: Option<&B::Weights>,
        input: &B::Tensor,
    ) -> Result<B::Tensor> {
        match output {
            Some(output) => self.project_and_postprocess(backend, &rows, output, input),
            None => self.postprocess(backend, rows, input),
        }
    }
}

/// Loads the weights of one matrix, `{prefix}_W{suffix}`, with the bias
/// `{prefix}_b{suffix}`.
pub(super) fn load_affine<B: Backend>(
    parameters: &mut impl ParameterLoader<B>,
    prefix: &str,
    suffix: &str,
) -> Result<B::Weights> {
    load_fused_affine(parameters, prefix, &[suffix])
}

/// Loads several matrices of one prefix, side by side.
pub(super) fn load_fused_affine<B: Backend>(
    parameters: &mut impl ParameterLoader<B>,
    prefix: &str,
    suffixes: &[&str],
) -> Result<B::Weights> {
    let [matrices, biases] = ["W", "b"].map(|kind| -> Vec<String> {
        suffixes.iter().map(|suffix| format!("{prefix}_{kind}{suffix}")).collect()
    });
    let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
    let biases: Vec<&str> = biases.iter().map(String::as_str).collect();
    parameters.weights(AffineNames { matrices: &matrices, biases: &biases })
}
