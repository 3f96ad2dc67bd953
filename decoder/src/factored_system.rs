//! Joining tables and models whose words have several factors.
//!
//! The vocabulary holds the target words of the tables, whole. Source words are
//! not in it: what a table calls a word of a sentence is looked up when the
//! sentence is read, because the word may have more factors than the table.

use std::path::Path;

use miriam_textio::{Input, Lines, WordId, fields};

use crate::config::{
    Configuration, FactorSettings, FeatureKind, FeatureSpec, PhraseTableFormat, PhraseTableSpec,
    ReorderingSource, ReorderingSpec,
};
use crate::factors::FactorScheme;
use crate::reordering_model::FactorProjection;
use crate::system::{System, UNKNOWN_ID};
use crate::{Error, Result};

/// The tables in use, in the order of [`System::tables`] and the tables of
/// sentences.
fn used_tables(
    configuration: &Configuration,
) -> impl Iterator<Item = (&FeatureSpec, &PhraseTableSpec)> {
    let features = configuration.features.iter().enumerate();
    features.filter_map(|(number, feature)| match &feature.kind {
        FeatureKind::PhraseTable(spec)
            if configuration.mapping.iter().any(|step| step.table == number) =>
        {
            Some((feature, spec))
        }
        _ => None,
    })
}

/// The reordering models with tables of their own.
fn external_reordering(
    configuration: &Configuration,
) -> impl Iterator<Item = (&FeatureSpec, &ReorderingSpec)> {
    configuration.features.iter().filter_map(|feature| match &feature.kind {
        FeatureKind::LexicalReordering(spec)
            if matches!(spec.source, ReorderingSource::Text(_)) =>
        {
            Some((feature, spec))
        }
        _ => None,
    })
}

/// How the words of a system are cut; nothing where nobody looks at any factor
/// but the first.
pub(crate) fn factor_scheme(configuration: &Configuration) -> Option<FactorScheme> {
    let settings = &configuration.settings.input_format.factors;
    let (mut source, mut target) = (Vec::new(), Vec::new());
    // Target words without a factor of a reordering model have no scores there.
    let mut reordered = Vec::new();
    let mut output_is_first = true;
    let need = |needed: &mut Vec<_>, factors: &[usize], feature: &FeatureSpec| {
        needed.extend(factors.iter().map(|&factor| (factor, feature.name.clone())));
    };
    for (feature, spec) in used_tables(configuration) {
        need(&mut source, &spec.input_factors, feature);
        output_is_first &= spec.output_factors.as_deref().is_none_or(|f| f == [0]);
    }
    for (feature, spec) in external_reordering(configuration) {
        need(&mut source, &spec.input_factors, feature);
        need(&mut reordered, &spec.output_factors, feature);
    }
    for feature in &configuration.features {
        if let FeatureKind::LanguageModel(spec) = &feature.kind {
            need(&mut target, &[spec.factor], feature);
        }
    }
    let plain = FactorSettings {
        output_delimiter: settings.output_delimiter.clone(),
        input: settings.input.clone().filter(|factors| *factors == [0]),
        ..FactorSettings::default()
    };
    let first = |needed: &[(usize, String)]| needed.iter().all(|(factor, _)| *factor == 0);
    let none_looks = [&source, &target, &reordered].into_iter().all(|needed| first(needed));
    if *settings == plain && output_is_first && none_looks {
        return None;
    }
    Some(FactorScheme::new(settings, source, target))
}

/// Whether the factors `input` of a source phrase are all that any model looks at
/// when it scores an option: reordering models and, for their estimates, operation
/// models.
pub(crate) fn determines_options(configuration: &Configuration, input: &[usize]) -> bool {
    let looks_at_surfaces =
        |feature: &FeatureSpec| matches!(feature.kind, FeatureKind::OperationSequenceModel(_));
    external_reordering(configuration)
        .all(|(_, spec)| spec.input_factors.iter().all(|factor| input.contains(factor)))
        && (input.contains(&0) || !configuration.features.iter().any(looks_at_surfaces))
}

/// One vocabulary of whole words, and what each model calls them.
pub(crate) fn build_vocabulary(system: &mut System, configuration: &Configuration) -> Result<()> {
    let Some(scheme) = &system.factor_scheme else { return Ok(()) };
    let vocabulary = &mut system.vocabulary;
    let mut word = Vec::new();
    let read = used_tables(configuration)
        .filter(|(_, spec)| spec.format != PhraseTableFormat::PerSentence);
    for ((feature, spec), table) in read.zip(&mut system.tables) {
        for id in 0..table.phrases.num_target_words() {
            let written = table.phrases.target_word(id)?;
            scheme.parse_word(written, spec.output_factors.as_deref(), &mut word);
            if let Some(missing) = scheme.missing_in_target(&word) {
                let path = configuration.resolve_path(&spec.path);
                let place = match spec.format {
                    PhraseTableFormat::Text => find_first_line(&path, written)?,
                    _ => path.display().to_string(),
                };
                let shown = String::from_utf8_lossy(written);
                let reason = format!("{place}: the target word {shown:?} {missing}");
                return Err(Error::feature(&feature.name, reason));
            }
            table.target_words.push(vocabulary.intern(&word));
        }
    }
    let own_tables = || external_reordering(configuration).map(|(_, spec)| &spec.output_factors);
    let models = system.reordering_models.iter_mut().filter_map(|model| model.own_table.as_mut());
    for (factors, own) in own_tables().zip(models) {
        let table = &mut own.table;
        for id in 0..table.phrases.num_target_words() {
            let written = table.phrases.target_word(id)?;
            scheme.parse_word(written, Some(factors), &mut word);
            table.target_words.push(vocabulary.intern(&word));
        }
    }
    let models = system.reordering_models.iter_mut().filter_map(|model| model.own_table.as_mut());
    for (factors, own) in own_tables().zip(models) {
        let reduced = vocabulary.iter().map(|whole| {
            scheme.retain_factors(whole, factors, &mut word);
            // A word that no table has is like no other.
            vocabulary.find(&word).unwrap_or(WordId(UNKNOWN_ID))
        });
        own.projection =
            Some(FactorProjection { projected: reduced.collect(), factors: factors.clone() });
    }
    for lm in &mut system.language_models {
        lm.word_ids = vocabulary.iter().map(|word| lm.word_id(word, Some(scheme))).collect();
    }
    Ok(())
}

/// The first line of the text table at `path` that has the target word `word`,
/// for a message.
fn find_first_line(path: &Path, word: &[u8]) -> Result<String> {
    let mut lines = Lines::new(Input::open(path)?);
    let name = lines.name().to_owned();
    while let Some(line) = lines.next()? {
        let target = fields::split_fields(line.bytes).nth(1).unwrap_or_default();
        if fields::split_words(target).any(|w| w == word) {
            return Ok(format!("{name}, line {}", line.number));
        }
    }
    Ok(name)
}
