//! What a model is, in one description for all formats.
//!
//! Each format says it in its own way: Marian in options, Nematus in the names of its
//! parameters, CTranslate2 in flags, Hugging Face in a configuration. All of them end
//! here, as a type with every switch that decoding depends on, and with the parameters
//! under Marian's names in Marian's shapes (row vector times matrix, in x out). What is
//! not described here is refused by name when a model is read, so an engine that covers
//! these types covers every model that opens.

mod ctranslate2;
mod hugging_face;
mod marian;
mod model;
mod nematus;
mod recurrent;
mod stacked;
mod transformer;

use serde::{Deserialize, Serialize};

pub use ctranslate2::{Settings as CTranslate2Settings, resolve as of_ctranslate2};
pub use hugging_face::resolve as of_hugging_face;
pub use marian::{Dialect, resolve as of_marian};
pub use model::{Model, Parameter};
pub use recurrent::{Cell, Encoder, EncoderKind, LayerNormStyle, Recurrent, RecurrentDecoder};
pub use stacked::{Stacked, Top};
pub use transformer::{
    Activation, Autoregression, AverageAttention, Gelu, Positions, PreNormKeys, Process,
    RecurrentCell, RecurrentSublayer, Stack, Start, Step, Transformer,
};

/// Deeper or wider than this no model is; a number beyond is damage.
const MAX_DEPTH: usize = 1000;
const MAX_WIDTH: usize = 1 << 24;

/// The family of a model, with its shape and its switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Architecture {
    /// Layers of attention (`neural.md` 1.6).
    Transformer(Transformer),
    /// Recurrent layers with attention between them (`neural.md` 1.7).
    Recurrent(Recurrent),
    /// An attentional GRU below fully connected layers (Devlin 2017).
    Stacked(Stacked),
}

/// Vocabularies, embeddings and the output layer, which all families have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// Words of the source vocabulary.
    pub source_words: usize,
    /// Words of the target vocabulary.
    pub target_words: usize,
    /// Width of an embedding.
    pub embedding: usize,
    /// Whether encoder and decoder look into one table.
    pub shared_embeddings: bool,
    /// Whether the output layer's matrix is the decoder's table.
    pub tied_output: bool,
    /// Whether the output layer has a bias.
    pub output_bias: bool,
    /// Whether the model was trained on reversed targets.
    pub right_to_left: bool,
    /// Ids that are never put out, beside what search forbids.
    pub never: Vec<u32>,
}

impl Tables {
    /// The name of the encoder's table.
    pub fn encoder_table(&self) -> &'static str {
        if self.shared_embeddings { "Wemb" } else { "encoder_Wemb" }
    }

    /// The name of the decoder's table.
    pub fn decoder_table(&self) -> &'static str {
        if self.shared_embeddings { "Wemb" } else { "decoder_Wemb" }
    }

    /// Tables of embeddings, and the output layer under `output`: its matrix, unless
    /// tied, over a layer of so many columns, and its bias.
    fn parameters(&self, output: &str, width: usize, all: &mut Vec<Parameter>) {
        let words = [self.source_words, self.target_words];
        all.push(Parameter::new(self.encoder_table(), [words[0], self.embedding]));
        if !self.shared_embeddings {
            all.push(Parameter::new(self.decoder_table(), [words[1], self.embedding]));
        }
        if !self.tied_output {
            all.push(Parameter::new(format!("{output}_Wt"), [words[1], width]));
        }
        if self.output_bias {
            all.push(Parameter::new(format!("{output}_b"), [1, words[1]]));
        }
    }

    fn check(&self) -> Result<(), String> {
        within("words of the source", self.source_words, MAX_WIDTH)?;
        within("words of the target", self.target_words, MAX_WIDTH)?;
        within("width of embeddings", self.embedding, MAX_WIDTH)?;
        if self.shared_embeddings && self.source_words != self.target_words {
            return Err(format!(
                "one table of embeddings for {} source and {} target words",
                self.source_words, self.target_words
            ));
        }
        Ok(())
    }
}

impl Architecture {
    /// What all families have.
    pub fn tables(&self) -> &Tables {
        match self {
            Architecture::Transformer(transformer) => &transformer.tables,
            Architecture::Recurrent(recurrent) => &recurrent.tables,
            Architecture::Stacked(stacked) => &stacked.tables,
        }
    }

    /// Every parameter that the architecture needs.
    pub fn parameters(&self) -> Vec<Parameter> {
        match self {
            Architecture::Transformer(transformer) => transformer.parameters(),
            Architecture::Recurrent(recurrent) => recurrent.parameters(),
            Architecture::Stacked(stacked) => stacked.parameters(),
        }
    }

    /// Whether the numbers can belong to a model, or which cannot.
    pub fn check(&self) -> Result<(), String> {
        self.tables().check()?;
        match self {
            Architecture::Transformer(transformer) => transformer.check(),
            Architecture::Recurrent(recurrent) => recurrent.check(),
            Architecture::Stacked(stacked) => stacked.check(),
        }
    }

    /// What distinguishes the model, a name and a value each, for people.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut lines = match self {
            Architecture::Transformer(transformer) => transformer.describe(),
            Architecture::Recurrent(recurrent) => recurrent.describe(),
            Architecture::Stacked(stacked) => stacked.describe(),
        };
        let tables = self.tables();
        lines.push(("embedding", tables.embedding.to_string()));
        let tables_are = match (tables.shared_embeddings, tables.tied_output) {
            (true, true) => "one for source, target and output",
            (true, false) => "one for source and target, another for output",
            (false, true) => "one for source, one for target and output",
            (false, false) => "one each for source, target and output",
        };
        lines.push(("tables", tables_are.into()));
        if !tables.output_bias {
            lines.push(("output bias", "none".into()));
        }
        if tables.right_to_left {
            lines.push(("direction", "right to left".into()));
        }
        lines
    }
}

fn within(what: &str, number: usize, most: usize) -> Result<(), String> {
    if (1..=most).contains(&number) {
        return Ok(());
    }
    Err(format!("{what}: {number} is not between 1 and {most}"))
}
