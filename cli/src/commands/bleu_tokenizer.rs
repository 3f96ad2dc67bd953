//! Tokeniser of BLEU by its name, with the SentencePiece model that it may need.

use std::path::{Path, PathBuf};

use anyhow::bail;
use miriam_metrics::{ExternalTokenizer, PieceTokenizer, Tokenizer, explain_missing_tokenizer};
use miriam_textproc::SentencePiece;

use crate::common::exit_with_usage_error;

/// Returns the tokeniser `name`. Without a name, returns the tokeniser for the target language of
/// `language_pair` (`de-en`). `model` is its SentencePiece model.
///
/// # Errors
/// If it is not available, or its model cannot be opened.
pub fn open(
    name: Option<&str>,
    model: Option<&Path>,
    language_pair: Option<&str>,
) -> anyhow::Result<Tokenizer> {
    let target = language_pair.and_then(|pair| pair.rsplit('-').next());
    let default = match target {
        Some("zh") => "zh",
        Some("ja") => "ja-mecab",
        Some("ko") => "ko-mecab",
        _ => "13a",
    };
    let name = name.unwrap_or(default);
    if let Some(reason) = explain_missing_tokenizer(name) {
        bail!("{reason}");
    }
    let Some(tokenizer) = PieceTokenizer::find(name) else {
        if model.is_some() {
            exit_with_usage_error(format!("--tokenize-model: the tokeniser {name} has no model"));
        }
        return Ok(Tokenizer::from_name(name).unwrap_or_default());
    };
    let model = match model {
        Some(model) => model.to_owned(),
        None => find_downloaded_model(tokenizer)?,
    };
    let pieces = SentencePiece::open(&model)?;
    Ok(Tokenizer::External(ExternalTokenizer::new(tokenizer.signature, move |line| {
        pieces.join_pieces(line)
    })))
}

/// Returns the model that sacreBLEU has downloaded into its folder.
fn find_downloaded_model(tokenizer: PieceTokenizer) -> anyhow::Result<PathBuf> {
    let folder = match std::env::var_os("SACREBLEU") {
        Some(folder) => PathBuf::from(folder),
        None => std::env::home_dir().unwrap_or_default().join(".sacrebleu"),
    };
    let model = folder.join("models").join(tokenizer.model_file);
    if model.is_file() {
        return Ok(model);
    }
    bail!(
        "the tokeniser {} needs its SentencePiece model, which is not at {}; give the file with \
         --tokenize-model (sacreBLEU downloads it on first use)",
        tokenizer.name,
        model.display()
    )
}
