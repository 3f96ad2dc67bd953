//! Tokenisation of text for a model, and detokenisation.

use std::borrow::Cow;
use std::sync::Arc;

use miriam_textio::fields;
use miriam_textproc::BpeScratch;
use miriam_textproc::sentencepiece::Encoding;

use crate::search::TokenTexts;
use miriam_nmt_models::Vocabulary;
use miriam_nmt_models::{BPE_SEPARATOR, Segmentation};
use miriam_nmt_models::{BoundaryTokens, TokenizerPair};

/// The tokeniser of one side of a model: a vocabulary and a segmentation.
#[derive(Clone)]
pub struct Tokenizer {
    /// The vocabulary.
    pub vocabulary: Arc<Vocabulary>,
    /// The segmentation of text into tokens.
    pub segmentation: Segmentation,
    /// The special tokens before and after the tokens of a sentence.
    pub boundary_tokens: BoundaryTokens,
    /// Whether input text is tokenised already.
    pub input_is_tokenized: bool,
    /// Whether tokens are printed without joining them to words.
    pub output_as_pieces: bool,
    /// The ids, in ascending order, of tokens that are not text; they are left out when tokens are
    /// joined to words.
    pub special_ids: Arc<[u32]>,
    /// Whether text must begin with the tag of a language, since no language has been named.
    pub needs_language_tag: bool,
    /// Whether a model reads the text from right to left, as Marian's `right-left` models do.
    pub reads_backwards: bool,
}

/// Scratch memory of tokenisation.
#[derive(Default)]
pub struct TokenizerScratch {
    encoding: Encoding,
    bpe: BpeScratch,
    piece: Vec<u8>,
}

/// A tokenised sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// The ids of the tokens; tokens that the vocabulary lacks have the id of the unknown token.
    pub ids: Vec<u32>,
    /// The end of each token in `text`.
    end_offsets: Vec<usize>,
    text: Vec<u8>,
}

impl Pieces {
    fn push(&mut self, piece: &[u8], vocabulary: &Vocabulary) {
        self.push_with_id(piece, vocabulary.find(piece).unwrap_or(vocabulary.unk_id()));
    }

    fn push_unknown(&mut self, piece: &[u8], vocabulary: &Vocabulary) {
        self.push_with_id(piece, vocabulary.unk_id());
    }

    fn push_with_id(&mut self, piece: &[u8], id: u32) {
        self.ids.push(id);
        self.text.extend_from_slice(piece);
        self.end_offsets.push(self.text.len());
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the string of token `index`, even if it is unknown.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.end_offsets.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.end_offsets[before]);
        Some(&self.text[start..end])
    }

    /// Returns the strings of all tokens.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default())
    }

    /// Keeps the first `length` tokens.
    pub fn truncate(&mut self, length: usize) {
        self.ids.truncate(length);
        self.end_offsets.truncate(length);
        self.text.truncate(self.end_offsets.last().copied().unwrap_or(0));
    }
}

impl Tokenizer {
    /// Returns the tokeniser of side `side` of `pair`: 0 is the source, 1 the target.
    pub fn new(pair: &TokenizerPair, side: usize) -> Self {
        Tokenizer {
            vocabulary: Arc::clone(&pair.vocabularies[side]),
            segmentation: pair.segmentation[side].clone(),
            boundary_tokens: if side == 0 {
                pair.source_boundary_tokens
            } else {
                BoundaryTokens::default()
            },
            input_is_tokenized: false,
            output_as_pieces: false,
            special_ids: Arc::default(),
            needs_language_tag: false,
            reads_backwards: false,
        }
    }

    /// Tokenises `text`. Language tags such as `>>fra<<` and `<2fr>` at its beginning, which select
    /// the target language of multilingual models, stay whole if the vocabulary has them.
    pub fn encode(&self, text: &[u8], scratch: &mut TokenizerScratch) -> Pieces {
        let mut pieces = Pieces::default();
        if self.input_is_tokenized || matches!(self.segmentation, Segmentation::Presegmented) {
            fields::split_at_spaces(text).for_each(|word| pieces.push(word, &self.vocabulary));
            return pieces;
        }
        let mut rest = text;
        while let Some((tag, after)) = split_language_tag(rest)
            && self.vocabulary.find(tag).is_some()
        {
            pieces.push(tag, &self.vocabulary);
            rest = after;
        }
        let TokenizerScratch { encoding, bpe, piece } = scratch;
        match &self.segmentation {
            Segmentation::Presegmented => {}
            Segmentation::SentencePiece(model) => {
                let model = &model.model;
                model.encode(rest, encoding);
                for (&id, piece) in encoding.ids().iter().zip(model.pieces(encoding)) {
                    // Unknown characters may spell the name of a control piece, but are text.
                    if id == model.unknown_id() && model.piece_id(piece).is_some() {
                        pieces.push_unknown(piece, &self.vocabulary);
                    } else {
                        pieces.push(piece, &self.vocabulary);
                    }
                }
            }
            Segmentation::Bpe(file) => {
                let words = file.words.as_ref().map(|words| words.tokenize(rest));
                for word in fields::split_at_spaces(words.as_deref().unwrap_or(rest)) {
                    file.codes.segment_word(word, bpe, |part, more| {
                        piece.clear();
                        piece.extend_from_slice(part);
                        piece.extend_from_slice(if more { BPE_SEPARATOR } else { b"" });
                        pieces.push(piece, &self.vocabulary);
                    });
                }
            }
        }
        pieces
    }

    /// Returns the number of the vocabulary's language tags that `text` begins with, and their
    /// bytes with the spaces after them.
    pub(super) fn leading_tags<'t>(&self, text: &'t [u8]) -> (usize, &'t [u8]) {
        let (mut rest, mut count) = (text, 0);
        while let Some((tag, after)) = split_language_tag(rest)
            && !self.input_is_tokenized
            && self.vocabulary.find(tag).is_some()
        {
            let spaces = after.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
            (rest, count) = (&after[spaces..], count + 1);
        }
        (count, &text[..text.len() - rest.len()])
    }

    /// Whether `text` must begin with the tag of a language and does not. Tokenised input is not
    /// checked.
    pub(super) fn lacks_tag(&self, text: &[u8]) -> bool {
        self.needs_language_tag
            && !self.input_is_tokenized
            && self.leading_tags(text).0 == 0
            && !text.trim_ascii().is_empty()
    }

    /// Returns the ids of `pieces` as the model reads them, with its special tokens: in most models
    /// this is one `</s>` at the end.
    pub fn ids_with_special_tokens(&self, pieces: &Pieces) -> Vec<u32> {
        let mut ids: Vec<u32> =
            self.boundary_tokens.bos_id.into_iter().chain(pieces.ids.clone()).collect();
        // EOS is added even after a `</s>` of the text, as in Marian and CTranslate2.
        if self.boundary_tokens.has_eos {
            ids.push(self.vocabulary.eos_id());
        }
        self.reverse_if_backwards(&mut ids);
        ids
    }

    /// Reverses the tokens of a text, but not EOS at its end, if the model reads it from right to
    /// left.
    pub(super) fn reverse_if_backwards(&self, ids: &mut [u32]) {
        if self.reads_backwards {
            let ends = ids.last() == Some(&self.vocabulary.eos_id());
            let words = ids.len() - usize::from(ends);
            ids[..words].reverse();
        }
    }

    /// Returns the string that a token adds to a text; `None` for special tokens, unless tokens are
    /// printed without joining them to words.
    pub fn text_piece(&self, id: u32) -> Option<&[u8]> {
        let is_text = self.output_as_pieces || self.special_ids.binary_search(&id).is_err();
        is_text.then(|| self.vocabulary.word(id).unwrap_or_default())
    }

    /// Returns the text that each token adds to a translation, with spaces where words end; nothing
    /// for special tokens.
    pub(super) fn token_texts(&self) -> TokenTexts {
        let tokens = 0..self.vocabulary.len() as u32;
        let texts = tokens.map(|id| {
            let piece = self.vocabulary.word(id).unwrap_or_default();
            if self.special_ids.binary_search(&id).is_ok() {
                return Cow::Borrowed(&b""[..]);
            }
            let mut text = Vec::new();
            match &self.segmentation {
                Segmentation::SentencePiece(model) => model.model.append_piece(piece, &mut text),
                Segmentation::Presegmented | Segmentation::Bpe(_) => {
                    let part = piece.strip_suffix(BPE_SEPARATOR);
                    text.extend_from_slice(part.unwrap_or(piece));
                    text.extend_from_slice(if part.is_some() { b"" } else { b" " });
                }
            }
            Cow::Owned(text)
        });
        texts.collect()
    }

    /// Returns the string of each token; `None` for special tokens.
    pub(super) fn token_pieces(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.vocabulary.len() as u32).map(|id| {
            let is_text = self.special_ids.binary_search(&id).is_err();
            self.vocabulary.word(id).filter(|_| is_text)
        })
    }

    /// Appends the text of `ids`, with the tokens at some positions replaced by
    /// `replacement`.
    pub fn decode<'a>(
        &'a self,
        ids: &[u32],
        replacement: impl Fn(usize) -> Option<&'a [u8]>,
        out: &mut Vec<u8>,
    ) {
        let pieces = ids.iter().enumerate().filter_map(|(position, &id)| {
            self.text_piece(id).map(|piece| replacement(position).unwrap_or(piece))
        });
        match &self.segmentation {
            Segmentation::SentencePiece(model) if !self.output_as_pieces => {
                let start = out.len();
                model.model.decode_pieces(pieces, out);
                // If white space belongs to the word before it, the last word ends with a space.
                if model.model.treats_whitespace_as_suffix() && out[start..].ends_with(b" ") {
                    out.pop();
                }
            }
            Segmentation::Bpe(file) if !self.output_as_pieces => match &file.words {
                None => join_subwords(pieces, out),
                Some(words) => {
                    let mut joined = Vec::new();
                    join_subwords(pieces, &mut joined);
                    words.detokenize(&joined, out);
                }
            },
            _ => {
                for (place, piece) in pieces.enumerate() {
                    if place > 0 {
                        out.push(b' ');
                    }
                    out.extend_from_slice(piece);
                }
            }
        }
    }
}

/// Appends the words that subwords make, with spaces between them.
fn join_subwords<'a>(pieces: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    let mut inside_word = true;
    for piece in pieces {
        if !inside_word {
            out.push(b' ');
        }
        let part = piece.strip_suffix(BPE_SEPARATOR);
        inside_word = part.is_some();
        out.extend_from_slice(part.unwrap_or(piece));
    }
}

/// Splits `text` into the tag `>>xxx<<` or `<2xxx>` at its beginning and the rest.
fn split_language_tag(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = match text {
        [b'>', b'>', inside @ ..] => inside.windows(2).position(|pair| pair == b"<<")? + 4,
        [b'<', b'2', inside @ ..] => inside.iter().position(|&byte| byte == b'>')? + 3,
        _ => return None,
    };
    let (tag, rest) = text.split_at(end);
    let is_tag = !tag.iter().any(u8::is_ascii_whitespace);
    is_tag.then_some((tag, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_nmt_models::BpeCodesFile;
    use miriam_storage::Bytes;
    use std::path::Path;

    fn side(words: &str) -> Tokenizer {
        let vocabulary = Vocabulary::parse(words.as_bytes(), Path::new("v.txt")).unwrap();
        Tokenizer {
            vocabulary: Arc::new(vocabulary),
            segmentation: Segmentation::Presegmented,
            boundary_tokens: BoundaryTokens::default(),
            input_is_tokenized: false,
            output_as_pieces: false,
            special_ids: Arc::default(),
            needs_language_tag: false,
            reads_backwards: false,
        }
    }

    #[test]
    fn boundary_tokens_are_those_that_the_model_wants() {
        let ids = |boundary_tokens: BoundaryTokens, text: &[u8]| {
            let side = Tokenizer { boundary_tokens, ..side("</s>\n<unk>\n<s>\na\n") };
            side.ids_with_special_tokens(&side.encode(text, &mut TokenizerScratch::default()))
        };
        assert_eq!(ids(BoundaryTokens::default(), b"a a"), [3, 3, 0]);
        let plain = BoundaryTokens::default();
        assert_eq!(ids(BoundaryTokens { has_eos: false, ..plain }, b"a a"), [3, 3]);
        let both = BoundaryTokens { bos_id: Some(2), ..plain };
        assert_eq!(ids(both, b"a </s>"), [2, 3, 0, 0]);
    }

    #[test]
    fn pieces_are_looked_up_and_written() {
        let side = side("</s>\n<unk>\na\nb\n");
        let mut pieces = side.encode(b" b  zz a ", &mut TokenizerScratch::default());
        assert_eq!(pieces.ids, [3, 1, 2]);
        assert_eq!(
            [pieces.get(0), pieces.get(1), pieces.get(3)],
            [Some(&b"b"[..]), Some(b"zz"), None]
        );
        let mut out = Vec::new();
        side.decode(&pieces.ids, |place| (place == 1).then_some(b"zz"), &mut out);
        assert_eq!(out, b"b zz a");
        pieces.truncate(1);
        assert_eq!((pieces.len(), pieces.get(0), pieces.get(1)), (1, Some(&b"b"[..]), None));
        assert!(side.encode(b"", &mut TokenizerScratch::default()).is_empty());
        assert_eq!(side.ids_with_special_tokens(&pieces), [3, 0]);
        let backwards = Tokenizer { reads_backwards: true, ..side.clone() };
        let words = backwards.encode(b"a b b", &mut TokenizerScratch::default());
        assert_eq!(backwards.ids_with_special_tokens(&words), [3, 3, 2, 0]);
        assert_eq!(
            side.ids_with_special_tokens(&side.encode(b"a </s>", &mut TokenizerScratch::default())),
            [2, 0, 0]
        );
    }

    #[test]
    fn bpe_round_trip_joins_pieces() {
        let codes = Bytes::copy_from(b"#version: 0.2\nl o\nlo w</w>\n");
        let codes = BpeCodesFile::from_bytes(codes, "codes").unwrap();
        let side = Tokenizer {
            segmentation: Segmentation::Bpe(codes),
            ..side("</s>\n<unk>\nlow\nlo@@\nw@@\ne@@\nr\n>>de<<\n@@\n")
        };
        let read = |side: &Tokenizer, text: &str| {
            side.encode(text.as_bytes(), &mut TokenizerScratch::default())
        };
        let pieces = read(&side, ">>de<< low  lower lox");
        assert_eq!(pieces.ids, [7, 2, 3, 4, 5, 6, 3, 1]);
        assert_eq!([pieces.get(2), pieces.get(7)], [Some(&b"lo@@"[..]), Some(b"x")]);
        // As in subword-nmt, tabs belong to words.
        let with_tab = read(&side, "low\tr");
        assert_eq!(with_tab.iter().collect::<Vec<_>>(), [&b"lo@@"[..], b"w@@", b"\t@@", b"r"]);
        let write = |side: &Tokenizer, ids: &[u32]| {
            let mut out = Vec::new();
            side.decode(ids, |place| (place == 7).then_some(&b"x"[..]), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(write(&side, &pieces.ids), ">>de<< low lower lox");
        // A sentence may break off in the middle of a word.
        assert_eq!(write(&side, &[2, 3]), "low lo");
        assert_eq!(write(&side, &[3, 8, 6]), "lor");
        let plain = Tokenizer { input_is_tokenized: true, output_as_pieces: true, ..side };
        assert_eq!(read(&plain, "lo@@ w@@ r").ids, [3, 4, 6]);
        assert_eq!(write(&plain, &[3, 4, 6]), "lo@@ w@@ r");
    }

    #[test]
    fn language_tags_are_split_off() {
        let found = |text: &'static str| split_language_tag(text.as_bytes());
        assert_eq!(found(">>fra<< a b"), Some((&b">>fra<<"[..], &b" a b"[..])));
        assert_eq!(found("  >>zh_Hans<<x"), Some((&b">>zh_Hans<<"[..], &b"x"[..])));
        assert_eq!(found(" <2de> a"), Some((&b"<2de>"[..], &b" a"[..])));
        for none in ["<2 de>", "<2de", "a >>fra<<", ">> fra<<", ">>fra", ">fra<", ""] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
