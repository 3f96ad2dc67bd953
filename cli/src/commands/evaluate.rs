//! `miriam evaluate`: scores of translations, with sacreBLEU's options and output.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Once;

use clap::{Args, ValueEnum};
use miriam_metrics::{
    Metric, PairedTest, Resampling, Score, ScoreFormat, corpus_score, corpus_statistics,
    estimate_confidence, sentence_score,
};
use miriam_textio::{Lines, Output, display_name};

use super::compared_systems::ComparedSystems;
use super::metric_arguments::{BleuArguments, ChrfArguments, MetricOptions, TerArguments};
use crate::common::{CommonOptions, check_files, exit_with_usage_error, open_text};

/// A text looks tokenised if at least this number of its lines end in a separate full stop.
const MIN_TOKENIZED_LINES: usize = 100;

/// Score translations against references: BLEU, chrF and TER, as sacreBLEU does.
///
/// Examples:
///   miriam evaluate --reference test.en -i output.en
///   miriam evaluate --reference test.en --metric bleu,chrf,ter --text < output.en
///   miriam evaluate --reference test.en -i baseline.en -i better.en --paired-bs
///   miriam evaluate test.en -i output.en -m bleu chrf -tok zh -lc
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A reference, one translation per line; repeat it for several
    #[arg(short, long, value_name = "FILE")]
    reference: Vec<PathBuf>,
    /// References as sacreBLEU takes them, before the other options
    #[arg(value_name = "REFERENCE", required_unless_present = "reference")]
    more_references: Vec<PathBuf>,
    /// References in each file, separated by tabs
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    num_refs: u16,
    /// The translations: plain, .gz, .zst, .bz2 or .xz; - for standard input. Several systems are
    /// scored side by side
    #[arg(short, long, value_name = "FILE", num_args = 1.., default_value = "-")]
    input: Vec<PathBuf>,
    /// Where to write the scores; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// The metrics, separated by commas or spaces
    #[arg(short, long, visible_alias = "metrics", value_delimiter = ',', num_args = 1..,
          default_value = "bleu")]
    metric: Vec<MetricName>,
    /// The languages as de-en: for translations into Chinese the tokeniser is zh
    #[arg(short, long, value_name = "PAIR")]
    language_pair: Option<String>,
    /// The encoding of all texts
    #[arg(short, long, hide = true, value_parser = parse_encoding)]
    encoding: Option<String>,
    /// Score each line instead of the text
    #[arg(long)]
    sentence_level: bool,
    /// Write the score in this form [default: table on a terminal, else json]
    #[arg(short, long, value_enum)]
    format: Option<OutputFormat>,
    /// Short for --format text
    #[arg(long)]
    text: bool,
    /// Write only the numbers
    #[arg(short = 'b', long)]
    score_only: bool,
    /// Decimal places
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    width: u8,
    /// Write short signatures
    #[arg(long)]
    short: bool,
    /// Do not warn of translations that look tokenised
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    bleu: MetricOptions<BleuArguments>,
    #[command(flatten)]
    chrf: MetricOptions<ChrfArguments>,
    #[command(flatten)]
    ter: MetricOptions<TerArguments>,
    #[command(flatten)]
    significance: SignificanceArguments,
}

#[derive(Args)]
#[command(next_help_heading = "Significance")]
struct SignificanceArguments {
    /// Print a confidence interval by bootstrap resampling
    #[arg(long, conflicts_with_all = ["sentence_level", "paired_bs", "paired_ar"])]
    confidence: bool,
    /// The number of resamples
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = resample_count_parser())]
    confidence_n: u32,
    /// Compare systems with the first by bootstrap resampling
    #[arg(long, conflicts_with_all = ["sentence_level", "paired_ar"])]
    paired_bs: bool,
    /// The number of resamples
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = resample_count_parser())]
    paired_bs_n: u32,
    /// Compare systems with the first by approximate randomisation
    #[arg(long, conflicts_with = "sentence_level")]
    paired_ar: bool,
    /// The number of trials
    #[arg(long, value_name = "N", default_value_t = 10000, value_parser = resample_count_parser())]
    paired_ar_n: u32,
    /// The seed of random numbers [default: the environment's SACREBLEU_SEED, or 12345]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum MetricName {
    Bleu,
    Chrf,
    Ter,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    Json,
    Text,
    Table,
    /// A table for LaTeX of several systems
    Latex,
}

fn resample_count_parser() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(2..=1_000_000)
}

/// A text file as lines.
struct TextFile {
    name: String,
    lines: Vec<String>,
}

/// Accepts sacreBLEU's names of UTF-8.
fn parse_encoding(name: &str) -> Result<String, String> {
    match &name.to_ascii_lowercase()[..] {
        "utf-8" | "utf8" => Ok(name.to_owned()),
        _ => Err(format!("texts are read as UTF-8; convert them first: iconv -f {name} -t utf-8")),
    }
}

pub fn run(mut arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let paired = arguments.significance.paired_test()?;
    if paired.is_some() {
        drop_repeated_baseline(&mut arguments.input);
    }
    let mut kinds: Vec<MetricName> = Vec::new();
    for &kind in &arguments.metric {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    // As in sacreBLEU, only paired tests keep the order of the command line.
    if paired.is_none() {
        kinds.sort_unstable();
    }
    // As in sacreBLEU, the format of the environment is not checked.
    let asks_for_latex = arguments.format == Some(OutputFormat::Latex)
        && !arguments.text
        && environment_format().is_none();
    match arguments.input.len() {
        1 if asks_for_latex => {
            exit_with_usage_error("--format latex is for several systems: -i FILE -i FILE")
        }
        1 if paired.is_some() => {
            exit_with_usage_error("a paired test needs two systems: -i FILE -i FILE")
        }
        2.. if arguments.significance.confidence => {
            exit_with_usage_error("--confidence is for one system; compare several by --paired-bs")
        }
        2.. if arguments.sentence_level => {
            exit_with_usage_error("--sentence-level is for one system")
        }
        _ => {}
    }
    let inputs = &arguments.input;
    if let Some((_, twice)) =
        inputs.iter().enumerate().find(|(place, path)| inputs[..*place].contains(path))
    {
        let file = twice.display();
        exit_with_usage_error(format!("{file} is given twice; name each system once"));
    }
    if arguments.sentence_level && kinds.len() > 1 {
        exit_with_usage_error("--sentence-level takes one metric");
    }
    for (kind, name, options) in [
        (MetricName::Bleu, "bleu", &arguments.bleu.names),
        (MetricName::Chrf, "chrf", &arguments.chrf.names),
        (MetricName::Ter, "ter", &arguments.ter.names),
    ] {
        if !kinds.contains(&kind) && !options.is_empty() {
            tracing::warn!("without effect here: {} (for --metric {name})", options.join(" "));
        }
    }
    let metrics: Vec<Box<dyn Metric>> =
        kinds.iter().map(|&kind| arguments.build_metric(kind)).collect::<Result<_, _>>()?;
    let files = arguments.more_references.iter().chain(&arguments.reference);
    let outputs = [("--output", Some(&arguments.output))];
    check_files(files.clone().chain(&arguments.input), &outputs)?;
    let mut references: Vec<Vec<String>> = Vec::new();
    for file in files {
        references.extend(split_references(read_text(file)?, arguments.num_refs.into())?);
    }
    let systems: Vec<TextFile> =
        arguments.input.iter().map(|path| read_text(path)).collect::<Result<_, _>>()?;
    if kinds.contains(&MetricName::Bleu) && !arguments.force {
        systems.iter().for_each(warn_if_tokenized);
    }
    let report = common.build_thread_pool()?.install(|| match &systems[..] {
        [system] if arguments.sentence_level => {
            score_sentences(&*metrics[0], system, &references, &arguments)
        }
        [system] => score_corpus(&metrics, system, &references, &arguments),
        _ => {
            let systems: Vec<_> =
                systems.into_iter().map(|system| (system.name, system.lines)).collect();
            let compared = ComparedSystems::new(&metrics, &systems, &references, paired)?;
            let style = arguments.style();
            Ok(match arguments.output_format() {
                OutputFormat::Json => compared.to_json(style),
                OutputFormat::Text | OutputFormat::Table => compared.to_text(style),
                OutputFormat::Latex => compared.to_latex(style),
            })
        }
    })?;
    if arguments.output.as_os_str() == "-" {
        return crate::console::print(report);
    }
    Ok(Output::write_file(&arguments.output, report.as_bytes())?)
}

/// Drops the first system where it is given again, for example among the files of a glob.
fn drop_repeated_baseline(systems: &mut Vec<PathBuf>) {
    let mut others = systems.split_off(1);
    let given = others.len();
    others.retain(|system| *system != systems[0]);
    if others.len() < given {
        tracing::info!("{}: the baseline is not compared with itself", systems[0].display());
    }
    systems.append(&mut others);
}

impl Arguments {
    fn style(&self) -> ScoreFormat {
        ScoreFormat {
            decimals: usize::from(self.width),
            score_only: self.score_only,
            short_signature: self.short,
        }
    }

    fn output_format(&self) -> OutputFormat {
        match environment_format().or(self.format) {
            _ if self.text => OutputFormat::Text,
            Some(format) => format,
            None if self.output.as_os_str() == "-" && std::io::stdout().is_terminal() => {
                OutputFormat::Table
            }
            None => OutputFormat::Json,
        }
    }

    fn build_metric(&self, kind: MetricName) -> anyhow::Result<Box<dyn Metric>> {
        Ok(match kind {
            MetricName::Bleu => Box::new(
                self.bleu.arguments.build(self.language_pair.as_deref(), self.sentence_level)?,
            ),
            MetricName::Chrf => Box::new(self.chrf.arguments.build()?),
            MetricName::Ter => Box::new(self.ter.arguments.build()),
        })
    }
}

impl SignificanceArguments {
    fn resampling(&self, count: u32) -> anyhow::Result<Resampling> {
        let seed = match (self.seed, std::env::var_os("SACREBLEU_SEED")) {
            (Some(seed), _) => seed,
            (None, None) => Resampling::default().seed,
            (None, Some(seed)) => {
                let seed = seed.to_string_lossy();
                seed.parse::<u64>().map_err(|_| {
                    anyhow::anyhow!(
                        "SACREBLEU_SEED={seed} is not a number; set a number, such as 12345, so \
                         that results can be repeated"
                    )
                })?
            }
        };
        Ok(Resampling { count: count as usize, seed })
    }

    fn paired_test(&self) -> anyhow::Result<Option<PairedTest>> {
        Ok(if self.paired_bs {
            Some(PairedTest::Bootstrap(self.resampling(self.paired_bs_n)?))
        } else if self.paired_ar {
            Some(PairedTest::ApproximateRandomization(self.resampling(self.paired_ar_n)?))
        } else {
            None
        })
    }
}

/// Returns the output format that the environment states; as in sacreBLEU, it overrides `--format`.
fn environment_format() -> Option<OutputFormat> {
    let name = std::env::var_os("SACREBLEU_FORMAT").filter(|name| !name.is_empty())?;
    let name = name.to_string_lossy();
    let format = OutputFormat::from_str(&name, true).ok();
    static WARNING: Once = Once::new();
    if format.is_none() {
        WARNING.call_once(|| {
            tracing::warn!("SACREBLEU_FORMAT={name} has no effect; set json, text, table or latex")
        });
    }
    format
}

/// Returns the references in the columns of a file. As in sacreBLEU, the last one keeps further
/// tabs.
fn split_references(text: TextFile, count: usize) -> anyhow::Result<Vec<Vec<String>>> {
    if count == 1 {
        return Ok(vec![text.lines]);
    }
    let mut references = vec![Vec::with_capacity(text.lines.len()); count];
    let mut warned = false;
    for (number, line) in text.lines.iter().enumerate() {
        let columns: Vec<&str> = line.splitn(count, '\t').collect();
        if columns.len() != count {
            let (name, number, found) = (&text.name, number + 1, columns.len());
            anyhow::bail!("{name}, line {number}: {found} references for --num-refs {count}");
        }
        if columns[count - 1].contains('\t') && !warned {
            let (name, number) = (&text.name, number + 1);
            tracing::warn!(
                "{name}, line {number}: tabs after reference {count} are part of it, here and \
                 from now on; --num-refs states the number of references"
            );
            warned = true;
        }
        for (reference, column) in references.iter_mut().zip(columns) {
            reference.push(miriam_metrics::rstrip(column).to_owned());
        }
    }
    Ok(references)
}

/// Returns the lines of a file without trailing white space, as sacreBLEU reads them.
fn read_text(path: &Path) -> anyhow::Result<TextFile> {
    let mut lines = Lines::new(open_text(path)?);
    let mut text = TextFile { name: display_name(path), lines: Vec::new() };
    let mut warned = false;
    while let Some(line) = lines.next()? {
        let decoded = String::from_utf8_lossy(line.bytes);
        if let (std::borrow::Cow::Owned(_), false) = (&decoded, warned) {
            tracing::warn!(
                "{}, line {}: bytes that are not UTF-8 are read as U+FFFD, here and from now on",
                text.name,
                line.number
            );
            warned = true;
        }
        text.lines.push(miriam_metrics::rstrip(&decoded).to_owned());
    }
    Ok(text)
}

fn warn_if_tokenized(text: &TextFile) {
    let count = text.lines.iter().filter(|line| line.ends_with(" .")).count();
    if count >= MIN_TOKENIZED_LINES {
        tracing::warn!(
            "{}: {count} lines end in a separate full stop, so the text looks tokenised; \
             published scores are of detokenised text (--force does not warn)",
            text.name
        );
    }
}

fn score_corpus(
    metrics: &[Box<dyn Metric>],
    system: &TextFile,
    references: &[Vec<String>],
    arguments: &Arguments,
) -> anyhow::Result<String> {
    let mut scores: Vec<Score> = Vec::new();
    for metric in metrics {
        let rows = corpus_statistics(&**metric, &system.lines, references)?;
        let mut score = corpus_score(&**metric, &rows, references.len());
        if arguments.significance.confidence {
            let resampling =
                arguments.significance.resampling(arguments.significance.confidence_n)?;
            estimate_confidence(&**metric, &rows, resampling, &mut score);
        }
        scores.push(score);
    }
    let style = arguments.style();
    match arguments.output_format() {
        OutputFormat::Text | OutputFormat::Latex => {
            return Ok(align_equal_signs(scores.iter().map(|s| s.to_line(style)).collect()));
        }
        OutputFormat::Table if !arguments.score_only => return Ok(format_table(&scores, style)),
        OutputFormat::Table | OutputFormat::Json => {}
    }
    let objects: Vec<String> = scores.iter().map(|score| score.to_json(style)).collect();
    Ok(match &objects[..] {
        [object] => format!("{object}\n"),
        _ => format!("[\n{}\n]\n", objects.join(",\n")),
    })
}

/// Returns the scores in columns, and their signatures below.
fn format_table(scores: &[Score], style: ScoreFormat) -> String {
    let numbers_alone = ScoreFormat { score_only: true, ..style };
    let rows = scores.iter().map(|score| [score.name.clone(), score.to_line(numbers_alone)]);
    let rows: Vec<[String; 2]> =
        [["metric".into(), "score".into()]].into_iter().chain(rows).collect();
    fn width(column: usize, rows: &[[String; 2]]) -> usize {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    }
    let (names, numbers) = (width(0, &rows), width(1, &rows));
    let details = std::iter::once("").chain(scores.iter().map(|score| &*score.verbose));
    let mut table = String::new();
    for ([name, number], details) in rows.iter().zip(details) {
        let line = format!("{name:<names$}  {number:>numbers$}  {details}");
        let _ = writeln!(table, "{}", line.trim_end());
    }
    table.push('\n');
    for score in scores {
        let _ =
            writeln!(table, "{}|{}", score.name, score.signature.to_text(style.short_signature));
    }
    table
}

/// Aligns lines at their equal signs; a single line is unchanged.
fn align_equal_signs(lines: Vec<String>) -> String {
    if let [line] = &lines[..] {
        return format!("{line}\n");
    }
    let lines: Vec<(String, String)> = lines
        .iter()
        .map(|line| match line.find(" =") {
            Some(at) => (line[..at].to_owned(), line[at..].to_owned()),
            None => (String::new(), line.clone()),
        })
        .collect();
    let widest = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let aligned = lines.iter().map(|(name, rest)| {
        if name.is_empty() { format!("{rest}\n") } else { format!("{name:>widest$}{rest}\n") }
    });
    aligned.collect()
}

fn score_sentences(
    metric: &dyn Metric,
    system: &TextFile,
    references: &[Vec<String>],
    arguments: &Arguments,
) -> anyhow::Result<String> {
    // Only for its checks: texts must have the same number of lines, at least one.
    corpus_statistics(metric, &system.lines, references)?;
    let mut report = String::new();
    for (number, line) in system.lines.iter().enumerate() {
        let references: Vec<&str> = references.iter().map(|text| &text[number][..]).collect();
        let score = sentence_score(metric, line, &references);
        let _ = writeln!(report, "{}", score.to_line(arguments.style()));
    }
    Ok(report)
}
