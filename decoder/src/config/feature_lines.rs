//! Feature lines: `TypeName key=value key=value ...` (`phrase-decoding.md` 1.6).

use std::path::Path;

use miriam_storage::LoadMethod;

use super::feature_overrides::{self, FeatureOverride, OverrideTarget};
use super::feature_types;
use super::input_settings;
use super::settings::parse_boolean;
use crate::features::ReorderingType;
use crate::{Error, Result};

/// One feature function of the ini.
#[derive(Clone, Debug)]
pub struct FeatureSpec {
    /// Its name: `name=`, or the type with a running number.
    pub name: String,
    /// How many scores it has.
    pub num_components: usize,
    /// Whether it is tuned; others need no weight line.
    pub tuneable: bool,
    /// One weight a score.
    pub weights: Vec<f32>,
    /// What it computes, from what.
    pub kind: FeatureKind,
}

/// The feature functions there are.
#[derive(Clone, Debug)]
pub enum FeatureKind {
    /// -100 for each unknown word; the "table" of unknown words.
    UnknownWordPenalty(UnknownWordSpec),
    /// Minus the number of target words.
    WordPenalty,
    /// One a phrase.
    PhrasePenalty,
    /// Minus the length of the jump.
    Distortion,
    /// Lexicalised reordering.
    LexicalReordering(ReorderingSpec),
    /// An n-gram language model.
    LanguageModel(LanguageModelSpec),
    /// An operation sequence model.
    OperationSequenceModel(OperationSequenceModelSpec),
    /// A phrase table.
    PhraseTable(PhraseTableSpec),
}

/// What becomes of unknown words.
#[derive(Clone, Debug)]
pub struct UnknownWordSpec {
    /// Whether they are left out.
    pub drop: bool,
    /// What stands before a copied word.
    pub prefix: String,
    /// What stands behind it.
    pub suffix: String,
}

impl UnknownWordSpec {
    /// Prefix and suffix, where there is one.
    pub(super) fn affixes(&self) -> Option<(String, String)> {
        let any = !self.prefix.is_empty() || !self.suffix.is_empty();
        any.then(|| (self.prefix.clone(), self.suffix.clone()))
    }
}

/// A phrase table's parameters.
#[derive(Clone, Debug)]
pub struct PhraseTableSpec {
    /// Text or binary.
    pub format: PhraseTableFormat,
    /// The file.
    pub path: String,
    /// Targets kept a source phrase; nothing for all.
    pub limit: Option<usize>,
    /// How a binary file is loaded.
    pub load: LoadMethod,
    /// Which factors the words of its source phrases are.
    pub input_factors: Vec<usize>,
    /// The same of target phrases; nothing for as many as a word has.
    pub output_factors: Option<Vec<usize>>,
}

/// Where a phrase table comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhraseTableFormat {
    /// Moses text, read into memory (`PhraseDictionaryMemory`).
    Text,
    /// Our binary file, or a directory of Moses' (`ProbingPT`).
    Binary,
    /// The line that is translated (`DynamicPhraseTable`).
    PerSentence,
}

/// A lexicalised reordering model's parameters.
#[derive(Clone, Debug)]
pub struct ReorderingSpec {
    /// Orientations and directions.
    pub model: ReorderingType,
    /// Where the scores are.
    pub source: ReorderingSource,
    /// Which factors the words of source phrases are in a table of its own.
    pub input_factors: Vec<usize>,
    /// The same of target phrases.
    pub output_factors: Vec<usize>,
}

/// Where reordering scores come from.
#[derive(Clone, Debug)]
pub enum ReorderingSource {
    /// A text table of its own.
    Text(String),
    /// The phrase table's records, from this score on.
    PhraseTable(usize),
}

/// A language model's parameters.
#[derive(Clone, Debug)]
pub struct LanguageModelSpec {
    /// The file: ARPA or ours.
    pub path: String,
    /// How a binary file is loaded.
    pub load: LoadMethod,
    /// Whether a second score counts the words that the model does not know.
    pub has_oov_feature: bool,
    /// The factor of target words it looks at.
    pub factor: usize,
}

/// An operation sequence model's parameters.
#[derive(Clone, Debug)]
pub struct OperationSequenceModelSpec {
    /// The file of the n-gram model of operations: anything a language model may be.
    pub path: String,
    /// How a binary file is loaded.
    pub load: LoadMethod,
}

const SUPPORTED_TYPES: &str = "UnknownWordPenalty, WordPenalty, PhrasePenalty, Distortion, \
    LexicalReordering, KENLM, OpSequenceModel, PhraseDictionaryMemory, ProbingPT, \
    DynamicPhraseTable";

/// Scores of one feature at most: more than any table has.
const MAX_COMPONENTS: usize = 10_000;

/// The features of `lines` with `edits` made; weights are still empty.
pub(super) fn parse(
    ini: &Path,
    lines: &[String],
    edits: Vec<FeatureOverride>,
) -> Result<Vec<FeatureSpec>> {
    let fail = |reason: String| Err(Error::section(ini, "feature", reason));
    let mut parsed: Vec<(String, FeatureLine)> = Vec::new();
    let mut unnamed: Vec<(String, usize)> = Vec::new();
    for line in lines {
        let mut keys = match FeatureLine::parse(line) {
            Ok(keys) => keys,
            Err(reason) => return fail(format!("{line:?}: {reason}")),
        };
        let name =
            keys.take("name").unwrap_or_else(|| make_default_name(&keys.type_name, &mut unnamed));
        if parsed.iter().any(|(other, _)| *other == name) {
            return fail(format!("two features are called {name}"));
        }
        parsed.push((name, keys));
    }
    for FeatureOverride { target: feature, key, value } in edits {
        let edited = |(name, keys): &&mut (String, FeatureLine)| match &feature {
            OverrideTarget::UnknownWordPenalty => keys.type_name == "UnknownWordPenalty",
            OverrideTarget::Named(edited) => name == edited,
        };
        match (parsed.iter_mut().find(edited), &feature) {
            (Some((_, keys)), _) => keys.set(key, value),
            // Its absence is complained of elsewhere.
            (None, OverrideTarget::UnknownWordPenalty) => {}
            (None, OverrideTarget::Named(name)) => {
                let names: Vec<&str> = parsed.iter().map(|(name, _)| &name[..]).collect();
                return Err(feature_overrides::unknown_feature_error(ini, name, &names));
            }
        }
    }
    let mut features = Vec::new();
    for ((name, mut keys), line) in parsed.into_iter().zip(lines) {
        match parse_feature(name, &mut keys) {
            Ok(feature) => features.push(feature),
            Err(reason) => return fail(format!("{line:?}: {reason}")),
        }
    }
    Ok(features)
}

/// The type with the next number of its kind; only unnamed features count.
fn make_default_name(type_name: &str, unnamed: &mut Vec<(String, usize)>) -> String {
    match unnamed.iter_mut().find(|(name, _)| name == type_name) {
        Some((_, next)) => {
            *next += 1;
            format!("{type_name}{next}")
        }
        None => {
            unnamed.push((type_name.to_owned(), 0));
            format!("{type_name}0")
        }
    }
}

fn parse_feature(name: String, keys: &mut FeatureLine) -> Result<FeatureSpec, String> {
    let given =
        keys.take("num-features").map(|text| parse_count("num-features", &text)).transpose()?;
    if let Some(given) = given.filter(|&given| given > MAX_COMPONENTS) {
        return Err(format!("num-features={given}: there are at most {MAX_COMPONENTS}"));
    }
    let tuneable = keys.take("tuneable").map(|text| parse_flag("tuneable", &text)).transpose()?;
    let one = |kind| Ok((kind, 1));
    let (kind, components) = match &keys.type_name[..] {
        "UnknownWordPenalty" => {
            one(FeatureKind::UnknownWordPenalty(parse_unknown_word_penalty(keys)?))
        }
        "WordPenalty" => one(FeatureKind::WordPenalty),
        "PhrasePenalty" => one(FeatureKind::PhrasePenalty),
        "Distortion" => one(FeatureKind::Distortion),
        "LexicalReordering" => parse_reordering(keys).map(|spec| {
            let components = spec.model.num_components(given);
            (FeatureKind::LexicalReordering(spec), components)
        }),
        "KENLM" => parse_language_model_feature(keys),
        other if feature_types::is_language_model(other) => {
            tracing::warn!("{name}: {other} files are opened as KENLM opens ARPA files");
            parse_language_model_feature(keys)
        }
        "OpSequenceModel" => parse_operation_sequence_model(keys),
        "PhraseDictionaryMemory" => parse_phrase_table(keys, PhraseTableFormat::Text)
            .map(|t| (FeatureKind::PhraseTable(t), given.unwrap_or(1))),
        "ProbingPT" => parse_phrase_table(keys, PhraseTableFormat::Binary)
            .map(|t| (FeatureKind::PhraseTable(t), given.unwrap_or(1))),
        "DynamicPhraseTable" => parse_phrase_table(keys, PhraseTableFormat::PerSentence)
            .map(|t| (FeatureKind::PhraseTable(t), given.unwrap_or(1))),
        other => match feature_types::unsupported_reason(other) {
            Some(why) => Err(format!("feature type {other}: {why}")),
            None => Err(format!("feature type {other} is unknown; supported: {SUPPORTED_TYPES}")),
        },
    }?;
    if components == 0 {
        return Err("num-features=0: a table has at least one score".into());
    }
    if given.is_some_and(|given| given != components) {
        return Err(format!("num-features={}, but it has {components} scores", given.unwrap_or(0)));
    }
    if let Some((key, _)) = keys.pairs.first() {
        return Err(format!("{} has no parameter {key}", keys.type_name));
    }
    let tuneable = tuneable.unwrap_or(!matches!(kind, FeatureKind::UnknownWordPenalty(_)));
    Ok(FeatureSpec { name, num_components: components, tuneable, weights: Vec::new(), kind })
}

fn parse_unknown_word_penalty(keys: &mut FeatureLine) -> Result<UnknownWordSpec, String> {
    // Moses2 takes a table's keys here and does nothing with them.
    for key in ["path", "input-factor", "output-factor", "table-limit", "cache-size"] {
        keys.take(key);
    }
    let drop = keys.take("drop").map_or(Ok(false), |text| parse_flag("drop", &text))?;
    let mut text = |key| keys.take(key).unwrap_or_default();
    Ok(UnknownWordSpec { drop, prefix: text("prefix"), suffix: text("suffix") })
}

fn parse_phrase_table(
    keys: &mut FeatureLine,
    format: PhraseTableFormat,
) -> Result<PhraseTableSpec, String> {
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

fn parse_reordering(keys: &mut FeatureLine) -> Result<ReorderingSpec, String> {
    let input_factors = keys.take_factors("input-factor")?.unwrap_or_else(|| vec![0]);
    let output_factors = keys.take_factors("output-factor")?.unwrap_or_else(|| vec![0]);
    let model = ReorderingType::parse(&keys.take("type").ok_or("type= is missing")?)?;
    let index =
        keys.take("property-index").map(|text| parse_count("property-index", &text)).transpose()?;
    if let Some(index) = index.filter(|&index| index > 1000) {
        return Err(format!("property-index={index} is beyond any table's scores"));
    }
    let source = match (index, keys.take("path")) {
        (Some(index), None) => ReorderingSource::PhraseTable(index),
        (None, Some(path)) => ReorderingSource::Text(path),
        (None, None) => return Err("path= or property-index= is missing".into()),
        (Some(_), Some(_)) => return Err("path= and property-index= exclude each other".into()),
    };
    Ok(ReorderingSpec { model, source, input_factors, output_factors })
}

fn parse_language_model(keys: &mut FeatureLine) -> Result<LanguageModelSpec, String> {
    let factor = keys.take("factor").map_or(Ok(0), |text| input_settings::parse_factor(&text))?;
    // The order is the file's.
    keys.take("order");
    let counts_unknown = keys.take("oov-feature").map(|text| parse_flag("oov-feature", &text));
    let counts_unknown = counts_unknown.transpose()?.unwrap_or(false);
    let path = keys.take("path").ok_or("path= is missing")?;
    Ok(LanguageModelSpec { path, load: keys.take_load()?, has_oov_feature: counts_unknown, factor })
}

/// An operation sequence model and how many scores it has.
fn parse_operation_sequence_model(keys: &mut FeatureLine) -> Result<(FeatureKind, usize), String> {
    keys.accept_only("input-factor", "0")?;
    keys.accept_only("output-factor", "0")?;
    // Moses2 switches the supporting features off for this word alone.
    let alone = keys.take("support-features").is_some_and(|text| text == "no");
    let path = keys.take("path").ok_or("path= is missing")?;
    let spec = OperationSequenceModelSpec { path, load: keys.take_load()? };
    Ok((FeatureKind::OperationSequenceModel(spec), if alone { 1 } else { 5 }))
}

/// A language model, which has a second score where it counts unknown words.
fn parse_language_model_feature(keys: &mut FeatureLine) -> Result<(FeatureKind, usize), String> {
    let spec = parse_language_model(keys)?;
    let components = 1 + usize::from(spec.has_oov_feature);
    Ok((FeatureKind::LanguageModel(spec), components))
}

fn parse_count(key: &str, text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{key}={text} is not a number"))
}

fn parse_flag(key: &str, text: &str) -> Result<bool, String> {
    parse_boolean(text).ok_or_else(|| format!("{key}={text} is neither true nor false"))
}

/// A feature line cut into its type and its pairs, which are taken one by one.
struct FeatureLine {
    type_name: String,
    pairs: Vec<(String, String)>,
}

impl FeatureLine {
    fn parse(line: &str) -> Result<Self, String> {
        let mut tokens = line.split([' ', '\t']).filter(|t| !t.is_empty());
        let type_name = tokens.next().ok_or("empty")?.to_owned();
        let mut pairs: Vec<(String, String)> = Vec::new();
        for token in tokens {
            let Some((key, value)) = token.split_once('=') else {
                return Err(format!("{token:?} is not of the form key=value"));
            };
            if pairs.iter().any(|(k, _)| k == key) {
                return Err(format!("{key} is given twice"));
            }
            pairs.push((key.to_owned(), value.to_owned()));
        }
        Ok(FeatureLine { type_name, pairs })
    }

    fn take(&mut self, key: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(k, _)| k == key)?;
        Some(self.pairs.remove(at).1)
    }

    /// Gives `key` the value `value`, as if it stood last on the line.
    fn set(&mut self, key: String, value: String) {
        self.take(&key);
        self.pairs.push((key, value));
    }

    fn accept_only(&mut self, key: &str, value: &str) -> Result<(), String> {
        match self.take(key) {
            Some(given) if given != value => {
                Err(format!("{key}={given}: only {key}={value} is supported so far"))
            }
            _ => Ok(()),
        }
    }

    /// A list of factors, `0,1`.
    fn take_factors(&mut self, key: &str) -> Result<Option<Vec<usize>>, String> {
        let list = self.take(key).map(|text| input_settings::parse_factors(&text));
        list.transpose().map_err(|reason| format!("{key}=: {reason}"))
    }

    /// `load=` and `lazyken=`: whichever stands later counts.
    fn take_load(&mut self) -> Result<LoadMethod, String> {
        let mut load = LoadMethod::Populate;
        while let Some(at) = self.pairs.iter().position(|(k, _)| k == "load" || k == "lazyken") {
            let (key, value) = self.pairs.remove(at);
            load = match (&key[..], &value[..]) {
                ("lazyken", _) => match parse_flag("lazyken", &value)? {
                    true => LoadMethod::Lazy,
                    false => LoadMethod::Populate,
                },
                (_, "lazy") => LoadMethod::Lazy,
                (_, "populate" | "populate_or_lazy" | "populate_or_read") => LoadMethod::Populate,
                (_, "read" | "parallel_read" | "huge") => LoadMethod::HugePages,
                _ => {
                    return Err(format!(
                        "load={value}; there are lazy, populate_or_lazy, populate_or_read, \
                         populate, read, parallel_read, huge"
                    ));
                }
            };
        }
        Ok(load)
    }
}
