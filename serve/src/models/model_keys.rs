//! The keys of a model in the configuration: their check against its kind, and their names in
//! messages.

use crate::config::{ModelConfiguration, ModelKind};
use crate::{Error, Result};

/// Rejects keys that do not apply to the kind of the model.
pub(super) fn check_keys(configuration: &ModelConfiguration, kind: ModelKind) -> Result<()> {
    let given = configuration;
    let phrase = [
        (given.raw.is_some(), "raw"),
        (!given.options.is_empty(), "options"),
        (given.segmentation_marks.is_some(), "segmentation-marks"),
    ];
    let neural = [
        (!given.vocabs.is_empty(), "vocabs"),
        (given.prefix_token.is_some(), "prefix-token"),
        (given.shortlist.is_some(), "shortlist"),
        (given.lm.is_some(), "lm"),
        (given.lm_pieces.is_some(), "lm-pieces"),
        (given.search.is_some(), "search"),
        (given.mini_batch.is_some(), "mini-batch"),
        (given.precision.is_some(), "precision"),
        (given.device.is_some(), "device"),
    ];
    let translation = [(given.nonbreaking_prefixes.is_some(), "nonbreaking-prefixes")];
    let language = [
        (given.duplicates.is_some(), "duplicates"),
        (given.positive.is_some(), "positive"),
        (given.missing_markers.is_some(), "missing-markers"),
    ];
    let decoding: Vec<(bool, &str)> = given.decoding.keys_set().map(|key| (true, key)).collect();
    let phrase_keys = phrase.iter().filter(|_| kind != ModelKind::Phrase);
    let neural_keys = neural.iter().chain(&decoding).filter(|_| kind != ModelKind::Neural);
    let language_keys = language.iter().filter(|_| kind != ModelKind::Lm);
    let translation_keys = translation.iter().filter(|_| kind == ModelKind::Lm);
    let mut keys = phrase_keys.chain(neural_keys).chain(language_keys).chain(translation_keys);
    match keys.find(|(is_set, _)| *is_set) {
        None => Ok(()),
        Some((_, key)) => {
            let reason = format!("{key} has no effect on a model of the kind {}", kind.name());
            Err(Error::model(&given.name, reason))
        }
    }
}

/// Replaces options of `miriam nmt translate` in a message by the keys of a model's configuration.
pub(super) fn name_keys(reason: &str) -> String {
    const KEYS: [(&str, &str); 4] = [
        ("--vocabs", "vocabs (vocab=FILE in --model)"),
        ("--shortlist", "shortlist"),
        ("--precision", "precision"),
        ("--device", "device"),
    ];
    KEYS.iter().fold(reason.to_owned(), |text, (option, key)| text.replace(option, key))
}
