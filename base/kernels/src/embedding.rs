//! Embeddings of tokens with positional encodings.

use crate::{MatMut, MatRef};

/// Writes one row, `[width]`, of a table of embeddings or positional encodings. It is a function
/// because files store tables in many forms, and a sentence needs only a few rows.
pub type EmbeddingLookup<'a> = &'a dyn Fn(usize, &mut [f32]);

/// Sets row i of `out`, `[tokens, width]`, to `scale` times the embedding of `tokens[i]` plus the
/// positional encoding of `positions[i]`. The embedding of `None`, the input of the first step of
/// Marian's decoder, is zero. `scratch` holds a row of positional encodings.
///
/// # Panics
/// If the numbers of tokens, positions and rows differ, or a token or position is out of range.
pub fn embed(
    embeddings: EmbeddingLookup,
    tokens: &[Option<u32>],
    scale: f32,
    positional: Option<(EmbeddingLookup, &[u32])>,
    mut out: MatMut<f32>,
    scratch: &mut Vec<f32>,
) {
    assert_eq!(out.rows(), tokens.len(), "a token for each row");
    assert!(positional.is_none_or(|(_, positions)| positions.len() == tokens.len()));
    for (index, &token) in tokens.iter().enumerate() {
        let row = out.row_mut(index);
        match token {
            Some(token) => {
                embeddings(token as usize, row);
                row.iter_mut().for_each(|x| *x *= scale);
            }
            None => row.fill(0.0),
        }
        if let Some((encodings, positions)) = positional {
            scratch.resize(row.len(), 0.0);
            encodings(positions[index] as usize, scratch);
            row.iter_mut().zip(&*scratch).for_each(|(x, encoding)| *x += encoding);
        }
    }
}

/// Returns an [`EmbeddingLookup`] of the rows of a matrix.
pub fn row_lookup(matrix: MatRef<'_, f32>) -> impl Fn(usize, &mut [f32]) {
    move |row, into| into.copy_from_slice(matrix.row(row))
}

/// The frequencies of sinusoidal positional encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SinusoidKind {
    /// Marian: frequency i of m is 10000^(-i / (m - 1)).
    Marian,
    /// CTranslate2 and Hugging Face, also for converted Marian models: 10000^(-i / m).
    CTranslate2,
}

/// Sets row p of `out`, `[positions, width]`, to the sinusoidal encoding of position p: sines in
/// the first half of the columns, cosines in the second. Computed in f64; the last column of an odd
/// width is 0.
pub fn fill_sinusoids(kind: SinusoidKind, mut out: MatMut<f32>) {
    let half = out.columns() / 2;
    let intervals = match kind {
        SinusoidKind::Marian => half.saturating_sub(1).max(1),
        SinusoidKind::CTranslate2 => half.max(1),
    };
    for position in 0..out.rows() {
        let row = out.row_mut(position);
        row.fill(0.0);
        for index in 0..half {
            let frequency = (index as f64 * -10_000f64.ln() / intervals as f64).exp();
            let angle = position as f64 * frequency;
            row[index] = angle.sin() as f32;
            row[half + index] = angle.cos() as f32;
        }
    }
}

#[cfg(test)]
mod tests;
