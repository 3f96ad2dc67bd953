//! Lines of `[rescore]`: models that score the final n-best list of each sentence.

use std::path::Path;

use miriam_combine::lists::check_name;

use super::Parameters;
use crate::feature_line::{FeatureLine, parse_flag};
use crate::features::FeatureSpec;
use crate::{Error, Result};

/// The section that names the models.
const SECTION: &str = "rescore";

/// The default number of entries of an n-best list that are scored.
pub(super) const DEFAULT_LIST_SIZE: usize = 100;

/// The largest number of translations that a model adds to a list. The beam of the model is at
/// least as wide as the number of translations that it adds.
pub const MAX_CANDIDATES: usize = 1000;

/// A model of `[rescore]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RescoringModel {
    /// The name of its feature: `name=`, or one that `miriam nmt rescore` or `miriam lm rescore`
    /// would give it.
    pub name: String,
    /// The path of the model, as the line names it.
    pub path: String,
    /// The kind of model.
    pub kind: RescoringModelKind,
    /// The weight of its score.
    pub weight: f32,
    /// The weight of the feature that marks the translations which the model adds to lists.
    pub candidate_weight: f32,
}

impl RescoringModel {
    /// Returns the name of the feature that marks the translations which the model adds to lists,
    /// if it adds some.
    pub fn candidate_feature(&self) -> Option<String> {
        (self.candidates() > 0).then(|| format!("{}Candidate", self.name))
    }

    /// Returns the number of translations that the model adds to a list.
    pub fn candidates(&self) -> usize {
        match &self.kind {
            RescoringModelKind::Neural(spec) => spec.candidates,
            RescoringModelKind::Ngram => 0,
        }
    }

    /// Returns the names of its features.
    fn feature_names(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.name.clone()).chain(self.candidate_feature())
    }
}

/// The kinds of models of `[rescore]`.
#[derive(Clone, Debug, PartialEq)]
pub enum RescoringModelKind {
    /// A neural model.
    Neural(NeuralModelSpec),
    /// An n-gram model of the target language.
    Ngram,
}

/// The keys of a neural model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NeuralModelSpec {
    /// Whether it translates in the other direction, and scores the sentence given a translation.
    pub is_reverse: bool,
    /// The files of the vocabularies of the model's source and target, or of a joint vocabulary. If
    /// empty, the vocabularies next to the model are used.
    pub vocabularies: Vec<String>,
    /// The language of the model's source, where it has several.
    pub from: Option<String>,
    /// The language of the model's target, where it has several.
    pub to: Option<String>,
    /// Scores are divided by the number of tokens to this power.
    pub normalize: f32,
    /// The number of translations that the model adds to the list of a sentence.
    pub candidates: usize,
}

/// Parses the models; weights are still 0.
pub(super) fn parse(
    ini: &Path,
    parameters: &Parameters,
    features: &[FeatureSpec],
) -> Result<Vec<RescoringModel>> {
    let mut models: Vec<RescoringModel> = Vec::new();
    for line in parameters.get(SECTION).unwrap_or_default() {
        let model = parse_model(line, &models);
        let model = model.map_err(|reason| {
            parameters.invalid_value(ini, SECTION, format!("{line:?}: {reason}"))
        })?;
        let taken: Vec<String> = models
            .iter()
            .flat_map(RescoringModel::feature_names)
            .chain(features.iter().map(|feature| feature.name.clone()))
            .collect();
        if let Some(name) = model.feature_names().find(|name| taken.contains(name)) {
            let reason = format!("two features have the name {name}");
            return Err(parameters.invalid_value(ini, SECTION, reason));
        }
        models.push(model);
    }
    let sections = ["rescore-n-best", "rescore-weight"];
    if models.is_empty() && sections.iter().any(|name| parameters.get(name).is_some()) {
        let reason = "no model is named; give lines such as `NeuralModel path=model`";
        return Err(Error::section(ini, SECTION, reason));
    }
    Ok(models)
}

fn parse_model(line: &str, before: &[RescoringModel]) -> Result<RescoringModel, String> {
    let mut keys = FeatureLine::parse(line)?;
    let path = keys.take("path").ok_or("path= is missing, the file or folder of the model")?;
    let name = keys.take("name");
    let (stem, kind) = match keys.type_name() {
        "NeuralModel" => {
            let is_reverse =
                keys.take("reverse").map(|text| parse_flag("reverse", &text)).transpose()?;
            let is_reverse = is_reverse.unwrap_or(false);
            let vocabularies = keys.take("vocabs").unwrap_or_default();
            let vocabularies: Vec<String> = vocabularies
                .split(',')
                .filter(|path| !path.is_empty())
                .map(str::to_owned)
                .collect();
            if vocabularies.len() > 2 {
                return Err("vocabs= takes one file, or two separated by a comma".into());
            }
            let normalize = match keys.take("normalize") {
                None => 0.0,
                Some(text) => {
                    let number = text.parse().ok().filter(|number: &f32| number.is_finite());
                    number.ok_or_else(|| format!("normalize={text} is not a number"))?
                }
            };
            let (from, to) = (keys.take("from"), keys.take("to"));
            let candidates = match keys.take("candidates") {
                None => 0,
                Some(text) => {
                    let number = text.parse().ok().filter(|number| *number <= MAX_CANDIDATES);
                    number.ok_or_else(|| {
                        format!("candidates={text} is not a number from 0 to {MAX_CANDIDATES}")
                    })?
                }
            };
            if is_reverse && candidates > 0 {
                return Err("a model with reverse= translates in the other direction: it has no \
                            candidates="
                    .into());
            }
            let spec =
                NeuralModelSpec { is_reverse, vocabularies, from, to, normalize, candidates };
            (if is_reverse { "Reverse" } else { "Neural" }, RescoringModelKind::Neural(spec))
        }
        "NgramModel" => ("Ngram", RescoringModelKind::Ngram),
        other => {
            return Err(format!("the type {other} is unknown; there are NeuralModel, NgramModel"));
        }
    };
    if let Some(key) = keys.remaining_key() {
        return Err(format!("{} has no parameter {key}", keys.type_name()));
    }
    let name = match name {
        Some(name) => {
            check_name(&name).map_err(|error| error.to_string())?;
            name
        }
        None => (0..)
            .map(|number: u32| format!("{stem}{number}"))
            .find(|name| before.iter().all(|other| other.name != *name))
            .expect("there are more numbers than models"),
    };
    Ok(RescoringModel { name, path, kind, weight: 0.0, candidate_weight: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Configuration;

    fn read(rescore: &str, weights: &str) -> Result<Configuration, String> {
        let folder = tempfile::tempdir().unwrap();
        let ini = folder.path().join("moses.ini");
        let text = format!(
            "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\n\
             PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
             {rescore}\n[weight]\nUnknownWordPenalty0= 1\nTable= 0.25\n{weights}"
        );
        std::fs::write(&ini, text).unwrap();
        Configuration::from_ini(&ini).map_err(|error| error.to_string())
    }

    #[test]
    fn models_have_names_and_weights() {
        let lines = "[rescore]\nNeuralModel path=a\nNeuralModel path=b reverse=true from=de to=en\n\
                     NgramModel path=c name=Web\nNeuralModel path=d vocabs=s,t normalize=1\n\
                     [rescore-n-best]\n20\n";
        let weights = "Neural0= 0.5\nReverse0= 0.25\nWeb= -1\nNeural1= 2\n";
        let found = read(lines, weights).unwrap();
        assert_eq!(found.settings.rescore_list_size, 20);
        let models: Vec<(&str, &str, f32)> =
            found.rescoring.iter().map(|m| (&m.name[..], &m.path[..], m.weight)).collect();
        let expected = [
            ("Neural0", "a", 0.5),
            ("Reverse0", "b", 0.25),
            ("Web", "c", -1.0),
            ("Neural1", "d", 2.0),
        ];
        assert_eq!(models, expected);
        assert_eq!(found.rescoring[2].kind, RescoringModelKind::Ngram);
        let RescoringModelKind::Neural(spec) = &found.rescoring[3].kind else { panic!() };
        assert_eq!((&spec.vocabularies[..], spec.normalize), (&["s".into(), "t".into()][..], 1.0));
        assert!(
            found.weight_lines().ends_with("Neural0= 0.5\nReverse0= 0.25\nWeb= -1\nNeural1= 2\n")
        );
        assert_eq!(read("", "").unwrap().rescoring, []);
    }

    #[test]
    fn scored_lists_may_have_weights_of_their_own() {
        let lines = "[rescore]\nNeuralModel path=a\n[rescore-weight]\nTable= 0.5\nNeural0= 2\n";
        let found = read(lines, "").unwrap();
        assert_eq!(found.rescoring[0].weight, 2.0);
        assert_eq!(found.features[1].weights, [0.25]);
        assert_eq!(found.list_weights, Some(vec![vec![1.0], vec![0.5]]));
        let lines = "UnknownWordPenalty0 UNTUNEABLE\nTable= 0.25\n[rescore-weight]\n\
                     UnknownWordPenalty0 UNTUNEABLE\nTable= 0.5\nNeural0= 2\n";
        assert_eq!(found.weight_lines(), lines);
        assert_eq!(read("", "").unwrap().list_weights, None);
    }

    #[test]
    fn added_translations_have_a_feature() {
        let lines = "[rescore]\nNeuralModel path=a candidates=5\nNgramModel path=b\n\
                     [rescore-weight]\nTable= 0.5\nNeural0= 2\nNgram0= 3\nNeural0Candidate= -1\n";
        let found = read(lines, "").unwrap();
        let model = &found.rescoring[0];
        assert_eq!((model.weight, model.candidate_weight), (2.0, -1.0));
        assert_eq!(model.candidate_feature().as_deref(), Some("Neural0Candidate"));
        assert_eq!(found.rescoring[1].candidate_feature(), None);
        let shown = "Neural0= 2\nNgram0= 3\nNeural0Candidate= -1\n";
        assert!(found.weight_lines().ends_with(shown), "{}", found.weight_lines());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (lines, weights, reason) in [
            ("[rescore]\nNeuralModel\n", "", "path= is missing"),
            ("[rescore]\nNeural path=a\n", "", "the type Neural is unknown"),
            ("[rescore]\nNeuralModel path=a reverse=2\n", "", "reverse=2"),
            ("[rescore]\nNgramModel path=a reverse=1\n", "", "NgramModel has no parameter reverse"),
            ("[rescore]\nNeuralModel path=a name=Table\n", "", "two features have the name Table"),
            ("[rescore]\nNeuralModel path=a name=1\n", "", "\"1\" is not a name"),
            ("[rescore]\nNeuralModel path=a candidates=-1\n", "", "candidates=-1 is not"),
            ("[rescore]\nNeuralModel path=a candidates=1001\n", "", "from 0 to 1000"),
            (
                "[rescore]\nNeuralModel path=a reverse=1 candidates=2\n",
                "",
                "translates in the other direction",
            ),
            (
                "[rescore]\nNeuralModel path=a candidates=2\nNgramModel path=b \
                 name=Neural0Candidate\n",
                "",
                "two features have the name Neural0Candidate",
            ),
            (
                "[rescore]\nNeuralModel path=a candidates=2\n",
                "Neural0= 1\n",
                "Neural0Candidate has no weights",
            ),
            ("[rescore]\nNeuralModel path=a\n", "", "Neural0 has no weights"),
            ("[rescore]\nNeuralModel path=a\n", "Neural0= 1 2\n", "Neural0 has 2 weights"),
            ("[rescore-weight]\nTable= 1\n", "", "no model is named"),
            (
                "[rescore]\nNeuralModel path=a\n[rescore-weight]\nTable= 1\n",
                "",
                "[rescore-weight]: Neural0 has no weights",
            ),
            (
                "[rescore]\nNeuralModel path=a\n[rescore-weight]\nTable= 1\nNeural0= 1\n",
                "Neural0= 1\n",
                "[weight]: no feature has the name Neural0",
            ),
            ("[rescore-n-best]\n5\n", "", "no model is named"),
            (
                "[rescore]\nNgramModel path=a\n[rescore-n-best]\n0\n",
                "Ngram0= 1\n",
                "rescore-n-best",
            ),
        ] {
            let error = read(lines, weights).unwrap_err();
            assert!(error.contains(reason) && error.contains("moses.ini, ["), "{error}");
        }
    }
}
