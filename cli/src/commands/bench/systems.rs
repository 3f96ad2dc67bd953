//! Options of studies that measure several systems: the systems, the text, the folder, repetitions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use miriam_bench::scaling::{
    MeasuredSystem, ScalingOptions, Workload, check_names, default_name, split_name, split_options,
};
use miriam_textio::{Input, affinity};

use super::scaling_run::{LanguageModelOptions, NeuralOptions, parse_seconds};
use crate::commands::system_configuration::read_configuration;
use crate::common::{exit_with_usage_error, utf8_word};

#[derive(Args)]
#[command(group(ArgGroup::new("systems").required(true).multiple(true).args(["config", "nmt", "system"])))]
pub struct StudyArguments {
    /// A system's moses.ini, or its folder. May be repeated. Its default name in the figure is the
    /// folder of a moses.ini, or any other file's name without its ending
    #[arg(long, value_name = "[NAME=]INI")]
    config: Vec<String>,
    /// A neural model, as for `nmt translate -m`. May be repeated
    #[arg(long, value_name = "[NAME=]MODEL")]
    nmt: Vec<String>,
    /// Another program: a command of the shell that reads lines from standard input and
    /// writes a line for each. {threads} and {cpus} in it become the number of threads
    /// and the list of their CPUs. It runs on the text once, then on the text several times over;
    /// the difference of the two runs counts, which excludes loading. May be repeated
    #[arg(long, value_name = "NAME=COMMAND")]
    system: Vec<String>,
    /// Further options for one system, as a shell splits them: those of the subcommand for its kind
    /// of model, such as `nmt translate`. May be repeated
    #[arg(long = "options", value_name = "NAME=OPTIONS")]
    own_options: Vec<String>,
    /// The text: plain, .gz, .zst, .bz2 or .xz
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// The folder to write to; it is created if it is missing
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// The number of measurements of each system with each number of threads
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// The duration of a measurement: the text is repeated until at least four fifths of it have
    /// passed
    #[arg(long, value_name = "S", default_value = "5", value_parser = parse_seconds)]
    seconds: f64,
    /// Measure again what an earlier study in the folder measured
    #[arg(long)]
    overwrite: bool,
    /// Further options for all systems except other programs: those of the subcommand for their
    /// kind of model, such as `nmt translate`. The systems must then be of one kind
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

/// The workload of a model.
pub type ModelWorkload = fn(PathBuf) -> Workload;

/// The kinds of models: first those that translate.
pub const MODEL_KINDS: [(&str, &str, ModelWorkload); 3] = [
    ("phrase", "", Workload::Phrase),
    ("nmt", "", Workload::Neural),
    ("lm", "", Workload::LanguageModel),
];

impl StudyArguments {
    /// Returns the options of a study with `counts` threads, of the language models `lm` too.
    /// `config` is the kind of the models that `--config` names. `expand` may replace a system by
    /// several that have further options.
    ///
    /// # Errors
    /// If a model or a configuration cannot be read. Wrong options end the program.
    pub fn scaling_options(
        self,
        counts: Vec<usize>,
        config: ModelWorkload,
        lm: &[String],
        expand: impl FnOnce(Vec<MeasuredSystem>) -> Vec<MeasuredSystem>,
    ) -> anyhow::Result<ScalingOptions> {
        Ok(ScalingOptions {
            systems: self.systems(config, lm, expand)?,
            input: self.input,
            counts,
            output: self.output,
            repeat: self.repeat.into(),
            seconds: self.seconds,
            overwrite: self.overwrite,
        })
    }

    /// Returns the systems in their order in the figure.
    fn systems(
        &self,
        config: ModelWorkload,
        lm: &[String],
        expand: impl FnOnce(Vec<MeasuredSystem>) -> Vec<MeasuredSystem>,
    ) -> anyhow::Result<Vec<MeasuredSystem>> {
        let mut systems = Vec::new();
        systems.extend(self.name_models(&self.config, config));
        systems.extend(self.name_models(&self.nmt, Workload::Neural));
        systems.extend(self.name_models(lm, Workload::LanguageModel));
        check_common_options(&systems, &self.options);
        for argument in &self.system {
            let Some((name, command)) = argument.split_once('=') else {
                exit_with_usage_error(format!("--system {argument}: expected NAME=COMMAND"));
            };
            let workload = Workload::Command(command.into());
            systems.push(MeasuredSystem { name: name.into(), workload, options: Vec::new() });
        }
        for argument in &self.own_options {
            add_own_options(argument, &mut systems);
        }
        check_names(&systems)?;
        let mut systems = expand(systems);
        // Errors of inis or of options are reported before the first measurement.
        let mut cpus = affinity::allowed_cpus()?;
        cpus.truncate(1);
        for system in &mut systems {
            let tokens = system.arguments(&self.input, &cpus);
            let MeasuredSystem { workload, options, .. } = system;
            match workload {
                Workload::Phrase(ini) => {
                    *ini = find_ini(ini, options, &tokens)?;
                }
                Workload::Neural(model) => {
                    Input::check_access(model, None)?;
                    NeuralOptions::parse_or_exit(&tokens);
                }
                Workload::LanguageModel(model) => {
                    Input::check_access(model, None)?;
                    LanguageModelOptions::parse_or_exit(&tokens);
                }
                Workload::Command(_) => {}
            }
        }
        Ok(systems)
    }

    /// Returns the systems of models that are given as `[NAME=]PATH`.
    fn name_models(
        &self,
        arguments: &[String],
        workload: ModelWorkload,
    ) -> impl Iterator<Item = MeasuredSystem> {
        arguments.iter().map(move |argument| {
            let (name, model) = split_name(argument);
            let name = name.map_or_else(|| default_name(model.as_ref()), str::to_owned);
            let (workload, options) = (workload(model.into()), self.options.clone());
            MeasuredSystem { name, workload, options }
        })
    }
}

/// Checks that options for all systems are given only if the systems are of one kind.
fn check_common_options(systems: &[MeasuredSystem], options: &[String]) {
    let mut kinds: Vec<&str> = systems.iter().map(|system| system.workload.kind()).collect();
    kinds.dedup();
    let reason = match kinds[..] {
        _ if options.is_empty() => return,
        [_] => return,
        [] => "options after -- are not for other programs; write theirs into --system",
        _ => "options after -- are for systems of one kind; give each its own by --options",
    };
    exit_with_usage_error(reason);
}

/// Returns the ini file of a phrase system. `ini` is this file or its folder. `tokens` are the
/// arguments of the measurement, with the user's `options` among them.
///
/// # Errors
/// If the configuration cannot be read.
fn find_ini(ini: &Path, options: &[String], tokens: &[OsString]) -> anyhow::Result<PathBuf> {
    let tokens: Vec<String> = tokens.iter().map(utf8_word).collect();
    match read_configuration(&tokens) {
        Ok(configuration) => Ok(configuration.ini),
        Err(error) => {
            // Options that are valid without the study's options contradict these.
            let file = ["-f".to_owned(), utf8_word(ini)];
            read_configuration(&[&file[..], options].concat())?;
            exit_with_usage_error(format!(
                "{error}; the study gives -i, -threads and -cpus, so leave them out"
            ))
        }
    }
}

/// Adds the options of `NAME=OPTIONS` to its system.
fn add_own_options(argument: &str, systems: &mut [MeasuredSystem]) {
    let Some((name, text)) = argument.split_once('=') else {
        exit_with_usage_error(format!("--options {argument}: expected NAME=OPTIONS"));
    };
    let Some(options) = split_options(text) else {
        exit_with_usage_error(format!("--options {argument}: a quotation mark is not closed"));
    };
    let names: Vec<String> = systems.iter().map(|system| system.name.clone()).collect();
    match systems.iter_mut().find(|system| system.name == name) {
        Some(MeasuredSystem { workload: Workload::Command(_), .. }) => {
            exit_with_usage_error(format!(
                "--options {argument}: {name} is another program; write its options into --system"
            ));
        }
        Some(system) => system.options.extend(options),
        None => exit_with_usage_error(format!(
            "--options {argument}: there is no system {name}; there are {}",
            names.join(", ")
        )),
    }
}
