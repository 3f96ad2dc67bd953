//! The parameters that this decoder honours, and the error about an unknown one.

use std::fmt::Write;

use miriam_textio::{shorten, suggest_name};

use super::{old_format, unsupported_options};

/// A parameter the decoder honours.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ParameterInfo {
    /// The long name, which is also the ini section.
    pub name: &'static str,
    /// The short name on the command line; may be empty.
    pub short: &'static str,
    /// The form of its values in the help text, such as `N|all`; empty if it has none.
    pub values: &'static str,
    /// Its help text.
    pub help: &'static str,
}

const fn parameter(
    name: &'static str,
    short: &'static str,
    values: &'static str,
    help: &'static str,
) -> ParameterInfo {
    ParameterInfo { name, short, values, help }
}

/// Every parameter the decoder honours.
const SUPPORTED: &[ParameterInfo] = &[
    parameter(
        "config",
        "f",
        "FILE",
        "moses.ini, or its folder: the features, weights and defaults of a system",
    ),
    parameter(
        "input-file",
        "i",
        "FILE",
        "text to translate, one sentence per line; plain, .gz, .zst, .bz2 or .xz; - or absent: standard input",
    ),
    parameter(
        "output-file",
        "o",
        "FILE",
        "file for the translations; - or absent: standard output",
    ),
    parameter("threads", "th", "N|all", "worker threads [all]"),
    parameter(
        "cpus",
        "",
        "LIST",
        "the CPUs that workers get in turn, such as 0,2,4-7 [the system chooses]",
    ),
    parameter(
        "cpu-affinity-offset",
        "",
        "N",
        "the first worker's CPU, counted from 0; -1 lets the system choose [-1]",
    ),
    parameter("cpu-affinity-increment", "", "N", "step from a worker's CPU to the next one's [1]"),
    parameter("search-algorithm", "", "0|1|14", "0 stack decoding, 1 or 14 cube pruning [0]"),
    parameter("stack", "s", "N", "hypotheses kept per stack (cube pruning: per mini-stack) [200]"),
    parameter(
        "cube-pruning-pop-limit",
        "cbp",
        "N",
        "hypotheses taken from the queue of each stack [1000]",
    ),
    parameter(
        "cube-pruning-diversity",
        "cbd",
        "N",
        "not 0: beyond the pop limit, also take the best hypothesis of every edge [0]",
    ),
    parameter(
        "cube-pruning-lazy-scoring",
        "cbls",
        "BOOL",
        "score stateful features only of hypotheses that are taken from the queue [false]",
    ),
    parameter("beam-threshold", "b", "X", "beam as a probability, 0 to 1 [0.00001]"),
    parameter(
        "distortion-limit",
        "dl",
        "N",
        "farthest jump in words; -1 unlimited, 0 monotone [-1]",
    ),
    parameter(
        "early-distortion-cost",
        "edc",
        "BOOL",
        "charge jumps as soon as they are unavoidable (Moore and Quirk 2007) [false]",
    ),
    parameter(
        "exact-recombination",
        "",
        "BOOL",
        "do not recombine hypotheses that later phrases may score differently, as in Moses 1; \
         Moses2's rule recombines more [false]",
    ),
    parameter("max-phrase-length", "", "N", "longest source phrase looked up [20]"),
    parameter("drop-unknown", "du", "BOOL", "drop unknown words [false]"),
    parameter("mark-unknown", "mu", "BOOL", "mark unknown words by a prefix and a suffix [false]"),
    parameter("unknown-word-prefix", "", "TEXT", "prefix of marked unknown words [UNK]"),
    parameter("unknown-word-suffix", "", "TEXT", "suffix of marked unknown words []"),
    parameter(
        "output-hypo-score",
        "",
        "BOOL",
        "print the model score before each translation [false]",
    ),
    parameter("report-segmentation", "t", "", "print |start-end| after each phrase"),
    parameter(
        "report-segmentation-enriched",
        "tt",
        "",
        "print |start-end,values| after each phrase: feature values of the translation up to there",
    ),
    parameter("print-id", "", "BOOL", "print the line's number before each translation [false]"),
    parameter("start-translation-id", "", "N", "the number of the first line [0]"),
    parameter(
        "print-alignment-info",
        "",
        "BOOL",
        "print ||| and the word alignment after each translation [false]",
    ),
    parameter(
        "sort-word-alignment",
        "",
        "0|1",
        "sort alignments by source (0) or target position (1) [0]",
    ),
    parameter(
        "n-best-list",
        "",
        "FILE SIZE [distinct]",
        "the SIZE + 1 best translations with feature values; FILE - prints them instead of the best one",
    ),
    parameter("n-best-factor", "", "N", "candidates tried: at most N times SIZE [20]"),
    parameter("labeled-n-best-list", "", "BOOL", "feature names in n-best lists [true]"),
    parameter("include-segmentation-in-n-best", "", "BOOL", "a column source=target [false]"),
    parameter("print-alignment-info-in-n-best", "", "BOOL", "a column of word alignment [false]"),
    parameter("alignment-output-file", "", "FILE", "word alignments, one line per sentence"),
    parameter("output-unknowns", "", "FILE", "unknown words, one line per sentence"),
    parameter(
        "output-search-graph",
        "osg",
        "FILE",
        "the search graph, one JSON object per sentence",
    ),
    parameter(
        "translation-details",
        "T",
        "FILE",
        "the origin of each phrase, one block per sentence",
    ),
    parameter(
        "keep-cr",
        "",
        "BOOL",
        "keep a carriage return at a line's end as part of its last word, as Moses2 does [false]",
    ),
    parameter(
        "always-create-direct-transopt",
        "",
        "BOOL",
        "every word may also be copied, as if it were unknown [false]",
    ),
    parameter(
        "errors",
        "",
        "FILE",
        "a JSON line for each sentence that failed or was cut short: line, kind, reason",
    ),
    parameter(
        "timeout-ms",
        "",
        "N",
        "milliseconds after which a sentence is translated by a narrower search",
    ),
    parameter("segment-time-out", "", "N", "as timeout-ms, in seconds"),
    parameter("time-out", "", "N", "as segment-time-out"),
    parameter("show-weights", "", "", "print the weights of all features and exit"),
    parameter(
        "rescore",
        "",
        "LINE",
        "models that score the n-best list of a sentence: NeuralModel path=.., NgramModel path=.. (usually in the ini)",
    ),
    parameter(
        "rescore-n-best",
        "",
        "N",
        "the least number of n-best entries that the models of [rescore] score [100]",
    ),
    parameter(
        "rescore-weight",
        "",
        "LINE",
        "weights of all features in rescored lists, instead of [weight] (usually in the ini)",
    ),
    parameter("feature", "", "LINE", "feature functions (usually in the ini)"),
    parameter("feature-add", "", "LINE", "additional feature functions"),
    parameter("feature-overwrite", "", "LINE", "\"NAME KEY=VALUE ..\": changes keys of a feature"),
    parameter("weight", "", "LINE", "weights of the features (usually in the ini)"),
    parameter("weight-add", "", "LINE", "\"NAME= W ...\": weights that [weight] overrides"),
    parameter(
        "weight-overwrite",
        "",
        "LINE",
        "\"NAME= W ... NAME= W ...\": weights that override [weight]; x keeps a weight",
    ),
    parameter("mapping", "", "LINE", "decoding steps (usually in the ini)"),
    parameter(
        "decoding-graph-backoff",
        "dpb",
        "N",
        "spans that each step looks up: 0 all, -1 those without options so far, N such of up to N words [0]",
    ),
    parameter("input-factors", "", "LIST", "the factor in each column of an input word [0,1,..]"),
    parameter("output-factors", "", "LIST", "factors that are printed [0]"),
    parameter("factor-delimiter", "fd", "TEXT|none", "separator of the factors of a word [|]"),
    parameter(
        "output-factor-delimiter",
        "",
        "TEXT",
        "separator of factors in the output [factor-delimiter]",
    ),
    parameter("report-all-factors", "", "BOOL", "print all factors of a word [false]"),
    parameter(
        "placeholder-factor",
        "",
        "N",
        "factor with the text that is printed in place of a placeholder (<ne>)",
    ),
    parameter("inputtype", "", "0|7", "0 text; 7 `text @@@ table entry $$$ table entry ..` [0]"),
    parameter(
        "xml-input",
        "xi",
        "MODE",
        "markup: pass-through, ignore, inclusive, exclusive, constraint [pass-through]",
    ),
    parameter("xml-brackets", "xb", "OPEN CLOSE", "strings around tags, as in \"{{ }}\" [< >]"),
    parameter("monotone-at-punctuation", "mp", "BOOL", "no reordering across punctuation [false]"),
    parameter(
        "server",
        "",
        "BOOL",
        "serve the system, as mosesserver does, instead of translating [false]",
    ),
    parameter(
        "server-port",
        "",
        "N",
        "the server's port on this machine; 0 lets the system choose [8080]",
    ),
    parameter(
        "listen",
        "",
        "ADDRESS:PORT",
        "the server's addresses, such as 0.0.0.0:8080 for all addresses of this machine",
    ),
    parameter("server-maxconn", "", "N", "the largest number of connections to the server"),
    parameter(
        "server-timeout",
        "",
        "N",
        "seconds after which the server closes a silent connection",
    ),
    parameter("server-keepalive-timeout", "", "N", "as server-timeout"),
    parameter("server-log", "", "FILE", "a line for each request to the server"),
    parameter("serial", "", "BOOL", "the server translates in one thread [false]"),
    parameter("verbose", "v", "N", "accepted, without effect"),
    parameter("cache-size", "", "N", "accepted, without effect: there is no cache of a fixed size"),
];

/// Returns the long name of the option with the long or short name `name`, whether the decoder
/// supports the option or not; `None` if there is no such option.
pub(super) fn long_name(name: &str) -> Option<&'static str> {
    supported_name(name)
        .or_else(|| old_format::long_name(name))
        .or_else(|| unsupported_options::long_name(name))
}

/// Returns the long name of the supported option with the long or short name `name`.
pub(super) fn supported_name(name: &str) -> Option<&'static str> {
    SUPPORTED
        .iter()
        .find(|option| option.name == name || (!option.short.is_empty() && option.short == name))
        .map(|option| option.name)
}

/// Whether an ini may have the section `name`. A section with a short name is accepted and ignored,
/// as in Moses.
pub(super) fn is_section(name: &str) -> bool {
    long_name(name).is_some()
}

/// Options of `miriam translate` that Moses does not have: options for raw text, and options of all
/// commands.
const PROGRAM_OPTIONS: &[&str] = &[
    "raw",
    "no-raw",
    "normalize",
    "tokenize",
    "truecase",
    "detokenize",
    "recase",
    "split",
    "html",
    "nonbreaking-prefixes",
    "source-language",
    "quiet",
    "log-level",
    "max-line-size",
    "version",
];

/// The largest number of options that the error about an unknown name suggests.
const MAX_ALTERNATIVES: usize = 4;

/// Returns the error about an option or section `name` that the decoder does not have. `shown` is
/// the text that contains it: `-name`, `--name=value` or `[name]`.
pub(super) fn unsupported_message(shown: &str, name: &str) -> String {
    if PROGRAM_OPTIONS.contains(&name) {
        return format!(
            "{shown} is an option of `miriam translate`, not of the search; leave it out"
        );
    }
    let names: Vec<&str> = SUPPORTED.iter().map(|option| option.name).collect();
    let known = || names.iter().chain(PROGRAM_OPTIONS).copied();
    // A value after `=` may contain the name too.
    let corrected = |meant: &str| shown.replacen(name, meant, 1);
    if let Some(meant) = suggest_name(name, known()) {
        return format!("{shown} is unknown; did you mean {}?", corrected(meant));
    }
    // Compares with the ends of names too: `pop-limit` is the end of `cube-pruning-pop-limit`.
    let ends = known().flat_map(|known| known.match_indices('-').map(|(at, _)| &known[at + 1..]));
    if let Some(end) = suggest_name(name, ends) {
        let meant = known().find(|known| known.strip_suffix(end).is_some_and(|k| k.ends_with('-')));
        let meant = meant.unwrap_or(end);
        return format!("{shown} is unknown; did you mean {}?", corrected(meant));
    }
    let longer: Vec<String> = known()
        .filter(|known| !name.is_empty() && known.starts_with(name))
        .take(MAX_ALTERNATIVES)
        .map(corrected)
        .collect();
    let meant = if longer.is_empty() {
        String::new()
    } else {
        format!("did you mean {}? ", join_alternatives(&longer))
    };
    format!("{} is unknown; {meant}`miriam translate --help` lists all options", shorten(shown))
}

/// Joins words as in `a, b or c`.
fn join_alternatives(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Returns every parameter the decoder honours, for completions and manual pages.
pub fn supported_parameters() -> &'static [ParameterInfo] {
    SUPPORTED
}

/// Returns the part of the help text that lists the options, one line each.
pub fn options_help() -> String {
    let mut text = String::new();
    for ParameterInfo { name, short, values, help } in SUPPORTED {
        let short = if short.is_empty() { String::new() } else { format!(", -{short}") };
        let head = format!("-{name}{short} {values}");
        writeln!(text, "  {head:44} {help}").expect("memory does not fail");
    }
    text
}
