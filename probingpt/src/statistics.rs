//! Numbers about a table, for people.

use crate::format::Column;
use crate::{PhraseTable, Result, Targets};

/// One score column over all entries.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// `raw`, `coded` or `coded with counts`.
    pub storage: &'static str,
    /// Distinct values, where a codebook knows them.
    pub distinct: Option<usize>,
    /// The lowest natural logarithm.
    pub lowest: f32,
    /// The highest natural logarithm.
    pub highest: f32,
    /// The mean natural logarithm.
    pub mean: f64,
}

/// What a pass over a whole table finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// One a phrase score.
    pub scores: Vec<ColumnStatistics>,
    /// Target words in all.
    pub target_words: u64,
    /// Source phrases with a single target.
    pub single_targets: u64,
}

impl PhraseTable {
    /// Reads every entry and counts.
    pub fn statistics(&self) -> Result<Statistics> {
        let mut scores: Vec<_> = self
            .metadata
            .columns
            .iter()
            .zip(&self.codebooks)
            .map(|(column, book)| ColumnStatistics {
                storage: match column {
                    Column::Raw => "raw",
                    Column::Coded => "coded",
                    Column::CodedWithCounts => "coded with counts",
                },
                distinct: book.as_ref().map(|book| book.values.len()),
                lowest: f32::INFINITY,
                highest: f32::NEG_INFINITY,
                mean: 0.0,
            })
            .collect();
        let (mut entries, mut target_words, mut single_targets) = (0u64, 0, 0);
        let mut targets = Targets::new();
        for record in self.records() {
            self.targets(record, &mut targets)?;
            single_targets += u64::from(targets.len() == 1);
            for i in 0..targets.len() {
                entries += 1;
                target_words += targets.words(i).len() as u64;
                for (column, &score) in scores.iter_mut().zip(targets.scores(i)) {
                    column.lowest = column.lowest.min(score);
                    column.highest = column.highest.max(score);
                    column.mean += f64::from(score);
                }
            }
        }
        for column in &mut scores {
            column.mean /= entries.max(1) as f64;
        }
        Ok(Statistics { scores, target_words, single_targets })
    }
}
