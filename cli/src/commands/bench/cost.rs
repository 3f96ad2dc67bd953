//! `miriam bench nmt cost`: quality against cost.

use std::fmt::Display;
use std::path::PathBuf;

use clap::{Args, value_parser};
use miriam_bench::cost::CostOptions;
use miriam_bench::scaling::{MeasuredSystem, ScalingOptions, Workload};
use miriam_decoder::SearchAlgorithm;

use super::systems::StudyArguments;
use crate::commands::metric_arguments::BleuArguments;
use crate::commands::system_configuration::read_configuration;
use crate::common::{CommonOptions, exit_with_usage_error};
use crate::console::standard_output;

/// Measure BLEU and the price of translating a million words for several systems and settings
///
/// Systems are neural, phrase-based, or other programs. Each translates the text once,
/// for BLEU, and then repeatedly on --threads threads, for its speed; loading is not
/// counted. --beams and --pop-limits measure each system with several settings, which
/// become a curve. cost.csv has a line for each, cost.svg has BLEU over the price, and
/// a table goes to standard output. It marks efficient systems: no other is as good and
/// cheaper, or as cheap and better.
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
    /// The reference translation of the text
    #[arg(long, value_name = "FILE")]
    reference: PathBuf,
    /// The price, in any currency, of one hour of the machine; --threads should use all of it
    #[arg(long, value_name = "P", default_value = "1", value_parser = super::parse_price)]
    price: f64,
    /// Beam sizes of neural models, such as 1,4 [default: that of each model]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u16).range(1..=1000))]
    beams: Vec<u16>,
    /// Pop limits of phrase-based systems, such as 100,400 [default: that of each system]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u32).range(1..))]
    pop_limits: Vec<u32>,
    #[command(flatten)]
    bleu: BleuArguments,
}

/// A setting to measure a system with.
struct Setting {
    /// The end of the system's name.
    suffix: String,
    /// An option and its value.
    options: [String; 2],
}

/// Returns the settings to measure a system with; none for other programs.
fn list_settings(system: &MeasuredSystem, beams: &[u16], pop_limits: &[u32]) -> Vec<Setting> {
    fn list<N: Display>(values: &[N], label: &str, option: &str) -> Vec<Setting> {
        let settings = values.iter().map(|value| Setting {
            suffix: format!(" {label} {value}"),
            options: [option.into(), value.to_string()],
        });
        settings.collect()
    }
    match system.workload {
        Workload::Neural(_) => list(beams, "beam", "--beam-size"),
        Workload::Phrase(_) => list(pop_limits, "pop limit", "-cube-pruning-pop-limit"),
        Workload::LanguageModel(_) => exit_with_usage_error(format!(
            "{}: a language model does not translate; leave out --lm",
            system.name
        )),
        Workload::Command(_) => Vec::new(),
    }
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { study, reference, price, beams, pop_limits, bleu } = arguments;
    let threads = common.threads.count();
    let bleu = bleu.build(None, false)?;
    let mut curves = Vec::new();
    let study = study.scaling_options(vec![threads], |systems| {
        let has = |kind: &str| systems.iter().any(|system| system.workload.kind() == kind);
        if !beams.is_empty() && !has("nmt") {
            exit_with_usage_error(
                "--beams needs a neural model (--nmt, or --config with --workload nmt)".into(),
            );
        }
        if !pop_limits.is_empty() && !has("phrase") {
            exit_with_usage_error("--pop-limits needs a phrase-based system (--config)".into());
        }
        let mut expanded = Vec::new();
        for system in systems {
            let settings = list_settings(&system, &beams, &pop_limits);
            let variants: Vec<MeasuredSystem> = if settings.is_empty() {
                vec![system.clone()]
            } else {
                let variants = settings.into_iter().map(|setting| MeasuredSystem {
                    name: format!("{}{}", system.name, setting.suffix),
                    options: [&system.options[..], &setting.options].concat(),
                    ..system.clone()
                });
                variants.collect()
            };
            curves.extend(variants.iter().map(|_| system.name.clone()));
            expanded.extend(variants);
        }
        expanded
    })?;
    if !pop_limits.is_empty() {
        check_pop_limits(&study)?;
    }
    let options = CostOptions { study, curves, reference, bleu, threads, price };
    Ok(miriam_bench::cost::run(&options, &mut standard_output())?)
}

/// Checks that phrase-based systems search by cube pruning, which alone has a pop limit.
fn check_pop_limits(study: &ScalingOptions) -> anyhow::Result<()> {
    for system in &study.systems {
        let Workload::Phrase(ini) = &system.workload else { continue };
        let file = ["-f".to_owned(), ini.to_string_lossy().into_owned()];
        let configuration = read_configuration(&[&file[..], &system.options].concat())?;
        if configuration.settings.algorithm != SearchAlgorithm::CubePruning {
            exit_with_usage_error(format!(
                "--pop-limits: {} uses stack decoding (-search-algorithm 0), which has no pop limit; \
                 add -- -search-algorithm 1",
                system.name
            ));
        }
    }
    Ok(())
}
