//! `miriam nmt translate`: translation of text, with Marian's options where it has them and
//! CTranslate2's for the rest.

mod loading;
mod measurement;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use miriam_nmt::search::EarlyStopping;
use miriam_nmt::translate::{
    AlignmentFormat, CostReport, DecodingSettings, LineCounts, LineError, LineFormat,
    OutputSampling, SourceText, TranslationOptions,
};
use miriam_textio::{CancellationToken, Lines, Output};

use super::ignored_options::IgnoredOptions;
use super::language_model::LanguageModelArguments;
use super::line_errors::LineErrors;
use super::models::{DecoderShortlistArguments, ModelArguments, NamedLanguages, Via};
use super::running_text::RunningTextArguments;
use super::value_parsers::{
    batch_size, beam_size, finite, length, length_or_zero, min_probability, non_negative, positive,
    probability_mass,
};
use crate::commands::tuner_cache::AutotunerCacheOptions;
use crate::common::{
    CommonOptions, Threads, check_files, exit_with_usage_error, is_broken_pipe,
    open_argument_or_file, parse_threads,
};
use crate::option_values::parse_number;
use crate::progress::TerminalProgress;
use crate::signals::{SignalHandler, describe_partial_files};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    models: ModelArguments,
    #[command(flatten)]
    candidates: DecoderShortlistArguments,
    #[command(flatten)]
    pivot: PivotArguments,
    #[command(flatten)]
    text: TextArguments,
    #[command(flatten)]
    running_text: RunningTextArguments,
    #[command(flatten)]
    search: SearchArguments,
    #[command(flatten)]
    sampling: SamplingArguments,
    #[command(flatten)]
    language_model: LanguageModelArguments,
    #[command(flatten)]
    batches: BatchArguments,
    #[command(flatten)]
    tuner_cache: AutotunerCacheOptions,
    /// Log the chosen options
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    cost: CostArguments,
    #[command(flatten)]
    ignored_options: IgnoredOptions,
}

/// Options of the report on time and memory of a translation.
#[derive(Args)]
#[command(next_help_heading = "Cost")]
struct CostArguments {
    /// After the translation, report on standard error the numbers of source words and tokens, the
    /// seconds without start-up, and the size of the models
    #[arg(long)]
    report: bool,
    /// The price of an hour of this machine; the report gives the price of a million words
    #[arg(long, value_name = "PRICE", requires = "report", value_parser = price)]
    price: Option<f64>,
}

/// Parses a rule of early stopping.
fn early_stopping(text: &str) -> Result<EarlyStopping, String> {
    text.parse::<EarlyStopping>().map_err(|expected| format!("expected {expected}"))
}

fn price(text: &str) -> Result<f64, String> {
    parse_number(text, |price: f64| price >= 0.0 && price.is_finite(), "a price from 0")
}

/// Options of translation through a third language.
#[derive(Args)]
#[command(next_help_heading = "Models")]
struct PivotArguments {
    /// Translate the output of the models with a second model, a path as for --models. Alignments
    /// and scores are for the words of the last translation; lines are passed on as soon as they
    /// are translated
    #[arg(long, value_name = "PATH")]
    then: Option<PathBuf>,
    /// The language in between, for multilingual models
    #[arg(long, value_name = "LANGUAGE", requires = "then")]
    via: Option<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Text")]
struct TextArguments {
    /// Text to translate, instead of a file; give it before other options
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    given: Option<String>,
    /// Reject TEXT, which marian-decoder does not have
    #[arg(long, hide = true)]
    no_text: bool,
    /// The text, one sentence per line; - for standard input. With --force-decode a second file
    /// has the beginning of each translation
    #[arg(short, long, num_args = 1..=2, value_name = "FILE", default_value = "-")]
    input: Vec<PathBuf>,
    /// The file for translations; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// The format of input lines: text, a sentence; tsv, a sentence, a prefix of its translation
    /// and constraints (||| between them), with tabs between the three; json, an object with
    /// source, prefix and constraints
    #[arg(long, value_name = "FORM", default_value = "text")]
    input_form: InputFormat,
    /// The same as --input-form tsv
    #[arg(long, conflicts_with = "input_form")]
    tsv: bool,
    /// Begin each translation with the line of a second input, or with the second field of its line
    #[arg(long)]
    force_decode: bool,
    /// The input is already tokenised, with spaces between pieces
    #[arg(long)]
    no_spm_encode: bool,
    /// Write pieces, with spaces between them
    #[arg(long)]
    no_spm_decode: bool,
    /// The longest sentence, in pieces with </s>, also for prefixes and constraints. If it is
    /// given, longer lines fail and have empty translations; otherwise they are translated in
    /// parts, cut at ends of sentences, with a message [5000]
    #[arg(long, value_name = "N", value_parser = length())]
    max_length: Option<usize>,
    /// Translate only the beginning of longer sentences
    #[arg(long)]
    max_length_crop: bool,
    /// Fail on longer sentences, even if a configuration crops them; in running text, translate
    /// them in parts
    #[arg(long, conflicts_with = "max_length_crop")]
    no_max_length_crop: bool,
    /// Write n-best lists in Marian's form; without N, their length is the beam size; N is at most
    /// the beam size (times --patience with CTranslate2's rules)
    #[arg(long, num_args = 0..=1, value_name = "N", alias = "num-hypotheses",
          value_parser = beam_size())]
    n_best: Option<Option<usize>>,
    /// Write only the best translation, even if a configuration has n-best
    #[arg(long, conflicts_with = "n_best")]
    no_n_best: bool,
    /// Write alignments of pieces: hard (the default form), for each piece the source piece with
    /// the most attention; soft, all attention; or a threshold from 0 to 1, the source pieces with
    /// more attention. Positions count pieces, not words. Needs a model with attention
    #[arg(long, num_args = 0..=1, value_name = "FORM", default_missing_value = "hard",
          value_parser = str::parse::<AlignmentFormat>)]
    alignment: Option<AlignmentFormat>,
    /// Write no alignments, even if a configuration has alignment
    #[arg(long, conflicts_with = "alignment")]
    no_alignment: bool,
    /// Write the score of each piece
    #[arg(long)]
    word_scores: bool,
    /// Write no scores of pieces, even if a configuration has word-scores
    #[arg(long, conflicts_with = "word_scores")]
    no_word_scores: bool,
    /// Replace an unknown word of a translation by the source word with the most attention; implies
    /// --allow-unk
    #[arg(long)]
    replace_unknowns: bool,
    /// Keep unknown words, even if the package's program replaces them
    #[arg(long, conflicts_with = "replace_unknowns")]
    no_replace_unknowns: bool,
    /// Write errors of lines to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
}

impl TextArguments {
    /// Whether lines have prefixes and constraints.
    fn has_fields(&self) -> bool {
        self.tsv || !matches!(self.input_form, InputFormat::Text)
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum InputFormat {
    Text,
    Tsv,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum SemanticsName {
    Marian,
    Ctranslate2,
}

/// Search options, whose defaults depend on the format of the model.
#[derive(Args)]
#[command(next_help_heading = "Search")]
pub struct SearchArguments {
    /// Hypotheses kept at each step; 1 is greedy [Marian 12, CTranslate2 2]
    #[arg(short, long, value_name = "N", value_parser = beam_size())]
    beam_size: Option<usize>,
    /// Divide scores by the length to this power [Marian 0, CTranslate2 1]
    #[arg(short, long, num_args = 0..=1, value_name = "A", default_missing_value = "1",
          alias = "length-penalty", allow_negative_numbers = true, value_parser = finite)]
    normalize: Option<f32>,
    /// Subtract this from the score for each word
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = finite)]
    word_penalty: Option<f32>,
    /// The maximum target/source length ratio, in words [Marian 3, CTranslate2 none]
    #[arg(long, value_name = "F", value_parser = positive)]
    max_length_factor: Option<f32>,
    /// The maximum number of words of a translation [Marian none, CTranslate2 256]
    #[arg(long, value_name = "N", value_parser = length())]
    max_decoding_length: Option<usize>,
    /// The minimum number of words of a translation [Marian 0, CTranslate2 1]
    #[arg(long, value_name = "N", alias = "min-decoding-length", value_parser = length_or_zero())]
    min_length: Option<usize>,
    /// The program whose rules end the search and whose defaults apply to the other options [the
    /// program that the model was made for]
    #[arg(long, value_name = "NAME")]
    search: Option<SemanticsName>,
    /// With CTranslate2's rules, search until the number of ended hypotheses is P times the beam
    /// size [1]
    #[arg(long, value_name = "P", value_parser = positive)]
    patience: Option<f32>,
    /// With CTranslate2's rules, end a beam search by the rule of transformers [of a Hugging Face
    /// folder]: true ends it once as many hypotheses have ended as the beam has, false when the
    /// others seem unable to become better, never only if they cannot
    #[arg(long, value_name = "true|false|never", value_parser = early_stopping)]
    early_stopping: Option<EarlyStopping>,
    /// The weight of the penalty for source words without attention
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = finite)]
    coverage_penalty: Option<f32>,
    /// Divide the scores of already generated words by this; 1 is off
    #[arg(long, value_name = "P", value_parser = positive)]
    repetition_penalty: Option<f32>,
    /// Repeat no sequence of N words; 0 allows all
    #[arg(long, value_name = "N", value_parser = length_or_zero())]
    no_repeat_ngram_size: Option<usize>,
    /// Stop when the best unfinished hypothesis is more than D below the best finished one
    /// (natural logarithm)
    #[arg(long, value_name = "D", value_parser = non_negative)]
    early_stop: Option<f32>,
    /// Allow the unknown word [CTranslate2's models allow it]
    #[arg(long)]
    allow_unk: bool,
    /// Do not allow the unknown word
    #[arg(long, conflicts_with = "allow_unk")]
    disable_unk: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Sampling")]
pub struct SamplingArguments {
    /// Draw words at random from the K best ones; 0 for all
    #[arg(long, value_name = "K", value_parser = length_or_zero())]
    sampling_topk: Option<usize>,
    /// Draw words at random from the best ones, up to this share of probability
    #[arg(long, value_name = "P", value_parser = probability_mass)]
    sampling_topp: Option<f32>,
    /// Draw words at random from those with at least this probability
    #[arg(long, value_name = "P", value_parser = min_probability)]
    sampling_epsilon: Option<f32>,
    /// Divide logits by this
    #[arg(long, value_name = "T", value_parser = positive)]
    sampling_temperature: Option<f32>,
    /// Sampling as Marian spells it: full [T], topk K [T], topp P [T] or epsilon E [T]
    #[arg(long, num_args = 0..=3, value_names = ["KIND", "N", "T"],
          conflicts_with_all = ["sampling_topk", "sampling_topp", "sampling_epsilon",
                                "sampling_temperature"])]
    output_sampling: Option<Vec<String>>,
    /// The seed of random numbers; 0 chooses another seed in each run [1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Options for speed, which do not change results.
#[derive(Args)]
#[command(next_help_heading = "Speed")]
struct BatchArguments {
    /// Sentences translated together [that of a configuration, or 32]
    #[arg(long, value_name = "N", alias = "max-batch-size", value_parser = batch_size())]
    mini_batch: Option<usize>,
    /// The maximum number of source words translated together, which limits memory; a longer
    /// sentence is translated alone, and 0 sets no limit [that of a configuration, or 4096]
    #[arg(long, value_name = "N", value_parser = length_or_zero())]
    mini_batch_words: Option<usize>,
    /// The number of batches read ahead and sorted [that of a configuration, or 20]
    #[arg(long, value_name = "N", value_parser = batch_size())]
    maxi_batch: Option<usize>,
    /// Sort what is read ahead by the length of the source (src), or not (none); trg, a value of
    /// Marian's, sorts by source too [that of a configuration, or src]
    #[arg(long, value_name = "KEY", value_parser = ["src", "trg", "none"])]
    maxi_batch_sort: Option<String>,
    /// The same as --threads; 0, which selects GPUs in Marian, has no effect
    #[arg(long, value_name = "N", value_parser = parse_cpu_threads)]
    cpu_threads: Option<CpuThreads>,
}

impl Arguments {
    fn override_options(
        &self,
        mut options: TranslationOptions,
        common: &CommonOptions,
    ) -> anyhow::Result<TranslationOptions> {
        fn set<T: Copy>(option: &mut T, given: Option<T>) {
            *option = given.unwrap_or(*option);
        }
        let (text, batches) = (&self.text, &self.batches);
        self.settings().apply(&mut options);
        let search = &mut options.search;
        if text.no_n_best {
            options.output.n_best = false;
            search.n_best = 1;
        }
        if text.n_best.is_some() || options.output.n_best {
            options.output.n_best = true;
            search.n_best = text.n_best.flatten().unwrap_or(search.beam_size);
            if let Some(Some(wanted)) = text.n_best
                && search.n_best_limit().is_some_and(|limit| wanted > limit)
            {
                let limit = search.describe_n_best_limit();
                exit_with_usage_error(format!(
                    "--n-best {wanted} is more than {limit}; raise --beam-size"
                ));
            }
        }
        if search.min_length > search.max_length {
            exit_with_usage_error(format!(
                "--min-length {} is more than the maximum length of a translation, {}; raise \
                 --max-decoding-length",
                search.min_length, search.max_length
            ));
        }
        self.models.place(&mut options)?;
        options.threads = match batches.cpu_threads {
            Some(CpuThreads(Some(threads))) => threads.count(),
            // One thread keeps a GPU busy.
            None | Some(CpuThreads(None)) if options.devices.is_cuda() => options.threads,
            None | Some(CpuThreads(None)) => common.threads.count(),
        };
        set(&mut options.mini_batch, batches.mini_batch);
        set(&mut options.mini_batch_words, batches.mini_batch_words);
        set(&mut options.maxi_batch, batches.maxi_batch);
        set(
            &mut options.sort_by_length,
            batches.maxi_batch_sort.as_deref().map(|key| key != "none"),
        );
        options.input.format = match (text.input_form, text.tsv) {
            (_, true) | (InputFormat::Tsv, _) => LineFormat::Tsv,
            (InputFormat::Text, _) => LineFormat::Sentence,
            (InputFormat::Json, _) => LineFormat::Json,
        };
        options.input.is_tokenized |= text.no_spm_encode;
        options.output.as_pieces |= text.no_spm_decode;
        options.output.alignment =
            text.alignment.or(options.output.alignment).filter(|_| !text.no_alignment);
        options.output.word_scores |= text.word_scores;
        options.output.word_scores &= !text.no_word_scores;
        if self.running_text.is_given() {
            // The crop mode of a configuration must not drop parts of running text.
            options.input.crop = text.max_length_crop;
        }
        self.running_text.apply(&mut options);
        Ok(options)
    }

    /// Returns the decoding options that servers and Python also have.
    fn settings(&self) -> DecodingSettings {
        let text = &self.text;
        DecodingSettings {
            lm_weight: self.language_model.lm_weight.map(Into::into),
            replace_unknowns: flag(text.replace_unknowns, text.no_replace_unknowns),
            max_length: text.max_length,
            max_length_crop: flag(text.max_length_crop, text.no_max_length_crop),
            ..DecodingSettings::default()
        }
        .or(self.search.settings())
        .or(self.sampling.settings())
    }
}

/// Returns the value that two opposite switches set; `None` if neither is given.
fn flag(on: bool, off: bool) -> Option<bool> {
    on.then_some(true).or(off.then_some(false))
}

impl SearchArguments {
    /// Returns the decoding options that are given.
    pub fn settings(&self) -> DecodingSettings {
        DecodingSettings {
            beam_size: self.beam_size,
            normalize: self.normalize.map(Into::into),
            word_penalty: self.word_penalty.map(Into::into),
            max_length_factor: self.max_length_factor.map(Into::into),
            max_decoding_length: self.max_decoding_length,
            min_length: self.min_length,
            patience: self.patience.map(Into::into),
            early_stopping: self.early_stopping,
            coverage_penalty: self.coverage_penalty.map(Into::into),
            repetition_penalty: self.repetition_penalty.map(Into::into),
            no_repeat_ngram_size: self.no_repeat_ngram_size,
            early_stop: self.early_stop.map(Into::into),
            allow_unk: flag(self.allow_unk, self.disable_unk),
            ..DecodingSettings::default()
        }
    }

    /// Returns the name of the program whose rules end the search, if it is given.
    #[cfg(feature = "serve")]
    pub fn semantics_name(&self) -> Option<String> {
        let value = self.search?.to_possible_value()?;
        Some(value.get_name().to_owned())
    }
}

/// The number of CPU threads; `None` for 0, which selects GPUs in Marian.
#[derive(Clone, Copy)]
pub struct CpuThreads(pub Option<Threads>);

/// Parses a number of CPU threads.
pub fn parse_cpu_threads(text: &str) -> Result<CpuThreads, String> {
    if text == "0" {
        return Ok(CpuThreads(None));
    }
    Ok(CpuThreads(Some(parse_threads(text)?)))
}

impl SamplingArguments {
    /// Returns the decoding options that are given. An invalid one ends the program.
    pub fn settings(&self) -> DecodingSettings {
        DecodingSettings {
            sampling_topk: self.sampling_topk,
            sampling_topp: self.sampling_topp.map(Into::into),
            sampling_epsilon: self.sampling_epsilon.map(Into::into),
            sampling_temperature: self.sampling_temperature.map(Into::into),
            output_sampling: self.output_sampling(),
            seed: self.seed,
            ..DecodingSettings::default()
        }
    }

    /// Parses sampling as Marian writes it.
    fn output_sampling(&self) -> Option<OutputSampling> {
        let words = self.output_sampling.as_ref()?.join(" ");
        let found = OutputSampling::parse(&words);
        Some(found.unwrap_or_else(|wanted| {
            exit_with_usage_error(format!("--output-sampling {words}: expected {wanted}"))
        }))
    }
}

impl PivotArguments {
    /// Returns the source and target languages of the first and of the second model.
    fn languages<'a>(&'a self, models: &'a ModelArguments) -> [NamedLanguages<'a>; 2] {
        let (from, to) = (models.shared.from.as_deref(), models.shared.to.as_deref());
        let via = self.via.as_deref();
        match self.then {
            None => [NamedLanguages { from, to, via: None }; 2],
            Some(_) => [
                NamedLanguages { from, to: None, via: via.map(Via::To) },
                NamedLanguages { from: None, to, via: via.map(Via::From) },
            ],
        }
    }
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let text = &arguments.text;
    arguments.ignored_options.check(text.tsv || matches!(text.input_form, InputFormat::Tsv));
    if let Some(given) = text.given.as_deref().filter(|_| text.no_text) {
        exit_with_usage_error(format!(
            "{given:?}: unexpected argument; the text comes from --input or standard input, and \
             --vocabs takes at most two files"
        ));
    }
    if text.input.len() > 1 && !text.force_decode {
        exit_with_usage_error(
            "a second --input file is read only with --force-decode; add this option",
        );
    }
    let fields = text.has_fields();
    if text.force_decode && text.input.len() < 2 && !fields {
        exit_with_usage_error("--force-decode needs a second --input file, or --tsv");
    }
    let outputs = [("--output", Some(&text.output)), ("--errors", text.errors.as_ref())];
    check_files(text.input.iter().chain(arguments.language_model.file()), &outputs)?;
    let outputs = outputs.iter().filter_map(|(_, path)| path.map(PathBuf::as_path));
    arguments.models.check_outputs(outputs)?;
    if arguments.pivot.then.is_some() && (fields || text.force_decode) {
        exit_with_usage_error(
            "--then takes plain lines; leave out --tsv, --input-form and --force-decode, whose \
             prefixes and constraints are for one model",
        );
    }
    let loaded = arguments.load(common)?;
    // Translations that appear on a terminal show the progress by themselves.
    let shown = text.output.as_os_str() == "-" && io::stdout().is_terminal();
    let progress = TerminalProgress::new(common.quiet || shown);
    let stop = CancellationToken::new();
    // Opening waits for the first bytes, which a signal may interrupt.
    let open = |argument: Option<&str>, path: &PathBuf| -> anyhow::Result<_> {
        let input = open_argument_or_file(argument, path)?;
        let is_file = input.size().is_some();
        // Lines are read in the background, so that a signal can end a wait for input.
        Ok((Lines::in_background(input).until_cancelled(&stop), is_file))
    };
    let (lines, is_file) = open(text.given.as_deref(), &text.input[0])?;
    let prefixes = text.input.get(1).map(|path| open(None, path)).transpose()?;
    let prefixes = prefixes.map(|(lines, _)| lines);
    let source = SourceText { lines, prefixes };
    // Output is created only after input could be opened.
    let output = Output::create(&text.output)?;
    let mut line_errors =
        LineErrors::new(miriam_textio::display_name(&text.input[0]), text.errors.as_deref())?
            .with_errors_option();
    let interrupts = SignalHandler::install(&stop)?;
    let mut report = |error: &LineError| line_errors.report(error);
    let start = Instant::now();
    let outcome = loaded.translate(source, !is_file, output, &stop, &progress, &mut report);
    let time = start.elapsed();
    let chosen = loaded.tuner_cache.save();
    if arguments.verbose {
        tracing::info!("GEMM kernels chosen now: {chosen}");
    }
    let reported = line_errors.finish(outcome.is_ok() && !stop.is_cancelled());
    if let Ok(counts) = outcome
        && arguments.cost.report
    {
        let price = arguments.cost.price;
        let report = CostReport { counts, time, model_bytes: loaded.model_bytes, price };
        crate::console::print_error(report.to_text());
    }
    let outcome =
        outcome.and_then(|reached| reported.and(Ok(reached))).map_err(anyhow::Error::from);
    // A signal to a whole pipeline may end the reader of the output too.
    if outcome.as_ref().err().is_none_or(is_broken_pipe) {
        let LineCounts { read, written, .. } = *outcome.as_ref().unwrap_or(&LineCounts::default());
        let lost = read - written;
        interrupts.reraise_signal_with_message(&format!(
            "{written} lines are translated and written, {lost} were read but not written{}",
            describe_partial_files([text.output.as_path()])
        ));
    }
    outcome.map(drop)
}
