//! `tokenizer.json`: the file of the library `tokenizers`, which says in steps what a
//! SentencePiece model says in a few flags.
//!
//! Files that were made from SentencePiece models are turned back into them: unigram or BPE pieces,
//! a compiled character map, and spaces as U+2581 before words. A step that SentencePiece does not
//! have is rejected by name, because text would be split differently from training.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use miriam_textproc::sentencepiece::{ModelParts, ModelType, PieceType};
use serde::Deserialize;
use serde_json::Value;

use crate::segmentation::SentencePieceModel;
use crate::{Error, Result, json};

/// The parts of the file that are read.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    model: FileModel,
}

#[derive(Deserialize)]
struct AddedToken {
    id: usize,
    content: String,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum FileModel {
    Unigram {
        unk_id: Option<usize>,
        vocab: Vec<(String, f64)>,
        #[serde(default)]
        byte_fallback: bool,
    },
    #[serde(rename = "BPE")]
    Bpe {
        unk_token: Option<String>,
        vocab: HashMap<String, usize>,
        merges: Vec<Merge>,
        #[serde(default)]
        byte_fallback: bool,
        #[serde(default)]
        ignore_merges: bool,
        continuing_subword_prefix: Option<String>,
        end_of_word_suffix: Option<String>,
    },
    WordPiece {},
    WordLevel {},
}

/// A merge: two pieces, or one string with a space between them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Pair(String, String),
    Joined(String),
}

impl Merge {
    /// Returns the piece that the merge makes.
    fn piece(&self) -> Option<String> {
        match self {
            Merge::Pair(left, right) => Some(format!("{left}{right}")),
            Merge::Joined(pair) => {
                pair.split_once(' ').map(|(left, right)| format!("{left}{right}"))
            }
        }
    }
}

/// Normalisation of text before it is split.
struct NormalizerSteps {
    charsmap: Vec<u8>,
    has_prefix: bool,
}

/// A tokeniser as the file describes it.
pub struct TokenizerJson {
    path: PathBuf,
    file: File,
    steps: NormalizerSteps,
    /// Whether each added token is special.
    added: HashMap<String, bool>,
}

/// Reads the file at `path`.
///
/// # Errors
/// If it cannot be read, is damaged, or has a step that SentencePiece does not have.
pub fn open(path: &Path) -> Result<TokenizerJson> {
    parse(json::open(path)?, path)
}

fn parse(file: File, path: &Path) -> Result<TokenizerJson> {
    let unsupported = |what: String| {
        let reason = format!(
            "{what}, which SentencePiece does not have; put the SentencePiece model of the \
             tokenizer beside it (sentencepiece.bpe.model, spiece.model)"
        );
        Error::unsupported(path, reason)
    };
    let mut steps = NormalizerSteps { charsmap: Vec::new(), has_prefix: false };
    for step in in_sequence(file.normalizer.as_ref(), "normalizers") {
        let kind = kind_of(step);
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        match kind {
            "Precompiled" => {
                let map = decode_base64(text("precompiled_charsmap"));
                steps.charsmap = map.ok_or_else(|| {
                    Error::damaged(path, "precompiled_charsmap", "invalid base 64")
                })?;
            }
            // Runs of spaces become one.
            "Replace"
                if step.pointer("/pattern/Regex").and_then(Value::as_str) == Some(" {2,}")
                    && [" ", "\u{2581}"].contains(&text("content")) => {}
            "Strip" => {}
            "Prepend" if text("prepend") == "\u{2581}" => steps.has_prefix = true,
            "Replace"
                if step.pointer("/pattern/String").and_then(Value::as_str) == Some(" ")
                    && text("content") == "\u{2581}" => {}
            _ => return Err(unsupported(format!("normalizer {step}"))),
        }
    }
    for step in in_sequence(file.pre_tokenizer.as_ref(), "pretokenizers") {
        match kind_of(step) {
            "WhitespaceSplit" => {}
            "Metaspace" => {
                let is_first = match step.get("prepend_scheme").and_then(Value::as_str) {
                    Some("never") => false,
                    Some(_) => true,
                    None => step.get("add_prefix_space") != Some(&Value::Bool(false)),
                };
                steps.has_prefix |= is_first;
                let symbol = step.get("replacement").and_then(Value::as_str);
                if symbol != Some("\u{2581}") {
                    return Err(unsupported(format!("spaces as {symbol:?}")));
                }
            }
            kind => return Err(unsupported(format!("pre-tokenizer {kind:?}"))),
        }
    }
    let added = file.added_tokens.iter().map(|token| (token.content.clone(), token.special));
    let added = added.collect();
    Ok(TokenizerJson { path: path.to_owned(), file, steps, added })
}

impl TokenizerJson {
    /// Returns the tokens with their ids, in any order.
    pub fn tokens(&self) -> Vec<(usize, &[u8])> {
        let mut tokens: Vec<(usize, &[u8])> = match &self.file.model {
            FileModel::Unigram { vocab, .. } => {
                vocab.iter().enumerate().map(|(id, (token, _))| (id, token.as_bytes())).collect()
            }
            FileModel::Bpe { vocab, .. } => {
                vocab.iter().map(|(token, &id)| (id, token.as_bytes())).collect()
            }
            FileModel::WordPiece {} | FileModel::WordLevel {} => Vec::new(),
        };
        let added = self.file.added_tokens.iter();
        tokens.extend(added.map(|token| (token.id, token.content.as_bytes())));
        tokens
    }

    /// Returns the SentencePiece model that splits text as the file describes.
    ///
    /// # Errors
    /// If the file describes another kind of model, or BPE that SentencePiece does not have, or is
    /// damaged.
    pub fn to_sentencepiece(&self) -> Result<SentencePieceModel> {
        let (model_type, pieces, byte_fallback) = match &self.file.model {
            FileModel::Unigram { unk_id, vocab, byte_fallback } => {
                (ModelType::Unigram, self.unigram_pieces(*unk_id, vocab)?, *byte_fallback)
            }
            FileModel::Bpe { byte_fallback, .. } => {
                (ModelType::Bpe, self.bpe_pieces()?, *byte_fallback)
            }
            FileModel::WordPiece {} | FileModel::WordLevel {} => {
                let reason = "WordPiece and word models are not supported, only unigram and BPE";
                return Err(Error::unsupported(&self.path, reason));
            }
        };
        let parts = ModelParts {
            model_type,
            pieces,
            byte_fallback,
            charsmap: self.steps.charsmap.clone(),
            add_dummy_prefix: self.steps.has_prefix,
            remove_extra_whitespaces: true,
        };
        let name = self.path.display().to_string();
        let bytes = miriam_storage::Bytes::copy_from(&parts.to_bytes());
        SentencePieceModel::from_bytes(bytes, name)
    }

    fn unigram_pieces(
        &self,
        unk_id: Option<usize>,
        vocab: &[(String, f64)],
    ) -> Result<Vec<(Vec<u8>, f32, PieceType)>> {
        let unk_id = unk_id.filter(|&id| id < vocab.len()).ok_or_else(|| {
            Error::damaged(&self.path, "unk_id", "the id is not in the vocabulary")
        })?;
        Ok(vocab
            .iter()
            .enumerate()
            .map(|(id, (text, score)): (usize, &(String, f64))| {
                let kind = if id == unk_id { PieceType::Unknown } else { self.piece_type(text) };
                (text.as_bytes().to_vec(), *score as f32, kind)
            })
            .collect())
    }

    /// Returns the pieces. The score of a piece is the negative rank of the first merge that makes
    /// it. In files that were made from a SentencePiece model, all merges that make the same piece
    /// are neighbours.
    fn bpe_pieces(&self) -> Result<Vec<(Vec<u8>, f32, PieceType)>> {
        let FileModel::Bpe {
            unk_token,
            vocab,
            merges,
            ignore_merges,
            continuing_subword_prefix,
            end_of_word_suffix,
            ..
        } = &self.file.model
        else {
            return Ok(Vec::new());
        };
        let affix = [continuing_subword_prefix, end_of_word_suffix];
        if *ignore_merges || affix.into_iter().flatten().any(|affix| !affix.is_empty()) {
            let reason = "BPE with ignore_merges or with marks of subwords, which SentencePiece \
                          does not have";
            return Err(Error::unsupported(&self.path, reason));
        }
        let mut scores: HashMap<String, f32> = HashMap::new();
        let mut last = String::new();
        for (rank, merge) in merges.iter().enumerate() {
            let piece = merge.piece().ok_or_else(|| {
                Error::damaged(&self.path, "merges", format!("merge {rank} is not a pair"))
            })?;
            if !vocab.contains_key(&piece) {
                let reason = format!("{piece:?} of merge {rank} is not a token");
                return Err(Error::damaged(&self.path, "merges", reason));
            }
            if piece != last {
                // f32 is exact for ranks up to 2^24; vocabularies are smaller.
                if scores.insert(piece.clone(), -(rank as f32)).is_some() {
                    let reason = format!(
                        "{piece:?} is made by merges of different ranks, unlike in SentencePiece; \
                         put the SentencePiece model of the tokenizer beside it"
                    );
                    return Err(Error::unsupported(&self.path, reason));
                }
                last = piece;
            }
        }
        let unk = unk_token.as_deref().unwrap_or("<unk>");
        let mut tokens: Vec<(&String, usize)> = vocab.iter().map(|(t, &id)| (t, id)).collect();
        tokens.sort_unstable_by_key(|&(_, id)| id);
        Ok(tokens
            .into_iter()
            .map(|(text, _)| {
                let kind = if text == unk { PieceType::Unknown } else { self.piece_type(text) };
                // Single characters need no merge.
                let score = scores.get(text).copied().unwrap_or(-(merges.len() as f32));
                let kind = match kind {
                    // A token that no merge makes is never a result of splitting.
                    PieceType::Normal if !scores.contains_key(text) && text.chars().count() > 1 => {
                        PieceType::Control
                    }
                    kind => kind,
                };
                (text.as_bytes().to_vec(), score, kind)
            })
            .collect())
    }

    /// Returns the type of a piece that is not the unknown one.
    fn piece_type(&self, text: &str) -> PieceType {
        let is_byte = text.len() == 6 && text.starts_with("<0x") && text.ends_with('>');
        match self.added.get(text) {
            Some(true) => PieceType::Control,
            Some(_) => PieceType::UserDefined,
            None if is_byte => PieceType::Byte,
            None => PieceType::Normal,
        }
    }
}

/// Returns the steps of a `Sequence`, or the only step.
fn in_sequence<'a>(step: Option<&'a Value>, key: &str) -> Vec<&'a Value> {
    match step.filter(|step| !step.is_null()) {
        None => Vec::new(),
        Some(step) if kind_of(step) == "Sequence" => {
            let steps = step.get(key).and_then(Value::as_array);
            steps.into_iter().flatten().flat_map(|step| in_sequence(Some(step), key)).collect()
        }
        Some(step) => vec![step],
    }
}

fn kind_of(step: &Value) -> &str {
    step.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the bytes of a text in base 64 (RFC 4648, section 4).
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        let count = match group.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=count]);
    }
    Some(bytes)
}
