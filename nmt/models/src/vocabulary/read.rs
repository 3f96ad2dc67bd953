//! Parser of vocabularies.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use miriam_textproc::SentencePiece;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::{EOS_SUBSTITUTES, SpecialTokens, Vocabulary, invalid};
use crate::yaml::Value;
use crate::{Error, Result, compressed, json};

/// The beginning of the placeholder for an id that no token has.
const GAP_PREFIX: &str = "<no word has the id ";

/// Whether the vocabulary `bytes` at `path` is a SentencePiece model: by its name, or by its
/// first bytes where the name tells no other format.
pub fn is_sentencepiece(bytes: &[u8], path: &Path) -> bool {
    match compressed::format_extension(path).as_deref() {
        Some("spm" | "model") => true,
        Some("yml" | "yaml" | "json" | "fsv") => false,
        // A protobuf message that begins with another one: a piece, which has a text and a score.
        _ => match bytes {
            [0x0a, _, 0x0a, length, rest @ ..] => rest.get(usize::from(*length)) == Some(&0x15),
            _ => false,
        },
    }
}

/// Parses the vocabulary in `bytes`. The extension of `path` tells the format; if the extension is
/// not known, the first bytes do.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Vocabulary> {
    let name = path.display().to_string();
    if is_sentencepiece(bytes, path) {
        return Vocabulary::from_sentencepiece(&SentencePiece::from_bytes(bytes, &name)?, path);
    }
    match compressed::format_extension(path).as_deref() {
        Some("yml" | "yaml") => from_yaml(&Value::parse(bytes, &name)?, path),
        Some("json") => match json::parse(bytes, path)? {
            JsonVocabulary::List(tokens) => {
                Vocabulary::new(tokens.iter().map(|token| &token.0[..]), path, None)
            }
            JsonVocabulary::Map(entries) => {
                from_map(entries.iter().map(|(token, id)| (&token.0[..], *id)), path)
            }
        },
        Some("fsv") => {
            let reason = "the vocabulary is factored, which is not supported";
            Err(Error::unsupported(path, reason))
        }
        _ if is_word_map(bytes) => from_yaml(&Value::parse(bytes, &name)?, path),
        _ => Vocabulary::new(text_lines(bytes), path, None),
    }
}

/// Whether text begins like a map of tokens to ids in YAML, which Marian writes under any name.
fn is_word_map(bytes: &[u8]) -> bool {
    [&b"</s>: "[..], b"\"</s>\": "].iter().any(|start| bytes.starts_with(start))
}

/// Parses a vocabulary of a JSON list or of one token per line, with these special tokens. As in
/// CTranslate2, tokens must be UTF-8, a repeated token has the first of its ids, and the unknown
/// token comes last if the list lacks it. JSON maps and YAML are parsed by [`parse`], without
/// `special`.
pub fn parse_list(
    bytes: &[u8],
    path: &Path,
    special: &SpecialTokens,
    needs_eos: bool,
) -> Result<Vocabulary> {
    let mut list: Vec<Vec<u8>> = match compressed::format_extension(path).as_deref() {
        Some("json") => match json::parse(bytes, path)? {
            JsonVocabulary::List(tokens) => tokens.into_iter().map(|token| token.0).collect(),
            JsonVocabulary::Map(_) => return parse(bytes, path),
        },
        Some("yml" | "yaml") => return parse(bytes, path),
        _ => {
            let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&byte| byte == b'\n');
            // If some lines have no carriage return, it belongs to the tokens of the others.
            let has_returns = lines.clone().all(|line| line.ends_with(b"\r"));
            lines.map(|line| line[..line.len() - usize::from(has_returns)].to_vec()).collect()
        }
    };
    if let Some((id, token)) =
        list.iter().enumerate().find(|(_, token)| std::str::from_utf8(token).is_err())
    {
        let token = String::from_utf8_lossy(token);
        let reason = format!("token {id}, {token:?}, is not UTF-8; convert the model again");
        return Err(invalid(path, reason));
    }
    let repeats = replace_repeats(&mut list);
    let (eos, unk) = (special.eos.as_bytes(), special.unk.as_bytes());
    let appended = (!list.iter().any(|token| token == unk)).then_some(unk);
    let list = list.iter().map(Vec::as_slice).chain(appended);
    let [blank, pad] = EOS_SUBSTITUTES;
    let eos_names = [eos, blank, pad, unk];
    let eos_names = if needs_eos { &eos_names[..1] } else { &eos_names[..] };
    let vocabulary = Vocabulary::with_names(list, path, [eos_names, &[unk]], None)?;
    Ok(Vocabulary { repeats, ..vocabulary })
}

/// Replaces all but the first of equal tokens by placeholders. Returns their ids, each with the id
/// of the first.
fn replace_repeats(list: &mut [Vec<u8>]) -> BTreeMap<u32, u32> {
    let mut first_ids: HashMap<&[u8], u32> = HashMap::with_capacity(list.len());
    let mut repeats = BTreeMap::new();
    for (id, token) in (0..).zip(&*list) {
        let first = *first_ids.entry(token.as_slice()).or_insert(id);
        if first != id {
            repeats.insert(id, first);
        }
    }
    for (&id, first) in &repeats {
        list[id as usize] = format!("<the word of id {first} again, id {id}>").into_bytes();
    }
    repeats
}

/// Returns the lines of a text without line ends.
fn text_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&b| b == b'\n');
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Returns the vocabulary of a YAML list of tokens or map of tokens to ids.
fn from_yaml(value: &Value, path: &Path) -> Result<Vocabulary> {
    match value {
        Value::Sequence(words) => {
            let words: Option<Vec<&[u8]>> = words.iter().map(Value::as_bytes).collect();
            let words = words.ok_or_else(|| invalid(path, "expected text as a word"))?;
            Vocabulary::new(words.into_iter(), path, None)
        }
        Value::Mapping(entries) => {
            let mut ids = Vec::with_capacity(entries.len());
            for (word, id) in entries {
                let number = id.as_str().and_then(|id| id.parse::<u64>().ok());
                ids.push(number.ok_or_else(|| {
                    let word = String::from_utf8_lossy(word);
                    invalid(path, format!("expected an id for {word:?}, found {id:?}"))
                })?);
            }
            from_map(entries.iter().map(|(word, _)| &word[..]).zip(ids), path)
        }
        Value::Scalar(_) => Err(invalid(path, "expected a map of words to ids")),
    }
}

/// Returns the vocabulary of a map of tokens to ids. Gaps between ids get placeholders.
fn from_map<'a>(
    entries: impl ExactSizeIterator<Item = (&'a [u8], u64)>,
    path: &Path,
) -> Result<Vocabulary> {
    // Gaps between ids are allowed, but an id from this limit on is rejected as an error.
    let limit = 2 * entries.len() + 100;
    let mut by_id: Vec<Option<&[u8]>> = Vec::new();
    for (word, id) in entries {
        let Some(index) = usize::try_from(id).ok().filter(|&index| index < limit) else {
            let word = String::from_utf8_lossy(word);
            return Err(invalid(
                path,
                format!("{word:?} has the id {id}, which is out of range, below {limit}"),
            ));
        };
        by_id.resize(by_id.len().max(index + 1), None);
        if let Some(other) = by_id[index].replace(word)
            && other != word
        {
            let [a, b] = [other, word].map(String::from_utf8_lossy);
            return Err(invalid(path, format!("{a:?} and {b:?} have the same id, {id}")));
        }
    }
    let gaps: Vec<String> = (0..by_id.len()).map(|id| format!("{GAP_PREFIX}{id}>")).collect();
    let words = by_id.iter().zip(&gaps).map(|(word, gap)| word.unwrap_or(gap.as_bytes()));
    Vocabulary::new(words, path, None)
}

/// A vocabulary in JSON: a list of tokens, or a map of tokens to ids with every entry of the
/// file, repeated keys included.
enum JsonVocabulary {
    List(Vec<Token>),
    Map(Vec<(Token, u64)>),
}

/// The bytes of a JSON string. Not a `String`: Python writes words that are not UTF-8 with
/// unpaired surrogates.
struct Token(Vec<u8>);

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TokenVisitor;

        impl Visitor<'_> for TokenVisitor {
            type Value = Token;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a word in quotes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Token, E> {
                Ok(Token(bytes.to_vec()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Token, E> {
                Ok(Token(text.as_bytes().to_vec()))
            }
        }

        deserializer.deserialize_bytes(TokenVisitor)
    }
}

impl<'de> Deserialize<'de> for JsonVocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VocabularyVisitor;

        impl<'de> Visitor<'de> for VocabularyVisitor {
            type Value = JsonVocabulary;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of words or a map of words to ids")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonVocabulary, A::Error> {
                let mut tokens = Vec::new();
                while let Some(token) = list.next_element()? {
                    tokens.push(token);
                }
                Ok(JsonVocabulary::List(tokens))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonVocabulary, A::Error> {
                let mut entries = Vec::new();
                while let Some(token) = map.next_key::<Token>()? {
                    let id = map.next_value().map_err(|error| {
                        let word = String::from_utf8_lossy(&token.0);
                        A::Error::custom(format!("{word:?} has no id: {error}"))
                    })?;
                    entries.push((token, id));
                }
                Ok(JsonVocabulary::Map(entries))
            }
        }

        deserializer.deserialize_any(VocabularyVisitor)
    }
}
