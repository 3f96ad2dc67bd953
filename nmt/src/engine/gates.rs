//! Recurrent operations by the kernels of `miriam-kernels`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use miriam_kernels::attention::{Memory, attend, attend_additive};
use miriam_kernels::cell::{self, GruForm};
use miriam_kernels::function;
use miriam_kernels::norm::norm_in_place;
use miriam_kernels::pack::WeightsF32;
use miriam_kernels::{Cpu, Mat, MatMut};

use super::{Engine, Loader, Rows, Table, Weights};
use crate::Result;
use crate::layer::{
    Affine, Backend, Fit, GateParameters, Gates, Norm, Parameters, Part, Squash, Then, Visible,
};

/// Products of words with weights. Those of frequent words are computed by whichever thread
/// meets them first: what a row is does not depend on who made it.
pub struct Lexicon {
    table: Arc<Table>,
    weights: Arc<Weights>,
    /// That of no word, then those of the words.
    kept: Vec<OnceLock<Box<[f32]>>>,
}

impl Lexicon {
    fn place(word: Option<u32>) -> usize {
        word.map_or(0, |word| word as usize + 1)
    }

    fn get(&self, word: Option<u32>) -> Option<&[f32]> {
        self.kept.get(Self::place(word))?.get().map(|row| &**row)
    }
}

impl GateParameters<Engine> for Loader<'_> {
    fn lexicon(&mut self, table: &str, affine: Affine<'_>, kept: usize) -> Result<Lexicon> {
        let table = self.table(table)?;
        let weights = self.weights(affine)?;
        let kept = match kept {
            0 => Vec::new(),
            kept => (0..=kept.min(table.words)).map(|_| OnceLock::new()).collect(),
        };
        Ok(Lexicon { table, weights, kept })
    }
}

/// A sentence as attention sees it.
pub enum Annotations {
    /// Keys, a row each, and values packed.
    Additive {
        /// Positions by width.
        keys: Vec<f32>,
        /// Positions are the depth.
        values: WeightsF32,
        /// The width of values.
        width: usize,
    },
    /// Both packed.
    Product(Memory, usize),
}

impl Annotations {
    /// Columns of the values.
    fn width(&self) -> usize {
        match self {
            Annotations::Additive { width, .. } | Annotations::Product(_, width) => *width,
        }
    }
}

impl Engine {
    fn squashing(&self, squash: Squash) -> (Cpu, function::Squash) {
        match squash {
            Squash::Scalar => (Cpu::plain(), function::Squash::Exact),
            Squash::Vector => (self.cpu, function::Squash::Exact),
            Squash::Table => (self.cpu, function::Squash::Table),
        }
    }
}

impl Gates for Engine {
    type Annotations = Annotations;
    type Lexicon = Lexicon;

    fn stack(&mut self, parts: &[&Rows]) -> Rows {
        let width = parts.first().map_or(0, |rows| rows.width());
        let mut out = self.any(parts.iter().map(|rows| rows.rows()).sum(), width);
        let mut to = out.view_mut();
        let mut row = 0;
        for part in parts.iter().map(|rows| rows.view()) {
            for from in 0..part.rows() {
                to.row(row).copy_from_slice(part.row(from));
                row += 1;
            }
        }
        out
    }

    fn join(&mut self, parts: &[&Rows]) -> Rows {
        let rows = parts.first().map_or(0, |part| part.rows());
        let mut out = self.any(rows, parts.iter().map(|part| part.width()).sum());
        let mut to = out.view_mut();
        for row in 0..rows {
            let mut rest = to.row(row);
            for part in parts {
                let (columns, behind) = rest.split_at_mut(part.width());
                columns.copy_from_slice(part.view().row(row));
                rest = behind;
            }
        }
        out
    }

    fn columns(&mut self, part: Part<'_, Rows>) -> Rows {
        let from = part.view();
        let mut out = self.any(from.rows(), from.columns());
        let mut to = out.view_mut();
        (0..from.rows()).for_each(|row| to.row(row).copy_from_slice(from.row(row)));
        out
    }

    fn means(&mut self, rows: &Rows, lengths: &[usize]) -> Rows {
        let mut out = self.rows(lengths.len(), rows.width());
        let (from, mut to) = (rows.view(), out.view_mut());
        let mut first = 0;
        for (sentence, &length) in lengths.iter().enumerate() {
            let mean = to.row(sentence);
            for row in first..first + length {
                mean.iter_mut().zip(from.row(row)).for_each(|(sum, x)| *sum += x);
            }
            mean.iter_mut().for_each(|sum| *sum /= length as f32);
            first += length;
        }
        out
    }

    fn norm_parts(&mut self, mut rows: Rows, norms: &[(Range<usize>, Norm<Arc<[f32]>>)]) -> Rows {
        for (columns, norm) in norms {
            let part = rows.view_mut().column_range(columns.clone());
            norm_in_place(self.cpu, norm.view(), part, None, None);
        }
        rows
    }

    fn look_up(&mut self, lexicon: &Lexicon, words: &[Option<u32>]) -> Rows {
        let is_missing = |word: &Option<u32>| lexicon.get(*word).is_none();
        let mut missing: Vec<Option<u32>> = words.iter().copied().filter(is_missing).collect();
        missing.sort_unstable();
        missing.dedup();
        let vectors = self.embed(&lexicon.table, &missing, 1.0, None);
        let products = self.affine(&vectors, &lexicon.weights, Then::default());
        for (row, &word) in missing.iter().enumerate() {
            if let Some(place) = lexicon.kept.get(Lexicon::place(word)) {
                place.get_or_init(|| products.view().row(row).into());
            }
        }
        let mut out = self.any(words.len(), products.width());
        let mut to = out.view_mut();
        for (row, &word) in words.iter().enumerate() {
            let place = || missing.binary_search(&word).ok();
            let product = lexicon.get(word).or_else(|| Some(products.view().row(place()?)));
            to.row(row).copy_from_slice(product.expect("kept or computed"));
        }
        out
    }

    fn gru(
        &mut self,
        (squash, form): (Squash, GruForm),
        input: Option<Part<'_, Rows>>,
        recurrent: &Rows,
        bias: Option<&Arc<[f32]>>,
        state: &Rows,
    ) -> Rows {
        let mut out = self.any(state.rows(), state.width());
        let (cpu, squash) = self.squashing(squash);
        let bias = match bias {
            Some(bias) => bias,
            None => {
                self.floats.clear();
                self.floats.resize(3 * state.width(), 0.0);
                &self.floats[..]
            }
        };
        let (input, recurrent) = (input.map(|input| input.view()), recurrent.view());
        cell::gru(cpu, squash, form, input, recurrent, bias, state.view(), out.view_mut());
        out
    }

    fn lstm(
        &mut self,
        squash: Squash,
        input: Option<Part<'_, Rows>>,
        recurrent: &Rows,
        bias: &Arc<[f32]>,
        mut cell: Rows,
    ) -> [Rows; 2] {
        let mut out = self.any(cell.rows(), cell.width());
        let (cpu, squash) = self.squashing(squash);
        let (input, recurrent) = (input.map(|input| input.view()), recurrent.view());
        cell::lstm(cpu, squash, input, recurrent, bias, cell.view_mut(), out.view_mut());
        [out, cell]
    }

    fn multiplicative_state(
        &mut self,
        input: Part<'_, Rows>,
        input_bias: &Arc<[f32]>,
        recurrent: &Rows,
        recurrent_bias: &Arc<[f32]>,
    ) -> Rows {
        let mut out = self.any(recurrent.rows(), recurrent.width());
        let (input, recurrent, to) = (input.view(), recurrent.view(), out.view_mut());
        cell::multiplicative_state(self.cpu, input, input_bias, recurrent, recurrent_bias, to);
        out
    }

    fn annotate(
        &mut self,
        fit: &Fit<Arc<[f32]>>,
        keys: &Rows,
        values: &Rows,
        lengths: &[usize],
    ) -> Vec<Annotations> {
        let mut first = 0;
        let width = values.width();
        let annotations = |&length: &usize| {
            let rows = first..first + length;
            first = rows.end;
            let keys = keys.view().row_range(rows.clone());
            let of_sentence = values.view().row_range(rows);
            match fit {
                Fit::Additive(_) => {
                    let mut values = WeightsF32::default();
                    values.fill_rows(of_sentence, width);
                    let keys = (0..length).flat_map(|row| keys.row(row)).copied().collect();
                    Annotations::Additive { keys, values, width }
                }
                Fit::Product => {
                    let mut memory = Memory::default();
                    memory.fill(1, keys, of_sentence);
                    Annotations::Product(memory, width)
                }
            }
        };
        lengths.iter().map(annotations).collect()
    }

    fn attend_states(
        &mut self,
        squash: Squash,
        fit: &Fit<Arc<[f32]>>,
        queries: &Rows,
        groups: &[(usize, &Annotations)],
        mut told: Option<&mut Vec<Vec<f32>>>,
    ) -> Rows {
        let (cpu, squash) = self.squashing(squash);
        let width = groups.first().map_or(0, |(_, sentence)| sentence.width());
        let mut out = self.any(queries.rows(), width);
        let mut rest = out.view_mut();
        let mut first = 0;
        for &(rows, sentence) in groups {
            let (part, behind) = rest.split_rows(rows);
            rest = behind;
            let queries = queries.view().row_range(first..first + rows);
            first += rows;
            let positions = match sentence {
                Annotations::Additive { values, .. } => values.view().depth(),
                Annotations::Product(memory, _) => memory.positions(),
            };
            self.weights.clear();
            self.weights.resize(rows * positions, 0.0);
            let weights = MatMut::new(&mut self.weights, rows, positions);
            match (fit, sentence) {
                (Fit::Additive(v), Annotations::Additive { keys, values, .. }) => {
                    let keys = Mat::new(keys, positions, v.len());
                    attend_additive(cpu, squash, keys, values.view(), v, queries, weights, part);
                }
                (Fit::Product, Annotations::Product(memory, _)) => {
                    let (told, floats) = (Some((0, weights)), &mut self.floats);
                    attend(self.cpu, 1.0, queries, memory, Visible::All, part, told, floats);
                }
                _ => panic!("annotated for another kind of attention"),
            }
            if let Some(told) = &mut told {
                told.extend(self.weights.chunks_exact(positions).map(<[f32]>::to_vec));
            }
        }
        assert_eq!(first, queries.rows(), "every query is in a group");
        out
    }
}
