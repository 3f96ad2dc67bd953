//! The best path through a text under a unigram model (Kudo 2018).
//!
//! One pass over the beginnings of characters keeps, for each place, the best way to it.
//! Scores are f32 and added from left to right; of equal ways the one found first stays,
//! so results are those of SentencePiece to the last tie.

use super::model::{PieceKind, Pieces};
use super::normalizer::character_length;
use super::trie::Trie;

/// How much worse than the worst piece an unknown character is.
const UNKNOWN_PENALTY: f32 = 10.0;

pub struct Unigram {
    trie: Trie,
    best: f32,
    unknown_score: f32,
}

/// The best way to a place.
#[derive(Clone, Copy)]
pub struct Way {
    /// Where its last piece begins; none: nothing leads here yet.
    from: usize,
    id: u32,
    score: f32,
}

const NO_WAY: Way = Way { from: usize::MAX, id: 0, score: 0.0 };

impl Unigram {
    pub fn new(pieces: &Pieces) -> Self {
        let (mut worst, mut best) = (f32::INFINITY, f32::NEG_INFINITY);
        for (id, _) in pieces.of_text() {
            let info = pieces.info(id);
            if info.kind == PieceKind::Normal {
                worst = worst.min(info.score);
                best = best.max(info.score);
            }
        }
        Unigram { trie: Trie::new(pieces.of_text()), best, unknown_score: worst - UNKNOWN_PENALTY }
    }

    /// Calls `found` with the id and the end of each piece of `text`, from right to left.
    pub fn cut(
        &self,
        pieces: &Pieces,
        unknown: u32,
        text: &[u8],
        ways: &mut Vec<Way>,
        mut found: impl FnMut(u32, usize, usize),
    ) {
        ways.clear();
        ways.resize(text.len() + 1, NO_WAY);
        let mut start = 0;
        while start < text.len() {
            let so_far = ways[start].score;
            let character = character_length(&text[start..]).unwrap_or(1);
            let mut is_piece = false;
            self.trie.prefixes(&text[start..], |length, id| {
                let info = pieces.info(id);
                let score = match info.kind {
                    PieceKind::Unused => return,
                    PieceKind::UserDefined => length as f32 * self.best - 0.1,
                    _ => info.score,
                };
                is_piece |= length == character;
                offer(&mut ways[start + length], Way { from: start, id, score: score + so_far });
            });
            if !is_piece {
                let score = self.unknown_score + so_far;
                offer(&mut ways[start + character], Way { from: start, id: unknown, score });
            }
            start += character;
        }
        let mut end = text.len();
        while end > 0 {
            let way = ways[end];
            found(way.id, way.from, end);
            end = way.from;
        }
    }
}

fn offer(place: &mut Way, way: Way) {
    if place.from == NO_WAY.from || way.score > place.score {
        *place = way;
    }
}
