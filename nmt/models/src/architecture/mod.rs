//! Architectures: one typed description of models for all formats.
//!
//! Each format describes a model in its own way: Marian by options, Nematus by the names of
//! its parameters, CTranslate2 by flags, Hugging Face by a configuration. All of them become
//! an [`Architecture`] with every switch that decoding depends on, and parameters under
//! Marian's names in Marian's shapes (row vector times matrix, `[inputs, outputs]`). Features
//! that these types cannot describe are rejected by name when a model is read, so an engine that
//! covers these types covers every model that opens.

mod dialect;
mod model;
mod recurrent;
mod stacked;
mod transformer;
mod transformer_parameters;

use serde::{Deserialize, Serialize};

pub use dialect::Dialect;
pub(crate) use model::NEMATUS_NAMING_MARK;
pub use model::{Model, ParameterSpec};
pub use recurrent::{
    CellKind, EncoderKind, LayerNormStyle, RecurrentConfig, RecurrentDecoderConfig,
    RecurrentEncoderConfig,
};
pub use stacked::{StackedConfig, TopLayerConfig};
pub use transformer::{
    Activation, AutoregressionConfig, AverageAttentionConfig, DecoderStart, Gelu,
    PositionalEncodingKind, PreNormKeys, ProcessStep, ProcessSteps, RecurrentSublayerConfig,
    RelativeBiasConfig, SruKind, TransformerConfig, TransformerStackConfig,
};

/// The largest number of layers or cells; a larger number means that the file is damaged.
pub(crate) const MAX_DEPTH: usize = 1000;
/// The largest width, vocabulary size, or number of heads or positions; a larger number means that
/// the file is damaged.
pub(crate) const MAX_WIDTH: usize = 1 << 24;

/// The family of a model with its configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Architecture {
    /// A transformer (`neural.md` 1.6).
    Transformer(TransformerConfig),
    /// A recurrent encoder-decoder with attention (`neural.md` 1.7).
    Recurrent(RecurrentConfig),
    /// An attentional GRU below fully connected layers (Devlin 2017).
    Stacked(StackedConfig),
}

/// Vocabulary sizes, embeddings and output layer, which all families have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingConfig {
    /// Size of the source vocabulary.
    pub source_vocab_size: usize,
    /// Size of the target vocabulary.
    pub target_vocab_size: usize,
    /// Width of an embedding vector.
    pub dim: usize,
    /// Whether encoder and decoder share one embedding table.
    pub shared: bool,
    /// Whether the weights of the output layer are the decoder's embedding table.
    pub tied_output: bool,
    /// Whether the output layer has a bias.
    pub output_bias: bool,
    /// Whether the model was trained on reversed sentences of both sides.
    pub right_to_left: bool,
    /// Ids that the model must never generate.
    pub suppress_tokens: Vec<u32>,
}

impl EmbeddingConfig {
    /// Returns the parameter name of the encoder's embedding table.
    pub fn encoder_table_name(&self) -> &'static str {
        if self.shared { "Wemb" } else { "encoder_Wemb" }
    }

    /// Returns the parameter name of the decoder's embedding table.
    pub fn decoder_table_name(&self) -> &'static str {
        if self.shared { "Wemb" } else { "decoder_Wemb" }
    }

    /// Adds the embedding tables. An encoder table of its own is added only if `has_source`. Then
    /// adds the output layer with prefix `output`: its weights `[target_vocab_size, width]` unless
    /// they are tied, and its bias, if any.
    fn push_parameters(
        &self,
        has_source: bool,
        output: &str,
        width: usize,
        all: &mut Vec<ParameterSpec>,
    ) {
        let vocab_sizes = [self.source_vocab_size, self.target_vocab_size];
        if has_source || self.shared {
            all.push(ParameterSpec::new(self.encoder_table_name(), [vocab_sizes[0], self.dim]));
        }
        if !self.shared {
            all.push(ParameterSpec::new(self.decoder_table_name(), [vocab_sizes[1], self.dim]));
        }
        if !self.tied_output {
            all.push(ParameterSpec::new(format!("{output}_Wt"), [vocab_sizes[1], width]));
        }
        if self.output_bias {
            all.push(ParameterSpec::new(format!("{output}_b"), [1, vocab_sizes[1]]));
        }
    }

    fn validate(&self) -> Result<(), String> {
        check_range("words of the source", self.source_vocab_size, MAX_WIDTH)?;
        check_range("words of the target", self.target_vocab_size, MAX_WIDTH)?;
        check_range("width of embeddings", self.dim, MAX_WIDTH)?;
        if self.shared && self.source_vocab_size != self.target_vocab_size {
            return Err(format!(
                "one table of embeddings cannot serve {} source and {} target words",
                self.source_vocab_size, self.target_vocab_size
            ));
        }
        Ok(())
    }
}

impl Architecture {
    /// Returns the vocabulary sizes, embeddings and output layer.
    pub fn embeddings(&self) -> &EmbeddingConfig {
        match self {
            Architecture::Transformer(transformer) => &transformer.embeddings,
            Architecture::Recurrent(recurrent) => &recurrent.embeddings,
            Architecture::Stacked(stacked) => &stacked.embeddings,
        }
    }

    /// Whether the model reads a source. A model that does not is a language model; its encoder has
    /// no layers.
    pub fn has_source(&self) -> bool {
        match self {
            Architecture::Transformer(transformer) => transformer.has_source(),
            Architecture::Recurrent(recurrent) => recurrent.has_source(),
            Architecture::Stacked(_) => true,
        }
    }

    /// Returns the maximum number of tokens of a source sentence, special tokens included, if there
    /// is a table of positions.
    pub fn max_source_length(&self) -> Option<usize> {
        match self {
            Architecture::Transformer(transformer) => match transformer.positional_encoding {
                PositionalEncodingKind::Table { length } => Some(length),
                _ => None,
            },
            Architecture::Recurrent(_) | Architecture::Stacked(_) => None,
        }
    }

    /// Returns the names and shapes of all parameters.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        match self {
            Architecture::Transformer(transformer) => transformer.parameters(),
            Architecture::Recurrent(recurrent) => recurrent.parameters(),
            Architecture::Stacked(stacked) => stacked.parameters(),
        }
    }

    /// Checks that the numbers of the configuration are possible and consistent.
    ///
    /// # Errors
    /// If a number is impossible or inconsistent; the message names the first such number.
    pub fn validate(&self) -> Result<(), String> {
        let tables = self.embeddings();
        tables.validate()?;
        if !self.has_source() && tables.source_vocab_size != tables.target_vocab_size {
            return Err(format!(
                "a language model has one vocabulary, not two of {} and {} words",
                tables.source_vocab_size, tables.target_vocab_size
            ));
        }
        match self {
            Architecture::Transformer(transformer) => transformer.validate(),
            Architecture::Recurrent(recurrent) => recurrent.validate(),
            Architecture::Stacked(stacked) => stacked.validate(),
        }
    }

    /// Returns lines of a report on the configuration: a name and a value each.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut lines = match self {
            Architecture::Transformer(transformer) => transformer.describe(),
            Architecture::Recurrent(recurrent) => recurrent.describe(),
            Architecture::Stacked(stacked) => stacked.describe(),
        };
        let tables = self.embeddings();
        lines.push(("embedding", tables.dim.to_string()));
        let sharing = match (tables.shared, tables.tied_output) {
            (_, true) if !self.has_source() => "one for words and output",
            (_, false) if !self.has_source() => "one for words, another for output",
            (true, true) => "one for source, target and output",
            (true, false) => "one for source and target, another for output",
            (false, true) => "one for source, one for target and output",
            (false, false) => "one each for source, target and output",
        };
        lines.push(("tables", sharing.into()));
        if !tables.output_bias {
            lines.push(("output bias", "none".into()));
        }
        if tables.right_to_left {
            lines.push(("direction", "right to left".into()));
        }
        lines
    }
}

pub(crate) fn check_range(name: &str, number: usize, max: usize) -> Result<(), String> {
    if (1..=max).contains(&number) {
        return Ok(());
    }
    Err(format!("{name}: {number} is out of range, 1 to {max}"))
}
