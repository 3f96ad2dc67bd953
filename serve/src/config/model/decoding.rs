//! Options of decoding among the keys of a model's table.
//!
//! Only [`DecodingSettings`] lists these options: each of its keys is a key here. All other keys go
//! to the derived reader of the table, which knows where each is in the file.

use std::fmt;

use miriam_nmt::translate::DecodingSettings;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, de};

use super::ModelConfiguration;

/// Returns the key in [`DecodingSettings`] of a key of a table, which may be an older name.
pub(super) fn decoding_key(key: &str) -> Option<&'static str> {
    let key = match key {
        "beam" => "beam-size",
        "min-decoding-length" => "min-length",
        key => key,
    };
    DecodingSettings::KEYS.into_iter().find(|known| *known == key)
}

/// Returns a number, a flag or a text as text.
pub(super) fn text_of(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(flag) => flag.to_string(),
        toml::Value::Datetime(time) => time.to_string(),
        // No option is a list in a list, or a table.
        toml::Value::Array(_) => "[...]".to_owned(),
        toml::Value::Table(_) => "{...}".to_owned(),
    }
}

impl<'de> Deserialize<'de> for ModelConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor)
    }
}

struct TableVisitor;

impl<'de> Visitor<'de> for TableVisitor {
    type Value = ModelConfiguration;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the table of a model")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ModelConfiguration, A::Error> {
        let mut decoding = DecodingSettings::default();
        let others = OtherKeys { map, decoding: &mut decoding };
        // The derived function, not the one of the trait.
        let model = ModelConfiguration::deserialize(MapAccessDeserializer::new(others))?;
        Ok(ModelConfiguration { decoding, ..model })
    }
}

/// A table without its options of decoding, which go to `decoding`.
struct OtherKeys<'a, A> {
    map: A,
    decoding: &'a mut DecodingSettings,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OtherKeys<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        mut seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key_seed(KeySeed(seed))? {
                None => return Ok(None),
                Some(Key::Other(key)) => return Ok(Some(key)),
                Some(Key::Decoding(key, unused)) => {
                    seed = unused;
                    self.map.next_value_seed(ValueSeed { key, decoding: self.decoding })?;
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A key of a table: an option of decoding, with the seed that it did not use, or another key.
enum Key<K, V> {
    Decoding(&'static str, K),
    Other(V),
}

/// The reader of a key.
struct KeySeed<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for KeySeed<K> {
    type Value = Key<K, K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for KeySeed<K> {
    type Value = Key<K, K::Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        if let Some(key) = decoding_key(key) {
            return Ok(Key::Decoding(key, self.0));
        }
        let found = self.0.deserialize(StrDeserializer::<E>::new(key)).map(Key::Other);
        // The error lists the other keys, and may end with a line end.
        found.map_err(|error| {
            let others = error.to_string();
            E::custom(format!("{}, {}", others.trim_end(), DecodingSettings::KEYS.join(", ")))
        })
    }
}

/// The reader of the value of an option of decoding.
struct ValueSeed<'a> {
    key: &'static str,
    decoding: &'a mut DecodingSettings,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let set = match &value {
            toml::Value::Array(values) => {
                self.decoding.set_list(self.key, &values.iter().map(text_of).collect::<Vec<_>>())
            }
            value => self.decoding.set(self.key, &text_of(value)),
        };
        set.map_err(D::Error::custom)
    }
}
