//! Statistics of a table's entries.

use crate::format::ColumnEncoding;
use crate::{AnyTable, MosesTable, PhraseTable, RecordOffset, Result, Targets};

/// One score column over all entries.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// `raw`, `coded` or `coded with counts`.
    pub storage: &'static str,
    /// The number of distinct values, if the column has a codebook.
    pub distinct: Option<usize>,
    /// The lowest natural logarithm.
    pub lowest: f32,
    /// The highest natural logarithm.
    pub highest: f32,
    /// The mean natural logarithm.
    pub mean: f64,
}

impl ColumnStatistics {
    fn new(storage: &'static str, distinct: Option<usize>) -> Self {
        let (lowest, highest) = (f32::INFINITY, f32::NEG_INFINITY);
        ColumnStatistics { storage, distinct, lowest, highest, mean: 0.0 }
    }
}

/// Statistics of a whole table.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// One for each phrase score.
    pub scores: Vec<ColumnStatistics>,
    /// The number of phrase pairs.
    pub entries: u64,
    /// The number of target words in all.
    pub target_words: u64,
    /// The number of words of the longest target phrase.
    pub max_target_length: usize,
    /// The number of source phrases with a single target.
    pub single_targets: u64,
    /// The largest number of targets of a source phrase.
    pub max_targets: usize,
}

impl AnyTable {
    /// Reads every entry and returns the statistics of the table.
    ///
    /// # Errors
    ///
    /// If a record is damaged.
    pub fn statistics(&self) -> Result<Statistics> {
        match self {
            AnyTable::Native(table) => {
                collect_statistics(native_columns(table), table.records(), |record, targets| {
                    table.read_targets(record, targets)
                })
            }
            AnyTable::Moses(table) => {
                collect_statistics(moses_columns(table), table.records(), |record, targets| {
                    table.read_targets(record, targets)
                })
            }
        }
    }
}

fn native_columns(table: &PhraseTable) -> Vec<ColumnStatistics> {
    fn column(
        (column, book): (&ColumnEncoding, &Option<crate::table::Codebook>),
    ) -> ColumnStatistics {
        let storage = match column {
            ColumnEncoding::Raw => "raw",
            ColumnEncoding::Coded => "coded",
            ColumnEncoding::CodedWithCounts => "coded with counts",
        };
        ColumnStatistics::new(storage, book.as_ref().map(|book| book.values.len()))
    }
    table.metadata.columns.iter().zip(&table.codebooks).map(column).collect()
}

fn moses_columns(table: &MosesTable) -> Vec<ColumnStatistics> {
    vec![ColumnStatistics::new("raw", None); table.num_scores()]
}

fn collect_statistics(
    mut scores: Vec<ColumnStatistics>,
    records: impl Iterator<Item = RecordOffset>,
    read: impl Fn(RecordOffset, &mut Targets) -> Result<()>,
) -> Result<Statistics> {
    let (mut entries, mut target_words, mut max_target_length) = (0u64, 0, 0);
    let (mut single_targets, mut max_targets) = (0, 0);
    let mut targets = Targets::new();
    for record in records {
        read(record, &mut targets)?;
        single_targets += u64::from(targets.len() == 1);
        max_targets = max_targets.max(targets.len());
        for i in 0..targets.len() {
            let length = targets.words(i).len();
            entries += 1;
            target_words += length as u64;
            max_target_length = max_target_length.max(length);
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
    Ok(Statistics { scores, entries, target_words, max_target_length, single_targets, max_targets })
}
