//! Decoding semantics of the programs whose models are read.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The program whose search is reproduced. Programs differ in when a search ends, in the width of
/// the beam, and in the scores if tokens are suppressed, a prefix is forced or tokens are sampled.
///
/// If tokens are suppressed, Marian keeps the probabilities of the others, and CTranslate2
/// renormalises them. The tokens of a prefix are scored by the model in Marian and have score 0 in
/// CTranslate2. Top-p sampling cuts by probabilities before the temperature in Marian and after it
/// in CTranslate2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DecodingSemantics {
    /// Finished hypotheses leave the beam, which narrows; the search ends when the beam is empty or
    /// at the maximum length.
    #[default]
    Marian,
    /// The beam keeps its width; the search ends when `round(beam * patience)` hypotheses have
    /// finished. Without length and coverage penalties it ends when the best hypothesis and at
    /// least `n_best` in all have finished.
    CTranslate2,
}

/// The rule of `transformers` by which a beam search ends, once as many hypotheses have finished as
/// the beam has rows. By two of the rules it goes on then, and better hypotheses that finish later
/// replace the worst ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EarlyStopping {
    /// The search ends at once.
    True,
    /// The search ends when the best live hypothesis, if it ended with its score so far, would not
    /// be better than the worst of the best finished ones.
    False,
    /// Like `False`, but with a length penalty above 0, the score of the live hypothesis is divided
    /// as if it had the maximum length.
    Never,
}

impl FromStr for EarlyStopping {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "true" => Ok(EarlyStopping::True),
            "false" => Ok(EarlyStopping::False),
            "never" => Ok(EarlyStopping::Never),
            _ => Err("true, false or never".to_owned()),
        }
    }
}

impl fmt::Display for EarlyStopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EarlyStopping::True => "true",
            EarlyStopping::False => "false",
            EarlyStopping::Never => "never",
        })
    }
}
