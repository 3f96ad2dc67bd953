//! Decoding settings of `generation_config.json`, or of `config.json` in older models, which have
//! no such file.
//!
//! Options that our search has are used. Options that would change results in `transformers` but
//! not here are reported as having no effect: those of [`WITHOUT_EFFECT`] and those that
//! [`settings`] adds. The rest, such as options of sampling, are ignored silently, as are the beam
//! size and length penalty of MarianMT.

use std::path::Path;

use serde_json::Value;

use super::architecture::{generation_option, listed_ids, token_option};
use crate::decoder_config::DecoderConfig;
use crate::{Error, Result};

/// Options of `transformers` that search does not have, with the values that turn them off.
const WITHOUT_EFFECT: [(&str, &[f64]); 15] = [
    ("num_beam_groups", &[1.0]),
    ("num_return_sequences", &[1.0]),
    ("diversity_penalty", &[0.0]),
    ("penalty_alpha", &[0.0]),
    ("encoder_no_repeat_ngram_size", &[0.0]),
    ("encoder_repetition_penalty", &[1.0]),
    ("exponential_decay_length_penalty", &[]),
    ("force_words_ids", &[]),
    ("sequence_bias", &[]),
    ("begin_suppress_tokens", &[]),
    ("guidance_scale", &[1.0]),
    ("max_time", &[]),
    ("forced_decoder_ids", &[]),
    ("stop_strings", &[]),
    ("watermarking_config", &[]),
];

/// Returns the decoding settings of a folder from its `config.json` and, if there is one, its
/// `generation_config.json`. `kind` is the `model_type` of the former. MarianMT's beam size, which
/// is wider than the models need, and its length penalty are ignored. `end` is the id of the token
/// that ends a translation; without it, `eos_token_id` of `config` is taken.
///
/// # Errors
/// If a value has the wrong type or is out of range.
pub fn settings(
    folder: &Path,
    config: &Value,
    generation: Option<&Value>,
    kind: &str,
    end: Option<u64>,
) -> Result<DecoderConfig> {
    let option = |name: &str| generation_option(config, generation, name);
    let number = |name: &'static str| -> Result<Option<f64>> {
        option(name)
            .map(|value| {
                value.as_f64().ok_or_else(|| Error::mismatch(folder, name, "expected a number"))
            })
            .transpose()
    };
    let count = |name: &'static str| -> Result<Option<usize>> {
        fn to_count(value: &Value) -> Option<usize> {
            value.as_u64().and_then(|n| usize::try_from(n).ok())
        }
        option(name)
            .map(|value| {
                to_count(value).ok_or_else(|| {
                    Error::mismatch(folder, name, "expected a whole number that is not negative")
                })
            })
            .transpose()
    };
    let beam_size = count("num_beams")?;
    // `max_length` counts the start token.
    let longest = count("max_length")?.map(|length| length.saturating_sub(1).max(1));
    let longest = count("max_new_tokens")?.map(|length| length.max(1)).or(longest);
    // `min_length` counts the start token, too.
    let shortest = count("min_length")?.map(|length| length.saturating_sub(1));
    let shortest = shortest.max(count("min_new_tokens")?).filter(|&length| length > 0);
    let mut settings = DecoderConfig {
        max_target_length: longest,
        min_target_length: shortest.map(|length| length.min(longest.unwrap_or(usize::MAX))),
        no_repeat_ngram_size: count("no_repeat_ngram_size")?,
        repetition_penalty: number("repetition_penalty")?.map(|penalty| penalty as f32),
        ..DecoderConfig::default()
    };
    if kind != "marian" {
        settings.beam_size = beam_size;
        settings.normalize = number("length_penalty")?.map(|power| power as f32);
    }
    settings.early_stopping = match option("early_stopping") {
        Some(&Value::Bool(flag)) => Some(flag.to_string()),
        Some(Value::String(name)) => Some(name.clone()),
        // The default of `transformers` belongs to the beam size that the folder states.
        None => settings.beam_size.map(|_| "false".to_owned()),
        Some(other) => Some(other.to_string()),
    }
    .map(|name| name.parse())
    .transpose()
    .map_err(|expected: String| {
        Error::mismatch(folder, "early_stopping", format!("expected {expected}"))
    })?;
    settings.validate(folder)?;
    let mut ignored = Vec::new();
    if option("do_sample").and_then(Value::as_bool) == Some(true) {
        ignored.push("do_sample: true (to sample, give --sampling-topk)".into());
    }
    let end = end.or_else(|| config.get("eos_token_id").and_then(Value::as_u64));
    for (name, remark) in [
        ("eos_token_id", "</s> alone ends a translation"),
        ("forced_eos_token_id", "no token is forced at the maximum length"),
    ] {
        let other =
            token_option(config, generation, name).filter(|ids| match (listed_ids(ids), end) {
                (ids, None) => ids.len() > 1,
                (ids, Some(_)) => ids.iter().any(|id| id.as_u64() != end),
            });
        if let Some(ids) = other {
            ignored.push(format!("{name}: {ids} ({remark})"));
        }
    }
    let suppressed = option("suppress_tokens").map_or(&[][..], listed_ids);
    if !suppressed.iter().all(Value::is_u64) {
        return Err(Error::mismatch(folder, "suppress_tokens", "expected a list of token ids"));
    }
    if suppressed.iter().any(|id| id.as_u64() == end) {
        ignored.push("suppress_tokens with the token that ends a translation".into());
    }
    if has_longer_phrases(folder, option("bad_words_ids"))? {
        ignored.push("bad_words_ids of several tokens".into());
    }
    for (name, neutral) in WITHOUT_EFFECT {
        let Some(value) = option(name) else { continue };
        let is_empty = value.as_array().is_some_and(Vec::is_empty);
        let is_neutral = value.as_f64().is_some_and(|number| neutral.contains(&number));
        if !is_empty && !is_neutral {
            ignored.push(format!("{name}: {value}"));
        }
    }
    settings.keys_without_effect = ignored;
    Ok(settings)
}

/// Whether `bad_words`, a list of banned phrases, has a phrase of several tokens.
///
/// # Errors
/// If it is not a list of lists of token ids.
fn has_longer_phrases(folder: &Path, bad_words: Option<&Value>) -> Result<bool> {
    let Some(bad_words) = bad_words else { return Ok(false) };
    let phrases = bad_words.as_array().and_then(|phrases| {
        let phrases = phrases.iter().map(|ids| ids.as_array().filter(|ids| !ids.is_empty()));
        phrases.collect::<Option<Vec<_>>>()
    });
    match phrases {
        Some(phrases) if phrases.iter().copied().flatten().all(Value::is_u64) => {
            Ok(phrases.iter().any(|ids| ids.len() > 1))
        }
        _ => Err(Error::mismatch(folder, "bad_words_ids", "expected a list of lists of token ids")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder_config::EarlyStopping;
    use serde_json::json;

    fn read(mut generation: Value) -> Result<DecoderConfig> {
        let config = json!({"num_beams": 3, "length_penalty": 9.0, "eos_token_id": 2});
        let defaults = json!({"num_beams": 3, "early_stopping": true});
        for (key, value) in defaults.as_object().unwrap() {
            let options = generation.as_object_mut().unwrap();
            options.entry(key.clone()).or_insert_with(|| value.clone());
        }
        settings(Path::new("folder"), &config, Some(&generation), "m2m_100", None)
    }

    #[test]
    fn options_that_search_has_are_used() {
        let found = read(json!({
            "num_beams": 5, "length_penalty": 0.6, "max_length": 200, "early_stopping": true,
            "no_repeat_ngram_size": 3, "repetition_penalty": 1.5, "bad_words_ids": [[7]],
            "min_length": 0, "num_beam_groups": 1, "forced_bos_token_id": null,
            "eos_token_id": [2],
        }));
        let found = found.unwrap();
        assert_eq!((found.beam_size, found.normalize), (Some(5), Some(0.6)));
        assert_eq!(found.max_target_length, Some(199));
        assert_eq!((found.no_repeat_ngram_size, found.repetition_penalty), (Some(3), Some(1.5)));
        assert!(found.keys_without_effect.is_empty(), "{:?}", found.keys_without_effect);
        // `max_new_tokens` overrides `max_length`.
        let found = read(json!({"max_length": 200, "max_new_tokens": 30})).unwrap();
        assert_eq!((found.beam_size, found.max_target_length), (Some(3), Some(30)));
        for (generation, shortest) in [
            (json!({"min_length": 5}), Some(4)),
            (json!({"min_length": 5, "min_new_tokens": 3, "suppress_tokens": [4]}), Some(4)),
            (json!({"min_length": 2, "min_new_tokens": 3, "max_length": 3}), Some(2)),
            (json!({"min_length": 1}), None),
            (json!({"min_length": 0, "min_new_tokens": 0, "suppress_tokens": []}), None),
        ] {
            let found = read(generation).unwrap();
            assert_eq!(found.min_target_length, shortest);
            assert!(found.keys_without_effect.is_empty(), "{:?}", found.keys_without_effect);
        }
        // The length penalty of `config.json` has no effect beside `generation_config.json`.
        assert_eq!(found.normalize, None);
        // Older folders have options in `config.json` only.
        let old = json!({"num_beams": 5, "length_penalty": 0.6});
        let found = settings(Path::new("f"), &old, None, "m2m_100", None).unwrap();
        assert_eq!((found.beam_size, found.normalize), (Some(5), Some(0.6)));
        let six = json!({"num_beams": 6});
        let marian = settings(Path::new("f"), &six, None, "marian", None).unwrap();
        assert_eq!(marian.beam_size, None);
    }

    #[test]
    fn early_stopping_is_that_of_the_folder() {
        for (generation, kind, expected) in [
            (json!({"early_stopping": true}), "m2m_100", Some(EarlyStopping::True)),
            (json!({"early_stopping": false}), "m2m_100", Some(EarlyStopping::False)),
            (json!({"early_stopping": "never"}), "marian", Some(EarlyStopping::Never)),
            // Where the beam size is the folder's, so is the default.
            (json!({"num_beams": 4}), "m2m_100", Some(EarlyStopping::False)),
            (json!({"num_beams": 4}), "marian", None),
            (json!({}), "m2m_100", None),
        ] {
            let found = settings(Path::new("f"), &json!({}), Some(&generation), kind, None);
            assert_eq!(found.unwrap().early_stopping, expected, "{generation} {kind}");
        }
    }

    #[test]
    fn options_that_search_lacks_are_reported() {
        for (generation, name) in [
            (json!({"do_sample": true}), "do_sample"),
            (json!({"bad_words_ids": [[1], [2, 3]]}), "bad_words_ids"),
            (json!({"num_return_sequences": 3}), "num_return_sequences: 3"),
            (json!({"diversity_penalty": 0.5}), "diversity_penalty: 0.5"),
            (json!({"suppress_tokens": [4, 2]}), "suppress_tokens with"),
            (json!({"stop_strings": ["x"]}), "stop_strings: [\"x\"]"),
            (json!({"eos_token_id": [2, 7]}), "eos_token_id: [2,7]"),
            (json!({"forced_eos_token_id": 7}), "forced_eos_token_id: 7"),
            (json!({"watermarking_config": {"bias": 2.0}}), "watermarking_config"),
        ] {
            let found = read(generation).unwrap().keys_without_effect;
            assert!(matches!(&found[..], [one] if one.starts_with(name)), "{found:?}");
        }
        for wrong in [
            json!({"max_length": "long"}),
            json!({"repetition_penalty": 0}),
            json!({"early_stopping": "soon"}),
            json!({"early_stopping": 1}),
            json!({"num_beams": 0}),
            json!({"num_beams": -1}),
            json!({"min_new_tokens": -1}),
            json!({"min_length": 2_000_002}),
            json!({"suppress_tokens": ["word"]}),
            json!({"bad_words_ids": "word"}),
            json!({"bad_words_ids": [3]}),
            json!({"bad_words_ids": [[]]}),
            json!({"bad_words_ids": [[1, "word"]]}),
        ] {
            let text = wrong.to_string();
            assert!(read(wrong).is_err(), "{text}");
        }
    }

    /// The vocabulary decides which token ends a translation, whatever the files agree on.
    #[test]
    fn ends_are_compared_with_the_vocabulary() {
        for (config, generation, is_reported) in [
            (json!({"eos_token_id": 7}), json!({"eos_token_id": 7}), true),
            (json!({}), json!({"eos_token_id": 7}), true),
            (json!({"eos_token_id": 7}), json!({}), true),
            (json!({"eos_token_id": 7}), json!({"eos_token_id": 2}), false),
            (json!({}), json!({"eos_token_id": [2], "forced_eos_token_id": 2}), false),
            (json!({}), json!({}), false),
        ] {
            let found = settings(Path::new("f"), &config, Some(&generation), "t5", Some(2));
            let found = found.unwrap().keys_without_effect;
            let is_listed = matches!(&found[..], [one] if one.starts_with("eos_token_id: 7"));
            assert_eq!(is_listed, is_reported, "{config} {generation}: {found:?}");
            assert_eq!(found.is_empty(), !is_reported, "{found:?}");
        }
    }
}
