//! Phrase table scores: of tables that are files, and of tables that come with their
//! sentence (`docs/spec/phrase-decoding.md` 1.6, 1.9).

use std::path::Path;

use miriam_probingpt::{AnyTable, is_text_table};
use miriam_storage::{Container, LoadMethod};

use super::{FeatureSet, FeatureSpec, LoadContext, TableSlot};
use crate::feature_line::{FeatureLine, parse_count};
use crate::models::{PhraseTable, TableFile};
use crate::{Error, Result};

/// A phrase table's parameters.
#[derive(Clone, Debug)]
pub struct PhraseTableSpec {
    /// Text, binary, or in the input.
    pub format: PhraseTableFormat,
    /// The file; not used for a table in the input.
    pub path: String,
    /// The largest number of targets kept for a source phrase; `None` for all.
    pub limit: Option<usize>,
    /// The method of loading a binary file.
    pub load: LoadMethod,
    /// The factors in the columns of source words.
    pub input_factors: Vec<usize>,
    /// The factors in the columns of target words; `None` for 0, 1, 2 and so on.
    pub output_factors: Option<Vec<usize>>,
}

/// The source of a phrase table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhraseTableFormat {
    /// Moses text, read into memory (`PhraseDictionaryMemory`).
    Text,
    /// A binary file of Miriam, or a directory of Moses (`ProbingPT`).
    Binary,
    /// The input line (`DynamicPhraseTable`).
    PerSentence,
}

impl PhraseTableSpec {
    /// Reads the keys of a feature line of a table in `format`.
    pub(super) fn parse(keys: &mut FeatureLine, format: PhraseTableFormat) -> Result<Self, String> {
        let input_factors = keys.take_factors("input-factor")?.unwrap_or_else(|| vec![0]);
        let output_factors = keys.take_factors("output-factor")?;
        // A size for Moses2's static cache, which has no counterpart here.
        keys.take("cache-size");
        let limit =
            keys.take("table-limit").map_or(Ok(20), |text| parse_count("table-limit", &text))?;
        let load =
            if format == PhraseTableFormat::Binary { keys.take_load()? } else { LoadMethod::Lazy };
        let path = match (keys.take("path"), format) {
            (Some(path), _) => path,
            (None, PhraseTableFormat::PerSentence) => String::new(),
            (None, _) => return Err("path= is missing".into()),
        };
        let limit = (limit > 0).then_some(limit);
        Ok(PhraseTableSpec { format, path, limit, load, input_factors, output_factors })
    }

    /// Returns the table's file, unless it comes with the input.
    pub(super) fn path(&self) -> Option<&str> {
        (self.format != PhraseTableFormat::PerSentence).then_some(&self.path[..])
    }

    /// Whether words of the table have several factors.
    fn has_factored_words(&self) -> bool {
        self.input_factors.len() > 1 || self.output_factors.as_ref().is_some_and(|f| f.len() > 1)
    }
}

/// The scores of a phrase table: its weights, one per score, and its components.
#[derive(Clone, Debug)]
pub(crate) struct PhraseTableScores {
    component: usize,
    weights: Vec<f32>,
    /// The largest number of targets kept for a source phrase.
    pub(crate) limit: Option<usize>,
}

impl PhraseTableScores {
    fn new(feature: &FeatureSpec, spec: &PhraseTableSpec, component: usize) -> Self {
        let weights = vec![0.0; feature.num_components];
        PhraseTableScores { component, weights, limit: spec.limit }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        let own = self.component..self.component + self.weights.len();
        self.weights.copy_from_slice(&weights[own]);
    }

    /// Returns the number of scores of an entry.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Returns the weighted sum of the scores of an entry, one addition after another.
    #[inline]
    pub(crate) fn score(&self, scores: &[f32]) -> f32 {
        let mut total = 0f32;
        for (score, weight) in scores.iter().zip(&self.weights) {
            total += score * weight;
        }
        total
    }

    /// Adds the scores of an entry to the components of the table. `scores` may continue with other
    /// scores, which are ignored.
    pub(crate) fn add_values(&self, scores: &[f32], values: &mut [f32]) {
        super::add_components(&mut values[self.component..], &scores[..self.weights.len()]);
    }
}

/// A feature that scores the phrase table which comes with each sentence.
#[derive(Clone, Debug)]
pub(crate) struct SentenceTableFeature {
    pub(crate) name: String,
    pub(crate) scores: PhraseTableScores,
    /// The factors in the columns of source words.
    pub(crate) input_factors: Vec<usize>,
    /// The factors in the columns of target words; `None` for 0, 1, 2 and so on.
    pub(crate) output_factors: Option<Vec<usize>>,
}

/// Loads the table of `spec` and adds its scores to `set`.
pub(super) fn load(
    set: &mut FeatureSet,
    feature: &FeatureSpec,
    spec: &PhraseTableSpec,
    component: usize,
    context: &mut LoadContext<'_>,
) -> Result<()> {
    let scores = PhraseTableScores::new(feature, spec, component);
    if spec.format == PhraseTableFormat::PerSentence {
        if !context.has_sentence_table {
            let reason = "its phrases come with the input: set inputtype to 7";
            return Err(Error::feature(&feature.name, reason));
        }
        set.slots.push(TableSlot::SentenceTable(set.sentence_tables.len()));
        set.sentence_tables.push(SentenceTableFeature {
            name: feature.name.clone(),
            scores,
            input_factors: spec.input_factors.clone(),
            output_factors: spec.output_factors.clone(),
        });
        return Ok(());
    }
    let path = (context.resolve_path)(&spec.path);
    let phrases = open_table(feature, spec, &path, context)?;
    if phrases.num_scores() != feature.num_components {
        let reason = format!(
            "num-features={}, but {} has {} scores",
            feature.num_components,
            path.display(),
            phrases.num_scores()
        );
        return Err(Error::feature(&feature.name, reason));
    }
    let file = TableFile {
        feature: feature.name.clone(),
        path,
        is_text: spec.format == PhraseTableFormat::Text,
        input_factors: spec.input_factors.clone(),
        output_factors: spec.output_factors.clone(),
    };
    let caches_options = (context.determines_options)(&spec.input_factors);
    set.slots.push(TableSlot::Table(context.models.phrase_tables.len()));
    set.phrase_tables.push(scores);
    context.models.phrase_tables.push(PhraseTable::new(phrases, file, caches_options));
    Ok(())
}

fn open_table(
    feature: &FeatureSpec,
    spec: &PhraseTableSpec,
    path: &Path,
    context: &LoadContext<'_>,
) -> Result<AnyTable> {
    let is_ours = Container::is_container(path);
    match spec.format {
        PhraseTableFormat::Binary if !is_ours && path.is_file() && is_text_table(path) => {
            let file = path.display();
            let reason = format!(
                "{file} is a text table: use PhraseDictionaryMemory, or build a binary one with \
                 `miriam pt build --phrase-table {file} -o FILE`"
            );
            Err(Error::feature(&feature.name, reason))
        }
        PhraseTableFormat::Text if is_ours => {
            let reason = format!("{} is a binary table: use ProbingPT", path.display());
            Err(Error::feature(&feature.name, reason))
        }
        PhraseTableFormat::Text => {
            let scores = Some(feature.num_components);
            let (threads, progress) = (context.threads, context.progress);
            let table = miriam_probingpt::load_text(path, scores, threads, progress)?;
            if table.has_sparse_features() {
                tracing::warn!(
                    "{}: {} has sparse features (field 6), which are not scored",
                    feature.name,
                    path.display()
                );
            }
            Ok(table.into())
        }
        _ => {
            let table = AnyTable::open(path, spec.load)?;
            // Moses stores each factor of such a word as a word of its own, so that no word of the
            // input would be found, or factors would be printed as words.
            if matches!(table, AnyTable::Moses(_)) && spec.has_factored_words() {
                let reason = format!(
                    "{} is a ProbingPT directory of Moses whose words have several factors, which \
                     is not supported; build a table from the text with `miriam pt build \
                     --phrase-table TEXT -o FILE`",
                    path.display()
                );
                return Err(Error::feature(&feature.name, reason));
            }
            Ok(table)
        }
    }
}
