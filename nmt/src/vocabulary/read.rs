//! Parsing vocabularies.

use std::path::Path;

use miriam_textproc::SentencePiece;

use super::Vocabulary;
use crate::yaml::Value;
use crate::{Error, Result};

/// The beginning of the placeholder for an id that no token has.
const GAP_PREFIX: &str = "<no word has the id ";

/// The vocabulary in `bytes`, in the format that the extension of `path` tells.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Vocabulary> {
    let name = path.display().to_string();
    match path.extension().and_then(|e| e.to_str()) {
        Some("spm" | "model") => {
            Vocabulary::from_sentencepiece(&SentencePiece::from_bytes(bytes, &name)?, path)
        }
        Some("yml" | "yaml" | "json") => from_yaml(&Value::parse(bytes, &name)?, path),
        Some("fsv") => {
            let reason = "a factored vocabulary, which is not covered";
            Err(Error::unsupported(path, reason))
        }
        _ => {
            let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            let lines = text.split(|&b| b == b'\n');
            let words = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
            Vocabulary::new(words, path, None)
        }
    }
}

/// The vocabulary of a list of tokens or of a map of tokens to ids.
fn from_yaml(value: &Value, path: &Path) -> Result<Vocabulary> {
    let wrong = |reason: String| Error::mismatch(path, "vocabulary", reason);
    match value {
        Value::Sequence(words) => {
            let words: Option<Vec<&[u8]>> = words.iter().map(Value::as_bytes).collect();
            let words = words.ok_or_else(|| wrong("a word that is no text".into()))?;
            Vocabulary::new(words.into_iter(), path, None)
        }
        Value::Mapping(entries) => {
            // Gaps between ids are allowed; an id above this bound is taken for an error.
            let limit = 2 * entries.len() + 100;
            let mut by_id: Vec<Option<&[u8]>> = Vec::new();
            for (word, id) in entries {
                let number = id.as_str().and_then(|id| id.parse::<usize>().ok());
                let Some(id) = number.filter(|&id| id < limit) else {
                    let word = String::from_utf8_lossy(word);
                    return Err(wrong(format!("{word:?} has no id but {id:?}")));
                };
                by_id.resize(by_id.len().max(id + 1), None);
                if let Some(other) = by_id[id].replace(word)
                    && other != word
                {
                    let [a, b] = [other, word].map(String::from_utf8_lossy);
                    return Err(wrong(format!("{a:?} and {b:?} have the same id, {id}")));
                }
            }
            let gaps: Vec<String> =
                (0..by_id.len()).map(|id| format!("{GAP_PREFIX}{id}>")).collect();
            let words = by_id.iter().zip(&gaps).map(|(word, gap)| word.unwrap_or(gap.as_bytes()));
            Vocabulary::new(words, path, None)
        }
        Value::Scalar(_) => Err(wrong("a map of words to ids is needed".into())),
    }
}
