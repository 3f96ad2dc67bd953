//! Tokenisers from other crates, such as tokenisers with SentencePiece models.

use std::fmt;
use std::sync::Arc;

/// A tokeniser that needs a SentencePiece model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTokenizer {
    /// Its name in options of sacreBLEU.
    pub name: &'static str,
    /// Its name in signatures.
    pub signature: &'static str,
    /// The name of its model in sacreBLEU's folder of models.
    pub model_file: &'static str,
}

const FLORES_101_MODEL: &str = "sacrebleu_tokenizer_spm.model";

/// sacreBLEU's tokenisers with SentencePiece models.
pub const PIECE_TOKENIZERS: [PieceTokenizer; 4] = [
    PieceTokenizer { name: "spm", signature: "flores101", model_file: FLORES_101_MODEL },
    PieceTokenizer { name: "flores101", signature: "flores101", model_file: FLORES_101_MODEL },
    PieceTokenizer {
        name: "flores200",
        signature: "flores200",
        model_file: "flores200sacrebleuspm",
    },
    PieceTokenizer {
        name: "spBLEU-1K",
        signature: "spBLEU-1K",
        model_file: "spbleu-1k_tokenizer_spm.model",
    },
];

impl PieceTokenizer {
    /// Returns the tokeniser with the name `name`.
    pub fn find(name: &str) -> Option<Self> {
        PIECE_TOKENIZERS.into_iter().find(|tokenizer| tokenizer.name == name)
    }
}

/// The tokenisers of sacreBLEU that are missing here.
pub const MISSING_TOKENIZERS: [&str; 2] = ["ja-mecab", "ko-mecab"];

/// Returns the reason why one of [`MISSING_TOKENIZERS`] is missing, with advice.
pub fn explain_missing_tokenizer(name: &str) -> Option<String> {
    MISSING_TOKENIZERS.contains(&name).then(|| {
        format!(
            "{name} is not available: MeCab and its dictionary are not built in; tokenise \
             translations and references with them (mecab -Owakati), and score with none"
        )
    })
}

/// A function that puts spaces between the tokens of a line.
type TokenizeLine = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// A tokeniser from another crate.
#[derive(Clone)]
pub struct ExternalTokenizer {
    signature: String,
    tokenize: TokenizeLine,
}

impl ExternalTokenizer {
    /// Returns a tokeniser with the name `signature` in signatures; `tokenize` puts spaces between
    /// tokens.
    pub fn new(
        signature: impl Into<String>,
        tokenize: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        ExternalTokenizer { signature: signature.into(), tokenize: Arc::new(tokenize) }
    }

    pub(super) fn signature(&self) -> &str {
        &self.signature
    }

    pub(super) fn tokenize(&self, line: &str) -> String {
        (self.tokenize)(line)
    }
}

impl fmt::Debug for ExternalTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExternalTokenizer").field(&self.signature).finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bleu, Tokenizer, sentence_score};

    use super::*;

    #[test]
    fn lines_are_cut_as_the_function_says() {
        let halves = ExternalTokenizer::new("halves", |line| {
            let words = line.split(' ').map(|word| {
                let (start, end) = word.split_at(word.len() / 2);
                format!("{start} {end}")
            });
            words.collect::<Vec<_>>().join(" ")
        });
        let bleu = Bleu { tokenizer: Tokenizer::External(halves), ..Bleu::default() };
        let score = sentence_score(&bleu, "abcd efgh", &["abcd efgh"]);
        assert!((score.value - 100.0).abs() < 1e-9, "four tokens: {}", score.value);
        assert!(score.signature.to_text(false).contains("|tok:halves|"));
    }

    #[test]
    fn names_are_those_of_sacrebleu() {
        assert_eq!(PieceTokenizer::find("spm").unwrap().signature, "flores101");
        assert_eq!(PieceTokenizer::find("13a"), None);
        assert!(explain_missing_tokenizer("ja-mecab").unwrap().contains("MeCab"));
        assert_eq!(explain_missing_tokenizer("zh"), None);
    }
}
