//! `miriam lm perplexity`: perplexity of text, and filtering of lines by it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use miriam_glm::device::DeviceChoice;
use miriam_lmcpu::perplexity::{
    BucketOptions, Cutoffs, JsonOptions, LineCounts, Percent, PerplexityFilter, PerplexityOptions,
    Preparation, PrepareText, perplexity, perplexity_distribution,
};
use miriam_lmcpu::{LanguageModel, OpenOptions};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, NoProgress, Output, display_name};
use miriam_textproc::sentencepiece::Encoding;
use miriam_textproc::{SentencePiece, normalize_ccnet};

use super::kept_inputs::KeptInputs;
use super::open_lm::open_model;
use super::output_folder::{OutputFolder, TextWithOutput};
use crate::arpa_arguments::ArpaArguments;
use crate::common::{
    CommonOptions, check_stdin_use, exit_with_usage_error, open_text, parse_load_mode,
};
use crate::option_values::parse_number;

/// The field with the language of a document, as in CCNet.
const LANGUAGE_FIELD: &str = "language";

#[derive(Args)]
pub struct Arguments {
    /// A model file, a KenLM binary file, or ARPA text (plain, .gz, .zst, .bz2 or .xz)
    #[arg(required_unless_present = "input")]
    model: Option<PathBuf>,
    /// Where to compute: cpu, cuda or cuda:N (a glm file on a GPU), or auto for a GPU if
    /// there is one
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Write log10 probability, tokens (with </s>), unknown words and perplexity of each
    /// line instead of the summary, separated by tabs; to JSON lines, add the
    /// keys lm_log10, lm_tokens, lm_oov and lm_perplexity
    #[arg(long)]
    per_line: bool,
    /// Lines are JSON objects, and the text is in this field (a.b is b in the object a).
    /// Text of several lines is scored line by line and summed
    #[arg(long, value_name = "NAME")]
    json_field: Option<String>,
    /// Normalise text before scoring; ccnet: as for CCNet's models (lower case, no accents, digits
    /// 0, ASCII punctuation). The output is the original text
    #[arg(long, value_name = "NAME", value_parser = ["ccnet"])]
    normalize: Option<String>,
    /// Split text into the pieces of this SentencePiece model after normalisation. The text of a
    /// document is then one line
    #[arg(long, value_name = "FILE")]
    spm: Option<PathBuf>,
    /// Write these percentiles of the perplexities of lines instead of the summary, as a CSV table
    /// that --cutoffs reads; for JSON lines, the table has a column for each language
    #[arg(long, value_name = "LIST", num_args = 0..=1, value_parser = parse_percentiles,
          default_missing_value = "0,5,10,15,20,25,30,35,40,45,50,55,60,65,70,75,80,85,90,95,100",
          conflicts_with_all = ["per_line", "cutoffs", "min_perplexity", "max_perplexity",
                                "keep_percent"])]
    percentiles: Option<Percentiles>,
    /// Add two keys to each document: perplexity, rounded to a tenth, and bucket. The bucket
    /// follows from the percentiles in this file, which CCNet or --percentiles wrote: head below
    /// the 30th, middle below the 60th, else tail; all if the language has no percentiles
    #[arg(long, value_name = "CSV", requires = "json_field")]
    cutoffs: Option<PathBuf>,
    /// The field with the language of a document, for --cutoffs and --percentiles
    /// [default: language]
    #[arg(long, value_name = "NAME", requires = "json_field")]
    lang_field: Option<String>,
    /// Skip lines that are not JSON objects with text in this field, and report their number;
    /// otherwise the first such line is an error. It is always an error if all lines are invalid
    #[arg(long, requires = "json_field")]
    skip_invalid: bool,
    /// Write the lines of at most this perplexity, unchanged, instead of the
    /// summary: 10^(-log10/tokens), unknown words and </s> included
    #[arg(long, value_name = "X", value_parser = parse_perplexity)]
    max_perplexity: Option<f64>,
    /// Write the lines of at least this perplexity (lower is often boilerplate)
    #[arg(long, value_name = "X", value_parser = parse_perplexity)]
    min_perplexity: Option<f64>,
    /// Write this percentage of the lines, those with the lowest perplexity (of equal lines, the
    /// first ones). The text is read twice; standard input and pipes are kept in a temporary file
    #[arg(long, value_name = "N", value_parser = str::parse::<Percent>)]
    keep_percent: Option<Percent>,
    /// Write the other lines instead
    #[arg(long)]
    invert: bool,
    /// How a model file is loaded: lazy (mapped, pages read on access), populate (mapped
    /// and read now) or huge (read into huge pages: private memory, faster queries)
    #[arg(long, value_name = "MODE", default_value = "populate", value_parser = parse_load_mode)]
    load: LoadMethod,
    #[command(flatten)]
    arpa_text: ArpaArguments,
    /// Do not put <s> before and </s> after each line
    #[arg(long)]
    no_markers: bool,
    /// The text: plain, .gz, .zst, .bz2 or .xz; - for standard input. Several files are read as one
    /// text
    #[arg(short, long, value_name = "FILE", num_args = 1.., default_value = "-")]
    input: Vec<PathBuf>,
    /// The file to write, compressed when named .gz, .zst, .bz2 or .xz; - for standard output. A
    /// folder (an existing one, or a name with / at its end) gets an output for each input, under
    /// its name; existing outputs are complete and are skipped
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

fn parse_perplexity(text: &str) -> Result<f64, String> {
    parse_number(text, |number: f64| number >= 0.0, "a number from 0")
}

/// The percentiles of a table.
#[derive(Clone)]
struct Percentiles(Vec<Percent>);

fn parse_percentiles(text: &str) -> Result<Percentiles, String> {
    let percents: Result<Vec<Percent>, String> = text.split(',').map(str::parse).collect();
    let hint = "separate them by commas; the model comes before this option or after another one";
    percents.map(Percentiles).map_err(|reason| format!("{reason}; {hint}"))
}

/// Returns the steps of `--normalize` and `--spm`.
fn preparation(arguments: &Arguments) -> anyhow::Result<Option<Preparation>> {
    let normalizes = arguments.normalize.is_some();
    let pieces = arguments.spm.as_deref().map(SentencePiece::open).transpose()?.map(Arc::new);
    if !normalizes && pieces.is_none() {
        return Ok(None);
    }
    let joins_lines = pieces.is_some();
    Ok(Some(Preparation::new(joins_lines, move || -> PrepareText {
        let (pieces, mut encoding, mut normal) = (pieces.clone(), Encoding::new(), Vec::new());
        Box::new(move |text, out| {
            normal.clear();
            if normalizes {
                normalize_ccnet(text, &mut normal);
            } else {
                normal.extend_from_slice(text);
            }
            let Some(pieces) = &pieces else { return out.extend_from_slice(&normal) };
            pieces.encode(&normal, &mut encoding);
            for (place, piece) in pieces.pieces(&encoding).enumerate() {
                out.extend_from_slice(if place > 0 { b" " } else { b"" });
                out.extend_from_slice(piece);
            }
        })
    })))
}

fn read_cutoffs(path: &Path) -> anyhow::Result<Cutoffs> {
    let mut text = String::new();
    Input::open(path)?
        .read_to_string(&mut text)
        .with_context(|| format!("{}: cannot be read", path.display()))?;
    Cutoffs::parse(&text).map_err(|reason| anyhow::anyhow!("{}: {reason}", path.display()))
}

impl Arguments {
    fn has_filter(&self) -> bool {
        self.min_perplexity.is_some()
            || self.max_perplexity.is_some()
            || self.keep_percent.is_some()
    }

    fn check_usage(&self) {
        if self.per_line && self.has_filter() && self.json_field.is_none() {
            exit_with_usage_error(
                "--per-line with a filter needs --json-field: a line of plain text has no field for \
                 scores",
            );
        }
        if self.invert && !self.has_filter() {
            exit_with_usage_error(
                "--invert needs --max-perplexity, --min-perplexity or --keep-percent",
            );
        }
        if self.lang_field.is_some() && self.cutoffs.is_none() && self.percentiles.is_none() {
            exit_with_usage_error("--lang-field is for --cutoffs and --percentiles");
        }
    }

    /// Returns the model and the texts. A model that follows the files of `-i` is parsed as the
    /// last of them.
    fn split_files(&self) -> (PathBuf, Vec<PathBuf>) {
        let mut texts = self.input.clone();
        match &self.model {
            Some(model) => (model.clone(), texts),
            None if texts.len() > 1 => (texts.pop().expect("there are two"), texts),
            None => exit_with_usage_error("the model is missing; give it before -i"),
        }
    }

    fn options(&self, common: &CommonOptions) -> anyhow::Result<PerplexityOptions> {
        let language_field = self.lang_field.as_deref().unwrap_or(LANGUAGE_FIELD);
        let buckets = match &self.cutoffs {
            Some(path) => Some(BucketOptions {
                cutoffs: read_cutoffs(path)?,
                language_field: language_field.to_owned(),
            }),
            None => None,
        };
        let json = self.json_field.clone().map(|field| JsonOptions {
            field,
            skip_invalid: self.skip_invalid,
            buckets,
            needs_language: self.lang_field.is_some(),
        });
        let all = PerplexityFilter::default();
        let filter = PerplexityFilter {
            min_perplexity: self.min_perplexity.unwrap_or(all.min_perplexity),
            max_perplexity: self.max_perplexity.unwrap_or(all.max_perplexity),
            rank_limit: None,
            invert: self.invert,
        };
        Ok(PerplexityOptions {
            sentence_markers: !self.no_markers,
            threads: common.threads.count(),
            per_line: self.per_line,
            preparation: preparation(self)?,
            json,
            filter: self.has_filter().then_some(filter),
        })
    }
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    arguments.check_usage();
    let (model, texts) = arguments.split_files();
    let others = [Some(&model), arguments.cutoffs.as_ref(), arguments.spm.as_ref()];
    let others: Vec<&PathBuf> = others.into_iter().flatten().collect();
    check_stdin_use(texts.iter().chain(others.iter().copied()));
    let (texts, num_skipped) = match OutputFolder::at(&arguments.output) {
        Some(folder) => folder.plan(&texts)?,
        None => (vec![TextWithOutput { inputs: texts, output: arguments.output.clone() }], 0),
    };
    for text in &texts {
        for input in text.inputs.iter().chain(others.iter().copied()) {
            Input::check_access(input, Some(&text.output))?;
        }
    }
    let options = arguments.options(common)?;
    let mut lines = LineCounts::default();
    if !texts.is_empty() {
        let opening = OpenOptions { load: arguments.load, arpa: arguments.arpa_text.options() };
        let model = open_model(&model, opening, arguments.device, common)?;
        for text in &texts {
            let counts = score_text(&*model, text, options.clone(), &arguments, common)?;
            lines.read += counts.read;
            lines.kept += counts.kept;
            lines.invalid += counts.invalid;
        }
    }
    if num_skipped > 0 {
        let all = texts.len() + num_skipped;
        tracing::info!(
            "skipped {num_skipped} of {all} inputs, whose outputs are complete; remove an output \
             to write it again"
        );
    }
    if options.filter.is_some() {
        tracing::info!("kept {} of {} lines", lines.kept, lines.read);
    }
    if arguments.skip_invalid {
        tracing::info!("left out {} of {} lines as invalid", lines.invalid, lines.read);
    }
    Ok(())
}

/// Scores one text and writes its output.
fn score_text(
    model: &dyn LanguageModel,
    text: &TextWithOutput,
    mut options: PerplexityOptions,
    arguments: &Arguments,
    common: &CommonOptions,
) -> anyhow::Result<LineCounts> {
    let progress = common.progress();
    // The size is unknown if any input is a pipe.
    let size = |path: &PathBuf| path.metadata().ok().filter(|m| m.is_file()).map(|m| m.len());
    let size = text.inputs.iter().map(size).sum();
    // There may be thousands of inputs, so they are opened one at a time.
    let inputs = || text.inputs.iter().map(|path| open_text(path));
    let mut output = Output::create(&text.output)?;
    let lines = if let Some(Percentiles(percents)) = &arguments.percentiles {
        let language_field = arguments.lang_field.as_deref().unwrap_or(LANGUAGE_FIELD);
        let (found, lines) = perplexity_distribution(
            model,
            &mut inputs(),
            size,
            &options,
            Some(language_field),
            &progress,
        )?;
        let Some(table) = found.into_percentile_table(percents) else {
            bail!("there are no percentiles: no line of the text has a perplexity");
        };
        output.write(&table)?;
        lines
    } else if let (Some(share), Some(filter)) = (arguments.keep_percent, options.filter) {
        let kept = KeptInputs::new(&text.inputs)?;
        let mut first = kept.read_first();
        let (found, _) =
            perplexity_distribution(model, &mut first, size, &options, None, &progress)?;
        let limit = found.into_rank_limit(share);
        tracing::debug!("the highest perplexity of the best {share} % is {}", limit.perplexity);
        options.filter = Some(PerplexityFilter { rank_limit: Some(limit), ..filter });
        perplexity(model, &mut kept.read_again(), size, &mut output, &options, &progress)?.1
    } else {
        perplexity(model, &mut inputs(), size, &mut output, &options, &progress)?.1
    };
    output.finish()?;
    if lines.read == 0 {
        let names: Vec<String> = text.inputs.iter().map(|path| display_name(path)).collect();
        tracing::warn!("{}: the text is empty, so there is nothing to score", names.join(", "));
    }
    Ok(lines)
}

impl Arguments {
    /// Whether options name texts or outputs, read a text twice, or write percentiles. A
    /// measurement has its own text, reads it once, and only scores it.
    pub fn names_texts(&self) -> bool {
        let is_standard = |path: &Path| path.as_os_str() == "-";
        self.model.is_none()
            || !is_standard(&self.output)
            || !self.input.iter().all(|path| is_standard(path))
            || self.percentiles.is_some()
            || self.keep_percent.is_some()
    }

    /// Opens the model, and returns the function that scores a text and discards the output, as
    /// `bench scaling` measures it.
    ///
    /// # Errors
    /// If the model cannot be opened, or a file of the options cannot be read.
    pub fn load_for_measurement(
        self,
        common: &CommonOptions,
    ) -> anyhow::Result<impl FnMut(Input) -> anyhow::Result<()>> {
        self.check_usage();
        let (model, _) = self.split_files();
        let options = self.options(common)?;
        let opening = OpenOptions { load: self.load, arpa: self.arpa_text.options() };
        let model = open_model(&model, opening, self.device, common)?;
        Ok(move |text: Input| {
            let mut output = Output::create(Path::new("/dev/null"))?;
            let mut inputs = std::iter::once(Ok(text));
            perplexity(&*model, &mut inputs, None, &mut output, &options, &NoProgress)?;
            Ok(output.finish()?)
        })
    }
}
