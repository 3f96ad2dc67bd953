//! Options of Moses that this decoder has no use for or cannot serve.
//!
//! A configuration that has worked for years carries some of both. What changes
//! no translation here is accepted with one warning; what would change
//! translations, or write something that is not written, is an error that says
//! what it needs, unless it is switched off.

use std::path::Path;

use super::settings::parse_boolean;
use super::{Parameters, known};
use crate::Result;

/// What becomes of an option.
enum Fate {
    /// Accepted, does nothing; why.
    Ignored(&'static str),
    /// An error; what it needs.
    Missing(&'static str),
}

struct MosesOption {
    name: &'static str,
    short: &'static str,
    fate: Fate,
}

const fn ignored(name: &'static str, short: &'static str, why: &'static str) -> MosesOption {
    MosesOption { name, short, fate: Fate::Ignored(why) }
}

const fn missing(name: &'static str, short: &'static str, needs: &'static str) -> MosesOption {
    MosesOption { name, short, fate: Fate::Missing(needs) }
}

const CACHE: &str = "there is no cache of this kind";
const CHART: &str = "it belongs to hierarchical decoding";
const CONTEXT: &str = "it belongs to features that are not available";
const LATTICE: &str = "it belongs to lattices and confusion networks";
const MBR: &str = "it belongs to minimum Bayes risk decoding";
const SERVER: &str = "it belongs to a server";
const MOSES_1_PRUNING: &str = "Moses 1 prunes so, Moses2 and this decoder do not";
const POST_EDITING: &str = "simulated post-editing, which is not available";
const SPARSE: &str = "sparse features, which are not available";
const BAYES: &str = "minimum Bayes risk decoding, which is not available";
const HIERARCHICAL: &str = "hierarchical decoding, which is not available";

const OPTIONS: &[MosesOption] = &[
    ignored("clean-lm-cache", "", CACHE),
    ignored("context-string", "", CONTEXT),
    ignored("context-weights", "", CONTEXT),
    ignored("context-window", "", CONTEXT),
    missing("cpu-affinity-offset-increment", "", "its name in Moses2, cpu-affinity-increment"),
    ignored("cube-pruning-deterministic-search", "cbds", "the search always is deterministic"),
    ignored("default-non-term-for-empty-range-only", "", CHART),
    ignored("description", "", "it describes"),
    ignored("disable-discarding", "dd", "there is no early discarding"),
    ignored("distortion", "", "Moses does nothing with it either"),
    ignored("early-discarding-threshold", "edt", "there is no early discarding"),
    ignored("include-lhs-in-search-graph", "lhssg", CHART),
    ignored("lattice-hypo-set", "", MBR),
    ignored("link-param-count", "", LATTICE),
    ignored("lmbr-map-weight", "", MBR),
    ignored("lmbr-p", "", MBR),
    ignored("lmbr-pruning-factor", "", MBR),
    ignored("lmbr-r", "", MBR),
    ignored("lmbr-thetas", "", MBR),
    ignored("lmodel-dub", "", "Moses does nothing with it either"),
    ignored("lmstats", "", "there are no such statistics"),
    ignored("max-chart-span", "", CHART),
    ignored("max-partial-trans-opt", "", "there are no partial options to limit"),
    ignored("max-trans-opt-per-coverage", "", MOSES_1_PRUNING),
    ignored("mbr-scale", "", MBR),
    ignored("mbr-size", "", MBR),
    ignored("minlexr-memory", "", "files are mapped"),
    ignored("minphr-memory", "", "files are mapped"),
    ignored("mira", "", "weights come from [weight] and -weight-overwrite"),
    ignored("no-cache", "", CACHE),
    ignored("non-terminals", "", CHART),
    ignored("print-all-derivations", "", CHART),
    ignored("recover-input-path", "r", LATTICE),
    ignored("references", "", CONTEXT),
    ignored("report-sparse-features", "", "there are no sparse features"),
    ignored("rule-limit", "", CHART),
    ignored("s2t-parsing-algorithm", "", CHART),
    ignored("serial", "", SERVER),
    ignored("server-keepalive-maxconn", "", SERVER),
    ignored("server-keepalive-timeout", "", SERVER),
    ignored("server-log", "", SERVER),
    ignored("server-maxconn", "", SERVER),
    ignored("server-maxconn-backlog", "", SERVER),
    ignored("server-port", "", SERVER),
    ignored("server-timeout", "", SERVER),
    ignored("session-cache-size", "", SERVER),
    ignored("session-timeout", "", SERVER),
    ignored("source-label-overlap", "", CHART),
    ignored("stack-diversity", "sd", MOSES_1_PRUNING),
    ignored("text-type", "", "it belongs to domain features"),
    ignored("translation-option-threshold", "tot", MOSES_1_PRUNING),
    ignored("unknown-lhs", "", CHART),
    ignored("unpruned-search-graph", "usg", CHART),
    missing("alternate-weight-setting", "aws", "several sets of weights, which are not available"),
    missing("consensus-decoding", "con", BAYES),
    missing("constraint", "", "decoding towards a reference, which is not available"),
    missing("continue-partial-translation", "cpt", "translations that begin half done"),
    missing("daemon", "", "a server, which is not available yet"),
    missing("dlm-model", "", SPARSE),
    missing("feature-name-overwrite", "", "other types; edit the [feature] lines instead"),
    missing("global-lexical-file", "gl", SPARSE),
    missing("glm-feature", "", SPARSE),
    missing("lminimum-bayes-risk", "lmbr", BAYES),
    missing("lmodel-oov-feature", "", "oov-feature=1 on the line of the KENLM feature instead"),
    missing("minimum-bayes-risk", "mbr", BAYES),
    missing("n-best-trees", "", HIERARCHICAL),
    missing("output-search-graph-pb", "pb", "protocol buffers, which are not written"),
    missing("phrase-boundary-source-feature", "", SPARSE),
    missing("phrase-boundary-target-feature", "", SPARSE),
    missing("phrase-drop-allowed", "da", "phrases without a translation, which are not built"),
    missing("phrase-length-feature", "", SPARSE),
    missing("phrase-pair-feature", "", SPARSE),
    missing("server", "", "a server, which is not available yet"),
    missing("slmodel-beam", "", HIERARCHICAL),
    missing("slmodel-factor", "", HIERARCHICAL),
    missing("slmodel-file", "", HIERARCHICAL),
    missing("source-word-deletion-feature", "", SPARSE),
    missing("spe-aln", "", POST_EDITING),
    missing("spe-src", "", POST_EDITING),
    missing("spe-trg", "", POST_EDITING),
    missing("target-word-insertion-feature", "", SPARSE),
    missing("tree-translation-details", "Ttree", HIERARCHICAL),
    missing("weight-bl", "bl", "decoding towards a reference, which is not available"),
    missing("weight-dlm", "dlm", SPARSE),
    missing("weight-e", "e", SPARSE),
    missing("weight-file", "wf", "sparse features; put weights of others into [weight]"),
    missing("weight-glm", "glm", SPARSE),
    missing("weight-lex", "lex", SPARSE),
    missing("weight-pb", "", SPARSE),
    missing("weight-pp", "pp", SPARSE),
    missing("weight-slm", "slm", HIERARCHICAL),
    missing("weight-wt", "wt", SPARSE),
    missing("word-translation-feature", "", SPARSE),
];

/// The long name of an option given by its long or short name.
pub(super) fn long_name(given: &str) -> Option<&'static str> {
    let matches = |o: &&MosesOption| o.name == given || (!o.short.is_empty() && o.short == given);
    OPTIONS.iter().find(matches).map(|o| o.name)
}

/// Warns of what is ignored and fails on what is missing.
pub(super) fn check(ini: &Path, parameters: &Parameters) -> Result<()> {
    for (name, values) in parameters.iter() {
        if let Some(long) = known::long_name(name).filter(|&long| long != name) {
            tracing::warn!(
                "{}, [{name}]: a short name, which has no effect in an ini, as in Moses; write \
                 [{long}]",
                ini.display()
            );
            continue;
        }
        let Some(option) = OPTIONS.iter().find(|o| o.name == name) else { continue };
        let is_off = !values.is_empty() && values.iter().all(|v| parse_boolean(v) == Some(false));
        match option.fate {
            _ if is_off => {}
            Fate::Ignored(why) => tracing::warn!("{name} does nothing here: {why}"),
            Fate::Missing(needs) => {
                return Err(parameters.complain(ini, name, format!("needs {needs}")));
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
        parameters.entry(name).extend(values.iter().map(|v| (*v).to_owned()));
        check(Path::new("ini"), &parameters)
    }

    #[test]
    fn ignored_missing_or_off() {
        outcome("stack-diversity", &["3"]).unwrap();
        outcome("minimum-bayes-risk", &["false"]).unwrap();
        outcome("v", &["1"]).unwrap();
        for (name, values, named) in [
            ("minimum-bayes-risk", &[][..], "Bayes"),
            ("server", &["1"], "server"),
            ("weight-file", &["w"], "sparse"),
        ] {
            let message = outcome(name, values).unwrap_err().to_string();
            assert!(message.contains(&format!("[{name}]")) && message.contains(named), "{message}");
        }
        assert_eq!(long_name("mbr"), Some("minimum-bayes-risk"));
    }

    /// Every name means one thing.
    #[test]
    fn no_name_is_given_twice() {
        let mut seen = std::collections::HashSet::new();
        for name in OPTIONS.iter().flat_map(|o| [o.name, o.short]).filter(|n| !n.is_empty()) {
            assert!(seen.insert(name), "{name}");
            assert!(known::honoured(name).is_none(), "{name} is supported");
        }
    }
}
