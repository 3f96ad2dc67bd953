//! The values of `config.json` and `generation_config.json`, with messages that name the key.

use std::path::Path;

use serde_json::Value;

use crate::architecture::{Activation, Gelu};
use crate::{Error, Result};

/// The configuration of a model.
pub struct Config<'a> {
    /// `config.json`.
    pub value: &'a Value,
    /// `generation_config.json`.
    pub generation: Option<&'a Value>,
    /// The file with the weights, for messages.
    pub path: &'a Path,
}

/// Returns an option of decoding from `generation_config.json`. Only where there is no such file,
/// as in older models, options are in `config.json`; `transformers` does not mix the two either.
pub(crate) fn generation_option<'a>(
    config: &'a Value,
    generation: Option<&'a Value>,
    name: &str,
) -> Option<&'a Value> {
    generation.unwrap_or(config).get(name).filter(|value| !value.is_null())
}

/// Returns the id of a special token, or a list of ids, from `generation_config.json` or else from
/// `config.json`.
pub(crate) fn token_option<'a>(
    config: &'a Value,
    generation: Option<&'a Value>,
    name: &str,
) -> Option<&'a Value> {
    let mut files = [generation, Some(config)].into_iter().flatten();
    files.find_map(|file| file.get(name).filter(|value| !value.is_null()))
}

/// Returns the values of an option that is a token id or a list of token ids.
pub(crate) fn listed_ids(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

impl Config<'_> {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.value.get(name).and_then(Value::as_str)
    }

    /// Whether the flag `name` is set; `default` where it is missing or null.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(&Value::Bool(flag)) => Ok(flag),
            Some(_) => {
                let place = format!("config.json, {name}");
                Err(Error::mismatch(self.path, &place, "expected true or false"))
            }
        }
    }

    /// Returns an option of decoding.
    pub fn generation_option(&self, name: &str) -> Option<&Value> {
        generation_option(self.value, self.generation, name)
    }

    pub fn number(&self, name: &str) -> Result<usize> {
        self.to_number("config.json", name, self.value.get(name))
    }

    /// Returns the number `name`; `default` where it is missing or null.
    pub fn number_or(&self, name: &str, default: usize) -> Result<usize> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(default),
            value => self.to_number("config.json", name, value),
        }
    }

    /// Returns a value as a number; `files` are those that it may come from, for the message.
    fn to_number(&self, files: &str, name: &str, value: Option<&Value>) -> Result<usize> {
        let number = value.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        number.ok_or_else(|| {
            let place = format!("{files}, {name}");
            let reason = match value {
                Some(_) => "expected a whole number that is not negative",
                None => "the key is missing; use the file that was saved with the model",
            };
            Error::mismatch(self.path, &place, reason)
        })
    }

    /// Returns the number `name`; `default` where it is missing or null. It may have a fraction.
    pub fn float_or(&self, name: &str, default: f32) -> Result<f32> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_f64().map(|number| number as f32).ok_or_else(|| {
                let place = format!("config.json, {name}");
                Error::mismatch(self.path, &place, "expected a number")
            }),
        }
    }

    /// Returns the token that decoding starts with. If the files do not say it, it is `<s>` as in
    /// `transformers`, or else `<pad>`; MarianMT's starts with `<pad>`.
    pub fn start_token(&self) -> Result<u32> {
        const START: &str = "decoder_start_token_id";
        let is_marian = self.text("model_type").is_none_or(|kind| kind == "marian");
        let names = [START, "bos_token_id"];
        let names = names.into_iter().filter(|name| *name == START || !is_marian);
        let mut found = names.filter_map(|name| Some((name, self.token_option(name)?)));
        let start = match found.next() {
            Some((name, id)) => {
                self.to_number("generation_config.json or config.json", name, Some(id))?
            }
            None => self.number("pad_token_id")?,
        };
        Ok(u32::try_from(start).unwrap_or(u32::MAX))
    }

    fn token_option(&self, name: &str) -> Option<&Value> {
        token_option(self.value, self.generation, name)
    }

    /// Returns the tokens that are never generated, of a vocabulary of `vocab_size`. As in
    /// `transformers`, a token that ends a translation is not among them.
    ///
    /// # Errors
    /// If the vocabulary lacks an id, also one of a longer phrase; `transformers` rejects it when
    /// it translates.
    pub fn suppressed_tokens(&self, vocab_size: usize) -> Result<Vec<u32>> {
        const NAME: &str = "bad_words_ids";
        let bad_words = self.generation_option(NAME).and_then(Value::as_array);
        let ends = self.token_option("eos_token_id").map_or(&[][..], listed_ids);
        let phrases = bad_words.into_iter().flatten().filter_map(Value::as_array);
        let mut suppressed = Vec::new();
        for phrase in phrases.filter(|ids| !matches!(&ids[..], [id] if ends.contains(id))) {
            for id in phrase {
                let found = id.as_u64().and_then(|id| u32::try_from(id).ok());
                let found = found.filter(|&id| (id as usize) < vocab_size);
                let found = found.ok_or_else(|| {
                    let reason = format!(
                        "{id} is not an id of the vocabulary, which has {vocab_size} tokens"
                    );
                    let place = format!("generation_config.json or config.json, {NAME}");
                    Error::mismatch(self.path, &place, reason)
                })?;
                // Phrases of several tokens are ignored; the settings report them.
                if phrase.len() == 1 {
                    suppressed.push(found);
                }
            }
        }
        let others = self.generation_option("suppress_tokens").map_or(&[][..], listed_ids);
        let others = others.iter().filter(|id| !ends.contains(id));
        let others = others.filter_map(|id| u32::try_from(id.as_u64()?).ok());
        // As in `transformers`, ids that the vocabulary lacks have no effect here.
        suppressed.extend(others.filter(|&id| (id as usize) < vocab_size));
        Ok(suppressed)
    }

    /// Returns the activation function `name`; `key` is the option in messages.
    pub fn activation(&self, key: &str, name: Option<&str>) -> Result<Activation> {
        match name {
            Some("relu") => Ok(Activation::Relu),
            Some("swish" | "silu") => Ok(Activation::Swish),
            Some("gelu" | "gelu_python") => Ok(Activation::Gelu(Gelu::Exact)),
            Some("quick_gelu") => Ok(Activation::Gelu(Gelu::Sigmoid)),
            Some(
                "gelu_new" | "gelu_fast" | "gelu_accurate" | "gelu_pytorch_tanh"
                | "gelu_python_tanh",
            ) => Ok(Activation::Gelu(Gelu::Tanh)),
            Some(other) => Err(self.unsupported(format!("{key} {other:?} is not supported"))),
            None => Err(self.unsupported(format!("{key} is missing"))),
        }
    }

    pub fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(self.path, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn suppressed(bad_words: Value, ends: Value) -> Result<Vec<u32>> {
        let value = json!({"bad_words_ids": bad_words, "eos_token_id": ends});
        Config { value: &value, generation: None, path: Path::new("f") }.suppressed_tokens(10)
    }

    #[test]
    fn the_start_token_has_a_default() {
        let start = |value: Value, generation: Option<Value>| {
            let generation = generation.as_ref();
            Config { value: &value, generation, path: Path::new("f") }.start_token().unwrap()
        };
        let all = |kind: &str| json!({"model_type": kind, "bos_token_id": 5, "pad_token_id": 7});
        assert_eq!(start(all("mbart"), None), 5);
        assert_eq!(start(all("marian"), None), 7);
        assert_eq!(start(json!({"model_type": "t5", "pad_token_id": 7}), None), 7);
        assert_eq!(start(all("mbart"), Some(json!({"decoder_start_token_id": 3}))), 3);
        let stated = json!({"model_type": "mbart", "bos_token_id": 5, "decoder_start_token_id": 2});
        assert_eq!(start(stated, Some(json!({"bos_token_id": 5}))), 2);
    }

    #[test]
    fn ends_of_translations_are_not_suppressed() {
        let suppressed = |ends| suppressed(json!([[2], [5, 6], [9]]), ends).unwrap();
        assert_eq!(suppressed(json!(3)), [2, 9]);
        assert_eq!(suppressed(json!(2)), [9]);
        assert_eq!(suppressed(json!([9, 2])), Vec::<u32>::new());
        let value =
            json!({"bad_words_ids": [[9]], "suppress_tokens": [4, 2, 16], "eos_token_id": 2});
        let config = Config { value: &value, generation: None, path: Path::new("f") };
        assert_eq!(config.suppressed_tokens(10).unwrap(), [9, 4]);
    }

    /// `transformers` 5.24 raises an error for these, and takes the last one.
    #[test]
    fn suppressed_tokens_belong_to_the_vocabulary() {
        for (bad_words, id) in [
            (json!([[2], [10]]), "10"),
            (json!([[2, 11]]), "11"),
            (json!([[4_294_967_297_u64]]), "4294967297"),
        ] {
            let error = suppressed(bad_words, json!(3)).unwrap_err().to_string();
            let expected = format!("bad_words_ids: {id} is not an id of the vocabulary");
            assert!(error.contains(&expected), "{error}");
        }
        assert_eq!(suppressed(json!([[10], [9]]), json!(10)).unwrap(), [9]);
    }
}
