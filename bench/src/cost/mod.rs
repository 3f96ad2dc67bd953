//! Study of quality against cost: the BLEU of several systems, each with one or several search
//! settings, and their price of translating a million words (Junczys-Dowmunt et al. 2018, figures 1
//! and 2; Bogoychev 2019, chapter 6).
//!
//! Speeds are measured with one number of threads. Measurements are saved and resumed as in a
//! scaling study. Each system also translates the text once to a file, which is scored against the
//! reference.

mod report;

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use miriam_metrics::{Bleu, corpus_score, corpus_statistics};
use miriam_textio::{Input, Output};

use crate::error::{Error, Result, cannot, refused};
use crate::input::{lines, read_text};
use crate::scaling::study::ScalingStudy;
use crate::scaling::topology::count_noun;
use crate::scaling::{self, MeasuredSystem, ScalingOptions, Workload};
use report::CostRow;

/// Options of the study.
pub struct CostOptions {
    /// The systems with each of their settings, the text, the folder and the repetitions.
    pub study: ScalingOptions,
    /// For each of these systems, the name of the curve to which it belongs.
    pub curves: Vec<String>,
    /// The reference translation of the text.
    pub reference: PathBuf,
    /// BLEU and its options.
    pub bleu: Bleu,
    /// The number of threads of each system.
    pub threads: usize,
    /// The price of an hour of the machine, in any currency.
    pub price: f64,
}

/// Measures and scores every system, writes `cost.csv`, `cost.svg` and the translations, and prints
/// a table. The same options resume a study that was stopped.
///
/// # Errors
/// If a measurement or a translation fails, the reference does not fit the text, there are fewer
/// CPUs than threads, two systems have the same name, another command uses the folder, the folder
/// has runs of another study or of another number of threads, or a file cannot be read or written.
pub fn run(options: &CostOptions, out: &mut dyn Write) -> Result<()> {
    Input::check_file(&options.study.input)?;
    let references = read_lines(&options.reference)?;
    let num_lines = read_lines(&options.study.input)?.len();
    if references.len() != num_lines {
        return Err(Error::unmeasurable(format!(
            "{}: the reference has {}, but the text has {num_lines}; line N of one belongs to \
             line N of the other",
            options.reference.display(),
            count_noun(references.len(), "line"),
        )));
    }
    let threads = options.threads;
    let (mut study, _lock) = scaling::begin(&options.study, |topology, measured| {
        let all = topology.cpu_order().len();
        if threads > all {
            return Err(Error::unmeasurable(format!(
                "--threads: {threads} threads need as many CPUs; this process may use {all}"
            )));
        }
        match measured.iter().find(|&&count| count != threads) {
            Some(&count) => Err(Error::unmeasurable(format!(
                "{}: the runs in this folder are with {}, not with {threads}; give -o another \
                 folder, or --overwrite to measure again",
                options.study.output.display(),
                count_noun(count, "thread")
            ))),
            None => Ok(vec![threads]),
        }
    })?;
    let quality = Quality::measure(options, &study, &references)?;
    let write = |study: &ScalingStudy| {
        let rows = CostRow::from_study(study, options, &quality);
        scaling::write_file(&options.study.output, "cost.csv", &report::csv(&rows))?;
        let chart = report::chart(&rows, options, &study.topology, &quality.signature);
        scaling::write_file(&options.study.output, "cost.svg", &chart.to_svg())
    };
    scaling::measure(&options.study, &mut study, &write)?;
    write(&study)?;
    let rows = CostRow::from_study(&study, options, &quality);
    Ok(out.write_all(report::table(&rows, &quality.signature).as_bytes())?)
}

/// The quality of the translations of all systems.
struct Quality {
    /// The BLEU of each system.
    bleu: Vec<f64>,
    /// The signature of BLEU.
    signature: String,
}

impl Quality {
    /// Translates the text with each system, and scores the translations. Translations of an
    /// earlier command are kept if the description of the study is the same.
    fn measure(options: &CostOptions, study: &ScalingStudy, references: &[String]) -> Result<Self> {
        let folder = options.study.output.join("translations");
        let description = options.study.output.join(scaling::DESCRIPTION);
        let description = fs::read(&description).map_err(cannot("read this file", &description))?;
        let kept = folder.join(scaling::DESCRIPTION);
        let is_new = options.study.overwrite || fs::read(&kept).ok() != Some(description.clone());
        if is_new {
            // Removes only files with these names: the folder may have files that do not belong to
            // the study.
            for system in &options.study.systems {
                let path = folder.join(file_name(&system.name));
                if path.exists() {
                    fs::remove_file(&path).map_err(cannot("remove this file", &path))?;
                }
            }
        }
        fs::create_dir_all(&folder).map_err(cannot("make this folder", &folder))?;
        Output::write_file(&kept, &description)?;
        let cpus = &study.topology.cpu_order()[..options.threads];
        let (mut bleu, mut signature) = (Vec::new(), String::new());
        for system in &options.study.systems {
            let path = folder.join(file_name(&system.name));
            if !path.exists() {
                tracing::info!("{}: translating the text", system.name);
                translate(system, &options.study.input, cpus, &path)?;
            }
            let translations = read_lines(&path)?;
            if translations.len() != references.len() {
                return Err(Error::unmeasurable(format!(
                    "{}: {} for {} of the text",
                    path.display(),
                    count_noun(translations.len(), "line"),
                    count_noun(references.len(), "line")
                )));
            }
            let rows = corpus_statistics(&options.bleu, &translations, &[references])
                .map_err(|error| Error::unmeasurable(error.to_string()))?;
            let score = corpus_score(&options.bleu, &rows, 1);
            bleu.push(score.value);
            signature = score.signature.to_text(false);
        }
        Ok(Quality { bleu, signature })
    }
}

/// Returns a file name for the system `name`; different names give different file names.
fn file_name(name: &str) -> String {
    let safe = |c: char| match c {
        '%' => "%25".to_owned(),
        '/' => "%2F".to_owned(),
        c => c.to_string(),
    };
    format!("{}.txt", name.chars().map(safe).collect::<String>())
}

/// Translates `input` to the file `output` by a process of this program, or by the system's
/// command.
fn translate(system: &MeasuredSystem, input: &Path, cpus: &[usize], output: &Path) -> Result<()> {
    let arguments = system.arguments(input, cpus);
    let partial = output.with_extension("partial");
    let file = File::create(&partial).map_err(cannot("create this file", &partial))?;
    let program = std::env::current_exe().map_err(refused("find this program"))?;
    let mut command = Command::new(program);
    command.args(["--log-level", "warn", "--quiet"]).stdin(Stdio::null());
    match &system.workload {
        Workload::Phrase(_) => {
            command.arg("translate").args(arguments);
        }
        Workload::Neural(_) => {
            command.args(["nmt", "translate", "-i"]).arg(input).args(arguments);
        }
        Workload::LanguageModel(_) => {
            let reason = format!("{}: a language model does not translate", system.name);
            return Err(Error::unmeasurable(reason));
        }
        Workload::Command(_) => {
            let mut text = tempfile::tempfile().map_err(refused("make a temporary file"))?;
            text.write_all(&read_text(input)?)
                .and_then(|()| text.seek(SeekFrom::Start(0)))
                .map_err(refused("copy the text to a temporary file"))?;
            command = Command::new("sh");
            command.arg("-c").args(arguments).stdin(text);
        }
    }
    let status = command.stdout(file).status().map_err(refused("start a translation"))?;
    if !status.success() {
        // What was written is incomplete.
        let _ = fs::remove_file(&partial);
        let reason = format!("the translation by {} failed: {status}", system.name);
        return Err(Error::unmeasurable(reason));
    }
    fs::rename(&partial, output).map_err(cannot("rename a file to", output))
}

/// Returns the lines of a text. Bytes that are not UTF-8 become U+FFFD.
fn read_lines(path: &Path) -> Result<Vec<String>> {
    let text = read_text(path)?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    Ok(lines(&text).map(|line| String::from_utf8_lossy(line).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_systems_make_file_names() {
        assert_eq!(file_name("base beam 4"), "base beam 4.txt");
        assert_eq!(file_name("../a%2Fb"), "..%2Fa%252Fb.txt");
    }
}
