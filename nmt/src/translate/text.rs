//! From text to words of a model, and back.

use std::sync::Arc;

use miriam_textio::fields;
use miriam_textproc::BpeWork;
use miriam_textproc::sentence_piece::Encoding;

use crate::package::Words;
use crate::segmentation::{JOINER, Segmentation};
use crate::vocabulary::Vocabulary;

/// One side of a model: its vocabulary, and how text becomes pieces.
#[derive(Clone)]
pub struct Side {
    /// The vocabulary.
    pub vocabulary: Arc<Vocabulary>,
    /// From text to pieces and back.
    pub segmentation: Segmentation,
    /// Whether text that comes in is in pieces already.
    pub reads_pieces: bool,
    /// Whether pieces go out as they are.
    pub writes_pieces: bool,
}

/// What cutting text needs, kept from line to line.
#[derive(Default)]
pub struct Cutting {
    encoding: Encoding,
    bpe: BpeWork,
    piece: Vec<u8>,
}

/// A sentence in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Their ids; that of the unknown word where there is none.
    pub ids: Vec<u32>,
    /// Where each ends in `text`.
    ends: Vec<usize>,
    text: Vec<u8>,
}

impl Pieces {
    fn push(&mut self, piece: &[u8], vocabulary: &Vocabulary) {
        self.ids.push(vocabulary.find(piece).unwrap_or(vocabulary.unknown()));
        self.text.extend_from_slice(piece);
        self.ends.push(self.text.len());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The piece at `place`, as it stood in the text.
    pub fn get(&self, place: usize) -> Option<&[u8]> {
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// Keeps the first `length` pieces.
    pub fn truncate(&mut self, length: usize) {
        self.ids.truncate(length);
        self.ends.truncate(length);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

impl Side {
    /// The side `which` of `words`: 0 is the source, 1 the target.
    pub fn new(words: &Words, which: usize) -> Self {
        Side {
            vocabulary: Arc::clone(&words.vocabularies[which]),
            segmentation: words.segmentation[which].clone(),
            reads_pieces: false,
            writes_pieces: false,
        }
    }

    /// Cuts `text` into pieces. Words such as `>>fra<<` in front, which tell multilingual
    /// models the language that is wanted, stay whole where the vocabulary has them.
    pub fn read(&self, text: &[u8], cutting: &mut Cutting) -> Pieces {
        let mut pieces = Pieces::default();
        let mut push = |piece: &[u8]| pieces.push(piece, &self.vocabulary);
        if self.reads_pieces || matches!(self.segmentation, Segmentation::Pieces) {
            fields::words(text).for_each(push);
            return pieces;
        }
        let mut rest = text;
        while let Some((word, behind)) = language(rest)
            && self.vocabulary.find(word).is_some()
        {
            push(word);
            rest = behind;
        }
        let Cutting { encoding, bpe, piece } = cutting;
        match &self.segmentation {
            Segmentation::Pieces => {}
            Segmentation::SentencePiece(model) => {
                model.model.encode(rest, encoding);
                model.model.pieces(encoding).for_each(push);
            }
            Segmentation::Bpe(file) => {
                for word in fields::words(rest) {
                    file.codes.cut(word, bpe, |part, more| {
                        piece.clear();
                        piece.extend_from_slice(part);
                        piece.extend_from_slice(if more { JOINER } else { b"" });
                        push(piece);
                    });
                }
            }
        }
        pieces
    }

    /// The ids of `pieces` and `</s>`, which may have come as a piece already.
    pub fn with_end(&self, pieces: &Pieces) -> Vec<u32> {
        let mut ids = pieces.ids.clone();
        if ids.last() != Some(&self.vocabulary.end()) {
            ids.push(self.vocabulary.end());
        }
        ids
    }

    /// Appends the text of `ids`; where `instead` gives a piece for a place, of that.
    pub fn write<'a>(
        &'a self,
        ids: &[u32],
        instead: impl Fn(usize) -> Option<&'a [u8]>,
        out: &mut Vec<u8>,
    ) {
        let piece = |(place, &id): (usize, &u32)| {
            instead(place).or_else(|| self.vocabulary.word(id)).unwrap_or_default()
        };
        let pieces = ids.iter().enumerate().map(piece);
        match &self.segmentation {
            Segmentation::SentencePiece(model) if !self.writes_pieces => {
                model.model.decode_pieces(pieces, out);
            }
            Segmentation::Bpe(_) if !self.writes_pieces => {
                let mut goes_on = true;
                for piece in pieces {
                    if !goes_on {
                        out.push(b' ');
                    }
                    let part = piece.strip_suffix(JOINER);
                    goes_on = part.is_some();
                    out.extend_from_slice(part.unwrap_or(piece));
                }
            }
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

/// The word `>>xxx<<` that `text` begins with, and what follows it.
fn language(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let inside = text.strip_prefix(b">>")?;
    let end = inside.windows(2).position(|pair| pair == b"<<")?;
    let word = &text[..end + 4];
    let whole = !word.iter().any(u8::is_ascii_whitespace);
    whole.then_some((word, &text[end + 4..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmentation::CodesFile;
    use miriam_storage::Bytes;
    use std::path::Path;

    fn side(words: &str) -> Side {
        let vocabulary = Vocabulary::parse(words.as_bytes(), Path::new("v.txt")).unwrap();
        Side {
            vocabulary: Arc::new(vocabulary),
            segmentation: Segmentation::Pieces,
            reads_pieces: false,
            writes_pieces: false,
        }
    }

    #[test]
    fn pieces_are_looked_up_and_written() {
        let side = side("</s>\n<unk>\na\nb\n");
        let mut pieces = side.read(b" b  zz a ", &mut Cutting::default());
        assert_eq!(pieces.ids, [3, 1, 2]);
        assert_eq!(
            [pieces.get(0), pieces.get(1), pieces.get(3)],
            [Some(&b"b"[..]), Some(b"zz"), None]
        );
        let mut out = Vec::new();
        side.write(&pieces.ids, |place| (place == 1).then_some(b"zz"), &mut out);
        assert_eq!(out, b"b zz a");
        pieces.truncate(1);
        assert_eq!((pieces.len(), pieces.get(0), pieces.get(1)), (1, Some(&b"b"[..]), None));
        assert!(side.read(b"", &mut Cutting::default()).is_empty());
        assert_eq!(side.with_end(&pieces), [3, 0]);
        assert_eq!(side.with_end(&side.read(b"a </s>", &mut Cutting::default())), [2, 0]);
    }

    #[test]
    fn codes_cut_words_and_pieces_are_joined_again() {
        let codes = Bytes::copy_from(b"#version: 0.2\nl o\nlo w</w>\n");
        let codes = CodesFile::from_bytes(codes, "codes").unwrap();
        let side = Side {
            segmentation: Segmentation::Bpe(codes),
            ..side("</s>\n<unk>\nlow\nlo@@\nw@@\ne@@\nr\n>>de<<\n@@\n")
        };
        let read = |side: &Side, text: &str| side.read(text.as_bytes(), &mut Cutting::default());
        let pieces = read(&side, ">>de<< low  lower lox");
        assert_eq!(pieces.ids, [7, 2, 3, 4, 5, 6, 3, 1]);
        assert_eq!([pieces.get(2), pieces.get(7)], [Some(&b"lo@@"[..]), Some(b"x")]);
        let write = |side: &Side, ids: &[u32]| {
            let mut out = Vec::new();
            side.write(ids, |place| (place == 7).then_some(&b"x"[..]), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(write(&side, &pieces.ids), ">>de<< low lower lox");
        // A sentence may break off in the middle of a word.
        assert_eq!(write(&side, &[2, 3]), "low lo");
        assert_eq!(write(&side, &[3, 8, 6]), "lor");
        let plain = Side { reads_pieces: true, writes_pieces: true, ..side };
        assert_eq!(read(&plain, "lo@@ w@@ r").ids, [3, 4, 6]);
        assert_eq!(write(&plain, &[3, 4, 6]), "lo@@ w@@ r");
    }

    #[test]
    fn words_of_languages_are_found() {
        let found = |text: &'static str| language(text.as_bytes());
        assert_eq!(found(">>fra<< a b"), Some((&b">>fra<<"[..], &b" a b"[..])));
        assert_eq!(found("  >>zh_Hans<<x"), Some((&b">>zh_Hans<<"[..], &b"x"[..])));
        for none in ["a >>fra<<", ">> fra<<", ">>fra", ">fra<", ""] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
