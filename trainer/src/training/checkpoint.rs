//! Saving and resuming a training (`docs/spec/training.md` A.13).
//!
//! The file of the optimiser, `model.npz.optimizer.npz`, is authoritative. It has Marian's arrays,
//! from which Marian can resume, and an extra entry with everything else that the next update
//! depends on. It is written to a temporary file and renamed into place. The model and the files
//! beside it are derived from this state and written afterwards; a training run that was killed in
//! between writes them again when it is resumed. Numbers are stored as their bits, so that a
//! resumed training takes the same steps as one that was never stopped.

use std::path::Path;

use miriam_nmt::architecture::Architecture;
use miriam_nmt::checkpoint::{Checkpoint, NpzWriter, Tensor};
use miriam_nmt::formats::marian::write_marian_model;
use miriam_storage::LoadMethod;
use serde::{Deserialize, Serialize};

use super::fingerprint::{OptionTexts, TrainingFingerprint, parse_option_texts};
use super::metric::MetricState;
use super::model_files::ModelFiles;
use super::schedule::ScheduleState;
use super::statistics::Statistics;
use crate::asynchronous::AsyncSnapshot;
use crate::data::BatchPosition;
use crate::error::{Error, Result};
use crate::parameters::ParameterLayout;
use crate::progress::Progress;
use crate::update::{BiasCorrections, OptimizerKind, OptimizerState};

/// The entry of the optimiser's file with the state of the training.
const STATE_ENTRY: &str = "miriam:state";
/// The entry with the rounding errors of quantised parameters.
const RESIDUAL_ENTRY: &str = "miriam:quantization_residual";
/// The entry with the state of workers. The entries `miriam:async:NAME` are the vectors of this
/// state.
const ASYNC_ENTRY: &str = "miriam:async";
/// The version of [`STATE_ENTRY`].
const STATE_VERSION: u32 = 1;

/// An f64 stored as its bits, because numbers in JSON are not exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Bits(u64);

impl From<f64> for Bits {
    fn from(number: f64) -> Self {
        Bits(number.to_bits())
    }
}

impl Bits {
    fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The state that the next update depends on, besides parameters and the optimiser's vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingState {
    /// The progress of the training.
    pub progress: Progress,
    /// The position of the next batch.
    pub position: BatchPosition,
    /// The schedule's own state.
    pub schedule: ScheduleState,
    /// The update of the last validation; 0 before the first.
    pub validated_at: u64,
    /// The state of validation by metric.
    pub metrics: Vec<(String, MetricState)>,
    /// Whether the training is finished.
    pub is_finished: bool,
    /// Whether the final model, after a validation outside of the usual intervals, is better than
    /// all earlier models.
    pub is_last_best: bool,
    /// Whether the model file includes last pushes, which this state does not include.
    pub has_last_pushes: bool,
    /// The number of sentences of this epoch so far, for the log and for Marian.
    pub sentences: u64,
    /// The number of batches of this epoch so far, for Marian.
    pub epoch_batches: u64,
    /// Averages over updates.
    pub statistics: Statistics,
    /// The fingerprint of the training; a training run with another fingerprint cannot resume.
    pub fingerprint: TrainingFingerprint,
}

/// The state as it is written; renamed fields have the names of the file's first version.
#[derive(Serialize, Deserialize)]
struct SavedState {
    version: u32,
    updates: u64,
    labels: u64,
    epoch: u64,
    sentences: u64,
    #[serde(default)]
    epoch_batches: u64,
    position: SavedPosition,
    schedule_factor: Bits,
    warmup_start: u64,
    #[serde(default)]
    next_warmup_start: Option<u64>,
    #[serde(default)]
    max_stalled: u64,
    #[serde(default)]
    cycle_start: u64,
    #[serde(default)]
    validated_at: u64,
    metrics: Vec<(String, MetricState)>,
    #[serde(rename = "denominators")]
    bias_corrections: [Bits; 2],
    /// The number of updates in the average.
    #[serde(rename = "average_progress")]
    average_updates: Bits,
    is_finished: bool,
    #[serde(default)]
    is_last_best: bool,
    #[serde(default)]
    has_last_pushes: bool,
    #[serde(default)]
    statistics: [Bits; Statistics::COUNT],
    #[serde(rename = "identity")]
    fingerprint: TrainingFingerprint,
}

#[derive(Serialize, Deserialize)]
struct SavedPosition {
    epoch: u64,
    maxi_start: usize,
    carried: Vec<u32>,
    taken: usize,
    size_ratio: Bits,
}

/// A saved training.
pub struct SavedTraining {
    /// The parameters that are trained.
    pub values: Vec<f32>,
    /// The optimiser's state.
    pub optimizer: OptimizerState<f32>,
    /// The rest of the state.
    pub state: TrainingState,
    /// The state of the workers of asynchronous training.
    pub workers: Option<AsyncSnapshot>,
}

/// Writes the optimiser's file.
///
/// # Errors
/// If it cannot be written; the old file is then unchanged.
pub fn save_optimizer(
    path: &Path,
    kind: OptimizerKind,
    values: &[f32],
    optimizer: &OptimizerState<f32>,
    state: &TrainingState,
    workers: Option<&AsyncSnapshot>,
) -> Result<()> {
    let BiasCorrections(bias_corrections) = optimizer.bias_corrections;
    let saved = SavedState {
        version: STATE_VERSION,
        updates: state.progress.updates,
        labels: state.progress.labels,
        epoch: state.progress.epoch,
        sentences: state.sentences,
        epoch_batches: state.epoch_batches,
        position: SavedPosition {
            epoch: state.position.epoch,
            maxi_start: state.position.maxi_start,
            carried: state.position.carried.clone(),
            taken: state.position.taken,
            size_ratio: state.position.size_ratio.into(),
        },
        schedule_factor: state.schedule.factor.into(),
        warmup_start: state.schedule.warmup_start,
        next_warmup_start: state.schedule.next_warmup_start,
        max_stalled: state.schedule.max_stalled,
        cycle_start: state.schedule.cycle_start,
        validated_at: state.validated_at,
        metrics: state.metrics.clone(),
        bias_corrections: bias_corrections.map(Bits::from),
        average_updates: (optimizer.average_updates as f64).into(),
        is_finished: state.is_finished,
        is_last_best: state.is_last_best,
        has_last_pushes: state.has_last_pushes,
        statistics: state.statistics.to_array().map(Bits::from),
        fingerprint: state.fingerprint.clone(),
    };
    let json = serde_json::to_vec(&saved).expect("plain data is JSON");
    let mut archive = NpzWriter::create(path)?;
    let mut add = |name: &str, vector: &[f32]| match vector {
        [] => Ok(()),
        _ => archive.add_f32(name, &[1, vector.len()], vector),
    };
    match kind {
        OptimizerKind::Adam { .. } => {
            add("adam_mt", &optimizer.first)?;
            add("adam_vt", &optimizer.second)?;
        }
        OptimizerKind::Adagrad { .. } => add("adagrad_gt", &optimizer.second)?,
        OptimizerKind::Sgd => {}
    }
    add("exp_smoothing", &optimizer.average)?;
    add(RESIDUAL_ENTRY, &optimizer.residual)?;
    add("master_parameters", values)?;
    if matches!(kind, OptimizerKind::Adam { .. }) {
        archive.add_f64("adam_denoms", &[1, 2], &bias_corrections)?;
    }
    archive.add_bytes(STATE_ENTRY, &json)?;
    if let Some(AsyncSnapshot { json, vectors }) = workers {
        archive.add_bytes(ASYNC_ENTRY, json)?;
        for (name, vector) in vectors {
            archive.add_f32(&format!("{ASYNC_ENTRY}:{name}"), &[1, vector.len()], vector)?;
        }
    }
    Ok(archive.finish()?)
}

/// The origin of the optimiser's file.
enum OptimizerFile {
    /// There is no file.
    Missing,
    /// A file of this training run.
    Miriam(Checkpoint, Box<SavedState>),
    /// A file of Marian, which does not record its corpus and options.
    Marian(Checkpoint),
}

/// Opens the optimiser's file of the training with this `fingerprint`. Without `restores_corpus`,
/// the corpus may differ from the corpus of the saved training.
///
/// # Errors
/// If the file is damaged, has a state of another version, or belongs to another training run.
fn open_optimizer(
    path: &Path,
    fingerprint: &TrainingFingerprint,
    restores_corpus: bool,
) -> Result<OptimizerFile> {
    if !path.is_file() {
        return Ok(OptimizerFile::Missing);
    }
    let checkpoint = Checkpoint::open(path, LoadMethod::Lazy)?;
    let Some(entry) = checkpoint.get(STATE_ENTRY) else {
        return Ok(OptimizerFile::Marian(checkpoint));
    };
    let mut saved: SavedState = serde_json::from_slice(entry.bytes()).map_err(|reason| {
        Error::resume(path, format!("its state cannot be read ({reason}); move the file away"))
    })?;
    if saved.version != STATE_VERSION {
        let found = saved.version;
        let reason = format!("its state has version {found}; this program reads {STATE_VERSION}");
        return Err(Error::resume(path, reason));
    }
    if !restores_corpus {
        saved.fingerprint.corpus = fingerprint.corpus;
    }
    if let Some(difference) =
        saved.fingerprint.difference(fingerprint, || read_model_options(path).unwrap_or_default())
    {
        let reason = format!(
            "{difference}; resume with the original settings, or train into another folder"
        );
        return Err(Error::resume(path, reason));
    }
    Ok(OptimizerFile::Miriam(checkpoint, Box::new(saved)))
}

/// Reads the options in the model file beside the optimiser's file `path`, if possible.
fn read_model_options(path: &Path) -> Option<OptionTexts> {
    let model = path.to_str()?.strip_suffix(ModelFiles::OPTIMIZER_SUFFIX)?;
    let checkpoint = Checkpoint::open(Path::new(model), LoadMethod::Lazy).ok()?;
    Some(parse_option_texts(&String::from_utf8_lossy(checkpoint.options()?)))
}

/// Checks that the optimiser's file, if there is one, belongs to the training with this
/// `fingerprint`.
///
/// # Errors
/// If it is damaged, has a state of another version, or belongs to another training run.
pub fn check_fingerprint(
    path: &Path,
    fingerprint: &TrainingFingerprint,
    restores_corpus: bool,
) -> Result<()> {
    open_optimizer(path, fingerprint, restores_corpus).map(|_| ())
}

/// The vectors in an optimiser's file.
pub(super) struct SavedVectors<'a> {
    path: &'a Path,
    checkpoint: Checkpoint,
    len: usize,
}

impl<'a> SavedVectors<'a> {
    /// Takes the vectors of `checkpoint`, the file at `path`, for parameters of `layout`.
    pub fn new(path: &'a Path, checkpoint: Checkpoint, layout: &ParameterLayout) -> Self {
        SavedVectors { path, checkpoint, len: layout.len() }
    }

    /// Returns an entry of any length.
    pub fn entry(&self, name: &str) -> Option<&Tensor> {
        self.checkpoint.get(name)
    }

    /// Returns the state of the workers of asynchronous training, if there were any.
    fn workers(&self) -> Option<AsyncSnapshot> {
        let json = self.checkpoint.get(ASYNC_ENTRY)?.bytes().to_vec();
        let names = self.checkpoint.names();
        let vectors = names.filter_map(|name| {
            let short = name.strip_prefix(ASYNC_ENTRY)?.strip_prefix(':')?;
            Some((short.to_owned(), self.checkpoint.get(name)?.values()))
        });
        Some(AsyncSnapshot { json, vectors: vectors.collect() })
    }

    /// Returns a vector, if the file has it.
    ///
    /// # Errors
    /// If its length differs from the number of parameters.
    pub fn get(&self, name: &str) -> Result<Option<Vec<f32>>> {
        match self.checkpoint.get(name) {
            None => Ok(None),
            Some(tensor) if tensor.numel() == self.len => Ok(Some(tensor.values())),
            Some(tensor) => {
                let (found, needed) = (tensor.numel(), self.len);
                let reason = format!(
                    "{name} has {found} numbers, the model has {needed}; use the options and \
                     vocabularies of the training that wrote it"
                );
                Err(Error::resume(self.path, reason))
            }
        }
    }

    /// Returns a vector that the file must have.
    ///
    /// # Errors
    /// If it is missing, or [`get`](Self::get) fails.
    pub fn needed(&self, name: &str) -> Result<Vec<f32>> {
        self.get(name)?.ok_or_else(|| {
            Error::resume(self.path, format!("{name} is missing; move the file away"))
        })
    }

    /// Returns the vectors `first` and `second` of [`OptimizerState`] for an optimiser of this
    /// kind. A vector that the kind does not use is empty.
    ///
    /// # Errors
    /// If a vector is missing, or its length differs from the number of parameters.
    pub fn for_optimizer(&self, kind: OptimizerKind) -> Result<[Vec<f32>; 2]> {
        Ok(match kind {
            OptimizerKind::Adam { .. } => [self.needed("adam_mt")?, self.needed("adam_vt")?],
            OptimizerKind::Adagrad { .. } => [Vec::new(), self.needed("adagrad_gt")?],
            OptimizerKind::Sgd => [Vec::new(), Vec::new()],
        })
    }
}

/// The origin of a resumed training run.
pub enum FoundTraining {
    /// No file: a new training.
    Nothing,
    /// A training run of this program.
    Miriam(Box<SavedTraining>),
    /// A training run of Marian, with the vectors of its optimiser's file.
    Marian(Checkpoint),
}

/// Reads the optimiser's file of the training with this `fingerprint` and `layout`.
///
/// # Errors
/// If the file is damaged, has a state of another version, does not fit `layout`, or belongs to
/// another training run.
pub fn load_optimizer(
    path: &Path,
    kind: OptimizerKind,
    layout: &ParameterLayout,
    fingerprint: &TrainingFingerprint,
    restores_corpus: bool,
) -> Result<FoundTraining> {
    let (checkpoint, saved) = match open_optimizer(path, fingerprint, restores_corpus)? {
        OptimizerFile::Missing => return Ok(FoundTraining::Nothing),
        OptimizerFile::Marian(checkpoint) => return Ok(FoundTraining::Marian(checkpoint)),
        OptimizerFile::Miriam(checkpoint, saved) => (checkpoint, *saved),
    };
    let vectors = SavedVectors::new(path, checkpoint, layout);
    let [first, second] = vectors.for_optimizer(kind)?;
    let workers = vectors.workers();
    let SavedPosition { epoch, maxi_start, carried, taken, size_ratio } = saved.position;
    Ok(FoundTraining::Miriam(Box::new(SavedTraining {
        values: vectors.needed("master_parameters")?,
        optimizer: OptimizerState {
            first,
            second,
            bias_corrections: BiasCorrections(saved.bias_corrections.map(Bits::get)),
            average: vectors.get("exp_smoothing")?.unwrap_or_default(),
            average_updates: saved.average_updates.get() as u64,
            residual: vectors.get(RESIDUAL_ENTRY)?.unwrap_or_default(),
        },
        state: TrainingState {
            progress: Progress { updates: saved.updates, labels: saved.labels, epoch: saved.epoch },
            position: BatchPosition {
                epoch,
                maxi_start,
                carried,
                taken,
                size_ratio: size_ratio.get(),
            },
            schedule: ScheduleState {
                factor: saved.schedule_factor.get(),
                warmup_start: saved.warmup_start,
                next_warmup_start: saved.next_warmup_start,
                max_stalled: saved.max_stalled,
                cycle_start: saved.cycle_start,
            },
            validated_at: saved.validated_at,
            metrics: saved.metrics,
            is_finished: saved.is_finished,
            is_last_best: saved.is_last_best,
            has_last_pushes: saved.has_last_pushes,
            statistics: Statistics::from_array(saved.statistics.map(Bits::get)),
            sentences: saved.sentences,
            epoch_batches: saved.epoch_batches,
            fingerprint: saved.fingerprint,
        },
        workers,
    })))
}

/// Writes a model in Marian's format.
///
/// # Errors
/// If it cannot be written; the old file is then unchanged.
pub fn save_model(
    path: &Path,
    architecture: &Architecture,
    layout: &ParameterLayout,
    values: &[f32],
) -> Result<()> {
    Ok(write_marian_model(path, architecture, |spec| {
        let parameter = layout.get(&spec.name).expect("a parameter of the layout");
        values[parameter.range()].to_vec()
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::metric::Metric;

    #[test]
    fn states_are_read_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.npz.optimizer.npz");
        let architecture = crate::tests::tiny_architecture();
        let layout = ParameterLayout::new(&architecture);
        let numbers = |seed: f32| -> Vec<f32> {
            (0..layout.len()).map(|i| (i as f32 * 0.37 + seed).sin()).collect()
        };
        let optimizer = OptimizerState {
            first: numbers(1.0),
            second: numbers(2.0),
            bias_corrections: BiasCorrections([0.1 + 0.2, 1.0 / 3.0]),
            average: numbers(3.0),
            average_updates: 7,
            residual: numbers(5.0),
        };
        let mut metric = MetricState::new(Metric::Bleu);
        metric.record(Metric::Bleu, 1.0 / 3.0, 0.0);
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let options = vec![option("since-removed", "3"), option("seed", "1")];
        let fingerprint = TrainingFingerprint {
            corpus: u64::MAX,
            vocabularies: 2,
            architecture: 3,
            options,
            model_options: Vec::new(),
        };
        let state = TrainingState {
            progress: Progress { updates: 5, labels: 600, epoch: 2 },
            position: BatchPosition {
                epoch: 2,
                maxi_start: 7,
                carried: vec![1, 2, 3],
                taken: 4,
                size_ratio: 0.1 + 0.2,
            },
            schedule: ScheduleState {
                factor: 0.7 * 0.7,
                warmup_start: 3,
                next_warmup_start: Some(4),
                max_stalled: 2,
                cycle_start: 21,
            },
            validated_at: 4,
            metrics: vec![
                ("bleu".into(), metric),
                ("perplexity".into(), MetricState::new(Metric::Perplexity)),
            ],
            is_finished: true,
            is_last_best: true,
            has_last_pushes: true,
            sentences: 99,
            epoch_batches: 4,
            statistics: Statistics::from_array([
                0.1 + 0.2,
                0.7 * 0.1,
                f64::NAN,
                4.0,
                5.0,
                6.0,
                7.0,
            ]),
            fingerprint: fingerprint.clone(),
        };
        let kind = OptimizerKind::default();
        let nothing = load_optimizer(&path, kind, &layout, &fingerprint, true).unwrap();
        assert!(matches!(nothing, FoundTraining::Nothing));
        let workers =
            AsyncSnapshot { json: b"{}".to_vec(), vectors: vec![("a:b".into(), numbers(6.0))] };
        save_optimizer(&path, kind, &numbers(4.0), &optimizer, &state, Some(&workers)).unwrap();
        let found = load_optimizer(&path, kind, &layout, &fingerprint, true).unwrap();
        let FoundTraining::Miriam(found) = found else { panic!("a training run of this program") };
        assert_eq!(found.values, numbers(4.0));
        assert_eq!(found.optimizer, optimizer);
        assert_eq!(found.workers, Some(workers));
        assert!(found.state.statistics.loss[2].is_nan());
        // NaN is not equal to itself.
        let finite = |mut state: TrainingState| {
            state.statistics.loss[2] = 1.0;
            state
        };
        assert_eq!(finite(found.state), finite(state));
        let others = [
            (TrainingFingerprint { corpus: 1, ..fingerprint.clone() }, "the corpus"),
            (TrainingFingerprint { vocabularies: 1, ..fingerprint.clone() }, "the vocabularies"),
            (TrainingFingerprint { architecture: 1, ..fingerprint.clone() }, "the model"),
            (
                TrainingFingerprint {
                    options: vec![option("since-added", "4"), option("seed", "2")],
                    ..fingerprint.clone()
                },
                "--seed was 1, now it is 2",
            ),
        ];
        let renamed = vec![option("seed", "1"), option("since-added", "4")];
        let renamed = TrainingFingerprint { options: renamed, ..fingerprint.clone() };
        assert!(load_optimizer(&path, kind, &layout, &renamed, true).is_ok(), "by name");
        for (other, expected) in others {
            let error =
                load_optimizer(&path, kind, &layout, &other, true).err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        }
        std::fs::write(&path, b"PK\x03\x04 and nothing").unwrap();
        assert!(load_optimizer(&path, kind, &layout, &fingerprint, true).is_err());
    }
}
