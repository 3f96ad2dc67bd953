//! Options of Moses that this decoder ignores or rejects.
//!
//! An option that changes no translation here is accepted with one warning. An option that would
//! change translations, or write an output that does not exist here, is an error, which says what
//! the option needs. An option whose value is false is accepted without a warning.

use std::path::Path;

use miriam_textio::parse_truth_word;

use super::{Parameters, supported_parameters};
use crate::Result;

/// The treatment of an option.
enum OptionHandling {
    /// Accepted and ignored, for this reason.
    Ignored(&'static str),
    /// An error, because the option needs this.
    Unsupported(&'static str),
}

struct MosesOption {
    name: &'static str,
    short: &'static str,
    handling: OptionHandling,
}

const fn ignored(name: &'static str, short: &'static str, why: &'static str) -> MosesOption {
    MosesOption { name, short, handling: OptionHandling::Ignored(why) }
}

const fn unsupported(name: &'static str, short: &'static str, needs: &'static str) -> MosesOption {
    MosesOption { name, short, handling: OptionHandling::Unsupported(needs) }
}

const NO_CACHE: &str = "there is no cache of this kind";
const BELONGS_TO_HIERARCHICAL: &str = "it belongs to hierarchical decoding";
const BELONGS_TO_CONTEXT: &str = "it belongs to features that are not available";
const BELONGS_TO_LATTICES: &str = "it belongs to lattices and confusion networks";
const BELONGS_TO_MBR: &str = "it belongs to minimum Bayes risk decoding";
const NO_SUCH_LIMIT: &str = "a server has no such limit";
const MOSES_1_PRUNING: &str = "Moses 1 has this kind of pruning, Moses2 and this decoder do not";
const NEEDS_POST_EDITING: &str = "simulated post-editing, which is not available";
const NEEDS_SPARSE_FEATURES: &str = "sparse features, which are not available";
const NEEDS_MBR: &str = "minimum Bayes risk decoding; write lists with `-n-best-list FILE 200 \
                         distinct` and give them to `miriam mbr`";
const NEEDS_OTHER_GRAPHS: &str = "another format of graphs; -output-search-graph FILE writes the search \
                                  graph, one JSON object per sentence";
const NEEDS_PASS_THROUGH: &str = "attributes of markup in the output, which are not kept";
const NO_SESSIONS: &str = "a server has no sessions: every request is complete";
const NEEDS_HIERARCHICAL: &str = "hierarchical decoding, which is not available";

const OPTIONS: &[MosesOption] = &[
    ignored("clean-lm-cache", "", NO_CACHE),
    ignored("context-string", "", BELONGS_TO_CONTEXT),
    ignored("context-weights", "", BELONGS_TO_CONTEXT),
    ignored("context-window", "", BELONGS_TO_CONTEXT),
    unsupported("cpu-affinity-offset-increment", "", "its name in Moses2, cpu-affinity-increment"),
    ignored("cube-pruning-deterministic-search", "cbds", "the search is always deterministic"),
    ignored("default-non-term-for-empty-range-only", "", BELONGS_TO_HIERARCHICAL),
    ignored("description", "", "it is a description"),
    ignored("disable-discarding", "dd", "there is no early discarding"),
    ignored("distortion", "", "it has no effect in Moses either"),
    ignored("early-discarding-threshold", "edt", "there is no early discarding"),
    unsupported(
        "include-alignment-in-n-best",
        "",
        "its later name in Moses, print-alignment-info-in-n-best",
    ),
    ignored("include-lhs-in-search-graph", "lhssg", BELONGS_TO_HIERARCHICAL),
    ignored("lattice-hypo-set", "", BELONGS_TO_MBR),
    ignored("link-param-count", "", BELONGS_TO_LATTICES),
    ignored("lmbr-map-weight", "", BELONGS_TO_MBR),
    ignored("lmbr-p", "", BELONGS_TO_MBR),
    ignored("lmbr-pruning-factor", "", BELONGS_TO_MBR),
    ignored("lmbr-r", "", BELONGS_TO_MBR),
    ignored("lmbr-thetas", "", BELONGS_TO_MBR),
    ignored("lmodel-dub", "", "it has no effect in Moses either"),
    ignored("lmstats", "", "there are no such statistics"),
    ignored("max-chart-span", "", BELONGS_TO_HIERARCHICAL),
    ignored("max-partial-trans-opt", "", "there are no partial options to limit"),
    ignored("max-trans-opt-per-coverage", "", MOSES_1_PRUNING),
    ignored("mbr-scale", "", BELONGS_TO_MBR),
    ignored("mbr-size", "", BELONGS_TO_MBR),
    ignored("minlexr-memory", "", "files are mapped"),
    ignored("minphr-memory", "", "files are mapped"),
    ignored("mira", "", "weights come from [weight] and -weight-overwrite"),
    ignored("no-cache", "", NO_CACHE),
    ignored("non-terminals", "", BELONGS_TO_HIERARCHICAL),
    ignored("persistent-cache-size", "", NO_CACHE),
    ignored("print-all-derivations", "", BELONGS_TO_HIERARCHICAL),
    ignored("recover-input-path", "r", BELONGS_TO_LATTICES),
    ignored("references", "", BELONGS_TO_CONTEXT),
    ignored("report-sparse-features", "", "there are no sparse features"),
    ignored("rule-limit", "", BELONGS_TO_HIERARCHICAL),
    ignored("s2t-parsing-algorithm", "", BELONGS_TO_HIERARCHICAL),
    ignored("server-keepalive-maxconn", "", NO_SUCH_LIMIT),
    ignored("server-maxconn-backlog", "", NO_SUCH_LIMIT),
    ignored("session-cache-size", "", NO_SESSIONS),
    ignored("session-timeout", "", NO_SESSIONS),
    ignored("source-label-overlap", "", BELONGS_TO_HIERARCHICAL),
    ignored("stack-diversity", "sd", MOSES_1_PRUNING),
    ignored("text-type", "", "it belongs to domain features"),
    ignored("translation-option-threshold", "tot", MOSES_1_PRUNING),
    ignored("unknown-lhs", "", BELONGS_TO_HIERARCHICAL),
    ignored("use-alignment-info", "", "word alignments are always read"),
    ignored("use-persistent-cache", "", NO_CACHE),
    ignored("unpruned-search-graph", "usg", BELONGS_TO_HIERARCHICAL),
    unsupported(
        "alternate-weight-setting",
        "aws",
        "several sets of weights, which are not available",
    ),
    unsupported("consensus-decoding", "con", NEEDS_MBR),
    unsupported("constraint", "", "decoding towards a reference, which is not available"),
    unsupported(
        "continue-partial-translation",
        "cpt",
        "translations that begin with a given prefix, which are not available",
    ),
    unsupported("daemon", "", "a server in the background; start `miriam serve` as a service"),
    unsupported("dlm-model", "", NEEDS_SPARSE_FEATURES),
    unsupported("feature-name-overwrite", "", "new feature types; edit [feature] lines instead"),
    unsupported("global-lexical-file", "gl", NEEDS_SPARSE_FEATURES),
    unsupported("glm-feature", "", NEEDS_SPARSE_FEATURES),
    unsupported("lminimum-bayes-risk", "lmbr", NEEDS_MBR),
    unsupported("minimum-bayes-risk", "mbr", NEEDS_MBR),
    unsupported(
        "lattice-samples",
        "",
        "samples of the search graph, which are not drawn; -n-best-list FILE SIZE writes the best \
         translations",
    ),
    unsupported("n-best-trees", "", NEEDS_HIERARCHICAL),
    unsupported("output-search-graph-extended", "osgx", NEEDS_OTHER_GRAPHS),
    unsupported("output-search-graph-hypergraph", "", NEEDS_OTHER_GRAPHS),
    unsupported("output-search-graph-slf", "slf", NEEDS_OTHER_GRAPHS),
    unsupported("output-word-graph", "owg", NEEDS_OTHER_GRAPHS),
    unsupported("output-search-graph-pb", "pb", "protocol buffers, which are not written"),
    unsupported("phrase-boundary-source-feature", "", NEEDS_SPARSE_FEATURES),
    unsupported("phrase-boundary-target-feature", "", NEEDS_SPARSE_FEATURES),
    unsupported("phrase-drop-allowed", "da", "phrases without a translation, which are not built"),
    unsupported("phrase-length-feature", "", NEEDS_SPARSE_FEATURES),
    unsupported("phrase-pair-feature", "", NEEDS_SPARSE_FEATURES),
    unsupported("print-passthrough", "", NEEDS_PASS_THROUGH),
    unsupported("print-passthrough-in-n-best", "", NEEDS_PASS_THROUGH),
    unsupported(
        "report-all-factors-in-n-best",
        "",
        "all factors in n-best lists alone; -report-all-factors prints them in all outputs",
    ),
    unsupported("slmodel-beam", "", NEEDS_HIERARCHICAL),
    unsupported("slmodel-factor", "", NEEDS_HIERARCHICAL),
    unsupported("slmodel-file", "", NEEDS_HIERARCHICAL),
    unsupported("source-word-deletion-feature", "", NEEDS_SPARSE_FEATURES),
    unsupported("spe-aln", "", NEEDS_POST_EDITING),
    unsupported("spe-src", "", NEEDS_POST_EDITING),
    unsupported("spe-trg", "", NEEDS_POST_EDITING),
    unsupported("target-word-insertion-feature", "", NEEDS_SPARSE_FEATURES),
    unsupported(
        "translation-systems",
        "",
        "several systems in one ini, which are not available; give each system an ini of its own",
    ),
    unsupported(
        "translation-all-details",
        "Tall",
        "details of all phrases; -translation-details FILE writes those of the best translation",
    ),
    unsupported("tree-translation-details", "Ttree", NEEDS_HIERARCHICAL),
    unsupported("weight-bl", "bl", "decoding towards a reference, which is not available"),
    unsupported("weight-dlm", "dlm", NEEDS_SPARSE_FEATURES),
    unsupported("weight-e", "e", NEEDS_SPARSE_FEATURES),
    unsupported("weight-file", "wf", "sparse features; put other weights into [weight]"),
    unsupported("weight-glm", "glm", NEEDS_SPARSE_FEATURES),
    unsupported("weight-lex", "lex", NEEDS_SPARSE_FEATURES),
    unsupported("weight-pb", "", NEEDS_SPARSE_FEATURES),
    unsupported("weight-pp", "pp", NEEDS_SPARSE_FEATURES),
    unsupported("weight-slm", "slm", NEEDS_HIERARCHICAL),
    unsupported("weight-wt", "wt", NEEDS_SPARSE_FEATURES),
    unsupported("word-translation-feature", "", NEEDS_SPARSE_FEATURES),
];

/// Returns the long name of the ignored or rejected option with the long or short name `name`.
pub(super) fn long_name(name: &str) -> Option<&'static str> {
    OPTIONS
        .iter()
        .find(|o| o.name == name || (!o.short.is_empty() && o.short == name))
        .map(|o| o.name)
}

/// Warns about ignored options and fails on unsupported ones.
pub(super) fn check(ini: &Path, parameters: &Parameters) -> Result<()> {
    for (name, values) in parameters.iter() {
        if let Some(long) = supported_parameters::long_name(name).filter(|&long| long != name) {
            tracing::warn!(
                "{}, [{name}]: a short name, which has no effect in an ini, as in Moses; write \
                 [{long}]",
                ini.display()
            );
            continue;
        }
        let Some(option) = OPTIONS.iter().find(|o| o.name == name) else { continue };
        let is_off =
            !values.is_empty() && values.iter().all(|v| parse_truth_word(v) == Some(false));
        match option.handling {
            _ if is_off => {}
            OptionHandling::Ignored(why) => tracing::warn!("{name} does nothing here: {why}"),
            OptionHandling::Unsupported(needs) => {
                return Err(parameters.invalid_value(ini, name, format!("needs {needs}")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(name: &str, values: &[&str]) -> Result<()> {
        let mut parameters = Parameters::default();
        parameters.values_mut(name).extend(values.iter().map(|v| (*v).to_owned()));
        check(Path::new("ini"), &parameters)
    }

    #[test]
    fn options_are_ignored_rejected_or_off() {
        outcome("stack-diversity", &["3"]).unwrap();
        outcome("minimum-bayes-risk", &["false"]).unwrap();
        outcome("v", &["1"]).unwrap();
        for (name, values, named) in [
            ("minimum-bayes-risk", &[][..], "Bayes"),
            ("daemon", &["1"], "server"),
            ("weight-file", &["w"], "sparse"),
        ] {
            let message = outcome(name, values).unwrap_err().to_string();
            assert!(message.contains(&format!("[{name}]")) && message.contains(named), "{message}");
        }
        assert_eq!(long_name("mbr"), Some("minimum-bayes-risk"));
    }

    /// Every name means one thing.
    #[test]
    fn no_name_is_listed_twice() {
        let mut seen = std::collections::HashSet::new();
        for name in OPTIONS.iter().flat_map(|o| [o.name, o.short]).filter(|n| !n.is_empty()) {
            assert!(seen.insert(name), "{name}");
            assert!(supported_parameters::supported_name(name).is_none(), "{name} is supported");
        }
    }
}
