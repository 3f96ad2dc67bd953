//! The vocabulary of a system whose words have several factors, and its ids for the words of tables
//! and models.
//!
//! The vocabulary holds the target words of the tables with all their factors. Source words are not
//! in it, because a word of a sentence may have more factors than the same word in a table. Their
//! ids in the tables are looked up for each sentence.

use std::path::Path;

use miriam_textio::{Input, Lines, WordId, fields};

use super::reordering_table::FactorProjection;
use super::{Models, UNKNOWN_ID};
use crate::{Error, Result};

impl Models {
    /// Works like [`Models::join_vocabulary`], for words of several factors.
    pub(super) fn join_factored_vocabulary(&mut self) -> Result<()> {
        let Some(scheme) = &self.factor_scheme else { return Ok(()) };
        let vocabulary = &mut self.vocabulary;
        let mut word = Vec::new();
        for table in &mut self.phrase_tables {
            for id in 0..table.phrases.num_target_words() {
                let written = table.phrases.target_word(id)?;
                scheme.parse_word(written, table.file.output_factors.as_deref(), &mut word);
                if let Some(missing) = scheme.missing_in_target(&word) {
                    let location = if table.file.is_text {
                        find_first_line(&table.file.path, written)?
                    } else {
                        table.file.path.display().to_string()
                    };
                    let shown = String::from_utf8_lossy(written);
                    let reason = format!("{location}: the target word {shown:?} {missing}");
                    return Err(Error::feature(&table.file.feature, reason));
                }
                table.target_words.push(vocabulary.intern(&word));
            }
        }
        for reordering_table in &mut self.reordering_tables {
            let table = &mut reordering_table.table;
            for id in 0..table.phrases.num_target_words() {
                let written = table.phrases.target_word(id)?;
                scheme.parse_word(written, table.file.output_factors.as_deref(), &mut word);
                table.target_words.push(vocabulary.intern(&word));
            }
        }
        for reordering_table in &mut self.reordering_tables {
            let factors = reordering_table.table.file.output_factors.clone().unwrap_or_default();
            let projected = vocabulary.iter().map(|factored| {
                scheme.retain_factors(factored, &factors, &mut word);
                // If no table has the reduced word, it must equal no word of this table.
                vocabulary.find(&word).unwrap_or(WordId(UNKNOWN_ID))
            });
            let projected = projected.collect();
            reordering_table.projection = Some(FactorProjection { projected, factors });
        }
        for lm in &mut self.language_models {
            lm.word_ids = vocabulary.iter().map(|word| lm.word_id(word, Some(scheme))).collect();
        }
        Ok(())
    }
}

/// Returns the name of the text table at `path` and the number of the first line with the target
/// word `word`, for an error message.
fn find_first_line(path: &Path, word: &[u8]) -> Result<String> {
    let mut lines = Lines::new(Input::open(path)?);
    let name = lines.name().to_owned();
    while let Some(line) = lines.next()? {
        let target = fields::split_fields(line.bytes).nth(1).unwrap_or_default();
        if fields::split_words(target).any(|w| w == word) {
            return Ok(format!("{name}, line {}", line.number));
        }
    }
    Ok(name)
}
