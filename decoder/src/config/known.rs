//! Which parameters there are: those this decoder honours, and those of Moses
//! that it does not implement, so that the two complaints differ.

use std::fmt::Write;

use super::{moses_options, old_format};

/// A parameter the decoder honours.
struct Known {
    /// The long name, which is also the ini section.
    name: &'static str,
    /// The short name of the command line, where there is one.
    short: &'static str,
    /// What values it takes.
    values: &'static str,
    /// What it does.
    help: &'static str,
}

const fn known(
    name: &'static str,
    short: &'static str,
    values: &'static str,
    help: &'static str,
) -> Known {
    Known { name, short, values, help }
}

/// Every parameter the decoder honours.
const SUPPORTED: &[Known] = &[
    known("config", "f", "FILE", "moses.ini: the features, weights and defaults of a system"),
    known(
        "input-file",
        "i",
        "FILE",
        "text to translate, a sentence a line; plain, .gz or .zst; - or absent: standard input",
    ),
    known("output-file", "o", "FILE", "where translations go; - or absent: standard output"),
    known("threads", "th", "N|all", "worker threads [all]"),
    known("cpus", "", "LIST", "the CPUs of the workers, one each, as 0,2,4-7 [the system chooses]"),
    known(
        "cpu-affinity-offset",
        "",
        "N",
        "the first worker's CPU, counted from 0; -1 lets the system choose [-1]",
    ),
    known("cpu-affinity-increment", "", "N", "CPUs from one worker's to the next's [1]"),
    known("search-algorithm", "", "0|1|14", "0 stack decoding, 1 or 14 cube pruning [0]"),
    known("stack", "s", "N", "hypotheses kept a stack (cube pruning: a mini-stack) [200]"),
    known("cube-pruning-pop-limit", "cbp", "N", "pops a stack [1000]"),
    known(
        "cube-pruning-diversity",
        "cbd",
        "N",
        "non-zero: after the limit, also the best hypothesis of every edge [0]",
    ),
    known(
        "cube-pruning-lazy-scoring",
        "cbls",
        "BOOL",
        "score stateful features when popped [false]",
    ),
    known("beam-threshold", "b", "X", "beam as a probability, 0 to 1 [0.00001]"),
    known("distortion-limit", "dl", "N", "farthest jump in words; -1 unlimited, 0 monotone [-1]"),
    known(
        "early-distortion-cost",
        "edc",
        "BOOL",
        "pay for jumps as soon as they are unavoidable, as Moore and Quirk do [false]",
    ),
    known(
        "exact-recombination",
        "",
        "BOOL",
        "keep hypotheses apart that later phrases may score differently, as Moses 1 does, and \
         not only those that Moses2 does [false]",
    ),
    known("max-phrase-length", "", "N", "longest source phrase looked up [20]"),
    known("drop-unknown", "du", "BOOL", "leave unknown words out [false]"),
    known("mark-unknown", "mu", "BOOL", "wrap unknown words in prefix and suffix [false]"),
    known("unknown-word-prefix", "", "TEXT", "prefix of marked unknown words [UNK]"),
    known("unknown-word-suffix", "", "TEXT", "suffix of marked unknown words []"),
    known("output-hypo-score", "", "BOOL", "print the model score before each translation [false]"),
    known("report-segmentation", "t", "", "print |start-end| behind each phrase"),
    known(
        "report-segmentation-enriched",
        "tt",
        "",
        "print |start-end,values| behind each phrase: all features so far",
    ),
    known("print-id", "", "BOOL", "print the line's number before each translation [false]"),
    known("start-translation-id", "", "N", "the number of the first line [0]"),
    known("print-alignment-info", "", "BOOL", "print ||| and word alignment behind [false]"),
    known("sort-word-alignment", "", "0|1", "alignments by source or by target position [0]"),
    known(
        "n-best-list",
        "",
        "FILE SIZE [distinct]",
        "the SIZE + 1 best translations with feature values; - prints them instead of the best",
    ),
    known("n-best-factor", "", "N", "candidates tried: at most N times SIZE [20]"),
    known("labeled-n-best-list", "", "BOOL", "feature names in n-best lists [true]"),
    known("include-segmentation-in-n-best", "", "BOOL", "a column source=target [false]"),
    known("print-alignment-info-in-n-best", "", "BOOL", "a column of word alignment [false]"),
    known("alignment-output-file", "", "FILE", "word alignments, a line a sentence"),
    known("output-unknowns", "", "FILE", "unknown words, a line a sentence"),
    known("output-search-graph", "osg", "FILE", "the search graph, a JSON object a sentence"),
    known("translation-details", "T", "FILE", "where each phrase comes from, a block a sentence"),
    known(
        "keep-cr",
        "",
        "BOOL",
        "keep a carriage return at a line's end as part of its last word, as Moses2 does [false]",
    ),
    known(
        "always-create-direct-transopt",
        "",
        "BOOL",
        "every word may also be copied, as if it were unknown [false]",
    ),
    known(
        "errors",
        "",
        "FILE",
        "a JSON line for each sentence that failed or was cut short: line, kind, reason",
    ),
    known(
        "timeout-ms",
        "",
        "N",
        "milliseconds after which a sentence is translated by a narrower search",
    ),
    known("segment-time-out", "", "N", "as timeout-ms, in seconds"),
    known("time-out", "", "N", "as segment-time-out"),
    known("show-weights", "", "", "print the weights of all features and end"),
    known("feature", "", "LINE", "feature functions (ini)"),
    known("feature-add", "", "LINE", "further feature functions"),
    known("feature-overwrite", "", "LINE", "\"NAME KEY=VALUE\": changes a key of a feature"),
    known("weight", "", "LINE", "weights of the features (ini)"),
    known("weight-add", "", "LINE", "\"NAME= W ...\": weights over which [weight] stands"),
    known(
        "weight-overwrite",
        "",
        "LINE",
        "\"NAME= W ... NAME= W ...\": weights that stand over [weight]; x keeps one",
    ),
    known("mapping", "", "LINE", "decoding steps (ini)"),
    known(
        "decoding-graph-backoff",
        "dpb",
        "N",
        "a value a decoding step: 0 every span, -1 spans without options, N such of N words [0]",
    ),
    known(
        "input-factors",
        "",
        "LIST",
        "the factors that the columns of an input word are [0,1,..]",
    ),
    known("output-factors", "", "LIST", "factors that are printed [0]"),
    known("factor-delimiter", "", "TEXT|none", "what stands between the factors of a word [|]"),
    known("output-factor-delimiter", "", "TEXT", "what is printed between factors [the same]"),
    known("report-all-factors", "", "BOOL", "print all factors of a word [false]"),
    known("placeholder-factor", "", "N", "factor of the input that is printed for the word: <ne>"),
    known("inputtype", "", "0|7", "0 text; 7 `text @@@ table entry $$$ table entry ..` [0]"),
    known(
        "xml-input",
        "xi",
        "MODE",
        "markup: pass-through, ignore, inclusive, exclusive, constraint [pass-through]",
    ),
    known("xml-brackets", "xb", "OPEN CLOSE", "strings around tags, as in \"{{ }}\" [< >]"),
    known("monotone-at-punctuation", "mp", "BOOL", "reorder nothing across punctuation [false]"),
    known("verbose", "v", "N", "accepted, does nothing"),
    known("cache-size", "", "N", "accepted, does nothing: there is no cache to size"),
];

/// Parameters of Moses and Moses2 that are understood but not implemented.
const NOT_IMPLEMENTED: &[&str] = &[
    "lattice-samples",
    "output-search-graph-extended",
    "output-search-graph-hypergraph",
    "output-search-graph-slf",
    "output-word-graph",
    "osgx",
    "print-passthrough",
    "print-passthrough-in-n-best",
    "report-all-factors-in-n-best",
    "translation-all-details",
];

/// The long name of an option given by its long or short name.
pub(super) fn long_name(given: &str) -> Option<&'static str> {
    honoured(given)
        .or_else(|| old_format::long_name(given))
        .or_else(|| moses_options::long_name(given))
}

/// The long name of an option that the decoder honours.
pub(super) fn honoured(given: &str) -> Option<&'static str> {
    let matches = |k: &&Known| k.name == given || (!k.short.is_empty() && k.short == given);
    SUPPORTED.iter().find(matches).map(|k| k.name)
}

/// Whether an ini may have the section `name`; a short name may stand there but
/// does nothing, as in Moses.
pub(super) fn is_section(name: &str) -> bool {
    long_name(name).is_some()
}

/// The complaint about an option or section, shown as `shown`.
pub(super) fn unsupported(shown: &str, name: &str) -> String {
    let verdict = if NOT_IMPLEMENTED.contains(&name) {
        "is an option of Moses that is not implemented yet"
    } else {
        "is unknown"
    };
    let names: Vec<&str> = SUPPORTED.iter().map(|k| k.name).collect();
    format!("{shown} {verdict}; supported: {}, quiet, log-level", names.join(", "))
}

/// The options with their short names, values and meaning, a paragraph each.
pub fn help() -> String {
    let mut text = String::new();
    for k in SUPPORTED {
        let short = if k.short.is_empty() { String::new() } else { format!(", -{}", k.short) };
        let head = format!("-{}{short} {}", k.name, k.values);
        writeln!(text, "  {head:44} {}", k.help).expect("memory does not fail");
    }
    text
}
