//! What stands around a sublayer: norms and the way past it.
//!
//! Marian writes both as strings: steps before a sublayer and behind it, in any order. Where
//! a sublayer ends with a product, the sum is part of the product or of the norm behind.

use super::{Affine, Backend, Norm, Parameters, Then};
use crate::Result;
use crate::architecture::{Process, Step, Transformer};

/// The steps before and behind a sublayer, with their parameters.
pub struct Around<B: Backend> {
    before: Option<Norm<B::Vector>>,
    behind: Vec<Behind<B::Vector>>,
}

enum Behind<V> {
    Add,
    Norm(Norm<V>),
}

/// The norm of a prefix.
fn norm<B: Backend>(
    parameters: &mut impl Parameters<B>,
    prefix: &str,
    suffix: &str,
    epsilon: f32,
) -> Result<Norm<B::Vector>> {
    Ok(Norm {
        scale: parameters.vector(&format!("{prefix}_ln_scale{suffix}"))?,
        bias: Some(parameters.vector(&format!("{prefix}_ln_bias{suffix}"))?),
        epsilon,
    })
}

impl<B: Backend> Around<B> {
    /// What a transformer has around a sublayer, whose norms have these prefixes before and
    /// behind it.
    pub fn load(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        before: &str,
        behind: &str,
    ) -> Result<Self> {
        // Before a sublayer there is nothing to add.
        let before = if shape.preprocess.has_norm() {
            Some(norm(parameters, before, "_pre", shape.norm_epsilon)?)
        } else {
            None
        };
        let behind = Self::behind(parameters, shape, &shape.postprocess, behind, "")?;
        Ok(Around { before, behind })
    }

    /// Only what stands behind: embeddings, or a whole stack.
    pub fn load_behind(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        process: &Process,
        prefix: &str,
        suffix: &str,
    ) -> Result<Self> {
        let behind = Self::behind(parameters, shape, process, prefix, suffix)?;
        Ok(Around { before: None, behind })
    }

    fn behind(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        process: &Process,
        prefix: &str,
        suffix: &str,
    ) -> Result<Vec<Behind<B::Vector>>> {
        let steps = process.0.iter().map(|step| {
            Ok(match step {
                Step::Add => Behind::Add,
                Step::Norm => Behind::Norm(norm(parameters, prefix, suffix, shape.norm_epsilon)?),
            })
        });
        steps.collect()
    }

    /// What the sublayer sees of `rows`, unless it is the rows themselves.
    pub fn enter(&self, backend: &mut B, rows: &B::Rows) -> Option<B::Rows> {
        self.before.as_ref().map(|norm| backend.norm(rows, norm))
    }

    /// What leaves, where the sublayer got `input` and gave `rows`.
    pub fn leave(&self, backend: &mut B, mut rows: B::Rows, input: &B::Rows) -> B::Rows {
        let mut steps = &self.behind[..];
        loop {
            (rows, steps) = match steps {
                [] => return rows,
                [Behind::Add, Behind::Norm(norm), rest @ ..] => {
                    (backend.norm_sum(rows, input, norm), rest)
                }
                [Behind::Add, rest @ ..] => (backend.add(rows, input), rest),
                [Behind::Norm(norm), rest @ ..] => (backend.norm(&rows, norm), rest),
            }
        }
    }

    /// The same where the sublayer gives the product of `rows` with `weights`.
    pub fn leave_by(
        &self,
        backend: &mut B,
        rows: &B::Rows,
        weights: &B::Weights,
        input: &B::Rows,
    ) -> B::Rows {
        if let [Behind::Add] = &self.behind[..] {
            let then = Then { residual: Some(input), ..Then::default() };
            return backend.affine(rows, weights, then);
        }
        let rows = backend.affine(rows, weights, Then::default());
        self.leave(backend, rows, input)
    }
}

/// The weights of one matrix, `{prefix}_W{which}`, with the bias `{prefix}_b{which}`.
pub(super) fn matrix<B: Backend>(
    parameters: &mut impl Parameters<B>,
    prefix: &str,
    which: &str,
) -> Result<B::Weights> {
    matrices(parameters, prefix, &[which])
}

/// Several of one prefix, side by side.
pub(super) fn matrices<B: Backend>(
    parameters: &mut impl Parameters<B>,
    prefix: &str,
    which: &[&str],
) -> Result<B::Weights> {
    let name = |kind: &'static str| move |which: &&str| format!("{prefix}_{kind}{which}");
    let matrices: Vec<String> = which.iter().map(name("W")).collect();
    let biases: Vec<String> = which.iter().map(name("b")).collect();
    let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
    let biases: Vec<&str> = biases.iter().map(String::as_str).collect();
    parameters.weights(Affine { matrices: &matrices, biases: &biases })
}
