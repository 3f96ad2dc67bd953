//! Lines of keys and values: `TypeName key=value key=value ...`
//! (`docs/spec/phrase-decoding.md` 1.6).

use miriam_storage::LoadMethod;
use miriam_textio::parse_truth_word;

use crate::factors::parse_factors;

/// Parses the number `text`, the value of `key`.
pub(crate) fn parse_count(key: &str, text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{key}={text} is not a number"))
}

/// Parses the boolean `text`, the value of `key`.
pub(crate) fn parse_flag(key: &str, text: &str) -> Result<bool, String> {
    parse_truth_word(text).ok_or_else(|| format!("{key}={text} is neither true nor false"))
}

/// A feature line split into its type and its key-value pairs, which are taken one by
/// one.
pub(crate) struct FeatureLine {
    type_name: String,
    pairs: Vec<(String, String)>,
}

impl FeatureLine {
    /// Reads a line of the form `TypeName key=value key=value ...`.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
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

    /// Returns the type of the feature.
    pub(crate) fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Returns a key that has not been taken.
    pub(crate) fn remaining_key(&self) -> Option<&str> {
        self.pairs.first().map(|(key, _)| &key[..])
    }

    /// Whether `key` is there and has not been taken.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(k, _)| k == key)
    }

    /// Takes the value of `key`, if it is there.
    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(k, _)| k == key)?;
        Some(self.pairs.remove(at).1)
    }

    /// Gives `key` the value `value`, as if it were last on the line.
    pub(crate) fn set(&mut self, key: String, value: String) {
        self.take(&key);
        self.pairs.push((key, value));
    }

    /// Takes a list of factors, `0,1`.
    pub(crate) fn take_factors(&mut self, key: &str) -> Result<Option<Vec<usize>>, String> {
        let list = self.take(key).map(|text| parse_factors(&text));
        list.transpose().map_err(|reason| format!("{key}=: {reason}"))
    }

    /// Takes the load method from `load=` and `lazyken=`; the last of them on the line is used.
    /// Without either, it is [`LoadMethod::Populate`].
    pub(crate) fn take_load(&mut self) -> Result<LoadMethod, String> {
        let mut load = LoadMethod::Populate;
        while let Some(at) = self.pairs.iter().position(|(k, _)| k == "load" || k == "lazyken") {
            let (key, value) = self.pairs.remove(at);
            load = match (&key[..], &value[..]) {
                ("lazyken", _) => {
                    if parse_flag("lazyken", &value)? {
                        LoadMethod::Lazy
                    } else {
                        LoadMethod::Populate
                    }
                }
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
