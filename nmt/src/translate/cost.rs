//! Time of a translation, and its price if machines are rented by the hour.
//!
//! Models are compared by quality and by the price of a million words (Junczys-Dowmunt et al.
//! 2018), because time alone says little about machines of different prices.

use std::fmt::Write;
use std::time::Duration;

use super::LineCounts;

/// The cost of a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostReport {
    /// The counts of the translated text.
    pub counts: LineCounts,
    /// The time from loaded models to the last line of output.
    pub time: Duration,
    /// The bytes of the parameters of all models.
    pub model_bytes: u64,
    /// The price of an hour of the machine, in any currency.
    pub price: Option<f64>,
}

impl CostReport {
    /// Returns the price of translating a million words; `None` without a price or words.
    pub fn price_of_million_words(&self) -> Option<f64> {
        let words = self.counts.source_words;
        let hours_of_word = self.time.as_secs_f64() / 3600.0 / words as f64;
        self.price.filter(|_| words > 0).map(|price| price * hours_of_word * 1e6)
    }

    /// Returns the report as text, one name and value per line.
    pub fn to_text(&self) -> String {
        let LineCounts { written, source_words, source_tokens, .. } = self.counts;
        let seconds = self.time.as_secs_f64();
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<22} {value}");
        };
        line("lines", written.to_string());
        line("source words", source_words.to_string());
        line("source tokens", source_tokens.to_string());
        line("seconds", format!("{seconds:.3}"));
        line("words a second", format!("{:.1}", source_words as f64 / seconds.max(1e-9)));
        line("model MiB", format!("{:.3}", self.model_bytes as f64 / f64::from(1 << 20)));
        if let Some(price) = self.price {
            line("price per hour", price.to_string());
            let million_price = self.price_of_million_words();
            let million_price =
                million_price.map_or("no words".into(), |price| format!("{price:.4}"));
            line("price per 1M words", million_price);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(words: u64, seconds: f64, price: f64) -> CostReport {
        let counts = LineCounts { source_words: words, ..LineCounts::default() };
        let time = Duration::from_secs_f64(seconds);
        CostReport { counts, time, model_bytes: 0, price: Some(price) }
    }

    /// Rows of Junczys-Dowmunt et al. (2018), tables 2 and 4: 62,954 words, p3.2xlarge at 3.259
    /// and m5.large at 0.102 dollars an hour. The expected dollars for a million words follow from
    /// the tokens per dollar in these tables.
    #[test]
    fn prices_are_those_of_the_paper() {
        for (seconds, price, expected) in
            [(19.9, 3.259, 0.286), (393.1, 0.102, 0.177), (79.7, 0.102, 0.036)]
        {
            let million_price = report(62_954, seconds, price).price_of_million_words().unwrap();
            assert!((million_price - expected).abs() < 5e-4, "{million_price} for {expected}");
        }
        assert_eq!(report(0, 1.0, 1.0).price_of_million_words(), None);
    }

    #[test]
    fn text_has_a_line_for_each_value() {
        let text = report(1_000, 2.0, 0.36).to_text();
        assert!(text.contains("source words           1000\n"), "{text}");
        assert!(text.contains("words a second         500.0\n"), "{text}");
        assert!(text.ends_with("price per 1M words     0.2000\n"), "{text}");
        let free = CostReport { price: None, ..report(1_000, 2.0, 0.36) };
        assert!(!free.to_text().contains("price"));
    }
}
