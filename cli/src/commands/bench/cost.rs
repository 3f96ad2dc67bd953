//! `miriam bench nmt cost`: quality against cost.

use std::fmt::Display;
use std::path::PathBuf;

use clap::{Args, value_parser};
use miriam_bench::cost::CostOptions;
use miriam_bench::scaling::{MeasuredSystem, ScalingOptions, Workload};
use miriam_decoder::SearchAlgorithm;

use super::systems::{MODEL_KINDS, ModelWorkload, StudyArguments};
use crate::commands::metric_arguments::BleuArguments;
use crate::commands::system_configuration::read_configuration;
use crate::common::{CommonOptions, exit_with_usage_error, utf8_word};
use crate::console::standard_output;
use crate::option_values::choices;

/// Measure BLEU and the price of translating a million words for several systems and settings
///
/// Systems are neural, phrase-based, or other programs. Each translates the text once for
/// BLEU, and then repeatedly on --threads threads for its speed; loading is not counted.
/// The price of a million words is --price times the hours that they take. --beams and
/// --pop-limits measure each system with several settings, which become a curve. cost.csv
/// has a line for each system and setting, cost.svg plots BLEU against the price, and a
/// table on standard output marks the efficient ones: no other is as good and cheaper, or
/// as cheap and better.
///
/// Each measurement is saved at once, and the same command resumes a study that was
/// stopped.
///
/// Examples:
///   miriam bench nmt cost --nmt teacher --nmt student --beams 1,4 -i test.de
///       --reference test.en --price 0.102 --threads 1 -o cost
///   miriam bench nmt cost --config moses.ini --pop-limits 100,400,1000 -i test.de
///       --reference test.en --tokenize none -o cost -- -search-algorithm 1
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    study: StudyArguments,
    /// The kind of models that --config names: phrase-based systems or neural models
    #[arg(long, value_name = "KIND", default_value = "phrase", requires = "config",
          value_parser = choices(MODEL_KINDS.into_iter().take(2)))]
    workload: ModelWorkload,
    /// The reference translation of the text
    #[arg(long, value_name = "FILE")]
    reference: PathBuf,
    /// The price of an hour of the whole machine, in any currency; set --threads to all of its CPUs
    #[arg(long, value_name = "P", default_value = "1", value_parser = super::parse_price)]
    price: f64,
    /// Beam sizes of neural models, such as 1,4 [default: that of each model]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = value_parser!(u16).range(1..=1000))]
    beams: Vec<u16>,
    /// Pop limits of phrase-based systems, such as 100,400 [default: that of each system]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = value_parser!(u32).range(1..))]
    pop_limits: Vec<u32>,
    #[command(flatten)]
    bleu: BleuArguments,
}

/// A value of an option, with which a system is measured.
struct Setting {
    /// The text that is appended to the system's name, such as ` beam 4`.
    suffix: String,
    /// The option and its value.
    options: [String; 2],
}

/// Returns the settings to measure a system with; none for other programs.
fn list_settings(system: &MeasuredSystem, beams: &[u16], pop_limits: &[u32]) -> Vec<Setting> {
    fn vary<N: Display>(values: &[N], label: &str, option: &str) -> Vec<Setting> {
        values
            .iter()
            .map(|value| Setting {
                suffix: format!(" {label} {value}"),
                options: [option.into(), value.to_string()],
            })
            .collect()
    }
    match system.workload {
        Workload::Neural(_) => vary(beams, "beam", "--beam-size"),
        Workload::Phrase(_) => vary(pop_limits, "pop limit", "-cube-pruning-pop-limit"),
        // Language models do not translate and cannot be named.
        Workload::LanguageModel(_) | Workload::Command(_) => Vec::new(),
    }
}

/// Returns each system once for each of its settings, and the names of the curves to which the
/// returned systems belong. A system without settings is returned once, unchanged.
fn expand_systems(
    systems: Vec<MeasuredSystem>,
    beams: &[u16],
    pop_limits: &[u32],
) -> (Vec<MeasuredSystem>, Vec<String>) {
    let mut expanded = Vec::new();
    let mut curves = Vec::new();
    for system in systems {
        let settings = list_settings(&system, beams, pop_limits);
        curves.extend(std::iter::repeat_n(system.name.clone(), settings.len().max(1)));
        if settings.is_empty() {
            expanded.push(system);
            continue;
        }
        expanded.extend(settings.into_iter().map(|setting| MeasuredSystem {
            name: format!("{}{}", system.name, setting.suffix),
            options: [&system.options[..], &setting.options].concat(),
            ..system.clone()
        }));
    }
    (expanded, curves)
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { study, workload, reference, price, beams, pop_limits, bleu } = arguments;
    let threads = common.threads.count();
    let bleu = bleu.build(None, false)?;
    let mut curves = Vec::new();
    let study = study.scaling_options(vec![threads], workload, &[], |systems| {
        let has_neural =
            systems.iter().any(|system| matches!(system.workload, Workload::Neural(_)));
        if !beams.is_empty() && !has_neural {
            exit_with_usage_error(
                "--beams needs a neural model (--nmt, or --config with --workload nmt)",
            );
        }
        let has_phrase_based =
            systems.iter().any(|system| matches!(system.workload, Workload::Phrase(_)));
        if !pop_limits.is_empty() && !has_phrase_based {
            exit_with_usage_error("--pop-limits needs a phrase-based system (--config)");
        }
        let (expanded, curve_names) = expand_systems(systems, &beams, &pop_limits);
        curves.extend(curve_names);
        expanded
    })?;
    if !pop_limits.is_empty() {
        check_pop_limits(&study, &curves)?;
    }
    let options = CostOptions { study, curves, reference, bleu, threads, price };
    Ok(miriam_bench::cost::run(&options, &mut standard_output())?)
}

/// Checks that phrase-based systems search by cube pruning, the only search with a pop limit.
/// `names` are the names by which the user knows the systems.
fn check_pop_limits(study: &ScalingOptions, names: &[String]) -> anyhow::Result<()> {
    let is_mixed = study
        .systems
        .iter()
        .any(|system| !matches!(system.workload, Workload::Phrase(_) | Workload::Command(_)));
    for (system, name) in study.systems.iter().zip(names) {
        let Workload::Phrase(ini) = &system.workload else { continue };
        let ini_arguments = ["-f".to_owned(), utf8_word(ini)];
        let configuration = read_configuration(&[&ini_arguments[..], &system.options].concat())?;
        if configuration.settings.algorithm != SearchAlgorithm::CubePruning {
            // Options after -- are allowed only if all systems are of one kind.
            let remedy = if is_mixed {
                format!("--options '{name}=-search-algorithm 1'")
            } else {
                "-- -search-algorithm 1".to_owned()
            };
            exit_with_usage_error(format!(
                "--pop-limits: {name} uses stack decoding, which has no pop limit; add {remedy}"
            ));
        }
    }
    Ok(())
}
