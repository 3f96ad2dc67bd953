//! The stage that combines the systems: the phrase-based system lists translations of the dev text,
//! the neural models of both directions score them, and the weights of all scores are tuned.
//!
//! The search keeps the weights that were tuned for it. So it still lists the translations on which
//! the weights of the combination were tuned.

use std::fs;
use std::path::Path;

use miriam_combine::tune::{TuneListOptions, tune_lists};
use miriam_combine::weights::FeatureWeights;
use miriam_decoder::tuning::TuningAlgorithm;
use miriam_decoder::{Configuration, translate_text};
use miriam_textio::{CancellableProgress, CancellationToken, Input, Output, Progress};

use super::decoding::{bleu_of_file, translate_file};
use super::{AUGMENTED_FOLDER, Direction, NEURAL_FOLDER, REVERSE_FOLDER};
use crate::manifest::{StageStatistics, stage_statistics};
use crate::stage::Stage;
use crate::training_stages::{INI_FILE, PHRASE_INI_FILE, TrainingRun};
use crate::{Error, NeuralOptions, Result, stage_keys};

/// The number of translations of a sentence that neural models score.
const LIST_SIZE: usize = 100;
/// The maximum number of rounds of tuning on the list.
const TUNING_ROUNDS: usize = 20;
/// The names of the scores of the neural models.
const FEATURES: [&str; 2] = ["Neural0", "Reverse0"];
/// The name of the feature that marks the translations of the first neural model.
const MARK: &str = "Neural0Candidate";

/// A weight of the mark that is so low that no marked translation is chosen.
const EXCLUDING_WEIGHT: f64 = -1000.0;

/// The neural models of a combination.
#[derive(Clone, Copy)]
struct Models {
    /// The model in the direction of the system.
    forward: Direction,
    /// The number of the forward model's translations that are added to the list of each sentence.
    candidates: usize,
}

impl TrainingRun<'_> {
    /// Returns the stage that tunes the combination and writes its ini.
    pub(super) fn combination_stage(&self, neural: &NeuralOptions) -> Stage<'_> {
        let forward = match neural.back_translate[..] {
            [] => Direction::Forward,
            _ => Direction::Augmented,
        };
        let models = Models { forward, candidates: neural.candidates };
        // The weights of the combination are tuned even if the weights of the search are not.
        let tuning = self.options.tuning.unwrap_or_default();
        Stage::new("combination", "tuning the combination")
            .after(match forward {
                Direction::Augmented => &[
                    "weights",
                    "table",
                    "lm",
                    "dev",
                    NEURAL_FOLDER,
                    REVERSE_FOLDER,
                    AUGMENTED_FOLDER,
                ],
                _ => &["weights", "table", "lm", "dev", NEURAL_FOLDER, REVERSE_FOLDER],
            })
            // With candidates, tuning begins with weights that were found without them.
            .key(format!(
                "{LIST_SIZE} {}{} {TUNING_ROUNDS} {}",
                neural.candidates,
                if neural.candidates > 0 { " after 0" } else { "" },
                stage_keys::tuning(Some(tuning), self.options.seed)
            ))
            .writes([INI_FILE])
            .run(move |progress| self.combine(models, tuning.method, progress))
    }

    fn combine(
        &self,
        models: Models,
        method: TuningAlgorithm,
        progress: &dyn Progress,
    ) -> Result<StageStatistics> {
        let [list, weights, translations] = ["dev.list", "dev.weights", "dev.neural"]
            .map(|name| self.full_path(Self::work_file(name)));
        let phrase_ini = read_text(&self.full_path(PHRASE_INI_FILE))?;
        self.write_dev_list(&phrase_ini, models, &list, progress)?;
        let dev = self.parallel_files("dev");
        let options = TuneListOptions {
            references: vec![dev[1].clone()],
            initial: None,
            method,
            rounds: TUNING_ROUNDS,
            seed: self.options.seed,
            case_insensitive: false,
            threads: self.options.threads,
        };
        let initial = match models.candidates {
            0 => None,
            _ => Some(self.tune_without_candidates(&list, &options, progress)?),
        };
        let options = TuneListOptions { initial, ..options };
        let report = tune_lists(&[list], &options, Output::create_atomic(&weights)?, progress)?;
        let ini = combined_ini(&phrase_ini, models, &read_text(&weights)?);
        let mut statistics = stage_statistics([("combined_bleu", report.bleu.into())]);
        let mut alone = vec![("neural_bleu", Direction::Forward)];
        if models.forward == Direction::Augmented {
            alone.push(("augmented_bleu", Direction::Augmented));
        }
        for (name, model) in alone {
            let folder = self.full_path(model.folder());
            translate_file(&folder, &dev[0], &translations, self.options.threads, progress)?;
            let bleu = bleu_of_file(&translations, &dev[1])?;
            statistics.insert(name.into(), bleu.into());
            if bleu > report.bleu {
                tracing::warn!(
                    "{}: this model alone translates the dev text better, with BLEU {bleu:.2} \
                     instead of {:.2}; miriam nmt translate -m takes prepared text",
                    folder.display(),
                    report.bleu
                );
            }
        }
        Output::write_file(&self.full_path(INI_FILE), ini.as_bytes())?;
        Ok(statistics)
    }

    /// Returns weights that were tuned without the neural model's own translations, and that choose
    /// none of these translations. Tuning that begins with these weights does not end with worse
    /// weights. If it began with equal weights, it would first choose mostly translations of the
    /// neural model, and might never come back to translations as good as those of the search.
    fn tune_without_candidates(
        &self,
        list: &Path,
        options: &TuneListOptions,
        progress: &dyn Progress,
    ) -> Result<FeatureWeights> {
        let [search_list, weights] = ["dev.search.list", "dev.search.weights"]
            .map(|name| self.full_path(Self::work_file(name)));
        let text = fs::read(list).map_err(|e| Error::io(list, "read", e))?;
        let mark = format!("{MARK}= 1");
        let lines = text.split_inclusive(|&byte| byte == b'\n');
        let kept = lines.filter(|line| memchr::memmem::find(line, mark.as_bytes()).is_none());
        Output::write_file(&search_list, &kept.collect::<Vec<_>>().concat())?;
        tune_lists(&[search_list], options, Output::create_atomic(&weights)?, progress)?;
        let tuned = read_text(&weights)?;
        let others = tuned.lines().filter(|line| !line.starts_with(MARK));
        let others: String = others.map(|line| format!("{line}\n")).collect();
        Output::write_file(&weights, format!("{others}{MARK}= {EXCLUDING_WEIGHT}\n").as_bytes())?;
        Ok(FeatureWeights::read(&weights)?)
    }

    /// Translates the dev text into a list with the scores of all models, by a system in which the
    /// scores of neural models still have weight 0.
    fn write_dev_list(
        &self,
        phrase_ini: &str,
        models: Models,
        list: &Path,
        progress: &dyn Progress,
    ) -> Result<()> {
        let weights = phrase_ini.split_once("[weight]\n").map_or("", |(_, weights)| weights);
        let mark = (models.candidates > 0).then_some(MARK);
        let names = FEATURES.into_iter().chain(mark);
        let weights = names.fold(weights.to_owned(), |text, name| text + name + "= 0\n");
        let draft = combined_ini(phrase_ini, models, &weights);
        // The draft is a temporary file in a subfolder of the system's folder.
        let draft = draft.replace("${INI}/", "${INI}/../");
        let path = self.full_path(Self::work_file("combination.ini"));
        Output::write_file(&path, draft.as_bytes())?;
        let text = |path: &Path| path.display().to_string();
        let translations = self.full_path(Self::work_file("dev.translations"));
        let arguments = [
            "-f",
            &text(&path),
            "-n-best-list",
            &text(list),
            // Lists have one entry more than requested, as in Moses2.
            &(LIST_SIZE - 1 + models.candidates).to_string(),
            "distinct",
            "-output-file",
            &text(&translations),
            "-threads",
            &self.options.threads.to_string(),
        ]
        .map(str::to_owned);
        let configuration = Configuration::from_command_line(&arguments)?;
        let system = miriam_rescoring::load_system(&configuration, progress)?;
        let source = Input::open(&self.parallel_files("dev")[0])?;
        let stop = CancellationToken::new();
        let progress = CancellableProgress { shown: progress, stop: &stop };
        translate_text(&system, source, &stop, &progress)?;
        if stop.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Returns the ini of the phrase-based system with the neural models and the weights of all scores.
fn combined_ini(phrase_ini: &str, models: Models, weights: &str) -> String {
    let [forward_name, reverse_name] = FEATURES;
    let candidates = match models.candidates {
        0 => String::new(),
        count => format!(" candidates={count}"),
    };
    format!(
        "{phrase_ini}\n[rescore]\n\
         NeuralModel name={forward_name} path=${{INI}}/{}{candidates}\n\
         NeuralModel name={reverse_name} path=${{INI}}/{REVERSE_FOLDER} reverse=true\n\n\
         [rescore-n-best]\n{LIST_SIZE}\n\n[rescore-weight]\n{weights}",
        models.forward.folder(),
    )
}

fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|e| Error::io(path, "read", e))
}
