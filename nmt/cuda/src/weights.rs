//! Parameters in the memory of a device, which the backends of threads share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use miriam_gpu::{Buffer, Pod, Result, Stream};
use miriam_kernels::MatMut;
use miriam_kernels::embedding::{SinusoidKind, fill_sinusoids};
use miriam_nmt_network::layer::{DistanceTerms, RelativePositions};
use miriam_nmt_network::plain_parameters::{PlainMatrix, PlainWeights};

use crate::weight_format::WeightFormat;

/// A matrix `[depth, columns]` and a bias for each column.
pub struct Weights {
    /// The words, row by row: [`WeightFormat::column_words`] rows of `columns` words.
    pub(crate) words: Buffer<u32>,
    pub(crate) format: WeightFormat,
    pub(crate) bias: Option<Buffer<f32>>,
    pub(crate) depth: usize,
    pub(crate) columns: usize,
}

impl Weights {
    /// Rounds weights to a format and uploads them; biases stay floats.
    pub(crate) fn upload(
        stream: &Stream,
        weights: &PlainWeights,
        format: WeightFormat,
    ) -> Result<Self> {
        let PlainWeights { matrix, bias } = weights;
        assert!(bias.as_ref().is_none_or(|bias| bias.len() == matrix.columns), "bias per column");
        Ok(Weights {
            words: format.with_words(matrix, |words| uploaded(stream, words))?,
            format,
            bias: bias.as_ref().map(|bias| uploaded(stream, bias)).transpose()?,
            depth: matrix.rows,
            columns: matrix.columns,
        })
    }
}

/// A vector for each token or position, `[vocab_size, width]`.
pub struct EmbeddingTable {
    pub(crate) rows: Buffer<f32>,
    pub(crate) vocab_size: usize,
    pub(crate) width: usize,
}

impl EmbeddingTable {
    /// Uploads a matrix with a row for each token or position.
    pub(crate) fn upload(stream: &Stream, matrix: &PlainMatrix) -> Result<Self> {
        Ok(EmbeddingTable {
            rows: uploaded(stream, &matrix.values)?,
            vocab_size: matrix.rows,
            width: matrix.columns,
        })
    }
}

/// A vector for each position.
pub enum PositionalEncoding {
    /// A learned table.
    Learned(EmbeddingTable),
    /// Sinusoids, computed for as many positions as are needed.
    Sinusoidal(Sinusoids),
}

impl PositionalEncoding {
    /// Returns sinusoids of a kind, `width` numbers for each position.
    pub fn sinusoidal(kind: SinusoidKind, width: usize) -> Self {
        PositionalEncoding::Sinusoidal(Sinusoids { kind, width, tables: Mutex::default() })
    }
}

/// The sinusoids of the first positions. The table grows when more positions are needed.
pub struct Sinusoids {
    kind: SinusoidKind,
    width: usize,
    /// Tables of increasing length; streams may still read the shorter ones.
    tables: Mutex<Vec<Arc<EmbeddingTable>>>,
}

impl Sinusoids {
    /// Returns a table of at least this many positions.
    pub(crate) fn table(&self, stream: &Stream, positions: usize) -> Result<Arc<EmbeddingTable>> {
        let mut tables = self.tables.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(table) = tables.last().filter(|table| table.vocab_size >= positions) {
            return Ok(Arc::clone(table));
        }
        let positions = positions.next_power_of_two().max(256);
        let mut values = vec![0.0; positions * self.width];
        fill_sinusoids(self.kind, MatMut::new(&mut values, positions, self.width));
        let matrix = PlainMatrix { rows: positions, columns: self.width, values };
        let table = Arc::new(EmbeddingTable::upload(stream, &matrix)?);
        tables.push(Arc::clone(&table));
        Ok(table)
    }
}

/// The relative-position terms of attention, with their tables on the device.
pub struct RelativeTerms {
    pub(crate) host: RelativePositions,
    /// Vectors for keys and for values.
    pub(crate) vectors: Option<[Buffer<f32>; 2]>,
    /// A bias for each class and head.
    pub(crate) biases: Option<Buffer<f32>>,
    /// The classes of distances, by the longest distance.
    pub(crate) classes: Mutex<BTreeMap<usize, Arc<Vec<u32>>>>,
}

impl RelativeTerms {
    /// Uploads the terms of all classes of distances.
    pub(crate) fn upload(stream: &Stream, host: RelativePositions) -> Result<Self> {
        let (vectors, biases) = match &host.terms {
            DistanceTerms::Vectors { keys, values } => {
                (Some([uploaded(stream, keys)?, uploaded(stream, values)?]), None)
            }
            DistanceTerms::Biases(biases) => (None, Some(uploaded(stream, biases)?)),
        };
        Ok(RelativeTerms { host, vectors, biases, classes: Mutex::default() })
    }

    /// Returns the classes of the distances from a query to a key, from `-n` to `n`. `n` is
    /// `longest` or more, so that sentences of similar lengths share a list.
    pub(crate) fn classes(&self, longest: usize) -> Arc<Vec<u32>> {
        let longest = longest.next_power_of_two().max(64);
        let mut all = self.classes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let classes = all.entry(longest).or_insert_with(|| {
            let before = (1..=longest).rev().map(|distance| self.host.class(distance, 0));
            let after = (0..=longest).map(|distance| self.host.class(0, distance));
            Arc::new(before.chain(after).map(|class| class as u32).collect())
        });
        Arc::clone(classes)
    }
}

/// Uploads numbers to the memory of the device.
pub(crate) fn uploaded<T: Pod>(stream: &Stream, values: &[T]) -> Result<Buffer<T>> {
    let mut buffer = stream.alloc_uninitialized(values.len())?;
    stream.upload_blocking(&mut buffer, 0, values)?;
    Ok(buffer)
}
