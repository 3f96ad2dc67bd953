//! CCNet's buckets: documents by how their perplexity compares with percentiles of their language
//! (Wenzek et al. 2020).

use std::collections::BTreeMap;

use super::csv::{self, Record};
use crate::json_lines::{TextField, push_key, push_number};

/// The keys that are added to documents.
pub(super) const BUCKET_KEYS: [&str; 2] = ["perplexity", "bucket"];
/// Documents below this percentile are in the head.
const HEAD: u32 = 30;
/// Other documents below this percentile are in the middle.
const MIDDLE: u32 = 60;
/// The column for documents of all other languages, and without a language.
pub(super) const ALL_LANGUAGES: &str = "all";

/// The limits of the buckets of each language, from CCNet's `cutoff.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cutoffs(BTreeMap<String, [f64; 2]>);

/// Options for dividing documents into buckets.
#[derive(Clone, Debug)]
pub struct BucketOptions {
    /// The limits.
    pub cutoffs: Cutoffs,
    /// The field with a document's language, as [`TextField::new`] takes it.
    pub language_field: String,
}

impl Cutoffs {
    /// Reads a table with a column for each language and a row for each percentile, whose number
    /// comes first: `,de,en`, ..., `30,236.2,255.1`, ..., `60,...`. A column `all` is for documents
    /// of other languages, and without a language. Names may be in quotes.
    ///
    /// # Errors
    /// If a line does not fit, or if the row of percentile 30 or 60 is missing. The message
    /// contains the reason, and the line if one does not fit.
    pub fn parse(text: &str) -> Result<Self, String> {
        fn wrong(reason: &str, line: usize) -> String {
            format!("line {line}: {reason}")
        }
        let mut records = csv::parse(text)?.into_iter();
        let Record { line: head_line, fields: head } = records.next().ok_or("it is empty")?;
        let languages = &head[1..];
        if languages.is_empty() {
            let reason = "no languages; they follow a first column of percentiles";
            return Err(wrong(reason, head_line));
        }
        if let Some(twice) =
            (1..languages.len()).find(|&at| languages[..at].contains(&languages[at]))
        {
            let reason = format!("the language {} is listed twice", languages[twice]);
            return Err(wrong(&reason, head_line));
        }
        let mut rows = [None, None];
        for Record { line, fields } in records {
            let mut fields = fields.iter();
            let percentile = fields.next().and_then(|field| field.parse().ok());
            let percentile: f64 =
                percentile.ok_or_else(|| wrong("the first field is not a percentile", line))?;
            let Some(row) =
                [HEAD, MIDDLE].iter().position(|wanted| f64::from(*wanted) == percentile)
            else {
                continue;
            };
            let numbers: Result<Vec<f64>, _> = fields.map(|field| field.parse()).collect();
            let numbers = numbers.map_err(|_| wrong("a field is not a number", line))?;
            if numbers.len() != languages.len() {
                let found = numbers.len();
                return Err(wrong(
                    &format!("{found} numbers for {} languages", languages.len()),
                    line,
                ));
            }
            if rows[row].replace(numbers).is_some() {
                return Err(wrong("the percentile is listed twice", line));
            }
        }
        let [Some(head), Some(middle)] = rows else {
            return Err(format!("the percentiles {HEAD} and {MIDDLE} are needed"));
        };
        let limits = head.into_iter().zip(middle).map(|(head, middle)| [head, middle]);
        Ok(Cutoffs(languages.iter().cloned().zip(limits).collect()))
    }

    /// Whether documents of all languages, and without a language, have limits.
    pub(super) fn covers_all(&self) -> bool {
        self.has(ALL_LANGUAGES)
    }

    /// Whether the table has a column for `language`.
    pub(super) fn has(&self, language: &str) -> bool {
        self.0.contains_key(language)
    }

    /// Returns the bucket of `perplexity` in `language`; `all` if there is no perplexity or no
    /// limits.
    fn bucket(&self, language: Option<&str>, perplexity: Option<f64>) -> &'static str {
        let limits = language.and_then(|language| self.0.get(language));
        let limits = limits.or_else(|| self.0.get(ALL_LANGUAGES));
        match (limits, perplexity) {
            (Some(&[head, _]), Some(perplexity)) if perplexity < head => "head",
            (Some(&[_, middle]), Some(perplexity)) if perplexity < middle => "middle",
            (Some(_), Some(_)) => "tail",
            _ => "all",
        }
    }
}

/// A reader of the languages of documents; each thread has its own.
pub(super) struct LanguageReader {
    field: TextField,
    language: Vec<u8>,
}

impl LanguageReader {
    /// Creates a reader of `field`, as [`TextField::new`] takes it.
    pub fn new(field: &str) -> Self {
        LanguageReader { field: TextField::new(field, Vec::new()), language: Vec::new() }
    }

    /// Returns the language of the document `line`, if it names one.
    pub fn read(&mut self, line: &[u8]) -> Option<&str> {
        self.language.clear();
        self.field.read(line, &mut self.language).ok()?;
        str::from_utf8(&self.language).ok()
    }
}

/// Adds the [`BUCKET_KEYS`] of a document in `language`; a document without text has no perplexity.
pub(super) fn push_bucket(
    cutoffs: &Cutoffs,
    language: Option<&str>,
    perplexity: Option<f64>,
    out: &mut Vec<u8>,
) {
    let perplexity = perplexity.map(round_to_tenths);
    // Documents without a language use the column `all`, as do languages without their own column.
    let bucket = cutoffs.bucket(language, perplexity);
    if let Some(perplexity) = perplexity {
        push_key(out, BUCKET_KEYS[0]);
        push_number(out, perplexity);
    }
    push_key(out, BUCKET_KEYS[1]);
    out.extend_from_slice(format!("\"{bucket}\"").as_bytes());
}

/// Returns the number with one decimal that is nearest, as Python's `round(number, 1)`.
fn round_to_tenths(number: f64) -> f64 {
    format!("{number:.1}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = ",de,en\n29,1,2\n30,236.2,255.1\n31,9,9\n60,384.7,500\n";

    #[test]
    fn documents_are_in_the_bucket_of_their_language() {
        let cutoffs = Cutoffs::parse(TABLE).unwrap();
        let mut languages = LanguageReader::new("language");
        let mut added = |document: &str, perplexity: Option<f64>| {
            let mut out = Vec::new();
            push_bucket(&cutoffs, languages.read(document.as_bytes()), perplexity, &mut out);
            String::from_utf8(out).unwrap()
        };
        let german = r#"{"language": "de", "text": "x"}"#;
        for (perplexity, bucket) in [
            (236.14, "head"),
            // The rounded number, which is written, is compared.
            (236.16, "middle"),
            (384.64, "middle"),
            (384.66, "tail"),
            (1e9, "tail"),
        ] {
            let rounded = round_to_tenths(perplexity);
            let expected = format!(r#","perplexity":{rounded},"bucket":"{bucket}""#);
            assert_eq!(added(german, Some(perplexity)), expected);
        }
        assert_eq!(added(german, None), r#","bucket":"all""#);
        for document in [r#"{"language": "fr"}"#, "{}", r#"{"language": 3}"#] {
            assert_eq!(added(document, Some(0.25)), r#","perplexity":0.2,"bucket":"all""#);
        }
        let infinite = added(r#"{"language": "en"}"#, Some(f64::INFINITY));
        assert_eq!(infinite, r#","perplexity":null,"bucket":"tail""#);
    }

    #[test]
    fn the_column_all_is_for_languages_without_a_column() {
        let cutoffs = Cutoffs::parse(",all,de\n30.0,1,2\n60.0,3,4\n").unwrap();
        for (language, perplexity, bucket) in [
            (Some("de"), 1.5, "head"),
            (Some("fr"), 1.5, "middle"),
            (None, 0.5, "head"),
            (None, 3.5, "tail"),
        ] {
            assert_eq!(cutoffs.bucket(language, Some(perplexity)), bucket, "{language:?}");
        }
        assert_eq!(cutoffs.bucket(None, None), "all");
    }

    #[test]
    fn tables_that_do_not_fit_are_rejected() {
        for (table, expected) in [
            ("", "empty"),
            ("percentile\n30\n", "no languages"),
            (",en\n30,1\n", "30 and 60"),
            (",en,de,en\n30,1,2,3\n60,1,2,3\n", "line 1: the language en is listed twice"),
            ("\n\n,en,en\n30,1,2\n60,1,2\n", "line 3: the language en is listed twice"),
            ("\n,en\n\n30,x\n60,1\n", "line 4: a field is not a number"),
            (",en\n30,1,2\n60,1\n", "line 2: 2 numbers for 1 languages"),
            (",en\n30,x\n60,1\n", "line 2: a field is not a number"),
            (",en\nmany,1\n", "line 2: the first field"),
            (",en\n30,1\n30,1\n60,1\n", "line 3: the percentile is listed twice"),
        ] {
            let error = Cutoffs::parse(table).unwrap_err();
            assert!(error.contains(expected), "{table:?}: {error}");
        }
    }
}
