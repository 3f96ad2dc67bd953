//! Benchmark of Marian's optimisations for CPUs (Junczys-Dowmunt et al. 2018, table 2): shortlists,
//! 16-bit integers and auto-tuning, for single sentences and for batches of 384 words.
//!
//! The paper has a row for 16 bits in which weights are quantised in every product. This row has no
//! counterpart here: weights are packed once, when a model is loaded.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_chart::{Axis, Chart, Colour, LineStyle};
use miriam_kernels::Cpu;
use miriam_kernels::autotuner::Autotuner;
use miriam_nmt::batch::BatchingOptions;
use miriam_nmt::engine::Precision;
use miriam_nmt::network::Network;
use miriam_textio::{Output, Progress, date};
use serde_json::json;

use super::batching::variant::{BatchingVariant, ParallelText, READ_AHEAD_BATCHES, run_batches};
use super::random_models::{average_attention_base, random_model_without_eos};
use super::settings_chart::{self, Series};
use crate::description::describe_text;
use crate::error::Result;
use crate::input::read_text;
use crate::machine::{cpu_name, cpu_seconds};
use crate::saved_results::{SavedResults, StudyFolder};
use crate::statistics::{median, share_of_equal};

/// Options of the benchmark: a base transformer with average attention and random weights
/// translates a text on one thread. Each translation has the length of its reference.
#[derive(Clone, Debug)]
pub struct MarianStudy {
    /// The source text: one sentence per line, words or pieces separated by spaces.
    pub input: PathBuf,
    /// The reference translations, of which only the lengths are used.
    pub target: PathBuf,
    /// The maximal number of sentences.
    pub sentences: u32,
    /// The size of the vocabulary.
    pub words: u32,
    /// The number of passes over the text.
    pub passes: u32,
    /// The folder for the CSV file, the chart and saved results.
    pub output: Option<StudyFolder>,
}

/// The number of candidates for each source word in the paper.
const CANDIDATES_PER_TOKEN: usize = 100;

/// The limits of batches: sentences, and source words (0 for no limit).
const BATCHES: [(&str, usize, usize); 2] = [("1 sentence", 1, 0), ("384 words", 384, 384)];

/// The number of settings that each build on the one before; the last setting replaces 16 bits.
const CUMULATIVE: usize = SETTINGS.len() - 1;

/// A row of the table.
struct Setting {
    name: &'static str,
    precision: Precision,
    has_shortlist: bool,
    /// Whether the fastest kernel for each shape is measured and chosen.
    is_tuned: bool,
    /// The paper's seconds for newstest2014 with both kinds of batches.
    paper: Option<[f64; 2]>,
}

const SETTINGS: [Setting; 5] = {
    let plain = Setting {
        name: "32-bit floats",
        precision: Precision::F32,
        has_shortlist: false,
        is_tuned: false,
        paper: Some([1018.8, 397.5]),
    };
    [
        Setting { ..plain },
        Setting { name: "+ shortlist", has_shortlist: true, paper: Some([758.1, 293.7]), ..plain },
        Setting {
            name: "+ 16 bits",
            has_shortlist: true,
            precision: Precision::I16,
            paper: Some([572.9, 294.3]),
            ..plain
        },
        Setting {
            name: "+ auto-tuning",
            has_shortlist: true,
            precision: Precision::I16,
            is_tuned: true,
            paper: Some([574.8, 273.2]),
        },
        Setting {
            name: "8 bits, not 16",
            has_shortlist: true,
            precision: Precision::I8,
            is_tuned: true,
            paper: None,
        },
    ]
};

/// Prints a row for each setting: the speed for both kinds of batches, beside the paper's. With a
/// folder it also writes `marian.csv` and `marian.svg`, and the same command resumes a study that
/// was stopped.
///
/// # Errors
/// If the texts cannot be read or are not parallel, the source has no words, another command uses
/// the folder, the folder has results of another study, or a file cannot be written.
pub fn run(options: &MarianStudy, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    let [source, target] = [&options.input, &options.target].map(|path| read_text(path));
    let (source, target) = (source?, target?);
    let (sentences, words) = (options.sentences as usize, options.words as usize);
    let paths = [&options.input, &options.target].map(PathBuf::as_path);
    let text = ParallelText::new(&source, &target, sentences, words, paths)?;
    let shortlisted = text.with_candidates(CANDIDATES_PER_TOKEN, words);
    let study = json!({
        "name": "marian",
        "source": describe_text(&source),
        "target": describe_text(&target),
        "sentences": sentences,
        "words": words,
        "passes": options.passes,
    });
    let mut saved = SavedResults::open(options.output.as_ref(), study)?;
    let model = random_model_without_eos(average_attention_base(words), 1)?;
    let [read, translated] = text.token_counts();
    writeln!(out, "{}, {}, one thread", cpu_name(), Cpu::describe_detected())?;
    writeln!(out, "{} sentences, {read} tokens in, {translated} out", text.num_sentences())?;
    writeln!(
        out,
        "{:<16} {:>38} {:>38}",
        "",
        format!("{}: tokens / s, factor, paper", BATCHES[0].0),
        format!("{}: tokens / s, factor, paper", BATCHES[1].0)
    )?;
    let mut csv = String::from("setting,batches,tokens_per_second,factor,paper_factor,same\n");
    let mut first: [Option<(f64, Vec<Vec<u32>>)>; 2] = [None, None];
    let mut factors: [Vec<f64>; 2] = Default::default();
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    let task = progress.task("measuring", Some((SETTINGS.len() * BATCHES.len()) as u64));
    for setting in &SETTINGS {
        let path = Path::new("a random model");
        let network = if setting.is_tuned {
            Network::load_tuned(&model, path, setting.precision, &tuner)?
        } else {
            Network::load(&model, path, setting.precision)?
        };
        let text = if setting.has_shortlist { &shortlisted } else { &text };
        let mut line = format!("{:<16}", setting.name);
        for (place, (batches, max_sentences, max_source_tokens)) in BATCHES.into_iter().enumerate()
        {
            let batching = BatchingOptions {
                max_sentences,
                max_source_tokens,
                maxi_batch: READ_AHEAD_BATCHES,
                ..BatchingOptions::default()
            };
            let name = format!("{}, {batches}", setting.name);
            let (times, translations) = saved.get_or_measure(&name, || {
                let (mut times, mut translations) = (Vec::new(), Vec::new());
                // In the first pass, which is not counted, the tuner chooses kernels, or caches are
                // filled.
                for pass in 0..=options.passes {
                    let before = cpu_seconds();
                    let mut session = network.session()?;
                    let variant = BatchingVariant::ALL[0];
                    let run = run_batches(&mut *session, text, &batching, 1, variant, None)?;
                    translations = run.translations;
                    if pass > 0 {
                        times.push(cpu_seconds() - before);
                    }
                }
                Ok((times, translations))
            })?;
            let rate = translated as f64 / median(&times);
            let (slowest, reference) =
                first[place].get_or_insert_with(|| (rate, translations.clone()));
            let factor = rate / *slowest;
            factors[place].push(factor);
            let same = share_of_equal(&translations, reference);
            let paper = setting.paper.zip(SETTINGS[0].paper);
            let paper = paper.map(|(seconds, baseline)| baseline[place] / seconds[place]);
            let paper = paper.map_or(String::new(), |factor| format!("{factor:.2}x"));
            let _ = write!(line, " {rate:>23.0} {factor:>6.2}x {paper:>7}");
            let _ = writeln!(
                csv,
                "{},{batches},{rate:.1},{factor:.3},{},{same:.4}",
                super::speed::csv_name(setting.name),
                paper.trim_end_matches('x')
            );
            saved.advance(&task);
        }
        writeln!(out, "{line}")?;
    }
    drop(task);
    let Some(folder) = &options.output else { return Ok(()) };
    Output::write_file(&folder.path.join("marian.csv"), csv.as_bytes())?;
    let notes = vec![
        format!("{}, one thread; {}", cpu_name(), date::today()),
        format!("base transformer with average attention, {} sentences", text.num_sentences()),
    ];
    let svg = draw(notes, &factors).to_svg();
    Ok(Output::write_file(&folder.path.join("marian.svg"), svg.as_bytes())?)
}

/// Draws the speed of each setting relative to the first one, for both kinds of batches, beside the
/// paper's.
fn draw(notes: Vec<String>, factors: &[Vec<f64>; 2]) -> Chart {
    let mut series = Vec::new();
    for (place, (batches, ..)) in BATCHES.into_iter().enumerate() {
        let style = LineStyle::for_curve(place);
        series.push(Series {
            label: batches.into(),
            style,
            values: factors[place].clone(),
            connected: CUMULATIVE,
        });
        let published = SETTINGS.iter().filter_map(|setting| setting.paper);
        let seconds: Vec<f64> = published.map(|both| both[place]).collect();
        series.push(Series {
            label: format!("{batches}, the paper"),
            style: LineStyle::dashed(Colour::for_curve(place)),
            values: seconds.iter().map(|time| seconds[0] / time).collect(),
            connected: CUMULATIVE,
        });
    }
    let highest = series.iter().flat_map(|series| &series.values).copied().fold(1.0, f64::max);
    let names = SETTINGS.map(|setting| setting.name);
    let y_axis = Axis::linear("times 32-bit floats", 0.0, highest);
    let title = "Marian's optimisations for CPUs".into();
    settings_chart::draw(title, notes, ("setting", &names), y_axis, &series)
}
