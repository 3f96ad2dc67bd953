//! Words of models that were trained on text of Moses' tools: packages of Argos Translate with BPE
//! codes, and the first models of OPUS-MT. Text is split into words before byte pair encoding.
//! After translation, subwords are joined to words, and words to text.

use miriam_textproc::{Detokenizer, PunctuationNormalizer, Tokenizer, prepare_for_opus_mt};
use serde::{Deserialize, Serialize};

/// The rules that split text into words, as stored in model files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordRules {
    /// The code of the language whose rules apply.
    pub language: String,
    /// Whether text is prepared as by OPUS-MT. Then punctuation of other scripts is replaced and
    /// characters that print nothing are removed before punctuation is normalised. Words are also
    /// split at hyphens.
    #[serde(default)]
    pub is_opus_mt: bool,
}

/// Moses' tools with the rules of a model.
pub struct MosesWords {
    rules: WordRules,
    normalizer: PunctuationNormalizer,
    tokenizer: Tokenizer,
    detokenizer: Detokenizer,
}

impl MosesWords {
    /// Creates the tools for these rules.
    pub fn new(rules: WordRules) -> Self {
        let language = &rules.language;
        MosesWords {
            normalizer: PunctuationNormalizer::new(language),
            tokenizer: Tokenizer::new(language).aggressive(rules.is_opus_mt),
            detokenizer: Detokenizer::new(language),
            rules,
        }
    }

    /// Returns the rules.
    pub fn rules(&self) -> &WordRules {
        &self.rules
    }

    /// Returns the words of `text`, with spaces between them.
    pub fn tokenize(&self, text: &[u8]) -> Vec<u8> {
        let (mut replaced, mut normalized, mut words) = (Vec::new(), Vec::new(), Vec::new());
        let text = if self.rules.is_opus_mt {
            prepare_for_opus_mt(text, &mut replaced);
            &replaced
        } else {
            text
        };
        self.normalizer.normalize(text, &mut normalized);
        self.tokenizer.tokenize(&normalized, &mut words);
        words
    }

    /// Appends the text of `words` to `out`.
    pub fn detokenize(&self, words: &[u8], out: &mut Vec<u8>) {
        self.detokenizer.detokenize(words, out);
    }
}

impl std::fmt::Display for MosesWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "words of Moses' tokeniser ({})", self.rules.language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_into_words_as_by_opus_mt_and_argos_translate() {
        let words = |is_opus_mt, text: &str| {
            let words = MosesWords::new(WordRules { language: "en".into(), is_opus_mt });
            String::from_utf8(words.tokenize(text.as_bytes())).unwrap()
        };
        // OPUS-MT splits words at hyphens (`tokenizer.perl -a`) and replaces punctuation of other
        // scripts.
        let text = "A well-known “dog”， isn't it？";
        assert_eq!(words(true, text), "A well @-@ known &quot; dog , &quot; isn &apos;t it ?");
        assert_eq!(words(false, "A well-known “dog”."), "A well-known &quot; dog . &quot;");
        let words = MosesWords::new(WordRules { language: "en".into(), is_opus_mt: true });
        let mut out = Vec::new();
        words.detokenize(b"A well @-@ known dog , isn &apos;t it ?", &mut out);
        assert_eq!(out, b"A well-known dog, isn't it?");
    }
}
