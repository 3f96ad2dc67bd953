//! Attention of a sentence to itself and of a translation to its source.

use super::around::{matrices, matrix};
use super::{Affine, Around, Backend, Decoding, Parameters, Part, Steps, Then, Visible};
use crate::Result;
use crate::architecture::{PreNormKeys, Transformer};

/// A sentence looks at itself.
pub struct SelfAttention<B: Backend> {
    around: Around<B>,
    products: Products<B::Weights>,
    output: Option<B::Weights>,
    heads: usize,
    width: usize,
}

/// Queries, keys and values; where the first are made of something else than the others, in
/// two products.
enum Products<W> {
    /// All of the normalised input.
    One(W),
    /// Keys and values of the input as it is.
    Apart { queries: W, keys_values: W },
    /// The same, but where a hypothesis begins they are of the normalised input.
    ApartBehindFirst { queries: W, keys_values: W },
}

/// Queries, keys and values of some rows, side by side or apart.
struct Made<R> {
    queries: R,
    keys_values: Option<R>,
}

impl<R> Made<R> {
    fn parts(&self, width: usize) -> [Part<'_, R>; 3] {
        let queries = Part::nth(&self.queries, 0, width);
        let [keys, values] = match &self.keys_values {
            None => [Part::nth(&self.queries, 1, width), Part::nth(&self.queries, 2, width)],
            Some(apart) => [Part::nth(apart, 0, width), Part::nth(apart, 1, width)],
        };
        [queries, keys, values]
    }
}

impl<B: Backend> SelfAttention<B> {
    /// The layer under `prefix`. Whether keys and values are normalised depends on the side
    /// it is on.
    pub fn load(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        prefix: &str,
        decoder: bool,
    ) -> Result<Self> {
        let keys =
            if shape.preprocess.has_norm() { shape.pre_norm_keys } else { PreNormKeys::Normalised };
        let products = match keys {
            PreNormKeys::NormalisedAtFirst if decoder => Products::ApartBehindFirst {
                queries: matrix(parameters, prefix, "q")?,
                keys_values: matrices(parameters, prefix, &["k", "v"])?,
            },
            PreNormKeys::Raw => Products::Apart {
                queries: matrix(parameters, prefix, "q")?,
                keys_values: matrices(parameters, prefix, &["k", "v"])?,
            },
            PreNormKeys::Normalised | PreNormKeys::NormalisedAtFirst => {
                Products::One(matrices(parameters, prefix, &["q", "k", "v"])?)
            }
        };
        let around = format!("{prefix}_Wo");
        let stack = if decoder { &shape.decoder } else { &shape.encoder };
        Ok(SelfAttention {
            around: Around::load(parameters, shape, &around, &around)?,
            products,
            output: projection(parameters, shape, prefix)?,
            heads: stack.heads,
            width: shape.tables.embedding,
        })
    }

    fn products(&self, backend: &mut B, input: &B::Rows, normed: &B::Rows) -> Made<B::Rows> {
        match &self.products {
            Products::One(all) => {
                Made { queries: backend.affine(normed, all, Then::default()), keys_values: None }
            }
            Products::Apart { queries, keys_values }
            | Products::ApartBehindFirst { queries, keys_values } => Made {
                queries: backend.affine(normed, queries, Then::default()),
                keys_values: Some(backend.affine(input, keys_values, Then::default())),
            },
        }
    }

    /// Whole sentences of these lengths.
    pub fn whole(
        &self,
        backend: &mut B,
        input: &B::Rows,
        lengths: &[usize],
        visible: Visible,
    ) -> B::Rows {
        let own = self.around.enter(backend, input);
        let normed = own.as_ref().unwrap_or(input);
        let made = self.products(backend, input, normed);
        let [queries, keys, values] = made.parts(self.width);
        let memories = backend.remember(self.heads, keys, values, lengths);
        let seen = match &self.products {
            Products::ApartBehindFirst { keys_values, .. } => {
                // The first position of each sentence sees itself normalised; the others
                // see it as it is.
                let starts = lengths.iter().scan(0, |next, &length| {
                    let start = *next as u32;
                    *next += length;
                    Some((length > 0).then_some(start))
                });
                let firsts: Vec<u32> = starts.flatten().collect();
                let ones = vec![1; firsts.len()];
                let firsts = backend.select(normed, &firsts);
                let first = backend.affine(&firsts, keys_values, Then::default());
                let (keys, values) =
                    (Part::nth(&first, 0, self.width), Part::nth(&first, 1, self.width));
                let first = backend.remember(self.heads, keys, values, &ones);
                let there = lengths.iter().zip(&memories).filter(|(length, _)| **length > 0);
                let groups: Vec<_> = there
                    .zip(&first)
                    .flat_map(|((&length, memory), first)| [(1, first), (length - 1, memory)])
                    .collect();
                backend.attend(queries, &groups, visible)
            }
            _ => {
                let groups: Vec<_> = lengths.iter().copied().zip(&memories).collect();
                backend.attend(queries, &groups, visible)
            }
        };
        self.finish(backend, seen, input)
    }

    fn finish(&self, backend: &mut B, seen: B::Rows, input: &B::Rows) -> B::Rows {
        match &self.output {
            Some(output) => self.around.leave_by(backend, &seen, output, input),
            None => self.around.leave(backend, seen, input),
        }
    }
}

impl<B: Decoding> SelfAttention<B> {
    /// A step of hypotheses, whose past it adds to.
    pub fn step(
        &self,
        backend: &mut B,
        input: &B::Rows,
        past: &mut B::Past,
        steps: &Steps<'_>,
    ) -> B::Rows {
        if let Some(kept) = steps.kept {
            backend.keep(past, kept);
        }
        let own = self.around.enter(backend, input);
        let normed = own.as_ref().unwrap_or(input);
        let made = self.products(backend, input, normed);
        let [queries, keys, values] = made.parts(self.width);
        backend.pass(past, keys, values);
        let mut paths = steps.paths;
        if let Products::ApartBehindFirst { keys_values, .. } = &self.products
            && !steps.firsts.is_empty()
        {
            let firsts = backend.select(normed, steps.firsts);
            let first = backend.affine(&firsts, keys_values, Then::default());
            let (keys, values) =
                (Part::nth(&first, 0, self.width), Part::nth(&first, 1, self.width));
            backend.pass(past, keys, values);
            paths = steps.first_paths;
        }
        let seen = backend.attend_past(self.heads, queries, past, paths);
        self.finish(backend, seen, input)
    }

    /// Whether hypotheses that begin pass twice: as they are, and normalised.
    pub fn passes_firsts_twice(&self) -> bool {
        matches!(self.products, Products::ApartBehindFirst { .. })
    }
}

/// A translation looks at its source.
pub struct CrossAttention<B: Backend> {
    around: Around<B>,
    queries: B::Weights,
    output: Option<B::Weights>,
    width: usize,
}

/// The matrix that heads go through in the end.
fn projection<B: Backend>(
    parameters: &mut impl Parameters<B>,
    shape: &Transformer,
    prefix: &str,
) -> Result<Option<B::Weights>> {
    shape.projection.then(|| matrix(parameters, prefix, "o")).transpose()
}

impl<B: Backend> CrossAttention<B> {
    /// The layer under `prefix`.
    pub fn load(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        prefix: &str,
    ) -> Result<Self> {
        let around = format!("{prefix}_Wo");
        Ok(CrossAttention {
            around: Around::load(parameters, shape, &around, &around)?,
            queries: matrix(parameters, prefix, "q")?,
            output: projection(parameters, shape, prefix)?,
            width: shape.tables.embedding,
        })
    }

    /// The weights that make keys and values, in turn, of all layers under `prefixes` at once.
    pub fn memory_weights(
        parameters: &mut impl Parameters<B>,
        prefixes: &[String],
    ) -> Result<B::Weights> {
        let names = |kind: char| {
            let of_layer = |prefix| ["k", "v"].map(|which| format!("{prefix}_{kind}{which}"));
            prefixes.iter().flat_map(of_layer).collect::<Vec<String>>()
        };
        let (matrices, biases) = (names('W'), names('b'));
        let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
        let biases: Vec<&str> = biases.iter().map(String::as_str).collect();
        parameters.weights(Affine { matrices: &matrices, biases: &biases })
    }

    /// Rows in groups that look at one source each. `attend` is the way to look.
    pub fn rows(
        &self,
        backend: &mut B,
        input: &B::Rows,
        attend: impl FnOnce(&mut B, Part<'_, B::Rows>) -> B::Rows,
    ) -> B::Rows {
        let own = self.around.enter(backend, input);
        let queries = backend.affine(own.as_ref().unwrap_or(input), &self.queries, Then::default());
        let seen = attend(backend, Part::nth(&queries, 0, self.width));
        match &self.output {
            Some(output) => self.around.leave_by(backend, &seen, output, input),
            None => self.around.leave(backend, seen, input),
        }
    }
}
