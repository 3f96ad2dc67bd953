//! The operations of layers by the kernels of `miriam-kernels`.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::activation::{Activation, activate};
use miriam_kernels::attention::{self, KvPool, PackedKv};
use miriam_kernels::cell;
use miriam_kernels::embedding::{EmbeddingLookup, SinusoidKind, embed, fill_sinusoids, row_lookup};
use miriam_kernels::gemm::{Tiling, gemm_f32, gemm_i8, gemm_i16};
use miriam_kernels::norm::{self, NormKind};
use miriam_kernels::quantise::{ClipRange, QuantisedI8, QuantisedI16, quantise_i8, quantise_i16};
use miriam_kernels::topk::TOPK_BLOCK;
use miriam_kernels::tuner::OperationShape;
use miriam_kernels::{Mat, MatMut};

use super::{EmbeddingTable, Engine, PackedView, PooledTensor, PositionalEncoding, Weights};
use crate::layer::{
    AttentionMask, Backend, ColumnSlice, DecodingOps, Epilogue, LayerNorm, SequenceLayout,
};

impl<'a> ColumnSlice<'a, PooledTensor> {
    pub(super) fn view(&self) -> Mat<'a, f32> {
        self.tensor.view().column_range(self.columns.clone())
    }
}

impl LayerNorm<Arc<[f32]>> {
    pub(super) fn view(&self) -> norm::Norm<'_> {
        norm::Norm {
            kind: NormKind::Layer,
            scale: &self.scale,
            bias: self.bias.as_deref(),
            epsilon: self.epsilon,
        }
    }
}

impl Engine {
    /// Zeros.
    pub(super) fn zero_tensor(&self, rows: usize, width: usize) -> PooledTensor {
        PooledTensor::zeros(&self.pool, rows, width)
    }

    /// Rows that are written whole.
    pub(super) fn empty_tensor(&self, rows: usize, width: usize) -> PooledTensor {
        PooledTensor::empty(&self.pool, rows, width)
    }

    /// Marks of at least the first `positions` positions.
    fn sinusoid_table(&mut self, kind: SinusoidKind, width: usize, positions: usize) -> usize {
        let place = self.sinusoid_tables.iter().position(|(k, w, _)| (*k, *w) == (kind, width));
        let place = place.unwrap_or_else(|| {
            self.sinusoid_tables.push((kind, width, Vec::new()));
            self.sinusoid_tables.len() - 1
        });
        let table = &mut self.sinusoid_tables[place].2;
        if table.len() < positions * width {
            let positions = positions.next_power_of_two().max(64);
            table.resize(positions * width, 0.0);
            fill_sinusoids(kind, MatMut::new(table, positions, width));
        }
        place
    }

    /// The product with weights.
    pub(super) fn matmul(
        &mut self,
        input: Mat<f32>,
        weights: &Weights,
        epilogue: miriam_kernels::gemm::Epilogue,
        out: MatMut<f32>,
    ) {
        self.quantise_input(input, weights);
        self.gemm_columns(input, weights, 0..weights.columns(), epilogue, out);
    }

    /// Brings rows into the form that products with these weights take.
    pub(super) fn quantise_input(&mut self, input: Mat<f32>, weights: &Weights) {
        let (rows, depth) = (input.rows(), input.columns());
        match weights.matrix.view() {
            PackedView::F32(_) => {}
            PackedView::I16(packed) => {
                self.prepared_i16.invalidate();
                self.quantised_i16.resize(rows * depth, 0);
                self.scales.resize(rows, 0.0);
                let quantised = MatMut::new(&mut self.quantised_i16, rows, depth);
                quantise_i16(self.cpu, input, &packed, quantised, &mut self.scales);
            }
            PackedView::I8(_) => {
                self.prepared_i8.invalidate();
                self.quantised_i8.resize(rows * depth, 0);
                self.scales.resize(rows, 0.0);
                let quantised = MatMut::new(&mut self.quantised_i8, rows, depth);
                quantise_i8(self.cpu, input, ClipRange::PerRow, quantised, &mut self.scales);
            }
        }
    }

    /// The product with some columns of weights, from a multiple of sixteen to another or to
    /// the end, of the rows that were prepared last.
    pub(super) fn gemm_columns(
        &mut self,
        input: Mat<f32>,
        weights: &Weights,
        columns: Range<usize>,
        epilogue: miriam_kernels::gemm::Epilogue,
        out: MatMut<f32>,
    ) {
        let (cpu, rows, depth) = (self.cpu, input.rows(), input.columns());
        let tilings = Tiling::alternatives(cpu);
        let shape = |operation| {
            // Lists of candidates have lengths of all kinds.
            let columns = columns.len().next_multiple_of(TOPK_BLOCK);
            OperationShape { operation, rows, depth, columns }
        };
        let tuner = &self.tuner;
        match weights.matrix.view() {
            PackedView::F32(packed) => tuner.run(shape("f32"), tilings.len(), |choice| {
                let packed = packed.column_range(columns);
                gemm_f32(cpu, tilings[choice], input, packed, epilogue, out);
            }),
            PackedView::I16(packed) => tuner.run(shape("i16"), tilings.len(), |choice| {
                let packed = packed.column_range(columns);
                let prepared = &mut self.prepared_i16;
                if prepared.tiling() != Some(tilings[choice]) {
                    let values = Mat::new(&self.quantised_i16, rows, depth);
                    let quantised =
                        QuantisedI16 { values, scales: &self.scales, headroom: packed.headroom() };
                    prepared.prepare(cpu, tilings[choice], quantised);
                }
                gemm_i16(prepared, packed, epilogue, out);
            }),
            PackedView::I8(packed) => tuner.run(shape("i8"), tilings.len(), |choice| {
                let packed = packed.column_range(columns);
                let prepared = &mut self.prepared_i8;
                if prepared.tiling() != Some(tilings[choice]) {
                    let values = Mat::new(&self.quantised_i8, rows, depth);
                    let quantised = QuantisedI8 { values, scales: &self.scales };
                    prepared.prepare(cpu, tilings[choice], quantised);
                }
                gemm_i8(prepared, packed, epilogue, out);
            }),
        }
    }
}

impl Backend for Engine {
    type Tensor = PooledTensor;
    type Weights = Arc<Weights>;
    type Vector = Arc<[f32]>;
    type EmbeddingTable = Arc<EmbeddingTable>;
    type PositionalEncoding = PositionalEncoding;
    type PackedKv = PackedKv;

    fn shape(&self, rows: &PooledTensor) -> [usize; 2] {
        [rows.rows(), rows.width()]
    }

    fn zeros(&mut self, rows: usize, width: usize) -> PooledTensor {
        self.zero_tensor(rows, width)
    }

    fn index_select(&mut self, from: &PooledTensor, which: &[u32]) -> PooledTensor {
        let mut out = self.empty_tensor(which.len(), from.width());
        let (from, mut to) = (from.view(), out.view_mut());
        for (row, &which) in which.iter().enumerate() {
            to.row(row).copy_from_slice(from.row(which as usize));
        }
        out
    }

    fn embed(
        &mut self,
        table: &Arc<EmbeddingTable>,
        words: &[Option<u32>],
        scale: f32,
        positional_encoding: Option<(&PositionalEncoding, &[u32])>,
    ) -> PooledTensor {
        let mut out = self.empty_tensor(words.len(), table.width);
        let vectors = |word: usize, into: &mut [f32]| table.read_row(word, into);
        match positional_encoding {
            None => embed(&vectors, words, scale, None, out.view_mut(), &mut self.scratch),
            Some((PositionalEncoding::Learned(marks), positions)) => {
                let marks = |position: usize, into: &mut [f32]| marks.read_row(position, into);
                let marks: Option<(EmbeddingLookup, _)> = Some((&marks, positions));
                embed(&vectors, words, scale, marks, out.view_mut(), &mut self.scratch);
            }
            Some((PositionalEncoding::Sinusoidal(kind, width), positions)) => {
                let most = positions.iter().max().map_or(0, |&most| most as usize + 1);
                let place = self.sinusoid_table(*kind, *width, most);
                let waves = &self.sinusoid_tables[place].2;
                let marks = row_lookup(Mat::new(waves, waves.len() / width, *width));
                let marks: Option<(EmbeddingLookup, _)> = Some((&marks, positions));
                embed(&vectors, words, scale, marks, out.view_mut(), &mut self.scratch);
            }
        }
        out
    }

    fn affine(
        &mut self,
        input: &PooledTensor,
        weights: &Arc<Weights>,
        epilogue: Epilogue<'_, PooledTensor>,
    ) -> PooledTensor {
        let mut out = self.empty_tensor(input.rows(), weights.columns());
        let epilogue = miriam_kernels::gemm::Epilogue {
            bias: weights.bias.as_deref(),
            residual: epilogue.residual.map(PooledTensor::view),
            activation: epilogue.activation,
            absmax: None,
        };
        self.matmul(input.view(), weights, epilogue, out.view_mut());
        out
    }

    fn add(&mut self, mut rows: PooledTensor, other: &PooledTensor) -> PooledTensor {
        assert_eq!((rows.rows(), rows.width()), (other.rows(), other.width()));
        let (mut sums, other) = (rows.view_mut(), other.view());
        for row in 0..other.rows() {
            sums.row(row).iter_mut().zip(other.row(row)).for_each(|(x, y)| *x += y);
        }
        rows
    }

    fn layer_norm(&mut self, rows: &PooledTensor, norm: &LayerNorm<Arc<[f32]>>) -> PooledTensor {
        let mut out = self.empty_tensor(rows.rows(), rows.width());
        let (from, mut to) = (rows.view(), out.view_mut());
        (0..from.rows()).for_each(|row| to.row(row).copy_from_slice(from.row(row)));
        norm::normalise_in_place(self.cpu, norm.view(), to, None);
        out
    }

    fn add_layer_norm(
        &mut self,
        mut rows: PooledTensor,
        residual: &PooledTensor,
        norm: &LayerNorm<Arc<[f32]>>,
    ) -> PooledTensor {
        let residual = Some(residual.view());
        norm::normalise_in_place(self.cpu, norm.view(), rows.view_mut(), residual);
        rows
    }

    fn activate(&mut self, mut rows: PooledTensor, activation: Activation) -> PooledTensor {
        activate(self.cpu, activation, rows.view_mut());
        rows
    }

    fn copy(&mut self, rows: &PooledTensor) -> PooledTensor {
        let mut out = self.empty_tensor(rows.rows(), rows.width());
        let (from, mut to) = (rows.view(), out.view_mut());
        (0..from.rows()).for_each(|row| to.row(row).copy_from_slice(from.row(row)));
        out
    }

    fn linear_recurrence(
        &mut self,
        gate: ColumnSlice<'_, PooledTensor>,
        input: ColumnSlice<'_, PooledTensor>,
        before: PooledTensor,
        sequences: SequenceLayout<'_>,
    ) -> PooledTensor {
        let (cpu, gate, input) = (self.cpu, gate.view(), input.view());
        self.scan_sequences(gate.rows(), before, sequences, |first, _, rows| {
            let these = first..first + rows.rows();
            let (gate, input) = (gate.row_range(these.clone()), input.row_range(these));
            cell::highway(cpu, gate, input, rows);
        })
    }

    fn running_mean(
        &mut self,
        input: &PooledTensor,
        before: PooledTensor,
        seen: &[u32],
        sequences: SequenceLayout<'_>,
    ) -> PooledTensor {
        let (cpu, input) = (self.cpu, input.view());
        let mut counts = Vec::with_capacity(seen.len());
        self.scan_sequences(input.rows(), before, sequences, |first, (sequence, step), rows| {
            let these = first..first + rows.rows();
            counts.clear();
            counts.extend(seen[sequence..].iter().take(these.len()).map(|seen| seen + step));
            cell::running_mean(cpu, input.row_range(these), &counts, rows);
        })
    }

    fn average_attention_gate(
        &mut self,
        input_gate: &PooledTensor,
        input: &PooledTensor,
        gate: &PooledTensor,
        mut rows: PooledTensor,
    ) -> PooledTensor {
        let gates = (input_gate.view(), gate.view());
        cell::average_attention_gate(self.cpu, gates.0, gates.1, input.view(), rows.view_mut());
        rows
    }

    fn highway(
        &mut self,
        gate: ColumnSlice<'_, PooledTensor>,
        input: &PooledTensor,
        mut rows: PooledTensor,
    ) -> PooledTensor {
        cell::highway(self.cpu, gate.view(), input.view(), rows.view_mut());
        rows
    }

    fn pack_kv(
        &mut self,
        heads: usize,
        keys: ColumnSlice<'_, PooledTensor>,
        values: ColumnSlice<'_, PooledTensor>,
        lengths: &[usize],
    ) -> Vec<PackedKv> {
        let mut first = 0;
        let memory = |&length: &usize| {
            let rows = first..first + length;
            first = rows.end;
            let mut memory = PackedKv::default();
            memory.pack(heads, keys.view().row_range(rows.clone()), values.view().row_range(rows));
            memory
        };
        lengths.iter().map(memory).collect()
    }

    fn attend(
        &mut self,
        queries: ColumnSlice<'_, PooledTensor>,
        groups: &[(usize, &PackedKv)],
        visible: AttentionMask,
    ) -> PooledTensor {
        self.attend_groups(queries, groups, visible, None)
    }
}

impl Engine {
    /// Fills rows that follow from those before them: `step` gets the number of its first
    /// row, the first sequence with the step it is at, and rows that are still those
    /// before.
    fn scan_sequences(
        &mut self,
        rows: usize,
        mut before: PooledTensor,
        sequences: SequenceLayout<'_>,
        mut step: impl FnMut(usize, (usize, u32), MatMut<f32>),
    ) -> PooledTensor {
        let SequenceLayout::Lengths(lengths) = sequences else {
            step(0, (0, 0), before.view_mut());
            return before;
        };
        let mut out = self.empty_tensor(rows, before.width());
        let mut rest = out.view_mut();
        let mut first = 0;
        for (sequence, &length) in lengths.iter().enumerate() {
            for at in 0..length {
                let (mut row, behind) = rest.split_rows(1);
                rest = behind;
                row.row(0).copy_from_slice(before.view().row(sequence));
                step(first, (sequence, at as u32), row.reborrow());
                before.view_mut().row(sequence).copy_from_slice(row.row(0));
                first += 1;
            }
        }
        assert_eq!(first, rows, "every row is in a sequence");
        out
    }

    fn attend_groups(
        &mut self,
        queries: ColumnSlice<'_, PooledTensor>,
        groups: &[(usize, &PackedKv)],
        visible: AttentionMask,
        mut head_weights: Option<(usize, &mut Vec<Vec<f32>>)>,
    ) -> PooledTensor {
        let queries = queries.view();
        let mut out = self.empty_tensor(queries.rows(), queries.columns());
        let mut rest = out.view_mut();
        let mut first = 0;
        for &(rows, memory) in groups {
            let (part, behind) = rest.split_rows(rows);
            rest = behind;
            let queries = queries.row_range(first..first + rows);
            first += rows;
            let positions = memory.positions();
            let mut weights = vec![0.0; if head_weights.is_some() { rows * positions } else { 0 }];
            let head = head_weights.as_ref().map(|(head, _)| *head);
            let weights_out = head.map(|head| (head, MatMut::new(&mut weights, rows, positions)));
            let scale = 1.0 / memory.head_dim().map_or(1.0, |width| (width as f32).sqrt());
            let floats = &mut self.scratch;
            attention::attend(self.cpu, scale, queries, memory, visible, part, weights_out, floats);
            if let Some((_, all)) = &mut head_weights {
                all.extend((0..rows).map(|row| weights[row * positions..][..positions].to_vec()));
            }
        }
        assert_eq!(first, queries.rows(), "every query is in a group");
        out
    }
}

/// Keys and values of all positions that hypotheses went through.
#[derive(Default)]
pub struct KvCache {
    keys: Vec<f32>,
    values: Vec<f32>,
    rows: usize,
    width: usize,
}

impl DecodingOps for Engine {
    type KvCache = KvCache;

    fn new_kv_cache(&mut self) -> KvCache {
        KvCache::default()
    }

    fn append_kv(
        &mut self,
        cache: &mut KvCache,
        keys: ColumnSlice<'_, PooledTensor>,
        values: ColumnSlice<'_, PooledTensor>,
    ) {
        let (keys, values) = (keys.view(), values.view());
        cache.width = keys.columns();
        for row in 0..keys.rows() {
            cache.keys.extend_from_slice(keys.row(row));
            cache.values.extend_from_slice(values.row(row));
        }
        cache.rows += keys.rows();
    }

    fn compact(&mut self, cache: &mut KvCache, which: &[u32]) {
        debug_assert!(which.is_sorted());
        let width = cache.width;
        for list in [&mut cache.keys, &mut cache.values] {
            // In place: the memory is known to the system already.
            for (to, &row) in which.iter().enumerate() {
                let row = row as usize * width;
                list.copy_within(row..row + width, to * width);
            }
            list.truncate(which.len() * width);
        }
        cache.rows = which.len();
    }

    fn gather_state(&mut self, state: &PooledTensor, parents: &[Option<u32>]) -> PooledTensor {
        let mut out = self.zero_tensor(parents.len(), state.width());
        let (from, mut to) = (state.view(), out.view_mut());
        for (row, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                to.row(row).copy_from_slice(from.row(parent as usize));
            }
        }
        out
    }

    fn attend_kv_cache(
        &mut self,
        heads: usize,
        queries: ColumnSlice<'_, PooledTensor>,
        cache: &KvCache,
        paths: &[&[u32]],
    ) -> PooledTensor {
        let queries = queries.view();
        let mut out = self.empty_tensor(queries.rows(), queries.columns());
        let pool = KvPool {
            keys: Mat::new(&cache.keys, cache.rows, cache.width),
            values: Mat::new(&cache.values, cache.rows, cache.width),
        };
        let scale = 1.0 / ((cache.width / heads) as f32).sqrt();
        let (to, floats) = (out.view_mut(), &mut self.scratch);
        attention::attend_paged(self.cpu, heads, scale, queries, pool, paths, to, floats);
        out
    }

    fn attend_with_weights(
        &mut self,
        queries: ColumnSlice<'_, PooledTensor>,
        groups: &[(usize, &PackedKv)],
        head: usize,
        weights: &mut Vec<Vec<f32>>,
    ) -> PooledTensor {
        self.attend_groups(queries, groups, AttentionMask::All, Some((head, weights)))
    }
}
