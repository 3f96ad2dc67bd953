//! A translation system ready for use: models, weights and settings, immutable
//! and shared by all threads.
//!
//! All words of all models share one vocabulary of `u32`; each table and each
//! language model is joined to it once, here, by an array. The search never
//! hashes a string.

use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, LmWord};
use miriam_probingpt::AnyTable;
use miriam_storage::Container;
use miriam_textio::{Progress, Vocabulary, WordId};

use crate::component_layout::{ComponentLayout, FeatureComponents};
use crate::config::{
    Configuration, DecodingGraphBackoff, FeatureKind, FeatureSpec, PhraseTableFormat,
    PhraseTableSpec, ReorderingSource, ReorderingSpec, Settings,
};
use crate::factored_system;
use crate::factors::FactorScheme;
use crate::features::{OperationSequenceModel, Orientations};
use crate::options::{OptionCache, PhraseValueCache};
use crate::reordering_model::{ReorderingModel, ReorderingTable};
use crate::search::{FastPathFeatures, RecombinationKey, StatefulFeature};
use crate::sentence::surface;
use crate::{Error, Result};

/// A word that a model does not know.
pub(crate) const UNKNOWN_ID: u32 = u32::MAX;

/// What options of a span come from, in the order in which the search sees them:
/// that of the ini's tables, the unknown-word penalty among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableSlot {
    /// Unknown words.
    Unknown,
    /// The table of this number.
    Table(usize),
    /// The table in the line, as the feature of this number sees it.
    SentenceTable(usize),
}

/// A table, of files or of sentences, to be asked about the spans of a sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableLookup {
    /// Its slot, which tells what it is.
    pub(crate) slot: usize,
    /// About which spans it is asked.
    pub(crate) backoff: DecodingGraphBackoff,
}

/// Features of a phrase alone, in the order of the ini.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PhraseFeature {
    /// Minus one a word, with this weight.
    WordPenalty(f32),
    /// One a phrase, with this weight.
    PhrasePenalty(f32),
    /// The language model of this number.
    LanguageModel(usize),
    /// One a word that the language model `model` does not know.
    OovCount {
        /// Which.
        model: usize,
        /// The weight.
        weight: f32,
    },
    /// The operation model of this number, which only gives an estimate.
    OperationSequenceModel(usize),
}

/// Features that look at what stands before, in the order of the ini.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExpansionFeature {
    /// Minus the length of the jump, with this weight.
    Distortion(f32),
    /// Minus the jumps that became unavoidable, with this weight.
    EarlyDistortion(f32),
    /// Backward scores of a reordering model: the phrase against the one before.
    BackwardReordering {
        /// The orientations that it tells apart.
        orientations: Orientations,
        /// Where its scores start in an option's row.
        column: usize,
    },
    /// Forward hierarchical reordering: the phrase before against blocks.
    HierarchicalForward {
        /// The orientations that it tells apart.
        orientations: Orientations,
        /// Where its scores start in an option's row.
        column: usize,
    },
    /// A feature with a state of its own that is no language model.
    Stateful {
        /// Which of the contexts.
        index: usize,
        /// Its first addend among those of all contexts.
        first_score: usize,
        /// How many it has.
        num_scores: usize,
    },
    /// Forward scores of a reordering model: the phrase before against this one.
    ForwardReordering {
        /// The orientations that it tells apart.
        orientations: Orientations,
        /// Where its scores start in an option's row.
        column: usize,
    },
    /// A language model, with its weight.
    LanguageModel {
        /// Which.
        model: usize,
        /// Its weight.
        weight: f32,
    },
}

/// A phrase table joined to the vocabulary.
pub(crate) struct PhraseTable {
    pub(crate) phrases: AnyTable,
    pub(crate) weights: Vec<f32>,
    pub(crate) table_limit: Option<usize>,
    /// Which factors its source words are; nothing where words are surfaces.
    pub(crate) factors: Option<Vec<usize>>,
    /// Whether its options are the same whatever else is known of the source.
    pub(crate) caches_options: bool,
    /// Its source ids by words of the vocabulary.
    source_ids: Vec<u32>,
    /// Words of the vocabulary by its target ids.
    pub(crate) target_words: Vec<WordId>,
}

impl PhraseTable {
    /// What the table calls a source word.
    #[inline]
    pub(crate) fn source_id(&self, word: WordId) -> u32 {
        self.source_ids.get(word.index()).copied().unwrap_or(UNKNOWN_ID)
    }
}

/// A table that comes with each sentence, as one feature weighs it.
pub(crate) struct SentenceTableFeature {
    pub(crate) name: String,
    pub(crate) weights: Vec<f32>,
    pub(crate) table_limit: Option<usize>,
    /// Which factors its source words are, and its target words.
    pub(crate) input_factors: Vec<usize>,
    pub(crate) output_factors: Option<Vec<usize>>,
}

/// A language model joined to the vocabulary.
pub(crate) struct LanguageModelFeature {
    pub(crate) model: Arc<dyn LanguageModel>,
    pub(crate) weight: f32,
    /// Its id of `<s>`.
    pub(crate) begin_sentence: LmWord,
    /// Its ids by words of the vocabulary.
    pub(crate) word_ids: Vec<LmWord>,
    /// The factor it looks at.
    pub(crate) factor: usize,
}

impl LanguageModelFeature {
    /// What the model calls `word`; a word without its factor is unknown.
    pub(crate) fn word_id(&self, word: &[u8], factors: Option<&FactorScheme>) -> LmWord {
        match factors {
            None => self.model.word_id(word),
            Some(scheme) => match scheme.factor(word, self.factor) {
                Some(factor) => self.model.word_id(factor),
                None => LmWord::UNKNOWN,
            },
        }
    }
}

/// Everything a translator needs.
pub struct System {
    pub(crate) settings: Settings,
    pub(crate) vocabulary: Vocabulary,
    /// How words are cut into factors; nothing where only surfaces count.
    pub(crate) factor_scheme: Option<FactorScheme>,
    pub(crate) slots: Vec<TableSlot>,
    /// Tables in the order in which they are asked, that of the mapping.
    pub(crate) lookups: Vec<TableLookup>,
    pub(crate) tables: Vec<PhraseTable>,
    pub(crate) sentence_tables: Vec<SentenceTableFeature>,
    pub(crate) reordering_models: Vec<ReorderingModel>,
    /// Reordering scores an option, all models together.
    pub(crate) reordering_width: usize,
    pub(crate) language_models: Vec<LanguageModelFeature>,
    pub(crate) phrase_features: Vec<PhraseFeature>,
    pub(crate) expansion_features: Vec<ExpansionFeature>,
    /// The stateful features, where they are the usual ones.
    pub(crate) fast_path: Option<FastPathFeatures>,
    pub(crate) operation_models: Vec<OperationSequenceModel>,
    /// Features with a state that are no language models, and how many addends
    /// they give for an expansion.
    pub(crate) stateful_features: Vec<StatefulFeature>,
    pub(crate) num_stateful_scores: usize,
    pub(crate) unknown_word_weight: f32,
    pub(crate) recombination_key: RecombinationKey,
    pub(crate) option_cache: OptionCache,
    pub(crate) components: ComponentLayout,
    pub(crate) phrase_values: PhraseValueCache,
}

impl System {
    /// Opens every model that `configuration` names.
    pub fn load(configuration: &Configuration, progress: &dyn Progress) -> Result<Self> {
        let mut system = System {
            settings: configuration.settings.clone(),
            vocabulary: Vocabulary::new(),
            factor_scheme: factored_system::factor_scheme(configuration),
            slots: Vec::new(),
            lookups: Vec::new(),
            tables: Vec::new(),
            sentence_tables: Vec::new(),
            reordering_models: Vec::new(),
            reordering_width: 0,
            language_models: Vec::new(),
            phrase_features: Vec::new(),
            expansion_features: Vec::new(),
            fast_path: None,
            operation_models: Vec::new(),
            stateful_features: Vec::new(),
            num_stateful_scores: 0,
            unknown_word_weight: 1.0,
            recombination_key: RecombinationKey { uses_start: false, uses_end: false },
            option_cache: OptionCache::new(),
            components: ComponentLayout::new(configuration),
            phrase_values: PhraseValueCache::default(),
        };
        let mut unknown = false;
        let mut steps = Vec::new();
        for (number, feature) in configuration.features.iter().enumerate() {
            let weight = feature.weights[0];
            match &feature.kind {
                FeatureKind::UnknownWordPenalty(_) => {
                    if unknown {
                        return Err(Error::feature(&feature.name, "there is one already"));
                    }
                    unknown = true;
                    system.slots.push(TableSlot::Unknown);
                    system.unknown_word_weight = weight;
                }
                FeatureKind::WordPenalty => {
                    system.phrase_features.push(PhraseFeature::WordPenalty(weight));
                }
                FeatureKind::PhrasePenalty => {
                    system.phrase_features.push(PhraseFeature::PhrasePenalty(weight));
                }
                FeatureKind::Distortion => {
                    system.recombination_key.uses_end = true;
                    system.expansion_features.push(match system.settings.early_distortion {
                        true => ExpansionFeature::EarlyDistortion(weight),
                        false => ExpansionFeature::Distortion(weight),
                    });
                }
                FeatureKind::LexicalReordering(spec) => {
                    system.add_reordering(configuration, feature, spec, progress)?;
                }
                FeatureKind::LanguageModel(spec) => {
                    let path = configuration.resolve_path(&spec.path);
                    let model = miriam_glm::open(&path, spec.load, progress)?;
                    let begin = model.word_id(b"<s>");
                    let lm = system.language_models.len();
                    let words = Vec::new();
                    system.language_models.push(LanguageModelFeature {
                        model,
                        weight,
                        begin_sentence: begin,
                        word_ids: words,
                        factor: spec.factor,
                    });
                    system.phrase_features.push(PhraseFeature::LanguageModel(lm));
                    if let [_, weight] = feature.weights[..] {
                        let unknown = PhraseFeature::OovCount { model: lm, weight };
                        system.phrase_features.push(unknown);
                    }
                    system
                        .expansion_features
                        .push(ExpansionFeature::LanguageModel { model: lm, weight });
                }
                FeatureKind::OperationSequenceModel(spec) => {
                    let path = configuration.resolve_path(&spec.path);
                    let model = miriam_glm::open(&path, spec.load, progress)?;
                    let number = system.operation_models.len();
                    let weights = feature.weights.clone();
                    system.operation_models.push(OperationSequenceModel::new(model, weights));
                    system.phrase_features.push(PhraseFeature::OperationSequenceModel(number));
                    system.add_stateful_feature(StatefulFeature::OperationSequenceModel(number));
                }
                FeatureKind::PhraseTable(spec) => {
                    let step = configuration.mapping.iter().position(|s| s.table == number);
                    if let Some(step) = step {
                        let slot = system.slots.len();
                        let backoff = configuration.mapping[step].backoff;
                        steps.push((step, TableLookup { slot, backoff }));
                        system.add_table(configuration, feature, spec, progress)?;
                    } else {
                        tracing::warn!("{} is not in [mapping] and not used", feature.name);
                    }
                }
            }
        }
        if !unknown {
            let reason =
                "add the line UnknownWordPenalty to [feature]: it translates unknown words";
            return Err(Error::section(&configuration.ini, "feature", reason));
        }
        steps.sort_unstable_by_key(|&(step, _)| step);
        system.lookups = steps.into_iter().map(|(_, lookup)| lookup).collect();
        system.add_exact_recombination(configuration);
        system.build_vocabulary(configuration)?;
        system.check_reordering(configuration)?;
        if system.stateful_features.is_empty() {
            system.fast_path = FastPathFeatures::from_features(
                &system.expansion_features,
                system.reordering_width,
            );
        }
        Ok(system)
    }

    /// The features in the order of the ini, and where the values of each stand.
    pub fn features(&self) -> &[FeatureComponents] {
        &self.components.features
    }

    /// Factor 0 of a word, which is all that some look at; of a word that has none,
    /// the word itself.
    pub(crate) fn surface<'a>(&'a self, word: &'a [u8]) -> &'a [u8] {
        match &self.factor_scheme {
            None => word,
            Some(scheme) => scheme.factor(word, 0).unwrap_or(word),
        }
    }

    /// Search and output options.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn add_table(
        &mut self,
        configuration: &Configuration,
        feature: &FeatureSpec,
        spec: &PhraseTableSpec,
        progress: &dyn Progress,
    ) -> Result<()> {
        if spec.format == PhraseTableFormat::PerSentence {
            return self.add_sentence_table(feature, spec);
        }
        let path = configuration.resolve_path(&spec.path);
        let threads = self.settings.threads;
        let is_ours = Container::is_container(&path);
        match spec.format {
            PhraseTableFormat::Binary if path.is_file() && !is_ours => {
                let reason = format!(
                    "{} is no binary table of ours; text tables are PhraseDictionaryMemory, or \
                     build one with `miriam pt build`",
                    path.display()
                );
                return Err(Error::feature(&feature.name, reason));
            }
            PhraseTableFormat::Text if is_ours => {
                let reason = format!("{} is a binary table: use ProbingPT", path.display());
                return Err(Error::feature(&feature.name, reason));
            }
            _ => {}
        }
        let phrases = match spec.format {
            PhraseTableFormat::Text => {
                miriam_probingpt::load_text(&path, Some(feature.num_components), threads, progress)?
                    .into()
            }
            _ => AnyTable::open(&path, spec.load)?,
        };
        if phrases.num_scores() != feature.num_components {
            let reason = format!(
                "num-features={}, but {} has {} scores",
                feature.num_components,
                path.display(),
                phrases.num_scores()
            );
            return Err(Error::feature(&feature.name, reason));
        }
        self.slots.push(TableSlot::Table(self.tables.len()));
        self.tables.push(PhraseTable {
            phrases,
            weights: feature.weights.clone(),
            table_limit: spec.limit,
            factors: self.factor_scheme.is_some().then(|| spec.input_factors.clone()),
            caches_options: self.factor_scheme.is_none()
                || factored_system::determines_options(configuration, &spec.input_factors),
            source_ids: Vec::new(),
            target_words: Vec::new(),
        });
        Ok(())
    }

    fn add_sentence_table(&mut self, feature: &FeatureSpec, spec: &PhraseTableSpec) -> Result<()> {
        if !self.settings.input_format.has_sentence_table {
            let reason = "its phrases come with the input: set inputtype to 7";
            return Err(Error::feature(&feature.name, reason));
        }
        self.slots.push(TableSlot::SentenceTable(self.sentence_tables.len()));
        self.sentence_tables.push(SentenceTableFeature {
            name: feature.name.clone(),
            weights: feature.weights.clone(),
            table_limit: spec.limit,
            input_factors: spec.input_factors.clone(),
            output_factors: spec.output_factors.clone(),
        });
        Ok(())
    }

    fn add_reordering(
        &mut self,
        configuration: &Configuration,
        feature: &FeatureSpec,
        spec: &ReorderingSpec,
        progress: &dyn Progress,
    ) -> Result<()> {
        let (mut in_phrase_table, mut own_table) = (None, None);
        match &spec.source {
            ReorderingSource::PhraseTable(offset) => in_phrase_table = Some(*offset),
            ReorderingSource::Text(path) => {
                let path = configuration.resolve_path(path);
                let phrases = miriam_probingpt::load_reordering_text(
                    &path,
                    Some(spec.model.num_columns()),
                    self.settings.threads,
                    progress,
                )?
                .into();
                let (source_ids, target_words) = (Vec::new(), Vec::new());
                let table = PhraseTable {
                    phrases,
                    weights: Vec::new(),
                    table_limit: None,
                    factors: self.factor_scheme.is_some().then(|| spec.input_factors.clone()),
                    caches_options: true,
                    source_ids,
                    target_words,
                };
                own_table = Some(ReorderingTable { table, projection: None });
            }
        }
        let column = self.reordering_width;
        self.reordering_width += spec.model.num_columns();
        let weight = |(column, weight): (usize, usize)| (column, feature.weights[weight]);
        let cells = spec.model.column_weight_indices().map(weight).collect();
        self.reordering_models.push(ReorderingModel {
            columns: cells,
            phrase_table_offset: in_phrase_table,
            own_table,
        });
        let kind = spec.model;
        let orientations = kind.orientations;
        if !kind.hierarchical || kind.forward {
            self.recombination_key = RecombinationKey { uses_start: true, uses_end: true };
        }
        if kind.backward && kind.hierarchical {
            self.add_stateful_feature(StatefulFeature::HierarchicalBackward {
                orientations,
                column,
            });
        } else if kind.backward {
            self.expansion_features
                .push(ExpansionFeature::BackwardReordering { orientations, column });
        }
        if kind.forward {
            let column = column + kind.forward_offset();
            self.expansion_features.push(match kind.hierarchical {
                true => ExpansionFeature::HierarchicalForward { orientations, column },
                false => ExpansionFeature::ForwardReordering { orientations, column },
            });
        }
        Ok(())
    }

    /// A feature with a state that is no language model.
    fn add_stateful_feature(&mut self, context: StatefulFeature) {
        let (first, count) = (self.num_stateful_scores, context.num_scores(self));
        self.num_stateful_scores += count;
        let number = self.stateful_features.len();
        self.expansion_features.push(ExpansionFeature::Stateful {
            index: number,
            first_score: first,
            num_scores: count,
        });
        self.stateful_features.push(context);
    }

    /// Lets forward reordering scores take part in recombination, where that is
    /// asked for and there are any.
    fn add_exact_recombination(&mut self, configuration: &Configuration) {
        let mut columns = Vec::new();
        let mut first = 0;
        for feature in &configuration.features {
            if let FeatureKind::LexicalReordering(ReorderingSpec { model, .. }) = feature.kind {
                if model.forward {
                    let forward = first + model.forward_offset();
                    columns.extend(forward..first + model.num_columns());
                }
                first += model.num_columns();
            }
        }
        if self.settings.exact_recombination && !columns.is_empty() {
            self.stateful_features.push(StatefulFeature::ForwardScores(columns));
        }
    }

    /// Reordering scores that live in the phrase tables must be there.
    fn check_reordering(&self, configuration: &Configuration) -> Result<()> {
        let features = configuration
            .features
            .iter()
            .filter(|f| matches!(f.kind, FeatureKind::LexicalReordering(_)));
        for (feature, model) in features.zip(&self.reordering_models) {
            let Some(offset) = model.phrase_table_offset else { continue };
            let needed = offset + model.columns.iter().map(|cell| cell.0 + 1).max().unwrap_or(0);
            for table in &self.tables {
                let there = table.phrases.num_reordering();
                if there < needed {
                    let reason = format!(
                        "property-index={offset} needs {needed} reordering scores in the phrase \
                         table, which has {there}; build it with --reordering, or give path="
                    );
                    return Err(Error::feature(&feature.name, reason));
                }
            }
        }
        Ok(())
    }

    /// One vocabulary for all tables, and what each model calls its words.
    fn build_vocabulary(&mut self, configuration: &Configuration) -> Result<()> {
        if self.factor_scheme.is_some() {
            return factored_system::build_vocabulary(self, configuration);
        }
        let vocabulary = &mut self.vocabulary;
        let own = self
            .reordering_models
            .iter_mut()
            .filter_map(|r| r.own_table.as_mut().map(|o| &mut o.table));
        let mut tables: Vec<&mut PhraseTable> = self.tables.iter_mut().chain(own).collect();
        for table in &mut tables {
            table.target_words.clear();
            for id in 0..table.phrases.num_target_words() {
                let word = surface(table.phrases.target_word(id)?);
                table.target_words.push(vocabulary.intern(word));
            }
            for id in 0..table.phrases.num_source_words() {
                vocabulary.intern(table.phrases.source_word(id)?);
            }
        }
        for table in tables {
            let mut ids = vec![UNKNOWN_ID; vocabulary.len()];
            for id in 0..table.phrases.num_source_words() {
                if let Some(word) = vocabulary.find(table.phrases.source_word(id)?) {
                    ids[word.index()] = id;
                }
            }
            table.source_ids = ids;
        }
        for lm in &mut self.language_models {
            lm.word_ids = vocabulary.iter().map(|word| lm.model.word_id(word)).collect();
        }
        Ok(())
    }
}
