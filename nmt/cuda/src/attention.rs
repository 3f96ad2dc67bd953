//! Attention of queries to the keys and values of their sentences.
//!
//! Keys and values stay in the tensor that a product has written. For attention to the source, this
//! tensor has the keys and values of all decoder layers side by side. A query has a record of the
//! rows that it attends to. These rows have the same numbers in all layers, so the layers share the
//! records, which are uploaded once.

use miriam_gpu::Buffer;
use miriam_nmt_models::{Error, Result};
use miriam_nmt_network::layer::{AttentionMask, ColumnSlice};
use zerocopy::{Immutable, IntoBytes};

use crate::queries::{AttentionWeights, Keys, KvLayout, QueryRecords, SourceKv};
use crate::weights::RelativeTerms;
use crate::{CudaBackend, DeviceTensor, device_error};

/// Mirrors `AttentionShape` of `attention.cu`.
#[derive(Clone, Copy, Debug, IntoBytes, Immutable)]
#[repr(C)]
struct AttentionShape {
    query_stride: u32,
    kv_stride: u32,
    key_column: u32,
    value_column: u32,
    key_width: u32,
    value_width: u32,
    heads: u32,
    out_stride: u32,
    weights_head: u32,
    weights_stride: u32,
    zero_distance: u32,
    scale: f32,
}

/// The score of a key for a query.
#[derive(Clone, Copy)]
pub(crate) enum Score<'a> {
    /// The dot product times this factor.
    Dot(f32),
    /// The sum of the hyperbolic tangents of key plus query, weighted by a vector.
    Additive(&'a Buffer<f32>),
    /// The dot product times this factor, with terms of the distance.
    Relative(f32, &'a RelativeTerms),
}

impl KvLayout {
    /// Returns the score by dot products, divided by the square root of a head's width, with terms
    /// of the distance, if any.
    pub fn scaled_score<'a>(&self, relative: Option<&'a RelativeTerms>) -> Score<'a> {
        let scale = 1.0 / ((self.key_width / self.heads) as f32).sqrt();
        relative.map_or(Score::Dot(scale), |terms| Score::Relative(scale, terms))
    }
}

impl CudaBackend {
    /// Returns the keys and values of each sentence. `lengths` has the number of rows of each.
    pub(crate) fn keys_values_of_sentences(
        &mut self,
        heads: usize,
        keys: ColumnSlice<'_, DeviceTensor>,
        values: ColumnSlice<'_, DeviceTensor>,
        lengths: &[usize],
    ) -> Result<Vec<SourceKv>> {
        let (key_width, value_width) = (keys.columns.len(), values.columns.len());
        let (tensor, key_column, value_column) = if keys.tensor.shares_memory_with(values.tensor) {
            (keys.tensor.clone(), keys.columns.start, values.columns.start)
        } else {
            let both = self.empty(keys.tensor.rows(), key_width + value_width)?;
            self.copy_part(&keys, both.rows(), &both, [0, 0])?;
            self.copy_part(&values, both.rows(), &both, [0, key_width])?;
            (both, 0, key_width)
        };
        assert_eq!(lengths.iter().sum::<usize>(), tensor.rows(), "every row is in a sentence");
        let layout = KvLayout { tensor, key_column, value_column, key_width, value_width, heads };
        let mut first_row = 0;
        let sentences = lengths.iter().map(|&positions| {
            let sentence = SourceKv { layout: layout.clone(), first_row, positions };
            first_row += positions;
            sentence
        });
        Ok(sentences.collect())
    }

    /// Works as [`CudaBackend::attend_groups`], with dot products divided by the square root of a
    /// head's width.
    pub(crate) fn attend_sources(
        &mut self,
        queries: ColumnSlice<'_, DeviceTensor>,
        groups: &[(usize, &SourceKv)],
        mask: AttentionMask,
        weights_head: Option<usize>,
    ) -> Result<DeviceTensor> {
        let first = groups.first();
        let score = first.map_or(Score::Dot(1.0), |(_, first)| first.layout.scaled_score(None));
        self.attend_groups(queries, groups, mask, score, weights_head)
    }

    /// Attends from groups of queries, each a number of rows of `queries` and their sentence. Keeps
    /// the attention weights of `weights_head`, if any.
    pub(crate) fn attend_groups(
        &mut self,
        queries: ColumnSlice<'_, DeviceTensor>,
        groups: &[(usize, &SourceKv)],
        mask: AttentionMask,
        score: Score<'_>,
        weights_head: Option<usize>,
    ) -> Result<DeviceTensor> {
        let Some((_, first)) = groups.first() else { return self.empty(0, queries.columns.len()) };
        let shared = groups
            .iter()
            .all(|(_, sentence)| sentence.layout.tensor.shares_memory_with(&first.layout.tensor));
        let mut records = QueryRecords::default();
        let mut lengths = Vec::new();
        for &(rows, sentence) in groups {
            assert!(sentence.layout.is_like(&first.layout), "keys and values of one layer");
            let address = if shared { 0 } else { sentence.layout.tensor.buffer().address() };
            for row in 0..rows {
                let visible = mask.visible(row, rows, sentence.positions);
                records.push(address, [sentence.first_row, visible, row]);
                lengths.push(sentence.positions);
            }
        }
        let keys = Keys::in_sentence(first);
        let (out, weights) = self.launch_attention(queries, keys, &records, score, weights_head)?;
        self.attention_weights.extend(weights.map(|rows| AttentionWeights { rows, lengths }));
        Ok(out)
    }

    /// Downloads the attention weights that were kept, a list for each query.
    pub(crate) fn download_attention_weights(&mut self, all: &mut Vec<Vec<f32>>) -> Result<()> {
        for AttentionWeights { rows, lengths } in std::mem::take(&mut self.attention_weights) {
            let stride = rows.width();
            let numbers = self.download(&rows, rows.rows() * stride)?;
            let rows = numbers.chunks_exact(stride).zip(lengths);
            all.extend(rows.map(|(row, length)| row[..length].to_vec()));
        }
        Ok(())
    }

    /// Launches attention from one query for each record. Returns the results and the weights of
    /// `weights_head`, `[queries, longest]`, if any.
    pub(crate) fn launch_attention(
        &mut self,
        queries: ColumnSlice<'_, DeviceTensor>,
        keys: Keys<'_>,
        records: &QueryRecords,
        score: Score<'_>,
        weights_head: Option<usize>,
    ) -> Result<(DeviceTensor, Option<DeviceTensor>)> {
        let Keys { layout, list } = keys;
        let rows = records.len();
        assert_eq!(rows, queries.tensor.rows(), "a record for each query");
        assert_eq!(queries.columns.len(), layout.key_width, "queries are as wide as keys");
        let out = self.empty(rows, layout.value_width)?;
        let longest = records.longest.max(1);
        let weights = weights_head.map(|_| self.empty(rows, longest)).transpose()?;
        if rows == 0 {
            return Ok((out, weights));
        }
        let value_width = layout.value_width / layout.heads;
        let (kernel, threads) = attention_kernel(&score, value_width)?;
        let uploaded = self.upload_list(&records.words)?;
        let (scale, additive, relative) = match score {
            Score::Dot(scale) => (scale, None, None),
            Score::Additive(vector) => (1.0, Some(vector), None),
            Score::Relative(scale, terms) => (scale, None, Some(terms)),
        };
        let classes = relative.map(|terms| terms.classes(longest));
        let class_list = classes.as_ref().map(|list| self.upload_list(list)).transpose()?;
        let shape = AttentionShape {
            query_stride: queries.tensor.width() as u32,
            kv_stride: layout.tensor.width() as u32,
            key_column: layout.key_column as u32,
            value_column: layout.value_column as u32,
            key_width: (layout.key_width / layout.heads) as u32,
            value_width: value_width as u32,
            heads: layout.heads as u32,
            out_stride: layout.value_width as u32,
            weights_head: weights_head.unwrap_or(0) as u32,
            weights_stride: longest as u32,
            zero_distance: classes.as_ref().map_or(0, |list| list.len() as u32 / 2),
            scale,
        };
        let launch = self.launch(kernel).in_order(out.buffer(), 0);
        let launch = launch.in_order(queries.tensor.buffer(), queries.columns.start);
        let launch = launch.in_order(&*uploaded, 0).in_order(layout.tensor.buffer(), 0);
        let launch = launch.in_order_optional(list.map(|list| (list, 0)));
        let launch = launch.read_optional(additive);
        let launch = launch.in_order_optional(class_list.as_deref().map(|list| (list, 0)));
        let vectors = relative.and_then(|terms| terms.vectors.as_ref());
        let launch = launch.read_optional(vectors.map(|[keys, _]| keys));
        let launch = launch.read_optional(vectors.map(|[_, values]| values));
        let launch = launch.read_optional(relative.and_then(|terms| terms.biases.as_ref()));
        let weights_buffer = weights.as_ref().map(|weights| (weights.buffer(), 0));
        let launch = launch.in_order_optional(weights_buffer);
        let grid = (rows as u32, layout.heads as u32);
        launch.value(&shape).run(grid, threads).map_err(device_error)?;
        Ok((out, weights))
    }
}

/// Returns the kernel for heads of `width` columns, and the number of threads in its blocks.
fn attention_kernel(score: &Score<'_>, width: usize) -> Result<(&'static str, u32)> {
    let too_wide = || Error::Device {
        reason: format!(
            "attention heads of {width} columns are too wide for the kernels of GPUs; use the CPU \
             (--device cpu)"
        ),
    };
    Ok(match (score, width) {
        (Score::Dot(_), ..=128) => ("attend_dot_128", 32),
        (Score::Dot(_), ..=512) => ("attend_dot_512", 128),
        (Score::Dot(_), ..=2048) => ("attend_dot_2048", 256),
        (Score::Relative(..), ..=128) => ("attend_relative_128", 32),
        (Score::Relative(..), ..=512) => ("attend_relative_512", 128),
        (Score::Additive(_), ..=512) => ("attend_additive_512", 128),
        (Score::Additive(_), ..=2048) => ("attend_additive_2048", 256),
        (Score::Additive(_), ..=4096) => ("attend_additive_4096", 256),
        _ => return Err(too_wide()),
    })
}
