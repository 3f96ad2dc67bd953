//! Treatment of ARPA files that KenLM rejects, or reads by a special rule.
//!
//! Some toolkits write n-grams twice, probabilities above 1 (IRSTLM) or models without sentence
//! markers. By default each of these is an error that names the line and the remedy. The same
//! options apply wherever ARPA text is opened; they do not affect model files.

use std::str::FromStr;

/// log10 p(`<unk>`) of a model that does not list it, as in KenLM.
pub(crate) const MISSING_UNKNOWN_LOG10: f32 = -100.0;

/// The treatment of an n-gram that a source lists twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicatePolicy {
    /// It is an error.
    #[default]
    Reject,
    /// Keep the first entry, as KenLM's probing models do; drop the others and log their number. Of
    /// `<unk>`, the last entry is kept, as in KenLM.
    KeepFirst,
}

/// The treatment of a positive log probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositivePolicy {
    /// It is an error.
    #[default]
    Reject,
    /// Read it as 0, as KenLM's `build_binary -i` does, and log how often.
    Zero,
}

/// The treatment of a model that does not list `<s>` or `</s>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingMarkerPolicy {
    /// It is an error.
    #[default]
    Reject,
    /// Score the missing marker as `<unk>`, as KenLM's `build_binary -s` does, and log it.
    Unknown,
}

/// Options for reading ARPA text.
///
/// ```
/// use miriam_lmcpu::{ArpaOptions, MissingMarkerPolicy, OpenOptions, open};
/// use miriam_storage::LoadMethod;
/// # use miriam_textio::NoProgress;
///
/// let file = tempfile::NamedTempFile::new()?;
/// let text = "\\data\\\nngram 1=2\n\n\\1-grams:\n-1\t<unk>\n-0.5\ta\n\n\\end\\\n";
/// std::fs::write(file.path(), text)?;
/// assert!(open(file.path(), LoadMethod::Lazy, &NoProgress).is_err());
/// let arpa =
///     ArpaOptions { missing_markers: MissingMarkerPolicy::Unknown, ..ArpaOptions::default() };
/// let model = open(file.path(), OpenOptions { load: LoadMethod::Lazy, arpa }, &NoProgress)?;
/// assert_eq!(model.end_of_sentence(), model.word_id(b"<unk>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArpaOptions {
    /// The treatment of n-grams that are listed twice.
    pub duplicates: DuplicatePolicy,
    /// The treatment of log probabilities above 0.
    pub positive: PositivePolicy,
    /// The treatment of models without `<s>` or `</s>`.
    pub missing_markers: MissingMarkerPolicy,
    /// log10 p(`<unk>`) of a model that does not list it.
    pub unknown_log10: f32,
}

impl Default for ArpaOptions {
    fn default() -> Self {
        ArpaOptions {
            duplicates: DuplicatePolicy::default(),
            positive: PositivePolicy::default(),
            missing_markers: MissingMarkerPolicy::default(),
            unknown_log10: MISSING_UNKNOWN_LOG10,
        }
    }
}

impl ArpaOptions {
    /// The names of the policies that [`ArpaOptions::set`] sets.
    pub const NAMES: [&str; 3] = ["duplicates", "positive", "missing-markers"];

    /// Sets the policy `name` from the text of a feature line, a configuration or a keyword.
    ///
    /// # Errors
    ///
    /// If there is no such policy, or it does not have this value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let outcome = match name {
            "duplicates" => value.parse().map(|policy| self.duplicates = policy),
            "positive" => value.parse().map(|policy| self.positive = policy),
            "missing-markers" => value.parse().map(|policy| self.missing_markers = policy),
            _ => Err("unknown option of ARPA text"),
        };
        outcome.map_err(|reason| format!("{name}={value}: {reason}"))
    }
}

impl FromStr for DuplicatePolicy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            // The second is the old name of the first.
            "reject" | "refuse" => Ok(DuplicatePolicy::Reject),
            "keep-first" => Ok(DuplicatePolicy::KeepFirst),
            _ => Err("give reject or keep-first"),
        }
    }
}

impl FromStr for PositivePolicy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "reject" => Ok(PositivePolicy::Reject),
            "zero" => Ok(PositivePolicy::Zero),
            _ => Err("give reject or zero"),
        }
    }
}

impl FromStr for MissingMarkerPolicy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "reject" => Ok(MissingMarkerPolicy::Reject),
            "unknown" => Ok(MissingMarkerPolicy::Unknown),
            _ => Err("give reject or unknown"),
        }
    }
}
