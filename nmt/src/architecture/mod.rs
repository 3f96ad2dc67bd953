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

pub use ctranslate2::{FolderSettings as CTranslate2Settings, resolve as resolve_ctranslate2};
pub use hugging_face::resolve as resolve_hugging_face;
pub use marian::{Dialect, resolve as resolve_marian};
pub use model::{Model, ParameterSpec};
pub use recurrent::{
    CellKind, EncoderKind, LayerNormStyle, RecurrentConfig, RecurrentDecoderConfig,
    RecurrentEncoderConfig,
};
pub use stacked::{StackedConfig, TopLayerConfig};
pub use transformer::{
    Activation, AutoregressionConfig, AverageAttentionConfig, DecoderStart, Gelu,
    PositionalEncodingKind, PreNormKeys, ProcessStep, ProcessSteps, RecurrentSublayerConfig,
    SruKind, StackConfig, TransformerConfig,
};

/// Deeper or wider than this no model is; a number beyond is damage.
const MAX_DEPTH: usize = 1000;
const MAX_WIDTH: usize = 1 << 24;

/// The family of a model, with its shape and its switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Architecture {
    /// Layers of attention (`neural.md` 1.6).
    Transformer(TransformerConfig),
    /// Recurrent layers with attention between them (`neural.md` 1.7).
    Recurrent(RecurrentConfig),
    /// An attentional GRU below fully connected layers (Devlin 2017).
    Stacked(StackedConfig),
}

/// Vocabularies, embeddings and the output layer, which all families have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingConfig {
    /// Words of the source vocabulary.
    pub source_vocab_size: usize,
    /// Words of the target vocabulary.
    pub target_vocab_size: usize,
    /// Width of an embedding.
    pub dim: usize,
    /// Whether encoder and decoder look into one table.
    pub shared: bool,
    /// Whether the output layer's matrix is the decoder's table.
    pub tied_output: bool,
    /// Whether the output layer has a bias.
    pub output_bias: bool,
    /// Whether the model was trained on reversed targets.
    pub right_to_left: bool,
    /// Ids that are never put out, beside what search forbids.
    pub suppress_tokens: Vec<u32>,
}

impl EmbeddingConfig {
    /// The name of the encoder's table.
    pub fn encoder_table_name(&self) -> &'static str {
        if self.shared { "Wemb" } else { "encoder_Wemb" }
    }

    /// The name of the decoder's table.
    pub fn decoder_table_name(&self) -> &'static str {
        if self.shared { "Wemb" } else { "decoder_Wemb" }
    }

    /// Tables of embeddings, and the output layer under `output`: its matrix, unless
    /// tied, over a layer of so many columns, and its bias.
    fn push_parameters(&self, output: &str, width: usize, all: &mut Vec<ParameterSpec>) {
        let words = [self.source_vocab_size, self.target_vocab_size];
        all.push(ParameterSpec::new(self.encoder_table_name(), [words[0], self.dim]));
        if !self.shared {
            all.push(ParameterSpec::new(self.decoder_table_name(), [words[1], self.dim]));
        }
        if !self.tied_output {
            all.push(ParameterSpec::new(format!("{output}_Wt"), [words[1], width]));
        }
        if self.output_bias {
            all.push(ParameterSpec::new(format!("{output}_b"), [1, words[1]]));
        }
    }

    fn validate(&self) -> Result<(), String> {
        check_range("words of the source", self.source_vocab_size, MAX_WIDTH)?;
        check_range("words of the target", self.target_vocab_size, MAX_WIDTH)?;
        check_range("width of embeddings", self.dim, MAX_WIDTH)?;
        if self.shared && self.source_vocab_size != self.target_vocab_size {
            return Err(format!(
                "one table of embeddings for {} source and {} target words",
                self.source_vocab_size, self.target_vocab_size
            ));
        }
        Ok(())
    }
}

impl Architecture {
    /// What all families have.
    pub fn embeddings(&self) -> &EmbeddingConfig {
        match self {
            Architecture::Transformer(transformer) => &transformer.embeddings,
            Architecture::Recurrent(recurrent) => &recurrent.embeddings,
            Architecture::Stacked(stacked) => &stacked.embeddings,
        }
    }

    /// Every parameter that the architecture needs.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        match self {
            Architecture::Transformer(transformer) => transformer.parameters(),
            Architecture::Recurrent(recurrent) => recurrent.parameters(),
            Architecture::Stacked(stacked) => stacked.parameters(),
        }
    }

    /// Whether the numbers can belong to a model, or which cannot.
    pub fn validate(&self) -> Result<(), String> {
        self.embeddings().validate()?;
        match self {
            Architecture::Transformer(transformer) => transformer.validate(),
            Architecture::Recurrent(recurrent) => recurrent.validate(),
            Architecture::Stacked(stacked) => stacked.validate(),
        }
    }

    /// What distinguishes the model, a name and a value each, for people.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut lines = match self {
            Architecture::Transformer(transformer) => transformer.describe(),
            Architecture::Recurrent(recurrent) => recurrent.describe(),
            Architecture::Stacked(stacked) => stacked.describe(),
        };
        let tables = self.embeddings();
        lines.push(("embedding", tables.dim.to_string()));
        let tables_are = match (tables.shared, tables.tied_output) {
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

fn check_range(what: &str, number: usize, most: usize) -> Result<(), String> {
    if (1..=most).contains(&number) {
        return Ok(());
    }
    Err(format!("{what}: {number} is not between 1 and {most}"))
}
