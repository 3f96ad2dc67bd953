//! One training run of the study, and its results.

use std::fs;
use std::path::PathBuf;

use miriam_textio::{CancellationToken, Progress};
use miriam_trainer::asynchronous::simulation::Machine;
use miriam_trainer::options::RawOptions;
use miriam_trainer::train_from_text::{Summary, TrainingRequest};
use miriam_trainer::training::Outcome;

use super::systems::{Scale, System};
use crate::error::{Error, Result, cannot};

/// The number of validations per epoch.
const VALIDATIONS: u64 = 2;

/// Data and settings that all training runs share.
pub struct Trainee {
    /// Options for the model, the data and the end of training.
    pub base: RawOptions,
    /// The size of the study.
    pub scale: Scale,
    /// The simulated machine.
    pub machine: Machine,
    /// The file that describes the machine.
    pub machine_path: PathBuf,
    /// The size of all parameters in bytes.
    pub model_bytes: u64,
    /// The folder of the study.
    pub folder: PathBuf,
}

/// Results of a finished training run.
#[derive(Clone, Debug)]
pub struct TrainingRun {
    pub system: System,
    pub seed: u64,
    /// By ascending epoch.
    pub validations: Vec<ValidationPoint>,
    /// The loss since the last validation, in nats per target token.
    pub training_loss: f64,
    /// The duration of the training in simulated seconds.
    pub seconds: f64,
    /// The number of target words trained on.
    pub words: u64,
    /// The mean staleness of pushes.
    pub staleness: f64,
    /// The number of bytes sent between workers.
    pub bytes: f64,
    /// The mean number of target words of a push, and its standard deviation. For synchronous
    /// training, the mean per update, and NaN.
    pub push_words: [f64; 2],
}

/// Results of a validation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidationPoint {
    /// Target words so far, in epochs.
    pub epoch: f64,
    /// Simulated seconds so far.
    pub seconds: f64,
    /// Cross-entropy in nats per target token.
    pub cross_entropy: f64,
    /// BLEU of greedy translations.
    pub bleu: f64,
    /// Cross-entropy of a sample of the training text, in nats per target token.
    pub training_cross_entropy: f64,
}

impl TrainingRun {
    /// Returns the validation with the lowest cross-entropy.
    pub fn best(&self) -> ValidationPoint {
        let points = self.validations.iter().copied();
        points.min_by(|a, b| a.cross_entropy.total_cmp(&b.cross_entropy)).expect("there are some")
    }

    /// Returns the last validation.
    pub fn last(&self) -> ValidationPoint {
        *self.validations.last().expect("there are some")
    }
}

/// A push of gradients: a row of the trainer's table of pushes.
struct Push {
    seconds: f64,
    staleness: f64,
    bytes: f64,
    words: f64,
}

impl Trainee {
    /// Trains a system, or resumes its training. Returns `None` if it was stopped.
    pub fn train(
        &self,
        system: &System,
        seed: u64,
        progress: &dyn Progress,
        stop: &CancellationToken,
    ) -> Result<Option<TrainingRun>> {
        let folder = self.folder.join("runs").join(format!("{}-{seed}", system.name));
        let mut options = system.options(&self.scale)?.or_else_from(self.base.clone());
        let validation = (self.scale.epoch_words / VALIDATIONS).max(1);
        for option in ["valid-freq", "disp-freq", "save-freq"] {
            options.set(option, vec![format!("{validation}t")])?;
        }
        options.set("seed", vec![seed.to_string()])?;
        if !system.is_synchronous() {
            let machine = self.machine_path.display().to_string();
            options.set("simulate-async", vec![machine])?;
        }
        let plot = folder.join("plot");
        let request = TrainingRequest {
            options,
            folder: Some(folder.clone()),
            vocab_size: None,
            plot: Some(plot.clone()),
            dry_run: false,
        };
        let name = format!("({}), seed {seed}", system.name);
        let summary = request.run(
            stop,
            progress,
            &mut |line| tracing::debug!("{name}: {line}"),
            // The dry run that made the vocabulary has already logged these warnings.
            &mut |warning| tracing::debug!("{name}: {warning}"),
        )?;
        if matches!(summary, Summary::Trained { outcome: Outcome::Cancelled, .. }) {
            return Ok(None);
        }
        let path = plot.join("training.csv");
        let curves = fs::read_to_string(&path).map_err(cannot("read", &path))?;
        let pushes = if system.is_synchronous() {
            Vec::new()
        } else {
            let path = folder.join("model.npz.simulation.csv");
            let text = fs::read_to_string(&path).map_err(cannot("read", &path))?;
            parse_pushes(&text)
                .ok_or_else(|| Error::unmeasurable(format!("{}: damaged", path.display())))?
        };
        let training = self.read_training(system, seed, &curves, &pushes);
        let training = training.ok_or_else(|| {
            let path = folder.display();
            Error::unmeasurable(format!("{path}: the training is incomplete; remove this folder"))
        })?;
        let last = training.last();
        tracing::info!(
            "{name}: {:.4} nats a word after {:.1} epochs, BLEU {:.2}",
            last.cross_entropy,
            last.epoch,
            last.bleu
        );
        Ok(Some(training))
    }

    /// Returns the simulated seconds of synchronous training: workers have equal parts of each
    /// batch; all of them push their gradients at the same time, and then all fetch the model.
    fn synchronous_seconds(&self, updates: u64, words: u64) -> f64 {
        let Machine { workers, seconds_per_word, seconds_per_batch, latency, bandwidth, .. } =
            self.machine;
        let shard_bytes = self.model_bytes as f64 / workers as f64;
        let transfer = latency + bandwidth.map_or(0.0, |bandwidth| shard_bytes / bandwidth);
        let transfers = if workers > 1 { 2.0 * transfer } else { 0.0 };
        words as f64 * seconds_per_word / workers as f64
            + updates as f64 * (seconds_per_batch + transfers)
    }

    /// Parses the trainer's tables up to the last epoch of the study; an earlier study in this
    /// folder may have had more epochs. Returns `None` if they are incomplete.
    fn read_training(
        &self,
        system: &System,
        seed: u64,
        curves: &str,
        pushes: &[Push],
    ) -> Option<TrainingRun> {
        let mut validations: Vec<ValidationPoint> = Vec::new();
        let (mut training_loss, mut end) = (f64::NAN, (0, 0));
        // The sample is scored before the validation set.
        let mut sample = f64::NAN;
        let seconds = |updates: u64, words: u64| {
            if system.is_synchronous() {
                Some(self.synchronous_seconds(updates, words))
            } else {
                let push = (updates as usize).checked_sub(1)?;
                pushes.get(push).map(|push| push.seconds)
            }
        };
        // The first validation after at least these words is the last of the study. Half an epoch
        // is rounded down to whole words.
        let max_words =
            self.scale.epochs * VALIDATIONS * (self.scale.epoch_words / VALIDATIONS).max(1);
        let mut last_update = None;
        for line in curves.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let &[updates, words, _, name, value] = &fields[..] else { return None };
            let (updates, words): (u64, u64) = (updates.parse().ok()?, words.parse().ok()?);
            let value: f64 = value.parse().ok()?;
            if last_update.is_some_and(|last| updates > last) {
                break;
            }
            if words >= max_words && name == "ce-mean-words" {
                last_update = Some(updates);
            }
            match name {
                "loss" => (training_loss, end) = (value, (updates, words)),
                "ce-mean-words" => {
                    end = (updates, words);
                    validations.push(ValidationPoint {
                        epoch: words as f64 / self.scale.epoch_words as f64,
                        seconds: seconds(updates, words)?,
                        cross_entropy: value,
                        bleu: f64::NAN,
                        training_cross_entropy: std::mem::replace(&mut sample, f64::NAN),
                    });
                }
                "training sample: ce-mean-words" => sample = value,
                "bleu" => validations.last_mut()?.bleu = value,
                _ => {}
            }
        }
        validations.last()?;
        let pushes = &pushes[..pushes.len().min(end.0 as usize)];
        let is_synchronous = system.is_synchronous();
        // Each shard is local to one worker; all others fetch and push it.
        let update_bytes = 2 * self.model_bytes * (self.machine.workers as u64 - 1);
        Some(TrainingRun {
            system: *system,
            seed,
            validations,
            training_loss,
            seconds: seconds(end.0, end.1)?,
            words: end.1,
            staleness: if is_synchronous {
                0.0
            } else {
                pushes.iter().map(|push| push.staleness).sum::<f64>() / pushes.len() as f64
            },
            bytes: if is_synchronous {
                (end.0 * update_bytes) as f64
            } else {
                pushes.iter().map(|push| push.bytes).sum()
            },
            push_words: if is_synchronous {
                [end.1 as f64 / end.0.max(1) as f64, f64::NAN]
            } else {
                let words: Vec<f64> = pushes.iter().map(|push| push.words).collect();
                mean_and_deviation(&words)
            },
        })
    }
}

fn mean_and_deviation(values: &[f64]) -> [f64; 2] {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    [mean, (squares / values.len() as f64).sqrt()]
}

fn parse_pushes(text: &str) -> Option<Vec<Push>> {
    fn parse(line: &str) -> Option<Push> {
        let fields: Vec<&str> = line.split(',').collect();
        let &[_, _, seconds, staleness, bytes, words] = &fields[..] else { return None };
        Some(Push {
            seconds: seconds.parse().ok()?,
            staleness: staleness.parse().ok()?,
            bytes: bytes.parse().ok()?,
            words: words.parse().ok()?,
        })
    }
    text.lines().skip(1).map(parse).collect()
}
