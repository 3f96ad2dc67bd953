//! Embeddings of words with the marks of their positions.

use crate::pack::{PackedF32, PackedI8, PackedI16};
use crate::{Mat, MatMut};

/// Where the vectors of words are.
#[derive(Clone, Copy, Debug)]
pub enum Embeddings<'a> {
    /// A row for each word.
    Rows(Mat<'a, f32>),
    /// A column for each word: the output layer, tied.
    F32(PackedF32<'a>),
    /// The same in sixteen bits.
    I16(PackedI16<'a>),
    /// The same in eight bits.
    I8(PackedI8<'a>),
}

impl Embeddings<'_> {
    /// Words.
    pub fn words(&self) -> usize {
        match self {
            Embeddings::Rows(rows) => rows.rows(),
            Embeddings::F32(packed) => packed.columns(),
            Embeddings::I16(packed) => packed.columns(),
            Embeddings::I8(packed) => packed.columns(),
        }
    }

    /// Elements of a vector.
    pub fn width(&self) -> usize {
        match self {
            Embeddings::Rows(rows) => rows.columns(),
            Embeddings::F32(packed) => packed.depth(),
            Embeddings::I16(packed) => packed.depth(),
            Embeddings::I8(packed) => packed.depth(),
        }
    }

    fn copy(&self, word: usize, into: &mut [f32]) {
        match self {
            Embeddings::Rows(rows) => into.copy_from_slice(rows.row(word)),
            Embeddings::F32(packed) => packed.column(word, into),
            Embeddings::I16(packed) => packed.column(word, into),
            Embeddings::I8(packed) => packed.column(word, into),
        }
    }
}

/// Row i becomes `scale` times the vector of `words[i]` plus row `positions[i]` of the
/// table of positions. No word (a decoder's first step in Marian) is a vector of
/// zeros.
///
/// # Panics
/// If shapes differ, or a word or position has no vector.
pub fn embed(
    embeddings: Embeddings,
    words: &[Option<u32>],
    scale: f32,
    positions: Option<(Mat<f32>, &[u32])>,
    mut out: MatMut<f32>,
) {
    assert_eq!((out.rows(), out.columns()), (words.len(), embeddings.width()));
    for (index, &word) in words.iter().enumerate() {
        let row = out.row(index);
        match word {
            Some(word) => {
                embeddings.copy(word as usize, row);
                row.iter_mut().for_each(|x| *x *= scale);
            }
            None => row.fill(0.0),
        }
        if let Some((table, positions)) = positions {
            let mark = table.row(positions[index] as usize);
            assert_eq!(mark.len(), row.len());
            row.iter_mut().zip(mark).for_each(|(x, mark)| *x += mark);
        }
    }
}

/// How fast the waves of sinusoidal positions slow down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waves {
    /// Marian: wave i of m has frequency 10000^(-i / (m - 1)).
    Marian,
    /// CTranslate2 and Hugging Face, for the same models: 10000^(-i / m).
    CTranslate2,
}

/// Row p becomes the mark of position p: sines in the first half, cosines in the
/// second. Computed in f64; a last odd column is a cosine-less sine's place and stays 0.
pub fn sinusoids(waves: Waves, mut out: MatMut<f32>) {
    let half = out.columns() / 2;
    let apart = match waves {
        Waves::Marian => half.saturating_sub(1).max(1),
        Waves::CTranslate2 => half.max(1),
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
