//! Pruning a unigram model: the pieces that contribute least to the text's likelihood are dropped.
//!
//! The contribution of a piece is estimated: without it, each of its occurrences in the best
//! segmentation of the text would become the best segmentation of the piece into other pieces (Kudo
//! 2018, 3.2).

use rayon::prelude::*;

use super::ScoredPiece;
use super::alphabet::Fragment;
use super::expectation::{Lattice, LatticeScratch};

/// The fate of a piece.
enum Fate {
    /// No other pieces form its text.
    Keep,
    /// No best segmentation has it.
    Drop,
    /// Its removal would cost this much likelihood.
    Compare(f64),
}

/// Returns the `keep` most useful pieces, and in any case those whose text no other pieces form.
pub fn prune(pieces: Vec<ScoredPiece>, fragments: &[Fragment], keep: usize) -> Vec<ScoredPiece> {
    let lattice = Lattice::new(&pieces);
    // The number of times that each piece is in the best segmentation of the text.
    let counts = lattice.sum_counts(fragments, |fragment, scratch, counts| {
        let _ = lattice.best_path(fragment.text, None, scratch, |piece| {
            counts[piece as usize] += fragment.count;
        });
    });
    let total: u64 = counts.iter().sum();
    let fates: Vec<Fate> = (0..pieces.len())
        .into_par_iter()
        .map_init(LatticeScratch::default, |scratch, number| {
            fate_of(number, &pieces[number], &lattice, &counts, total as f64, scratch)
        })
        .collect();
    let mut losses: Vec<(f64, usize)> = Vec::new();
    let mut is_kept = vec![false; pieces.len()];
    let mut num_kept = 0;
    for (number, fate) in fates.into_iter().enumerate() {
        match fate {
            Fate::Keep => {
                is_kept[number] = true;
                num_kept += 1;
            }
            Fate::Drop => {}
            Fate::Compare(loss) => losses.push((loss, number)),
        }
    }
    losses.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(_, number) in losses.iter().take(keep.saturating_sub(num_kept)) {
        is_kept[number] = true;
    }
    let kept = pieces.into_iter().zip(is_kept);
    kept.filter_map(|(piece, is_kept)| is_kept.then_some(piece)).collect()
}

fn fate_of(
    number: usize,
    piece: &ScoredPiece,
    lattice: &Lattice,
    counts: &[u64],
    total: f64,
    scratch: &mut LatticeScratch,
) -> Fate {
    let mut others = Vec::new();
    let excluded = Some(number as u32);
    let Some(best) = lattice.best_path(&piece.text, excluded, scratch, |other| others.push(other))
    else {
        return Fate::Keep;
    };
    if best > lattice.scores[number] || counts[number] == 0 {
        return Fate::Drop;
    }
    // Log probabilities from the counts of best paths, before and after the other pieces replace
    // each occurrence of the piece.
    let count = counts[number] as f64;
    let with_piece = count.ln() - total.ln();
    let new_total = total + count * (others.len() as f64 - 1.0);
    let without_piece: f64 = others
        .iter()
        .map(|&other| (counts[other as usize] as f64 + count).ln() - new_total.ln())
        .sum();
    Fate::Compare(count * (with_piece - without_piece))
}
