//! Tables of the results of a study of asynchronous training.

use std::fmt::Write;

use super::AsyncOptions;
use super::systems::System;
use super::training::{TrainingRun, ValidationPoint};

/// The results of a study of asynchronous training.
pub struct Study {
    /// The systems in the order of the tables, each with its training runs by seed.
    pub systems: Vec<(System, Vec<TrainingRun>)>,
    /// The name of the file of source text.
    pub data: String,
}

/// The row of a system in the table: means over its seeds.
struct Row {
    /// The epoch of the validation with the lowest cross-entropy.
    epoch: f64,
    /// The simulated hours to that validation.
    hours: f64,
    /// The BLEU of that validation.
    bleu_at_best: f64,
    /// The number of epochs of the training run.
    epochs: f64,
    /// The lowest validation cross-entropy, in nats per target token: mean, least and largest.
    best: [f64; 3],
    /// The last validation cross-entropy.
    last: f64,
    /// The loss on the training text since the last validation.
    training_loss: f64,
    /// The highest BLEU of all validations: mean, least and largest.
    bleu: [f64; 3],
    /// Simulated seconds.
    seconds: f64,
    /// Target words per simulated second.
    speed: f64,
    /// The mean staleness of pushes.
    staleness: f64,
    /// Bytes sent between workers per target word.
    bytes_per_word: f64,
}

impl Study {
    /// Returns a study of the systems of `options`, without training runs.
    pub fn new(options: &AsyncOptions) -> Self {
        let systems = options.systems.iter().map(|system| (*system, Vec::new())).collect();
        let name = options.train[0].file_name().unwrap_or_default().to_string_lossy().into();
        Study { systems, data: name }
    }

    /// Adds a training run of one of the systems.
    pub fn add(&mut self, run: TrainingRun) {
        let found = self.systems.iter_mut().find(|(system, _)| *system == run.system);
        found.expect("its system is in the study").1.push(run);
    }

    fn runs(&self) -> impl Iterator<Item = &TrainingRun> {
        self.systems.iter().flat_map(|(_, runs)| runs)
    }

    /// Returns a CSV table with a line for each training run.
    pub fn runs_csv(&self) -> String {
        let mut text = String::from(
            "system,seed,words,simulated_seconds,words_per_second,best_epoch,best_cross_entropy,\
             last_cross_entropy,training_loss,best_bleu,staleness,bytes,epochs,\
             seconds_to_best,bleu_at_best,push_words,push_words_deviation\n",
        );
        for run in self.runs() {
            let TrainingRun { system, seed, words, seconds, training_loss, .. } = run;
            let (best, last) = (run.best(), run.last());
            let _ = writeln!(
                text,
                "{},{seed},{words},{seconds:.3},{:.1},{:.3},{:.6},{:.6},{training_loss:.6},{:.3},{:.3},{:.0},\
                 {:.3},{:.3},{:.3},{:.1},{}",
                system.name,
                *words as f64 / seconds,
                best.epoch,
                best.cross_entropy,
                last.cross_entropy,
                best_bleu(run),
                run.staleness,
                run.bytes,
                last.epoch,
                best.seconds,
                best.bleu,
                run.push_words[0],
                optional(run.push_words[1], 1),
            );
        }
        text
    }

    /// Returns a CSV table with a line for each validation.
    pub fn curves_csv(&self) -> String {
        let mut text = String::from(
            "system,seed,epoch,simulated_seconds,cross_entropy,bleu,training_cross_entropy\n",
        );
        for run in self.runs() {
            for point in &run.validations {
                let ValidationPoint { epoch, seconds, cross_entropy, bleu, .. } = point;
                let _ = writeln!(
                    text,
                    "{},{},{epoch:.4},{seconds:.3},{cross_entropy:.6},{bleu:.3},{}",
                    run.system.name,
                    run.seed,
                    optional(point.training_cross_entropy, 6),
                );
            }
        }
        text
    }

    /// Returns the mean over seeds of each validation of a system. It is meaningful because the nth
    /// validations of different seeds are at most one batch apart.
    pub fn mean_curve(runs: &[TrainingRun]) -> Vec<ValidationPoint> {
        let len = runs.iter().map(|run| run.validations.len()).min().unwrap_or(0);
        let points = (0..len).map(|nth| ValidationPoint {
            epoch: mean(runs, |run| run.validations[nth].epoch),
            seconds: mean(runs, |run| run.validations[nth].seconds),
            cross_entropy: mean(runs, |run| run.validations[nth].cross_entropy),
            bleu: mean(runs, |run| run.validations[nth].bleu),
            training_cross_entropy: mean(runs, |run| run.validations[nth].training_cross_entropy),
        });
        points.collect()
    }

    /// Returns a Markdown table of means over seeds, with a row for each system. If there are
    /// several seeds, some columns also show the lowest and the highest value.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| system | | dev CE | at epoch | after hours | BLEU there | epochs | last CE | train CE | \
             BLEU | seconds | words/s | staleness | bytes/word |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for (system, runs) in &self.systems {
            let row = Row::new(runs);
            fn with_range(
                [mean, least, most]: [f64; 3],
                digits: usize,
                runs: &[TrainingRun],
            ) -> String {
                if runs.len() > 1 {
                    format!("{mean:.digits$} ({least:.digits$} to {most:.digits$})")
                } else {
                    format!("{mean:.digits$}")
                }
            }
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.1} | {:.2} | {:.1} | {:.1} | {:.3} | {:.3} | {} | {:.0} | {:.0} | {:.2} | {:.0} |",
                system.name,
                system.about,
                with_range(row.best, 3, runs),
                row.epoch,
                row.hours,
                row.bleu_at_best,
                row.epochs,
                row.last,
                row.training_loss,
                with_range(row.bleu, 1, runs),
                row.seconds,
                row.speed,
                row.staleness,
                row.bytes_per_word
            );
        }
        text
    }
}

impl Row {
    fn new(runs: &[TrainingRun]) -> Self {
        Row {
            epoch: mean(runs, |run| run.best().epoch),
            hours: mean(runs, |run| run.best().seconds / 3600.0),
            bleu_at_best: mean(runs, |run| run.best().bleu),
            epochs: mean(runs, |run| run.last().epoch),
            best: mean_and_range(runs, |run| run.best().cross_entropy),
            last: mean(runs, |run| run.last().cross_entropy),
            training_loss: mean(runs, |run| run.training_loss),
            bleu: mean_and_range(runs, best_bleu),
            seconds: mean(runs, |run| run.seconds),
            speed: mean(runs, |run| run.words as f64 / run.seconds),
            staleness: mean(runs, |run| run.staleness),
            bytes_per_word: mean(runs, |run| run.bytes / run.words as f64),
        }
    }
}

/// Formats a cell of a CSV table, which is empty for NaN.
fn optional(value: f64, digits: usize) -> String {
    if value.is_nan() { String::new() } else { format!("{value:.digits$}") }
}

/// Returns the mean, the least and the largest value.
fn mean_and_range(runs: &[TrainingRun], value: fn(&TrainingRun) -> f64) -> [f64; 3] {
    let values = runs.iter().map(value);
    let least = values.clone().fold(f64::INFINITY, f64::min);
    [mean(runs, value), least, values.fold(f64::NEG_INFINITY, f64::max)]
}

fn mean(runs: &[TrainingRun], value: impl Fn(&TrainingRun) -> f64) -> f64 {
    runs.iter().map(value).sum::<f64>() / runs.len() as f64
}

/// Returns the highest BLEU of all validations.
fn best_bleu(run: &TrainingRun) -> f64 {
    let values = run.validations.iter().map(|point| point.bleu);
    values.filter(|bleu| bleu.is_finite()).fold(0.0, f64::max)
}
