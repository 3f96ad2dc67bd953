//! Which parameters there are: those this decoder honours, and those of Moses
//! that it does not implement, so that the two complaints differ.

use std::fmt::Write;

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
    known("max-phrase-length", "", "N", "longest source phrase looked up [20]"),
    known("drop-unknown", "du", "BOOL", "leave unknown words out [false]"),
    known("mark-unknown", "mu", "BOOL", "wrap unknown words in prefix and suffix [false]"),
    known("unknown-word-prefix", "", "TEXT", "prefix of marked unknown words [UNK]"),
    known("unknown-word-suffix", "", "TEXT", "suffix of marked unknown words []"),
    known("output-hypo-score", "", "BOOL", "print the model score before each translation [false]"),
    known("report-segmentation", "t", "", "print |start-end| behind each phrase"),
    known(
        "keep-cr",
        "",
        "BOOL",
        "keep a carriage return at a line's end as part of its last word, as Moses2 does [false]",
    ),
    known("feature", "", "LINE", "feature functions (ini)"),
    known("weight", "", "LINE", "weights of the features (ini)"),
    known("mapping", "", "LINE", "decoding steps (ini)"),
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
    "alignment-output-file",
    "alternate-weight-setting",
    "always-create-direct-transopt",
    "clean-lm-cache",
    "consensus-decoding",
    "constraint",
    "context-string",
    "context-weights",
    "context-window",
    "continue-partial-translation",
    "cpu-affinity-increment",
    "cpu-affinity-offset",
    "cpu-affinity-offset-increment",
    "decoding-graph-backoff",
    "description",
    "disable-discarding",
    "distortion",
    "distortion-file",
    "dpb",
    "early-discarding-threshold",
    "early-distortion-cost",
    "feature-add",
    "feature-name-overwrite",
    "feature-overwrite",
    "generation-file",
    "include-segmentation-in-n-best",
    "labeled-n-best-list",
    "lattice-hypo-set",
    "lattice-samples",
    "link-param-count",
    "lmbr-map-weight",
    "lmbr-p",
    "lmbr-pruning-factor",
    "lmbr-r",
    "lmbr-thetas",
    "lminimum-bayes-risk",
    "lmodel-dub",
    "lmodel-file",
    "lmodel-oov-feature",
    "lmstats",
    "max-chart-span",
    "max-partial-trans-opt",
    "max-trans-opt-per-coverage",
    "mbr",
    "mbr-scale",
    "mbr-size",
    "minimum-bayes-risk",
    "minlexr-memory",
    "minphr-memory",
    "mira",
    "n-best-factor",
    "n-best-list",
    "n-best-trees",
    "no-cache",
    "non-terminals",
    "output-search-graph",
    "output-search-graph-extended",
    "output-search-graph-hypergraph",
    "output-search-graph-slf",
    "output-unknowns",
    "output-word-graph",
    "osgx",
    "phrase-drop-allowed",
    "print-alignment-info",
    "print-alignment-info-in-n-best",
    "print-all-derivations",
    "print-id",
    "print-passthrough",
    "print-passthrough-in-n-best",
    "recover-input-path",
    "references",
    "report-all-factors-in-n-best",
    "report-segmentation-enriched",
    "report-sparse-features",
    "rule-limit",
    "s2t-parsing-algorithm",
    "serial",
    "server",
    "server-keepalive-maxconn",
    "server-keepalive-timeout",
    "server-log",
    "server-maxconn",
    "server-maxconn-backlog",
    "server-port",
    "server-timeout",
    "session-cache-size",
    "session-timeout",
    "show-weights",
    "sort-word-alignment",
    "source-label-overlap",
    "spe-aln",
    "spe-src",
    "spe-trg",
    "stack-diversity",
    "start-translation-id",
    "text-type",
    "time-out",
    "translation-all-details",
    "translation-details",
    "translation-option-threshold",
    "tree-translation-details",
    "tt",
    "ttable-file",
    "ttable-limit",
    "unknown-lhs",
    "unpruned-search-graph",
    "weight-add",
    "weight-d",
    "weight-file",
    "weight-generation",
    "weight-i",
    "weight-l",
    "weight-lex",
    "weight-overwrite",
    "weight-t",
    "weight-u",
    "weight-w",
];

/// The long name of an option given by its long or short name.
pub(super) fn long_name(given: &str) -> Option<&'static str> {
    let matches = |k: &&Known| k.name == given || (!k.short.is_empty() && k.short == given);
    SUPPORTED.iter().find(matches).map(|k| k.name)
}

/// Whether an ini may have the section `name`.
pub(super) fn is_section(name: &str) -> bool {
    SUPPORTED.iter().any(|k| k.name == name)
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
