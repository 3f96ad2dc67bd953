//! Tables of the results of a study of asynchronous training.

use std::fmt::Write;

use super::AsyncOptions;
use super::systems::System;
use super::training::{SystemTraining, ValidationPoint};

/// The trainings of every system.
pub struct Study {
    /// The systems in their order, with their trainings by seed.
    pub systems: Vec<(System, Vec<SystemTraining>)>,
    /// The name of the data.
    pub data: String,
}

/// Means over the seeds of a system.
struct Row {
    epoch: f64,
    best: [f64; 3],
    last: f64,
    training_loss: f64,
    bleu: [f64; 3],
    seconds: f64,
    speed: f64,
    staleness: f64,
    bytes_a_word: f64,
}

impl Study {
    /// Returns a study without trainings.
    pub fn new(options: &AsyncOptions) -> Self {
        let systems = options.systems.iter().map(|system| (*system, Vec::new())).collect();
        let name = options.train[0].file_name().unwrap_or_default().to_string_lossy().into();
        Study { systems, data: name }
    }

    /// Adds a training of one of the systems.
    pub fn add(&mut self, training: SystemTraining) {
        let found = self.systems.iter_mut().find(|(system, _)| *system == training.system);
        found.expect("its system is in the study").1.push(training);
    }

    fn trainings(&self) -> impl Iterator<Item = &SystemTraining> {
        self.systems.iter().flat_map(|(_, trainings)| trainings)
    }

    /// Returns a line for each training.
    pub fn trainings_csv(&self) -> String {
        let mut text = String::from(
            "system,seed,words,simulated_seconds,words_per_second,best_epoch,best_cross_entropy,\
             last_cross_entropy,training_loss,best_bleu,staleness,bytes\n",
        );
        for training in self.trainings() {
            let SystemTraining { system, seed, words, seconds, training_loss, .. } = training;
            let (best, last) = (training.best(), training.last());
            let _ = writeln!(
                text,
                "{},{seed},{words},{seconds:.3},{:.1},{:.3},{:.6},{:.6},{training_loss:.6},{:.3},{:.3},{:.0}",
                system.name,
                *words as f64 / seconds,
                best.epoch,
                best.cross_entropy,
                last.cross_entropy,
                best_bleu(training),
                training.staleness,
                training.bytes
            );
        }
        text
    }

    /// Returns a line for each validation.
    pub fn curves_csv(&self) -> String {
        let mut text = String::from("system,seed,epoch,simulated_seconds,cross_entropy,bleu\n");
        for training in self.trainings() {
            for ValidationPoint { epoch, seconds, cross_entropy, bleu } in &training.validations {
                let _ = writeln!(
                    text,
                    "{},{},{epoch:.4},{seconds:.3},{cross_entropy:.6},{bleu:.3}",
                    training.system.name, training.seed
                );
            }
        }
        text
    }

    /// Returns the mean curve of a system. The nth validations of different seeds are at most one
    /// batch apart.
    pub fn mean_curve(trainings: &[SystemTraining]) -> Vec<ValidationPoint> {
        let len = trainings.iter().map(|training| training.validations.len()).min().unwrap_or(0);
        let points = (0..len).map(|nth| ValidationPoint {
            epoch: mean(trainings, |training| training.validations[nth].epoch),
            seconds: mean(trainings, |training| training.validations[nth].seconds),
            cross_entropy: mean(trainings, |training| training.validations[nth].cross_entropy),
            bleu: mean(trainings, |training| training.validations[nth].bleu),
        });
        points.collect()
    }

    /// Returns a Markdown table of means over seeds; if there are several seeds, with the lowest
    /// and the highest value.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| system | | dev CE | at epoch | last CE | train CE | BLEU | seconds | words/s | staleness | bytes/word |\n\
             |---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for (system, trainings) in &self.systems {
            let row = Row::new(trainings);
            fn with_range(
                [mean, least, most]: [f64; 3],
                digits: usize,
                trainings: &[SystemTraining],
            ) -> String {
                if trainings.len() > 1 {
                    format!("{mean:.digits$} ({least:.digits$} to {most:.digits$})")
                } else {
                    format!("{mean:.digits$}")
                }
            }
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.1} | {:.3} | {:.3} | {} | {:.0} | {:.0} | {:.2} | {:.0} |",
                system.name,
                system.about,
                with_range(row.best, 3, trainings),
                row.epoch,
                row.last,
                row.training_loss,
                with_range(row.bleu, 1, trainings),
                row.seconds,
                row.speed,
                row.staleness,
                row.bytes_a_word
            );
        }
        text
    }
}

impl Row {
    fn new(trainings: &[SystemTraining]) -> Self {
        Row {
            epoch: mean(trainings, |training| training.best().epoch),
            best: mean_and_range(trainings, |training| training.best().cross_entropy),
            last: mean(trainings, |training| training.last().cross_entropy),
            training_loss: mean(trainings, |training| training.training_loss),
            bleu: mean_and_range(trainings, best_bleu),
            seconds: mean(trainings, |training| training.seconds),
            speed: mean(trainings, |training| training.words as f64 / training.seconds),
            staleness: mean(trainings, |training| training.staleness),
            bytes_a_word: mean(trainings, |training| training.bytes / training.words as f64),
        }
    }
}

/// Returns the mean, the least and the largest value.
fn mean_and_range(trainings: &[SystemTraining], value: fn(&SystemTraining) -> f64) -> [f64; 3] {
    let values = trainings.iter().map(value);
    let least = values.clone().fold(f64::INFINITY, f64::min);
    [mean(trainings, value), least, values.fold(f64::NEG_INFINITY, f64::max)]
}

fn mean(trainings: &[SystemTraining], value: impl Fn(&SystemTraining) -> f64) -> f64 {
    trainings.iter().map(value).sum::<f64>() / trainings.len() as f64
}

/// Returns the highest BLEU of all validations.
fn best_bleu(training: &SystemTraining) -> f64 {
    let values = training.validations.iter().map(|point| point.bleu);
    values.filter(|bleu| bleu.is_finite()).fold(0.0, f64::max)
}
