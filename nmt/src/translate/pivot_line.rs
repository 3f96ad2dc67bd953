//! A line on its way from the first model to the second.

use std::sync::mpsc::Receiver;

use super::tokenizer::Pieces;

/// A line that the first model has translated.
#[derive(Debug, Default)]
pub(super) struct PivotLine {
    /// The translation.
    pub text: Vec<u8>,
    /// The pieces of the source.
    pub source: Pieces,
    /// The number of characters of each piece of the translation.
    pub lengths: Vec<usize>,
    /// The attention of these pieces and of `</s>` to the tokens of the source; empty unless
    /// requested.
    pub alignment: Vec<Vec<f32>>,
    /// Errors and warnings.
    pub messages: Vec<String>,
}

/// The lines of the first model, as soon as they are translated.
pub(super) type PivotLines = Receiver<PivotLine>;
