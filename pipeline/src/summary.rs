//! The summary of a training run.

use std::fmt;
use std::path::PathBuf;

use miriam_textio::quote_for_shell;

/// A trained model with its statistics.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrainSummary {
    /// The ini to translate with.
    pub ini: PathBuf,
    /// Whether the system prepares raw text itself.
    pub is_raw: bool,
    /// The number of stages that ran in this call, and the number of all stages.
    pub stages: (usize, usize),
    /// Each stage's title and its seconds, in this run or an earlier one.
    pub stage_seconds: Vec<(&'static str, f64)>,
    /// The number of sentence pairs used, and the number of all pairs of the text.
    pub pairs: (u64, u64),
    /// The numbers of words of the source and the target side.
    pub words: (u64, u64),
    /// The number of links between words.
    pub links: u64,
    /// The number of phrase pairs.
    pub phrase_pairs: u64,
    /// The size of the phrase table in bytes.
    pub table_bytes: u64,
    /// The number of n-grams of each order.
    pub ngrams: Vec<u64>,
    /// The size of the language model in bytes.
    pub lm_bytes: u64,
    /// The results on the dev text.
    pub dev: Option<DevSummary>,
    /// BLEU of the dev text by the neural models and the combination, if they were trained.
    pub combination: Option<CombinationSummary>,
}

/// BLEU of the text that the combination was tuned on, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CombinationSummary {
    /// BLEU of the neural model from source to target.
    pub neural: f64,
    /// BLEU of the same model after further training on back-translated text, if there was any.
    pub augmented: Option<f64>,
    /// BLEU of the combination.
    pub combined: f64,
}

/// The results on the text that weights were tuned on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DevSummary {
    /// The language model's perplexity on the target side of the text, unknown words included.
    pub perplexity: f64,
    /// The number of unknown words among `tokens`.
    pub unknown: u64,
    /// The number of words and line ends.
    pub tokens: u64,
    /// BLEU with the initial weights and with the tuned ones, 0 to 100.
    pub bleu: Option<(f64, f64)>,
}

impl fmt::Display for TrainSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, pairs) = self.pairs;
        writeln!(
            f,
            "text            {used} of {pairs} pairs, {} and {} words",
            self.words.0, self.words.1
        )?;
        writeln!(f, "alignment       {} links", self.links)?;
        writeln!(
            f,
            "phrase table    {} pairs, {:.1} MiB",
            self.phrase_pairs,
            mib(self.table_bytes)
        )?;
        let ngrams: Vec<String> = self.ngrams.iter().map(u64::to_string).collect();
        writeln!(
            f,
            "language model  {} n-grams ({}), {:.1} MiB",
            self.ngrams.iter().sum::<u64>(),
            ngrams.join(" "),
            mib(self.lm_bytes)
        )?;
        if let Some(dev) = &self.dev {
            writeln!(
                f,
                "dev text        perplexity {:.2}, {} of {} tokens unknown",
                dev.perplexity, dev.unknown, dev.tokens
            )?;
            if let Some((before, after)) = dev.bleu {
                writeln!(f, "dev BLEU        {before:.2} before tuning, {after:.2} tuned")?;
            }
        }
        if let Some(CombinationSummary { neural, augmented, combined }) = self.combination {
            write!(f, "                {neural:.2} by the neural model")?;
            if let Some(augmented) = augmented {
                write!(f, ", {augmented:.2} with back-translated text")?;
            }
            writeln!(f, "; {combined:.2} combined")?;
        }
        let (done, all) = self.stages;
        let total: f64 = self.stage_seconds.iter().map(|(_, seconds)| seconds).sum();
        writeln!(f, "stages          {done} of {all} done now, {total:.1} s in all:")?;
        // Shorter stages would be printed as 0.0 s.
        for (title, seconds) in self.stage_seconds.iter().filter(|(_, seconds)| *seconds >= 0.05) {
            writeln!(f, "                {seconds:>8.1} s  {title}")?;
        }
        write!(f, "model           {}", self.ini.display())
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

impl TrainSummary {
    /// Returns the command line that translates with the model.
    pub fn next_command(&self) -> String {
        let text = if self.is_raw { "TEXT" } else { "TOKENISED-TEXT" };
        format!("miriam translate -f {} -i {text} -o TRANSLATIONS", quote_for_shell(&self.ini))
    }
}
