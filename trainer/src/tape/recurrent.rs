//! Implementation of the backend of `nmt`'s recurrent layers for a tape.

use miriam_nmt::Result;
use miriam_nmt::layer::{ActivationImpl, AttentionScore, Backend, Epilogue, RecurrentOps};

use super::backend::{num_pairs, split_sentences};
use super::node::{Columns, Group, KeysValues, Op, Tensor};
use super::weights::{AffineId, VectorId};
use super::{ProjectedEmbeddings, Tape};
use crate::kernels::Kernels;

impl<K: Kernels> RecurrentOps for Tape<K> {
    type Annotations = KeysValues;
    type ProjectedEmbeddingCache = ProjectedEmbeddings;

    fn embed_projected(
        &mut self,
        cache: &ProjectedEmbeddings,
        tokens: &[Option<u32>],
    ) -> Result<Tensor> {
        let vectors = self.embed(&cache.table, tokens, 1.0, None)?;
        self.affine(&vectors, &cache.weights, Epilogue::default())
    }

    fn affine_after_dropout(
        &mut self,
        input: &Tensor,
        weights: &AffineId,
        epilogue: Epilogue<'_, Tensor>,
    ) -> Result<Tensor> {
        let input = self.drop_columns(*input, *weights);
        self.affine(&input, weights, epilogue)
    }

    fn embed_projected_after_dropout(
        &mut self,
        cache: &ProjectedEmbeddings,
        tokens: &[Option<u32>],
    ) -> Result<Tensor> {
        let vectors = self.embed(&cache.table, tokens, 1.0, None)?;
        self.affine_after_dropout(&vectors, &cache.weights, Epilogue::default())
    }

    fn annotate(
        &mut self,
        _: &AttentionScore<VectorId>,
        keys: &Tensor,
        values: &Tensor,
        lengths: &[usize],
    ) -> Result<Vec<KeysValues>> {
        Ok(split_sentences(1, &Columns::all(*keys), &Columns::all(*values), lengths))
    }

    /// Records the attention, but leaves `_weights` unchanged: no layer reads them in training.
    fn attend_annotations(
        &mut self,
        _: ActivationImpl,
        attention_score: &AttentionScore<VectorId>,
        queries: &Tensor,
        groups: &[(usize, &KeysValues)],
        _weights: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<Tensor> {
        let vector = match attention_score {
            AttentionScore::Additive(vector) => Some(*vector),
            AttentionScore::DotProduct => None,
        };
        let groups: Vec<Group> =
            groups.iter().map(|&(rows, group)| (rows, group.clone())).collect();
        let width = groups.first().map_or(0, |(_, group)| group.values.width());
        let saved = num_pairs(&groups);
        let positions = self.attending_positions(&groups);
        let op = Op::AttendAnnotations { vector, queries: *queries, groups, positions };
        Ok(self.record(op, queries.rows(), width, saved))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use miriam_kernels::random::MaskRow;
    use miriam_nmt::architecture::{
        Architecture, CellKind, EmbeddingConfig, EncoderKind, RecurrentConfig,
        RecurrentDecoderConfig, RecurrentEncoderConfig,
    };
    use miriam_nmt::layer::Side;

    use super::super::backend::FIRST_WEIGHTS_SITE;
    use super::super::{LossOptions, PackedParameters};
    use super::*;
    use crate::dropout::{Dropout, fill_mask};
    use crate::kernels::Plain;
    use crate::trainable_model::TrainableModel;

    fn model(cell: CellKind) -> TrainableModel<Plain<f64>> {
        let architecture = Architecture::Recurrent(RecurrentConfig {
            embeddings: EmbeddingConfig {
                source_vocab_size: 9,
                target_vocab_size: 9,
                dim: 6,
                shared: false,
                tied_output: false,
                output_bias: true,
                right_to_left: false,
                suppress_tokens: Vec::new(),
            },
            state_width: 5,
            encoder: RecurrentEncoderConfig {
                kind: EncoderKind::Bidirectional,
                cell,
                depth: 2,
                cell_depth: 2,
            },
            decoder: RecurrentDecoderConfig { cell, depth: 2, base_depth: 3, high_depth: 1 },
            skip_connections: false,
            layer_norm_style: None,
        });
        TrainableModel::new(architecture).unwrap()
    }

    fn values(model: &TrainableModel<Plain<f64>>) -> Vec<f64> {
        (0..model.layout().len()).map(|index| (index as f64 * 0.7).sin() * 0.5).collect()
    }

    /// A column that is dropped at all time steps acts like a zero row of weights.
    #[test]
    fn dropped_columns_are_rows_of_weights() {
        for cell in [CellKind::Gru, CellKind::Lstm] {
            let model = model(cell);
            let mut tape = model.tape(Plain::default());
            let dropout = Dropout { recurrent: 0.4, key: [5, 6], ..Dropout::default() };
            let mut loss = |values: Vec<f64>, dropout: Dropout| {
                let packed_parameters =
                    PackedParameters::new(model.registry(), &Plain::default(), values);
                tape.begin(&Arc::new(packed_parameters), dropout, &[17]);
                let sentences: [&[u32]; 2] = [&[3, 5, 2, 7, 4, 0], &[4, 8, 6, 2, 0]];
                let options = LossOptions::default();
                model.loss(&mut tape, &sentences[..1], &sentences[1..], options).unwrap().sum
            };
            let mut masked = values(&model);
            let mut num_masked = 0;
            for (id, spec) in (0..).zip(&model.registry().affines) {
                let mut mask = vec![0.0; spec.inputs];
                let row = MaskRow { position: 0, site: FIRST_WEIGHTS_SITE + id, sentence: 17 };
                fill_mask(dropout.key, row, dropout.recurrent, &mut mask);
                for part in &spec.parts {
                    let range = part.range();
                    let parameter = model.layout().iter().find(|p| p.range() == range).unwrap();
                    let name = &parameter.name[..];
                    let is_undropped = name.contains("ff_state") || name.contains("ff_logit");
                    if is_undropped {
                        continue;
                    }
                    num_masked += 1;
                    for (row, &factor) in masked[range].chunks_mut(part.columns).zip(&mask) {
                        row.iter_mut().for_each(|weight| *weight *= f64::from(factor));
                    }
                }
            }
            assert!(num_masked > 20, "{num_masked} matrices of cells and attention");
            let dropped = loss(values(&model), dropout);
            let without_dropout = loss(masked, Dropout::default());
            assert!(
                (dropped - without_dropout).abs() < 1e-9,
                "{cell:?}: {dropped} {without_dropout}"
            );
            assert!((dropped - loss(values(&model), Dropout::default())).abs() > 1e-3);
        }
    }

    /// A dropped token is a vector of zeros, in every table and product of its side.
    #[test]
    fn words_are_dropped_whole() {
        let model = model(CellKind::Gru);
        let mut tape = model.tape(Plain::default());
        let packed_parameters =
            Arc::new(PackedParameters::new(model.registry(), &Plain::default(), values(&model)));
        let tokens: Vec<Option<u32>> = (0..400).map(|index| Some(index % 9)).collect();
        let table = model.registry().layout().iter().find(|p| p.name == "encoder_Wemb").unwrap();
        let table = crate::tape::MatrixPlace { offset: table.range().start, rows: 9, columns: 6 };
        let dropout = Dropout { source_words: 0.25, key: [5, 6], ..Dropout::default() };
        let embed = |tape: &mut Tape<Plain<f64>>, dropout, side| {
            tape.begin(&packed_parameters, dropout, &[3, 4]);
            tape.begin_rows(side, &[150, 250]);
            let all = [2.0, 1.0].map(|scale| tape.embed(&table, &tokens, scale, None).unwrap());
            all.map(|embedded| tape.read(embedded).to_vec())
        };
        let plain = embed(&mut tape, Dropout::default(), Side::Source);
        let dropped = embed(&mut tape, dropout, Side::Source);
        assert_eq!(embed(&mut tape, dropout, Side::Target), plain, "the source alone is dropped");
        let mut num_dropped = 0;
        for row in 0..tokens.len() {
            let of = |all: &[f64]| all[6 * row..6 * row + 6].to_vec();
            let factor = if of(&dropped[0]).iter().all(|x| *x == 0.0) { 0.0 } else { 4.0 / 3.0 };
            num_dropped += usize::from(factor == 0.0);
            for (dropped, plain) in dropped.iter().zip(&plain) {
                let differ = |(x, y): (&f64, &f64)| (x - y * factor).abs() > 1e-6;
                assert!(!of(dropped).iter().zip(&of(plain)).any(differ), "row {row}");
            }
        }
        // 100 are expected, with a standard deviation of 8.7.
        assert!((65..135).contains(&num_dropped), "{num_dropped} of 400 dropped at 0.25");
    }
}
