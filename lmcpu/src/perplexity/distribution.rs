//! Distribution of the perplexities of a text: percentiles by language, and limits of ranks.

use std::collections::BTreeMap;

use miriam_textio::number;

use super::buckets::ALL_LANGUAGES;
use super::csv;
use super::filter::{Percent, RankLimit};

/// The perplexities of the lines of a text, in their order, by the language that each line names. A
/// line takes eight bytes.
#[derive(Clone, Debug, Default)]
pub struct PerplexityDistribution {
    languages: BTreeMap<String, Vec<f64>>,
}

impl PerplexityDistribution {
    /// Adds a line; lines without a language are in the column `all`.
    pub(super) fn push(&mut self, language: Option<&str>, perplexity: f64) {
        let language = language.unwrap_or(ALL_LANGUAGES);
        match self.languages.get_mut(language) {
            Some(perplexities) => perplexities.push(perplexity),
            None => drop(self.languages.insert(language.to_owned(), vec![perplexity])),
        }
    }

    /// Returns the limit of the best `share` of all lines.
    pub fn into_rank_limit(self, share: Percent) -> RankLimit {
        let mut columns = self.languages.into_values();
        let mut all = columns.next().unwrap_or_default();
        columns.for_each(|column| all.extend(column));
        RankLimit::new(&mut all, share)
    }

    /// Returns the table that [`Cutoffs::parse`](super::Cutoffs::parse) reads: a column for each
    /// language, a row for each of `percents`. Percentiles are interpolated between the two nearest
    /// perplexities, as in `numpy.percentile`. `None` if no line has a perplexity.
    pub fn into_percentile_table(self, percents: &[Percent]) -> Option<Vec<u8>> {
        let mut columns: Vec<(String, Vec<f64>)> = self.languages.into_iter().collect();
        columns.retain_mut(|(_, perplexities)| {
            perplexities.retain(|perplexity| !perplexity.is_nan());
            perplexities.sort_unstable_by(f64::total_cmp);
            !perplexities.is_empty()
        });
        if columns.is_empty() {
            return None;
        }
        let mut table = Vec::new();
        for (language, _) in &columns {
            table.push(b',');
            csv::push_field(&mut table, language);
        }
        for percent in percents {
            table.extend_from_slice(format!("\n{percent}").as_bytes());
            for (_, perplexities) in &columns {
                table.push(b',');
                number::push_shortest_f64(&mut table, percentile(perplexities, *percent));
            }
        }
        table.push(b'\n');
        Some(table)
    }
}

/// Returns a percentile of `sorted`, which is not empty, with the operations of NumPy in their
/// order.
fn percentile(sorted: &[f64], percent: Percent) -> f64 {
    let place = (percent.to_f64() / 100.0) * (sorted.len() - 1) as f64;
    let below = (place.floor() as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[above]);
    if low == high {
        return low;
    }
    let (part, difference) = (place - below as f64, high - low);
    if part >= 0.5 { high - difference * (1.0 - part) } else { low + difference * part }
}

#[cfg(test)]
mod tests {
    use super::super::Cutoffs;
    use super::*;

    fn percents(text: &str) -> Vec<Percent> {
        text.split(',').map(|percent| percent.parse().unwrap()).collect()
    }

    /// The expected values were computed with NumPy 2.4.
    #[test]
    fn percentiles_are_those_of_numpy() {
        let mut found = PerplexityDistribution::default();
        for value in [15.5, 20.25, f64::NAN, 35.0, 40.125, 50.0] {
            found.push(None, value);
        }
        for value in [3.0, 1.0] {
            found.push(Some("de"), value);
        }
        found.push(Some("fr"), f64::NAN);
        let table = found.clone().into_percentile_table(&percents("0,30,40.5,90,100"));
        assert_eq!(
            String::from_utf8(table.unwrap()).unwrap(),
            ",all,de\n0,15.5,1\n30,23.2,1.6\n40.5,29.395000000000003,1.81\n90,46.05,2.8\n100,50,3\n"
        );
        // There are nine lines, two of them without a perplexity.
        let limit = found.into_rank_limit("50".parse().unwrap());
        assert_eq!(limit, RankLimit { perplexity: 35.0, ties: 1 });
    }

    #[test]
    fn names_of_languages_are_quoted() {
        let mut found = PerplexityDistribution::default();
        found.push(Some("Norwegian, \"ny\""), 7.0);
        found.push(Some("de"), 2.0);
        let table = found.into_percentile_table(&percents("30,60")).unwrap();
        let table = String::from_utf8(table).unwrap();
        assert_eq!(table, ",\"Norwegian, \"\"ny\"\"\",de\n30,7,2\n60,7,2\n");
        assert!(Cutoffs::parse(&table).unwrap().has("Norwegian, \"ny\""));
    }

    #[test]
    fn a_text_without_perplexities_has_no_percentiles() {
        let mut found = PerplexityDistribution::default();
        assert_eq!(found.clone().into_percentile_table(&percents("50")), None);
        found.push(None, f64::NAN);
        assert_eq!(found.into_percentile_table(&percents("50")), None);
    }
}
