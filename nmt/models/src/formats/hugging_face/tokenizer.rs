//! The tokeniser of a folder: the string of each row of the embedding table, and how text is split.
//!
//! `tokenizer.json` has both, but a SentencePiece model in the same folder is preferred for
//! splitting. Without `tokenizer.json`, ids depend on the model. M2M-100 has the ids in
//! `vocab.json`, and T5 has the ids of the pieces. NLLB and mBART have the ids of the pieces plus
//! one, because fairseq has four special tokens where SentencePiece has three. The tokens of
//! languages come after the pieces, in the order of a list. Ids that `tokenizer_config.json` or
//! `added_tokens.json` states come first; other tokens get the free ids after the pieces.

use std::collections::HashSet;
use std::path::Path;

use miriam_textproc::sentencepiece::PieceType;
use serde_json::{Map, Value};

use super::tokenizer_json;
use crate::formats::found_model::OpenedTokenizer;
use crate::languages::{M2M100_LANGUAGES, MBART50_LANGUAGES, NLLB_LANGUAGES};
use crate::segmentation::{Segmentation, SentencePieceModel};
use crate::vocabulary::{PLACEHOLDER_PREFIX, Vocabulary};
use crate::{Error, Result, json};

/// The names of the files of SentencePiece models.
pub const PIECE_FILES: [&str; 4] =
    ["sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "tokenizer.model"];

/// The special tokens before the pieces in fairseq's vocabularies.
const FAIRSEQ_TOKENS: [&str; 4] = ["<s>", "<pad>", "</s>", "<unk>"];
/// The types of the first pieces in the SentencePiece models of fairseq's vocabularies: unknown,
/// beginning of text and end of text. Their names do not matter.
const SPECIAL_PIECES: [PieceType; 3] = [PieceType::Unknown, PieceType::Control, PieceType::Control];

/// The tokens of a model by id; gaps are ids without a token.
#[derive(Default)]
pub struct TokenTable(Vec<Option<Vec<u8>>>);

impl TokenTable {
    /// Sets the token of an id below `rows`, unless it has one.
    pub fn set(&mut self, id: usize, token: &[u8], rows: usize) {
        if id < rows {
            if self.0.len() <= id {
                self.0.resize(id + 1, None);
            }
            self.0[id].get_or_insert_with(|| token.to_vec());
        }
    }

    fn push(&mut self, token: &[u8]) {
        self.0.push(Some(token.to_vec()));
    }

    /// Gives each new token the lowest free id from `base` on.
    fn fill(&mut self, base: usize, tokens: impl Iterator<Item = String>) {
        let known: HashSet<Vec<u8>> = self.0.iter().flatten().cloned().collect();
        let mut id = base;
        for token in tokens.filter(|token| !known.contains(token.as_bytes())) {
            while self.0.get(id).is_some_and(Option::is_some) {
                id += 1;
            }
            if self.0.len() <= id {
                self.0.resize(id + 1, None);
            }
            self.0[id] = Some(token.into_bytes());
        }
    }

    /// Returns a vocabulary of `rows` tokens. Ids without a token get a name that does not occur in
    /// text. `special` has the ids of EOS and of the unknown token if their names do not tell them.
    fn into_vocabulary(
        mut self,
        rows: usize,
        path: &Path,
        special: Option<[u32; 2]>,
    ) -> Result<Vocabulary> {
        self.0.resize(rows, None);
        let tokens = self.0.into_iter().enumerate().map(|(id, token)| {
            token.unwrap_or_else(|| format!("{PLACEHOLDER_PREFIX}{id}>").into_bytes())
        });
        let tokens: Vec<Vec<u8>> = tokens.collect();
        let tokens = tokens.iter().map(Vec::as_slice);
        match special {
            Some(ids) => Vocabulary::with_special_ids(tokens, path, ids),
            None => Vocabulary::new(tokens, path, None),
        }
    }
}

/// Opens the tokeniser in `folder` of a model of type `kind` with a table of `rows` rows; `None` if
/// the folder has no tokeniser.
///
/// # Errors
/// If a file cannot be read, is damaged, or describes a tokeniser that is not supported.
pub fn open(folder: &Path, kind: &str, rows: usize) -> Result<Option<OpenedTokenizer>> {
    let file = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    let config = open_object(folder, "tokenizer_config.json")?;
    refuse_unsupported(folder, kind, &config)?;
    let pieces = PIECE_FILES.into_iter().find_map(file);
    let pieces = pieces.map(|path| SentencePieceModel::open(&path)).transpose()?;
    let mut table = TokenTable::default();
    if let Some(path) = file("tokenizer.json") {
        let tokenizer = tokenizer_json::open(&path)?;
        for (id, token) in tokenizer.tokens() {
            table.set(id, token, rows);
        }
        let model = match pieces {
            Some(model) => model,
            None => tokenizer.to_sentencepiece()?,
        };
        let segmentation = Segmentation::SentencePiece(model);
        return Ok(Some(OpenedTokenizer {
            vocabulary: table.into_vocabulary(rows, &path, None)?,
            segmentation: [segmentation.clone(), segmentation],
        }));
    }
    let Some(model) = pieces else { return Ok(None) };
    let path = Path::new(&model.name);
    let numbered = file("vocab.json");
    let numbered = numbered.map(|path| json::open::<Map<String, Value>>(&path)).transpose()?;
    let mut special = None;
    // The tokens that the files of pieces and ids lack, in the order in which they get ids, unless
    // the folder states their ids.
    let languages = |known: &[String]| -> Result<Vec<String>> {
        let special = open_object(folder, "special_tokens_map.json")?;
        Ok(listed_languages(&config, &special, known))
    };
    let others: Vec<String> = match (kind, numbered) {
        ("m2m_100" | "mbart", Some(tokens)) => {
            set_all(&mut table, &tokens, rows);
            languages(&M2M100_LANGUAGES.map(|code| format!("__{code}__")))?
        }
        ("m2m_100" | "mbart", None) => {
            push_fairseq_pieces(&mut table, &model)?;
            let known: &[&str] = if kind == "mbart" { &MBART50_LANGUAGES } else { &NLLB_LANGUAGES };
            let known: Vec<String> = known.iter().map(|&code| code.into()).collect();
            let mut others = languages(&known)?;
            others.push("<mask>".into());
            others
        }
        _ => {
            let ids = 0..model.model.len() as u32;
            ids.for_each(|id| table.push(model.model.piece(id).unwrap_or_default()));
            special = model.model.end_id().map(|end| [end, model.model.unknown_id()]);
            // Sentinels are in descending order: `<extra_id_0>` is the last token.
            let sentinels = config.get("extra_ids").and_then(Value::as_u64).unwrap_or(100);
            let sentinels = (0..sentinels.min(rows as u64)).rev();
            sentinels.map(|number| format!("<extra_id_{number}>")).collect()
        }
    };
    let base = table.0.len();
    set_stated_ids(&mut table, folder, &config, rows)?;
    table.fill(base, others.into_iter());
    let segmentation = Segmentation::SentencePiece(model.clone());
    Ok(Some(OpenedTokenizer {
        vocabulary: table.into_vocabulary(rows, path, special)?,
        segmentation: [segmentation.clone(), segmentation],
    }))
}

/// Opens the `vocab.json` at `path` of MarianMT in `folder`, which has fewer tokens than the `rows`
/// of the model's table: tokens were added later, or the table was padded.
///
/// # Errors
/// If a file cannot be read or is damaged.
pub fn open_marian_vocabulary(folder: &Path, path: &Path, rows: usize) -> Result<Vocabulary> {
    let mut table = TokenTable::default();
    set_all(&mut table, &json::open(path)?, rows);
    let config = open_object(folder, "tokenizer_config.json")?;
    set_stated_ids(&mut table, folder, &config, rows)?;
    table.into_vocabulary(rows, path, None)
}

/// Sets the tokens whose ids the folder states in `tokenizer_config.json` or `added_tokens.json`.
/// These ids are right even if the tokens stand in a list of languages at another place.
fn set_stated_ids(
    table: &mut TokenTable,
    folder: &Path,
    config: &Map<String, Value>,
    rows: usize,
) -> Result<()> {
    if let Some(Value::Object(added)) = config.get("added_tokens_decoder") {
        for (id, token) in added {
            let content = token.get("content").and_then(Value::as_str);
            if let (Ok(id), Some(content)) = (id.parse(), content) {
                table.set(id, content.as_bytes(), rows);
            }
        }
    }
    set_all(table, &open_object(folder, "added_tokens.json")?, rows);
    Ok(())
}

/// Rejects tokenisers that place language tokens where the model's type does not.
fn refuse_unsupported(folder: &Path, kind: &str, config: &Map<String, Value>) -> Result<()> {
    let class = config.get("tokenizer_class").and_then(Value::as_str).unwrap_or_default();
    if kind == "mbart" && ["MBartTokenizer", "MBartTokenizerFast"].contains(&class) {
        let reason = "mBART-25, which has languages at the end of sentences, is not supported; \
                      mBART-50 is";
        return Err(Error::unsupported(folder, reason));
    }
    let has_code = folder.join("tokenization_small100.py").is_file();
    if kind == "m2m_100" && (has_code || class.eq_ignore_ascii_case("SMALL100Tokenizer")) {
        let reason = "SMaLL-100, whose source begins with the target language, is not supported; \
                      M2M-100 is";
        return Err(Error::unsupported(folder, reason));
    }
    if config.get("legacy_behaviour") == Some(&Value::Bool(true)) {
        let reason = "legacy_behaviour puts languages at the end of sentences, which is not \
                      supported; set it to false in tokenizer_config.json if the model was not \
                      trained that way";
        return Err(Error::unsupported(folder, reason));
    }
    Ok(())
}

/// Sets the tokens of a map from tokens to ids.
fn set_all(table: &mut TokenTable, tokens: &Map<String, Value>, rows: usize) {
    for (token, id) in tokens {
        if let Some(id) = id.as_u64() {
            table.set(id as usize, token.as_bytes(), rows);
        }
    }
}

fn push_fairseq_pieces(table: &mut TokenTable, model: &SentencePieceModel) -> Result<()> {
    for ((id, expected), token) in (0..).zip(SPECIAL_PIECES).zip(["<unk>", "<s>", "</s>"]) {
        if model.model.piece_type(id) != Some(expected) {
            let reason =
                format!("piece {id} must have the type of {token}, as in fairseq's models");
            return Err(Error::mismatch(Path::new(&model.name), "pieces", reason));
        }
    }
    FAIRSEQ_TOKENS.iter().for_each(|token| table.push(token.as_bytes()));
    let ids = SPECIAL_PIECES.len() as u32..model.model.len() as u32;
    ids.for_each(|id| table.push(model.model.piece(id).unwrap_or_default()));
    Ok(())
}

/// Opens the JSON object in the file `name` of `folder`; an empty object if there is no such file.
fn open_object(folder: &Path, name: &str) -> Result<Map<String, Value>> {
    let path = folder.join(name);
    if path.is_file() { json::open(&path) } else { Ok(Map::new()) }
}

/// Returns the languages that a folder lists, in the order of its list. If it lists none, returns
/// `known`.
fn listed_languages(
    config: &Map<String, Value>,
    special: &Map<String, Value>,
    known: &[String],
) -> Vec<String> {
    for map in [special, config] {
        for key in ["additional_special_tokens", "extra_special_tokens"] {
            let Some(Value::Array(tokens)) = map.get(key) else { continue };
            let tokens: Vec<String> = tokens
                .iter()
                .filter_map(|token| {
                    token.as_str().or_else(|| token.get("content")?.as_str()).map(str::to_owned)
                })
                .collect();
            if tokens.iter().any(|token| known.contains(token)) {
                let languages = tokens
                    .into_iter()
                    .filter(|token| !FAIRSEQ_TOKENS.contains(&&token[..]) && token != "<mask>");
                return languages.collect();
            }
        }
    }
    known.to_vec()
}
