//! Scores in sacreBLEU's output formats, with signatures of their options.

use std::fmt::Write;

use crate::{ConfidenceInterval, PairedTest, Resampling, SACREBLEU_VERSION};

/// A score with its name, confidence interval and signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The name of the metric.
    pub name: String,
    /// The value, from 0 to 100; TER may be higher.
    pub value: f64,
    /// The factors of the score as text; may be empty.
    pub verbose: String,
    /// The confidence interval, if it was computed.
    pub confidence: Option<ConfidenceInterval>,
    /// The options of the score.
    pub signature: Signature,
}

/// The options of a score: names, short names and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    items: Vec<(&'static str, &'static str, String)>,
}

/// The format of printed scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreFormat {
    /// The number of decimal places.
    pub decimals: usize,
    /// Whether only the number is printed.
    pub score_only: bool,
    /// Whether the signature in text output has short names.
    pub short_signature: bool,
}

impl Default for ScoreFormat {
    fn default() -> Self {
        ScoreFormat { decimals: 1, score_only: false, short_signature: false }
    }
}

impl Signature {
    /// Returns the signature of scores against this number of references; `None` if it varies.
    pub(crate) fn new(references: Option<usize>) -> Self {
        let mut signature = Signature::default();
        signature.push("nrefs", "#", references.map_or("var".into(), |count| count.to_string()));
        signature
    }

    /// Adds an item.
    pub(crate) fn push(&mut self, name: &'static str, short: &'static str, value: impl ToString) {
        self.items.push((name, short, value.to_string()));
    }

    /// Adds an item that is yes or no.
    pub(crate) fn push_flag(&mut self, name: &'static str, short: &'static str, value: bool) {
        self.push(name, short, if value { "yes" } else { "no" });
    }

    /// Returns the signature of a comparison, by `test`, of scores that have this signature.
    pub fn with_test(mut self, test: PairedTest) -> Self {
        let Resampling { count, seed } = test.resampling();
        self.insert_resampling(test.name(), count, seed);
        self
    }

    /// Inserts the options of resampling after the number of references.
    pub(crate) fn insert_resampling(&mut self, kind: &'static str, count: usize, seed: u64) {
        let items = [(kind, kind, count.to_string()), ("seed", "rs", seed.to_string())];
        self.items.splice(1..1, items);
    }

    /// Returns names and values, the release last.
    pub fn items(&self) -> impl Iterator<Item = (&str, &str)> {
        let named = self.items.iter().map(|(name, _, value)| (*name, &value[..]));
        named.chain([("version", SACREBLEU_VERSION)])
    }

    /// Returns the signature as one word; `short` for short names.
    pub fn to_text(&self, short: bool) -> String {
        let mut text = String::new();
        for (name, abbreviation, value) in &self.items {
            let _ = write!(text, "{}:{value}|", if short { abbreviation } else { name });
        }
        let _ = write!(text, "{}:{SACREBLEU_VERSION}", if short { "v" } else { "version" });
        text
    }
}

impl Score {
    /// Returns the value with `width` decimal places. Its confidence interval follows if it was
    /// computed and its mean is above 0.
    fn format_value(&self, width: usize) -> String {
        match &self.confidence {
            Some(confidence) if confidence.mean > 0.0 => {
                format!("{:.width$} ({})", self.value, confidence.to_text(width))
            }
            _ => format!("{:.width$}", self.value),
        }
    }

    /// Returns the score as a line of text.
    pub fn to_line(&self, style: ScoreFormat) -> String {
        let number = self.format_value(style.decimals);
        if style.score_only {
            return number;
        }
        let signature = self.signature.to_text(style.short_signature);
        let mut line = format!("{}|{signature} = {number}", self.name);
        if !self.verbose.is_empty() {
            line.push(' ');
            line.push_str(&self.verbose);
        }
        line
    }

    /// Returns the score as a JSON object, one key per line.
    pub fn to_json(&self, style: ScoreFormat) -> String {
        let ScoreFormat { decimals: width, score_only, .. } = style;
        if score_only {
            return self.format_value(width);
        }
        let mut object = JsonObject(String::from("{"));
        object.push_text("name", &self.name);
        object.push_number("score", self.value, width);
        object.push_text("signature", &self.signature.to_text(false));
        if let Some(confidence) = &self.confidence
            && confidence.mean > 0.0
        {
            object.push_number("confidence_mean", confidence.mean, width);
            object.push_number("confidence_var", confidence.half_width, width);
            object.push_text("confidence", &confidence.to_text(width));
        }
        if !self.verbose.is_empty() {
            object.push_text("verbose_score", &self.verbose);
        }
        for (name, value) in self.signature.items() {
            object.push_text(name, value);
        }
        object.0 + "\n}"
    }
}

impl ConfidenceInterval {
    fn to_text(self, width: usize) -> String {
        format!("μ = {:.width$} ± {:.width$}", self.mean, self.half_width)
    }
}

/// A JSON object under construction; names and texts of scores need no escapes.
struct JsonObject(String);

impl JsonObject {
    fn push_key(&mut self, key: &str) {
        let comma = if self.0.len() > 1 { "," } else { "" };
        let _ = write!(self.0, "{comma}\n \"{key}\": ");
    }

    fn push_text(&mut self, key: &str, text: &str) {
        self.push_key(key);
        let _ = write!(self.0, "\"{text}\"");
    }

    /// Adds a number, rounded to `width` places, without trailing zeros.
    fn push_number(&mut self, key: &str, number: f64, width: usize) {
        self.push_key(key);
        let rounded: f64 = format!("{number:.width$}").parse().unwrap_or(number);
        let _ = write!(self.0, "{rounded:?}");
    }
}
