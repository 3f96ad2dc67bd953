//! The operations of layers by the kernels of `miriam-kernels`.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::attention::{self, Memory, Pool};
use miriam_kernels::cell;
use miriam_kernels::embedding::{Vectors, Waves, embed, rows_of, sinusoids};
use miriam_kernels::function::{Activation, activate};
use miriam_kernels::norm::{self, NormKind};
use miriam_kernels::output::BLOCK;
use miriam_kernels::product::{Epilogue, Tiling, product_f32, product_i8, product_i16};
use miriam_kernels::quantise::{QuantisedI8, QuantisedI16, Span, quantise_i8, quantise_i16};
use miriam_kernels::tuner::Shape;
use miriam_kernels::{Mat, MatMut};

use super::{Engine, Marks, Packed, Rows, Table, Weights};
use crate::layer::{Backend, Decoding, Norm, Part, Sequences, Then, Visible};

impl<'a> Part<'a, Rows> {
    pub(super) fn view(&self) -> Mat<'a, f32> {
        self.rows.view().column_range(self.columns.clone())
    }
}

impl Norm<Arc<[f32]>> {
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
    pub(super) fn rows(&self, rows: usize, width: usize) -> Rows {
        Rows::zeros(&self.store, rows, width)
    }

    /// Rows that are written whole.
    pub(super) fn any(&self, rows: usize, width: usize) -> Rows {
        Rows::any(&self.store, rows, width)
    }

    /// Marks of at least the first `positions` positions.
    fn waves(&mut self, kind: Waves, width: usize, positions: usize) -> usize {
        let place = self.waves.iter().position(|(k, w, _)| (*k, *w) == (kind, width));
        let place = place.unwrap_or_else(|| {
            self.waves.push((kind, width, Vec::new()));
            self.waves.len() - 1
        });
        let table = &mut self.waves[place].2;
        if table.len() < positions * width {
            let positions = positions.next_power_of_two().max(64);
            table.resize(positions * width, 0.0);
            sinusoids(kind, MatMut::new(table, positions, width));
        }
        place
    }

    /// The product with weights.
    pub(super) fn product(
        &mut self,
        input: Mat<f32>,
        weights: &Weights,
        epilogue: Epilogue,
        out: MatMut<f32>,
    ) {
        self.prepare(input, weights);
        self.multiply(input, weights, 0..weights.columns(), epilogue, out);
    }

    /// Brings rows into the form that products with these weights take.
    pub(super) fn prepare(&mut self, input: Mat<f32>, weights: &Weights) {
        let (rows, depth) = (input.rows(), input.columns());
        match weights.matrix.packed() {
            Packed::F32(_) => {}
            Packed::I16(packed) => {
                self.prepared_shorts.forget();
                self.shorts.resize(rows * depth, 0);
                self.scales.resize(rows, 0.0);
                let quantised = MatMut::new(&mut self.shorts, rows, depth);
                quantise_i16(self.cpu, input, &packed, quantised, &mut self.scales);
            }
            Packed::I8(_) => {
                self.prepared_bytes.forget();
                self.bytes.resize(rows * depth, 0);
                self.scales.resize(rows, 0.0);
                let quantised = MatMut::new(&mut self.bytes, rows, depth);
                quantise_i8(self.cpu, input, Span::OfRow, quantised, &mut self.scales);
            }
        }
    }

    /// The product with some columns of weights, from a multiple of sixteen to another or to
    /// the end, of the rows that were prepared last.
    pub(super) fn multiply(
        &mut self,
        input: Mat<f32>,
        weights: &Weights,
        columns: Range<usize>,
        epilogue: Epilogue,
        out: MatMut<f32>,
    ) {
        let (cpu, rows, depth) = (self.cpu, input.rows(), input.columns());
        let tilings = Tiling::alternatives(cpu);
        let shape = |operation| {
            // Lists of candidates have lengths of all kinds.
            let columns = columns.len().next_multiple_of(BLOCK);
            Shape { operation, rows, depth, columns }
        };
        let tuner = &self.tuner;
        match weights.matrix.packed() {
            Packed::F32(packed) => tuner.run(shape("f32"), tilings.len(), |choice| {
                let packed = packed.part(columns);
                product_f32(cpu, tilings[choice], input, packed, epilogue, out);
            }),
            Packed::I16(packed) => tuner.run(shape("i16"), tilings.len(), |choice| {
                let packed = packed.part(columns);
                let prepared = &mut self.prepared_shorts;
                if prepared.tiling() != Some(tilings[choice]) {
                    let values = Mat::new(&self.shorts, rows, depth);
                    let quantised =
                        QuantisedI16 { values, scales: &self.scales, room: packed.room() };
                    prepared.prepare(cpu, tilings[choice], quantised);
                }
                product_i16(prepared, packed, epilogue, out);
            }),
            Packed::I8(packed) => tuner.run(shape("i8"), tilings.len(), |choice| {
                let packed = packed.part(columns);
                let prepared = &mut self.prepared_bytes;
                if prepared.tiling() != Some(tilings[choice]) {
                    let values = Mat::new(&self.bytes, rows, depth);
                    let quantised = QuantisedI8 { values, scales: &self.scales };
                    prepared.prepare(cpu, tilings[choice], quantised);
                }
                product_i8(prepared, packed, epilogue, out);
            }),
        }
    }
}

impl Backend for Engine {
    type Rows = Rows;
    type Weights = Arc<Weights>;
    type Vector = Arc<[f32]>;
    type Table = Arc<Table>;
    type Marks = Marks;
    type Memory = Memory;

    fn shape(&self, rows: &Rows) -> [usize; 2] {
        [rows.rows(), rows.width()]
    }

    fn zeros(&mut self, rows: usize, width: usize) -> Rows {
        self.rows(rows, width)
    }

    fn select(&mut self, from: &Rows, which: &[u32]) -> Rows {
        let mut out = self.any(which.len(), from.width());
        let (from, mut to) = (from.view(), out.view_mut());
        for (row, &which) in which.iter().enumerate() {
            to.row(row).copy_from_slice(from.row(which as usize));
        }
        out
    }

    fn embed(
        &mut self,
        table: &Arc<Table>,
        words: &[Option<u32>],
        scale: f32,
        marks: Option<(&Marks, &[u32])>,
    ) -> Rows {
        let mut out = self.any(words.len(), table.width);
        let vectors = |word: usize, into: &mut [f32]| table.vector(word, into);
        match marks {
            None => embed(&vectors, words, scale, None, out.view_mut(), &mut self.floats),
            Some((Marks::Table(marks), positions)) => {
                let marks = |position: usize, into: &mut [f32]| marks.vector(position, into);
                let marks: Option<(Vectors, _)> = Some((&marks, positions));
                embed(&vectors, words, scale, marks, out.view_mut(), &mut self.floats);
            }
            Some((Marks::Sinusoidal(kind, width), positions)) => {
                let most = positions.iter().max().map_or(0, |&most| most as usize + 1);
                let place = self.waves(*kind, *width, most);
                let waves = &self.waves[place].2;
                let marks = rows_of(Mat::new(waves, waves.len() / width, *width));
                let marks: Option<(Vectors, _)> = Some((&marks, positions));
                embed(&vectors, words, scale, marks, out.view_mut(), &mut self.floats);
            }
        }
        out
    }

    fn affine(&mut self, input: &Rows, weights: &Arc<Weights>, then: Then<'_, Rows>) -> Rows {
        let mut out = self.any(input.rows(), weights.columns());
        let epilogue = Epilogue {
            bias: weights.bias.as_deref(),
            residual: then.residual.map(Rows::view),
            activation: then.activation,
            largest: None,
        };
        self.product(input.view(), weights, epilogue, out.view_mut());
        out
    }

    fn add(&mut self, mut rows: Rows, other: &Rows) -> Rows {
        assert_eq!((rows.rows(), rows.width()), (other.rows(), other.width()));
        let (mut sums, other) = (rows.view_mut(), other.view());
        for row in 0..other.rows() {
            sums.row(row).iter_mut().zip(other.row(row)).for_each(|(x, y)| *x += y);
        }
        rows
    }

    fn norm(&mut self, rows: &Rows, norm: &Norm<Arc<[f32]>>) -> Rows {
        let mut out = self.any(rows.rows(), rows.width());
        let (from, mut to) = (rows.view(), out.view_mut());
        (0..from.rows()).for_each(|row| to.row(row).copy_from_slice(from.row(row)));
        norm::norm_in_place(self.cpu, norm.view(), to, None, None);
        out
    }

    fn norm_sum(&mut self, mut rows: Rows, residual: &Rows, norm: &Norm<Arc<[f32]>>) -> Rows {
        let residual = Some(residual.view());
        norm::norm_in_place(self.cpu, norm.view(), rows.view_mut(), residual, None);
        rows
    }

    fn activate(&mut self, mut rows: Rows, activation: Activation) -> Rows {
        activate(self.cpu, activation, rows.view_mut());
        rows
    }

    fn copy(&mut self, rows: &Rows) -> Rows {
        let mut out = self.any(rows.rows(), rows.width());
        let (from, mut to) = (rows.view(), out.view_mut());
        (0..from.rows()).for_each(|row| to.row(row).copy_from_slice(from.row(row)));
        out
    }

    fn recur(
        &mut self,
        gate: Part<'_, Rows>,
        input: Part<'_, Rows>,
        before: Rows,
        sequences: Sequences<'_>,
    ) -> Rows {
        let (cpu, gate, input) = (self.cpu, gate.view(), input.view());
        self.along(gate.rows(), before, sequences, |first, _, rows| {
            let these = first..first + rows.rows();
            let (gate, input) = (gate.row_range(these.clone()), input.row_range(these));
            cell::highway(cpu, gate, input, rows);
        })
    }

    fn running_mean(
        &mut self,
        input: &Rows,
        before: Rows,
        seen: &[u32],
        sequences: Sequences<'_>,
    ) -> Rows {
        let (cpu, input) = (self.cpu, input.view());
        let mut counts = Vec::with_capacity(seen.len());
        self.along(input.rows(), before, sequences, |first, (sequence, step), rows| {
            let these = first..first + rows.rows();
            counts.clear();
            counts.extend(seen[sequence..].iter().take(these.len()).map(|seen| seen + step));
            cell::running_mean(cpu, input.row_range(these), &counts, rows);
        })
    }

    fn weigh(&mut self, input_gate: &Rows, input: &Rows, gate: &Rows, mut rows: Rows) -> Rows {
        let gates = (input_gate.view(), gate.view());
        cell::average_gate(self.cpu, gates.0, gates.1, input.view(), rows.view_mut());
        rows
    }

    fn highway(&mut self, gate: Part<'_, Rows>, input: &Rows, mut rows: Rows) -> Rows {
        cell::highway(self.cpu, gate.view(), input.view(), rows.view_mut());
        rows
    }

    fn remember(
        &mut self,
        heads: usize,
        keys: Part<'_, Rows>,
        values: Part<'_, Rows>,
        lengths: &[usize],
    ) -> Vec<Memory> {
        let mut first = 0;
        let memory = |&length: &usize| {
            let rows = first..first + length;
            first = rows.end;
            let mut memory = Memory::default();
            memory.fill(heads, keys.view().row_range(rows.clone()), values.view().row_range(rows));
            memory
        };
        lengths.iter().map(memory).collect()
    }

    fn attend(
        &mut self,
        queries: Part<'_, Rows>,
        groups: &[(usize, &Memory)],
        visible: Visible,
    ) -> Rows {
        self.attend_groups(queries, groups, visible, None)
    }
}

impl Engine {
    /// Fills rows that follow from those before them: `step` gets the number of its first
    /// row, the first sequence with the step it is at, and rows that are still those
    /// before.
    fn along(
        &mut self,
        rows: usize,
        mut before: Rows,
        sequences: Sequences<'_>,
        mut step: impl FnMut(usize, (usize, u32), MatMut<f32>),
    ) -> Rows {
        let Sequences::Lengths(lengths) = sequences else {
            step(0, (0, 0), before.view_mut());
            return before;
        };
        let mut out = self.any(rows, before.width());
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
        queries: Part<'_, Rows>,
        groups: &[(usize, &Memory)],
        visible: Visible,
        mut tell: Option<(usize, &mut Vec<Vec<f32>>)>,
    ) -> Rows {
        let queries = queries.view();
        let mut out = self.any(queries.rows(), queries.columns());
        let mut rest = out.view_mut();
        let mut first = 0;
        for &(rows, memory) in groups {
            let (part, behind) = rest.split_rows(rows);
            rest = behind;
            let queries = queries.row_range(first..first + rows);
            first += rows;
            let positions = memory.positions();
            let mut weights = vec![0.0; if tell.is_some() { rows * positions } else { 0 }];
            let head = tell.as_ref().map(|(head, _)| *head);
            let told = head.map(|head| (head, MatMut::new(&mut weights, rows, positions)));
            let scale = 1.0 / memory.head_width().map_or(1.0, |width| (width as f32).sqrt());
            let floats = &mut self.floats;
            attention::attend(self.cpu, scale, queries, memory, visible, part, told, floats);
            if let Some((_, all)) = &mut tell {
                all.extend((0..rows).map(|row| weights[row * positions..][..positions].to_vec()));
            }
        }
        assert_eq!(first, queries.rows(), "every query is in a group");
        out
    }
}

/// Keys and values of all positions that hypotheses went through.
#[derive(Default)]
pub struct Past {
    keys: Vec<f32>,
    values: Vec<f32>,
    rows: usize,
    width: usize,
}

impl Decoding for Engine {
    type Past = Past;

    fn past(&mut self) -> Past {
        Past::default()
    }

    fn pass(&mut self, past: &mut Past, keys: Part<'_, Rows>, values: Part<'_, Rows>) {
        let (keys, values) = (keys.view(), values.view());
        past.width = keys.columns();
        for row in 0..keys.rows() {
            past.keys.extend_from_slice(keys.row(row));
            past.values.extend_from_slice(values.row(row));
        }
        past.rows += keys.rows();
    }

    fn keep(&mut self, past: &mut Past, which: &[u32]) {
        debug_assert!(which.is_sorted());
        let width = past.width;
        for list in [&mut past.keys, &mut past.values] {
            // In place: the memory is known to the system already.
            for (to, &row) in which.iter().enumerate() {
                let row = row as usize * width;
                list.copy_within(row..row + width, to * width);
            }
            list.truncate(which.len() * width);
        }
        past.rows = which.len();
    }

    fn carry(&mut self, state: &Rows, parents: &[Option<u32>]) -> Rows {
        let mut out = self.rows(parents.len(), state.width());
        let (from, mut to) = (state.view(), out.view_mut());
        for (row, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                to.row(row).copy_from_slice(from.row(parent as usize));
            }
        }
        out
    }

    fn attend_past(
        &mut self,
        heads: usize,
        queries: Part<'_, Rows>,
        past: &Past,
        paths: &[&[u32]],
    ) -> Rows {
        let queries = queries.view();
        let mut out = self.any(queries.rows(), queries.columns());
        let pool = Pool {
            keys: Mat::new(&past.keys, past.rows, past.width),
            values: Mat::new(&past.values, past.rows, past.width),
        };
        let scale = 1.0 / ((past.width / heads) as f32).sqrt();
        let (to, floats) = (out.view_mut(), &mut self.floats);
        attention::attend_paths(self.cpu, heads, scale, queries, pool, paths, to, floats);
        out
    }

    fn attend_and_tell(
        &mut self,
        queries: Part<'_, Rows>,
        groups: &[(usize, &Memory)],
        head: usize,
        weights: &mut Vec<Vec<f32>>,
    ) -> Rows {
        self.attend_groups(queries, groups, Visible::All, Some((head, weights)))
    }
}
