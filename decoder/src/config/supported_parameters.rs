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
    /// Its values, for the help text.
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
    parameter("output-file", "o", "FILE", "where translations go; - or absent: standard output"),
    parameter("threads", "th", "N|all", "worker threads [all]"),
    parameter(
        "cpus",
        "",
        "LIST",
        "the CPUs of the workers, one each, as 0,2,4-7 [the system chooses]",
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
    parameter("cube-pruning-pop-limit", "cbp", "N", "pops per stack [1000]"),
    parameter(
        "cube-pruning-diversity",
        "cbd",
        "N",
        "non-zero: also pop the best hypothesis of every edge, beyond the limit [0]",
    ),
    parameter(
        "cube-pruning-lazy-scoring",
        "cbls",
        "BOOL",
        "score stateful features when popped [false]",
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
        "print |start-end,values| after each phrase: all features so far",
    ),
    parameter("print-id", "", "BOOL", "print the line's number before each translation [false]"),
    parameter("start-translation-id", "", "N", "the number of the first line [0]"),
    parameter(
        "print-alignment-info",
        "",
        "BOOL",
        "print ||| and the word alignment after each translation [false]",
    ),
    parameter("sort-word-alignment", "", "0|1", "alignments by source or by target position [0]"),
    parameter(
        "n-best-list",
        "",
        "FILE SIZE [distinct]",
        "the SIZE + 1 best translations with feature values; - prints them instead of the best",
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
        "models that score the n-best list of a sentence: NeuralModel path=.., NgramModel path=.. (ini)",
    ),
    parameter("rescore-n-best", "", "N", "n-best entries that the models of [rescore] score [100]"),
    parameter(
        "rescore-weight",
        "",
        "LINE",
        "weights of all features in rescored lists, instead of [weight] (ini)",
    ),
    parameter("feature", "", "LINE", "feature functions (ini)"),
    parameter("feature-add", "", "LINE", "additional feature functions"),
    parameter("feature-overwrite", "", "LINE", "\"NAME KEY=VALUE\": changes a key of a feature"),
    parameter("weight", "", "LINE", "weights of the features (ini)"),
    parameter("weight-add", "", "LINE", "\"NAME= W ...\": weights that [weight] overrides"),
    parameter(
        "weight-overwrite",
        "",
        "LINE",
        "\"NAME= W ... NAME= W ...\": weights that override [weight]; x keeps a weight",
    ),
    parameter("mapping", "", "LINE", "decoding steps (ini)"),
    parameter(
        "decoding-graph-backoff",
        "dpb",
        "N",
        "one value per step: 0 every span, -1 spans without options, N such spans up to N words [0]",
    ),
    parameter("input-factors", "", "LIST", "factors in the columns of an input word [0,1,..]"),
    parameter("output-factors", "", "LIST", "factors that are printed [0]"),
    parameter("factor-delimiter", "", "TEXT|none", "separator of the factors of a word [|]"),
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
    parameter("server-maxconn", "", "N", "the most connections to the server"),
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

/// Returns the long name of an option given by its long or short name.
pub(super) fn long_name(given: &str) -> Option<&'static str> {
    supported_name(given)
        .or_else(|| old_format::long_name(given))
        .or_else(|| unsupported_options::long_name(given))
}

/// Returns the long name of an option that the decoder honours.
pub(super) fn supported_name(given: &str) -> Option<&'static str> {
    SUPPORTED
        .iter()
        .find(|k| k.name == given || (!k.short.is_empty() && k.short == given))
        .map(|k| k.name)
}

/// Whether an ini may have the section `name`; short names are accepted and ignored, as
/// in Moses.
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

/// The largest number of options that the error about an unknown name lists.
const MAX_ALTERNATIVES: usize = 4;

/// Returns the error about an unknown option or section `name`; `shown` is its form in the message.
pub(super) fn unsupported_message(shown: &str, name: &str) -> String {
    if PROGRAM_OPTIONS.contains(&name) {
        return format!(
            "{shown} is an option of `miriam translate`, not of the search; leave it out"
        );
    }
    let names: Vec<&str> = SUPPORTED.iter().map(|k| k.name).collect();
    let known = names.iter().chain(PROGRAM_OPTIONS).copied();
    if let Some(meant) = suggest_name(name, known) {
        return format!("{shown} is unknown; did you mean {}?", shown.replace(name, meant));
    }
    // Compares with the ends of names too: `pop-limit` is the end of `cube-pruning-pop-limit`.
    let known = || names.iter().chain(PROGRAM_OPTIONS).copied();
    let ends = known().flat_map(|known| known.match_indices('-').map(|(at, _)| &known[at + 1..]));
    if let Some(end) = suggest_name(name, ends) {
        let meant = known().find(|known| known.strip_suffix(end).is_some_and(|k| k.ends_with('-')));
        let meant = meant.unwrap_or(end);
        return format!("{shown} is unknown; did you mean {}?", shown.replace(name, meant));
    }
    let longer = names.iter().chain(PROGRAM_OPTIONS).filter(|known| known.starts_with(name));
    let longer: Vec<String> = longer
        .filter(|_| !name.is_empty())
        .take(MAX_ALTERNATIVES)
        .map(|known| shown.replace(name, known))
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

/// Returns the options with their short names, values and meaning, one paragraph each.
pub fn options_help() -> String {
    let mut text = String::new();
    for k in SUPPORTED {
        let short = if k.short.is_empty() { String::new() } else { format!(", -{}", k.short) };
        let head = format!("-{}{short} {}", k.name, k.values);
        writeln!(text, "  {head:44} {}", k.help).expect("memory does not fail");
    }
    text
}
