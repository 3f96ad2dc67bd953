//! The systems of Devlin's table 2 (2017): their layers, and the words per second that he measured.

use miriam_nmt::architecture::{
    Architecture, CellKind, EmbeddingConfig, EncoderKind, RecurrentConfig, RecurrentDecoderConfig,
    RecurrentEncoderConfig, StackedConfig, TopLayerConfig,
};

/// A system of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DevlinSystem {
    /// The name in lower case.
    pub name: &'static str,
    /// The layers of the target side above the attentional cell.
    pub layers: &'static str,
    /// The words per second in the paper, on one thread of an Intel E5-2660, with all speedups.
    pub published_rate: f64,
    /// The number of models; several form an ensemble.
    pub models: u64,
    body: Body,
}

/// The layers of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Body {
    /// This number of fully connected layers above an attentional GRU, and the layer on top.
    Stacked(usize, TopLayerConfig),
    /// This number of LSTM layers on either side.
    Lstm(usize),
}

const TANH: TopLayerConfig = TopLayerConfig::Tanh(1024);
const GRU: TopLayerConfig = TopLayerConfig::Gru(1024);

/// The names of all systems.
pub const SYSTEM_NAMES: [&str; 9] = {
    let mut names = [""; 9];
    let mut index = 0;
    while index < names.len() {
        names[index] = DevlinSystem::ALL[index].name;
        index += 1;
    }
    names
};

impl DevlinSystem {
    /// All systems of the table.
    pub const ALL: [DevlinSystem; 9] = {
        use Body::{Lstm, Stacked};
        const fn system(
            name: &'static str,
            layers: &'static str,
            published_rate: f64,
            models: u64,
            body: Body,
        ) -> DevlinSystem {
            DevlinSystem { name, layers, published_rate, models, body }
        }
        [
            system("s1", "-", 418.0, 1, Stacked(0, TopLayerConfig::None)),
            system("s2", "GRU", 242.0, 1, Stacked(0, GRU)),
            system("s3", "3 FC, tanh", 271.0, 1, Stacked(3, TANH)),
            system("s4", "7 FC, tanh", 229.0, 1, Stacked(7, TANH)),
            system("s5", "7 FC, GRU", 157.0, 1, Stacked(7, GRU)),
            system("s6", "15 FC, tanh", 163.0, 1, Stacked(15, TANH)),
            system("s7", "7 LSTM (8 + 8)", 28.0, 1, Lstm(8)),
            system("e1", "2 models s4", 102.0, 2, Stacked(7, TANH)),
            system("e2", "3 models s4", 65.0, 3, Stacked(7, TANH)),
        ]
    };

    /// Returns the system called `name`, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.name == name)
    }

    /// Returns the architecture of each of its models, with vocabularies of `words` tokens.
    pub fn architecture(&self, words: usize) -> Architecture {
        match self.body {
            Body::Stacked(depth, top) => Architecture::Stacked(stacked_shape(depth, top, words)),
            Body::Lstm(depth) => Architecture::Recurrent(lstm_shape(depth, words)),
        }
    }
}

fn embeddings(words: usize) -> EmbeddingConfig {
    EmbeddingConfig {
        source_vocab_size: words,
        target_vocab_size: words,
        dim: 512,
        shared: false,
        tied_output: false,
        output_bias: true,
        right_to_left: false,
        suppress_tokens: Vec::new(),
    }
}

/// Returns the shape of a model of Devlin's kind with `depth` fully connected layers below `top`.
pub fn stacked_shape(depth: usize, top: TopLayerConfig, words: usize) -> StackedConfig {
    StackedConfig {
        embeddings: embeddings(words),
        encoder_depth: 3,
        encoder_state_width: 512,
        state_width: 1024,
        attention_width: 1024,
        fc_depth: depth,
        fc_width: 768,
        top,
    }
}

/// Returns the shape of Google's model (Wu et al. 2016) with `depth` LSTM layers on either side, in
/// Marian's layout: its first decoder layer has a cell before attention and one after it, and the
/// output layer reads a layer as wide as the embeddings.
fn lstm_shape(depth: usize, words: usize) -> RecurrentConfig {
    let cell = CellKind::Lstm;
    RecurrentConfig {
        embeddings: embeddings(words),
        state_width: 1024,
        encoder: RecurrentEncoderConfig {
            kind: EncoderKind::BiUnidirectional,
            cell,
            depth,
            cell_depth: 1,
        },
        decoder: RecurrentDecoderConfig { cell, depth, base_depth: 2, high_depth: 1 },
        skip_connections: true,
        layer_norm_style: None,
    }
}
