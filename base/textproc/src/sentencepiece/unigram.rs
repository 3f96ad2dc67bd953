//! Unigram segmentation (Kudo 2018): the best path of pieces through a text (Viterbi).
//!
//! One pass over the character boundaries keeps the best path to each. As in SentencePiece, scores
//! are f32, added from left to right, and of equal paths the first one found is kept. So results
//! are the same even in ties.

use super::model::{PieceType, PieceVocabulary};
use super::normalizer::char_len;
use super::trie::DoubleArrayTrie;

/// The difference between the worst score of a normal piece and the score of an unknown character.
const UNKNOWN_PENALTY: f32 = 10.0;
/// The score of a user-defined piece for each byte after its first, as in SentencePiece 0.2.3.
/// Scores of other pieces are log probabilities, which are lower, so that paths with user-defined
/// pieces win.
const USER_DEFINED_SCORE: f32 = 0.1;

pub struct UnigramModel {
    trie: DoubleArrayTrie,
    unknown_score: f32,
}

/// The best path to a character boundary.
#[derive(Clone, Copy)]
pub struct BestPathNode {
    /// The start of its last piece; `usize::MAX` while no path leads here.
    start: usize,
    /// The id of its last piece.
    id: u32,
    score: f32,
}

const NO_PATH: BestPathNode = BestPathNode { start: usize::MAX, id: 0, score: 0.0 };

impl UnigramModel {
    pub fn new(pieces: &PieceVocabulary) -> Self {
        let entries = pieces.text_pieces().map(|(id, _)| pieces.entry(id));
        let worst = entries
            .filter(|info| info.piece_type == PieceType::Normal)
            .fold(f32::INFINITY, |worst, info| worst.min(info.score));
        UnigramModel {
            trie: DoubleArrayTrie::new(pieces.text_pieces()),
            unknown_score: worst - UNKNOWN_PENALTY,
        }
    }

    /// Segments `text` and calls `emit` with the id, the start and the end of each piece, from
    /// right to left. `unknown` is the id of unknown characters; `nodes` is reused memory.
    pub fn encode(
        &self,
        pieces: &PieceVocabulary,
        unknown: u32,
        text: &[u8],
        nodes: &mut Vec<BestPathNode>,
        mut emit: impl FnMut(u32, usize, usize),
    ) {
        nodes.clear();
        nodes.resize(text.len() + 1, NO_PATH);
        let mut start = 0;
        while start < text.len() {
            let so_far = nodes[start].score;
            let char_length = char_len(&text[start..]).unwrap_or(1);
            let mut has_char_piece = false;
            self.trie.common_prefix_search(&text[start..], |length, id| {
                let info = pieces.entry(id);
                let score = match info.piece_type {
                    PieceType::Unused => return,
                    PieceType::UserDefined => {
                        length as f32 * USER_DEFINED_SCORE - USER_DEFINED_SCORE
                    }
                    _ => info.score,
                };
                has_char_piece |= length == char_length;
                keep_better_path(
                    &mut nodes[start + length],
                    BestPathNode { start, id, score: score + so_far },
                );
            });
            if !has_char_piece {
                let score = self.unknown_score + so_far;
                keep_better_path(
                    &mut nodes[start + char_length],
                    BestPathNode { start, id: unknown, score },
                );
            }
            start += char_length;
        }
        let mut end = text.len();
        while end > 0 {
            let node = nodes[end];
            emit(node.id, node.start, end);
            end = node.start;
        }
    }
}

fn keep_better_path(node: &mut BestPathNode, path: BestPathNode) {
    if node.start == NO_PATH.start || path.score > node.score {
        *node = path;
    }
}
