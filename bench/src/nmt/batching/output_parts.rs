//! The output layer taken apart: product, bias, softmax and top-k as separate passes over all
//! scores, compared with the fused layer that the engine computes in blocks (Hoang et al. 2018,
//! table 3).

use std::path::Path;
use std::sync::Arc;

use miriam_kernels::activation::log_softmax;
use miriam_kernels::elementwise::add_in_place;
use miriam_kernels::topk::{ColumnIds, update_topk_from_scores};
use miriam_kernels::{Cpu, MatMut, MatRef};
use miriam_nmt::Result;
use miriam_nmt::architecture::{Architecture, Model};
use miriam_nmt::engine::{Autotuner, Engine, PooledTensor, Precision, WeightLoader, Weights};
use miriam_nmt::layer::{Backend, Epilogue, OutputColumns, OutputOps, ParameterLoader, TopK};
use serde::{Deserialize, Serialize};

use crate::machine::cpu_seconds;
use crate::statistics::median;

/// The minimal CPU time of a round in seconds, and its minimal number of steps.
const ROUND_SECONDS: f64 = 0.02;
const ROUND_STEPS: usize = 3;

/// The number of steps before the first round, in which the autotuner chooses GEMM kernels.
const WARM_UP_STEPS: usize = 30;

/// The output layer of a model on the CPU, with its bias and without.
pub struct OutputParts {
    engine: Engine,
    cpu: Cpu,
    fused: Arc<Weights>,
    product: Arc<Weights>,
    bias: Vec<f32>,
    /// The input of the output layer: the embedding of a token for each row of a step.
    hidden: PooledTensor,
    /// Best tokens of the fused layer, and of the separate passes.
    best: [Vec<TopK>; 2],
}

/// CPU seconds of a step of the output layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OutputTimes {
    /// The product of rows and weights.
    pub product: f64,
    /// The addition of the bias.
    pub bias: f64,
    /// The log-softmax.
    pub softmax: f64,
    /// The search for the best tokens.
    pub top_k: f64,
    /// All of these in the engine's fused layer.
    pub fused: f64,
}

impl OutputTimes {
    /// Returns the sum of the separate passes.
    pub fn separate(&self) -> f64 {
        self.product + self.bias + self.softmax + self.top_k
    }

    /// Returns the share of the separate passes that fusion saves; negative if it costs more.
    pub fn saved_share(&self) -> f64 {
        1.0 - self.fused / self.separate()
    }
}

impl OutputParts {
    /// Loads the output layer of `model` for steps of `rows` rows with `beam` best tokens each.
    ///
    /// # Errors
    /// If the model lacks a parameter.
    pub fn load(
        model: &Model,
        precision: Precision,
        tuner: &Arc<Autotuner>,
        rows: usize,
        beam: usize,
    ) -> Result<Self> {
        let tables = model.architecture().embeddings();
        let prefix = match model.architecture() {
            Architecture::Transformer(_) => "decoder_ff_logit_out",
            Architecture::Recurrent(_) => "decoder_ff_logit_l2",
            Architecture::Stacked(_) => "decoder_ff_logit",
        };
        let [own_table, bias] = ["Wt", "b"].map(|suffix| format!("{prefix}_{suffix}"));
        let table = if tables.tied_output { tables.decoder_table_name() } else { &own_table };
        let mut parameters = WeightLoader::new(model, Path::new("a random model"), precision);
        let parameters: &mut dyn ParameterLoader<Engine> = &mut parameters;
        let fused = parameters.output_weights(table, Some(&bias))?;
        let product = parameters.output_weights(table, None)?;
        let bias = parameters.values(&bias)?;
        let embeddings = parameters.embedding_table(tables.decoder_table_name())?;
        let cpu = Cpu::detect();
        let mut engine = Engine::with_tuner(cpu, Arc::clone(tuner));
        let tokens: Vec<Option<u32>> =
            (0..rows).map(|row| Some((row % bias.len()) as u32)).collect();
        let hidden = engine.embed(&embeddings, &tokens, 1.0, None)?;
        let best = [true, false].map(|normalizes| vec![TopK::new(beam, normalizes); rows]);
        Ok(OutputParts { engine, cpu, fused, product, bias, hidden, best })
    }

    /// Returns the medians of `rounds` rounds.
    ///
    /// # Errors
    /// Never on a CPU.
    pub fn measure(&mut self, rounds: u32) -> Result<OutputTimes> {
        for _ in 0..WARM_UP_STEPS {
            self.step()?;
        }
        let mut times = Vec::new();
        for _ in 0..rounds {
            let (start, mut steps) = (cpu_seconds(), Vec::new());
            while steps.len() < ROUND_STEPS || cpu_seconds() - start < ROUND_SECONDS {
                steps.push(self.step()?);
            }
            times.push(medians(&steps));
        }
        Ok(medians(&times))
    }

    /// Computes a step with separate passes and with the fused layer.
    fn step(&mut self) -> Result<OutputTimes> {
        let OutputParts { engine, cpu, fused, product, bias, hidden, best: [first, second] } = self;
        first.iter_mut().chain(&mut *second).for_each(TopK::clear);
        let mut last = cpu_seconds();
        let mut lap = || {
            let before = std::mem::replace(&mut last, cpu_seconds());
            last - before
        };
        let rows = 0..hidden.rows();
        engine.topk(hidden, rows, fused, OutputColumns::All, first)?;
        let fused = lap();
        let mut logits = engine.affine(hidden, product, Epilogue::default())?;
        let product = lap();
        for row in 0..logits.rows() {
            let mut logits = logits.view_mut();
            let logits = MatMut::new(logits.row_mut(row), 1, bias.len());
            add_in_place(*cpu, MatRef::new(bias, 1, bias.len()), logits);
        }
        let bias = lap();
        log_softmax(*cpu, logits.view_mut());
        let softmax = lap();
        for (row, best) in second.iter_mut().enumerate() {
            let scores = logits.view().row(row);
            update_topk_from_scores(*cpu, scores, ColumnIds::Consecutive(0), best);
        }
        Ok(OutputTimes { product, bias, softmax, top_k: lap(), fused })
    }
}

/// Returns the median of each part.
fn medians(times: &[OutputTimes]) -> OutputTimes {
    let part = |part: fn(&OutputTimes) -> f64| median(&times.iter().map(part).collect::<Vec<_>>());
    OutputTimes {
        product: part(|times| times.product),
        bias: part(|times| times.bias),
        softmax: part(|times| times.softmax),
        top_k: part(|times| times.top_k),
        fused: part(|times| times.fused),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::random_models::{
        random_model_without_eos, recurrent_shape, transformer_of_width,
    };
    use super::*;
    use miriam_nmt::architecture::CellKind;

    #[test]
    fn separate_passes_find_the_tokens_of_the_fused_layer() {
        let transformer = Architecture::Transformer(transformer_of_width(32, 48, [1, 1], 200));
        let gru = Architecture::Recurrent(recurrent_shape(CellKind::Gru, 32, 200));
        for architecture in [transformer, gru] {
            let model = random_model_without_eos(architecture, 1).unwrap();
            let tuner = Arc::new(Autotuner::new(Cpu::detect()));
            for precision in [Precision::F32, Precision::I16, Precision::I8] {
                let mut parts = OutputParts::load(&model, precision, &tuner, 7, 3).unwrap();
                parts.step().unwrap();
                let [fused, separate] = &parts.best;
                for (row, (fused, separate)) in fused.iter().zip(separate).enumerate() {
                    assert_eq!(fused.candidates().len(), 3);
                    for (one, other) in fused.candidates().iter().zip(separate.candidates()) {
                        assert_eq!(one.id, other.id, "row {row}");
                        let difference = one.logit - fused.log_normalizer() - other.logit;
                        assert!(difference.abs() < 1e-4, "row {row}: {difference}");
                    }
                }
            }
        }
    }

    #[test]
    fn fusion_saves_a_share_of_the_separate_passes() {
        let times = OutputTimes { product: 4.0, bias: 1.0, softmax: 2.0, top_k: 1.0, fused: 6.0 };
        assert_eq!(times.separate(), 8.0);
        assert_eq!(times.saved_share(), 0.25);
        let slow = OutputTimes { fused: 3.0, ..times };
        assert_eq!(medians(&[slow, times, slow]).fused, 3.0);
    }
}
