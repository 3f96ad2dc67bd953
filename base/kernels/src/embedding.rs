//! Embeddings of words with the marks of their positions.

use crate::{Mat, MatMut};

/// Writes the vector of a word, or the mark of a position: tables lie in files in many
/// forms, and a sentence needs few of their rows.
pub type EmbeddingLookup<'a> = &'a dyn Fn(usize, &mut [f32]);

/// Row i becomes `scale` times the vector of `words[i]` plus the mark of `positions[i]`. No
/// word (a decoder's first step in Marian) is a vector of zeros. `scratch` is resized to a
/// row where there are marks.
///
/// # Panics
/// If there is not a word and a position for each row, or one has no vector.
pub fn embed(
    embeddings: EmbeddingLookup,
    words: &[Option<u32>],
    scale: f32,
    positional: Option<(EmbeddingLookup, &[u32])>,
    mut out: MatMut<f32>,
    scratch: &mut Vec<f32>,
) {
    assert_eq!(out.rows(), words.len(), "a word for each row");
    assert!(positional.is_none_or(|(_, positions)| positions.len() == words.len()));
    for (index, &word) in words.iter().enumerate() {
        let row = out.row(index);
        match word {
            Some(word) => {
                embeddings(word as usize, row);
                row.iter_mut().for_each(|x| *x *= scale);
            }
            None => row.fill(0.0),
        }
        if let Some((marks, positions)) = positional {
            scratch.resize(row.len(), 0.0);
            marks(positions[index] as usize, scratch);
            row.iter_mut().zip(&*scratch).for_each(|(x, mark)| *x += mark);
        }
    }
}

/// The rows of a matrix.
pub fn row_lookup(matrix: Mat<'_, f32>) -> impl Fn(usize, &mut [f32]) {
    move |row, into| into.copy_from_slice(matrix.row(row))
}

/// How fast the waves of sinusoidal positions slow down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SinusoidKind {
    /// Marian: wave i of m has frequency 10000^(-i / (m - 1)).
    Marian,
    /// CTranslate2 and Hugging Face, for the same models: 10000^(-i / m).
    CTranslate2,
}

/// Row p becomes the mark of position p: sines in the first half, cosines in the
/// second. Computed in f64; a last odd column is a cosine-less sine's place and stays 0.
pub fn fill_sinusoids(kind: SinusoidKind, mut out: MatMut<f32>) {
    let half = out.columns() / 2;
    let apart = match kind {
        SinusoidKind::Marian => half.saturating_sub(1).max(1),
        SinusoidKind::CTranslate2 => half.max(1),
    };
    for position in 0..out.rows() {
        let row = out.row(position);
        row.fill(0.0);
        for wave in 0..half {
            let slow = (wave as f64 * -10_000f64.ln() / apart as f64).exp();
            let angle = position as f64 * slow;
            row[wave] = angle.sin() as f32;
            row[half + wave] = angle.cos() as f32;
        }
    }
}

#[cfg(test)]
mod tests;
