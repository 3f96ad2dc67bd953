//! Devlin's model (2017, section 5): an encoder of bidirectional GRUs, and a decoder of one
//! attentional GRU with fully connected layers above it. A fully connected layer costs a sixth of a
//! GRU.
//!
//! Devlin published no files. Our files are `.npz` archives like Marian's. Their
//! `special:model.yml` has `type: stacked` and the keys
//!
//! | key | meaning |
//! |---|---|
//! | `dim-vocabs`, `dim-emb`, `tied-embeddings*`, `output-omit-bias`, `right-left` | as in Marian |
//! | `enc-depth`, `dim-enc-rnn` | layers of the encoder and the width of each direction |
//! | `dim-rnn` | width of the attentional GRU |
//! | `dim-att` | width of keys and queries |
//! | `fc-depth`, `dim-fc` | fully connected ReLU layers and their width; 0: none |
//! | `top`, `dim-top` | `none`, `tanh` or `gru`, and its width |
//!
//! Weights are `[inputs, outputs]`; GRUs have Marian's six parameters (`_W`, `_U`, `_b` of the
//! gates r and z, `_Wx`, `_Ux`, `_bx` of the candidate).
//!
//! Choices that the paper leaves open: the input of each encoder layer is both directions of the
//! layer below; the initial state is `tanh` of an affine layer over the mean of the encoder's
//! states; the initial state of a top GRU is zero; ReLU layers have biases.

use serde::{Deserialize, Serialize};

use super::{EmbeddingConfig, MAX_DEPTH, MAX_WIDTH, ParameterSpec, check_range};

/// The configuration of a stacked model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackedConfig {
    /// Vocabulary sizes, embeddings and output layer.
    pub embeddings: EmbeddingConfig,
    /// The number of encoder layers.
    pub encoder_depth: usize,
    /// Width of each direction of the encoder.
    pub encoder_state_width: usize,
    /// Width of the attentional GRU.
    pub state_width: usize,
    /// Width of the keys and queries of attention.
    pub attention_width: usize,
    /// The number of fully connected layers; every second one adds the output of the layer two
    /// below it.
    pub fc_depth: usize,
    /// Width of the fully connected layers.
    pub fc_width: usize,
    /// The layer between the fully connected layers and the output layer.
    pub top: TopLayerConfig,
}

/// The layer below the output layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TopLayerConfig {
    /// No such layer.
    None,
    /// Fully connected with tanh, of this width.
    Tanh(usize),
    /// A GRU of this width.
    Gru(usize),
}

impl StackedConfig {
    /// Returns the width of the encoder's output at each position.
    pub fn context_width(&self) -> usize {
        2 * self.encoder_state_width
    }

    /// Returns the width of the input of the top layer.
    fn top_input_width(&self) -> usize {
        if self.fc_depth > 0 { self.fc_width } else { self.state_width }
    }

    /// Returns the width of the input of the output layer.
    pub fn output_width(&self) -> usize {
        match self.top {
            TopLayerConfig::None => self.top_input_width(),
            TopLayerConfig::Tanh(width) | TopLayerConfig::Gru(width) => width,
        }
    }

    /// Returns the names and shapes of all parameters.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        let (e, h, c, a) =
            (self.embeddings.dim, self.state_width, self.context_width(), self.attention_width);
        let mut all = Vec::new();
        self.embeddings.push_parameters(true, "decoder_ff_logit", self.output_width(), &mut all);
        for layer in 1..=self.encoder_depth {
            let input = if layer == 1 { e } else { c };
            for direction in ["encoder", "encoder_r"] {
                push_gru(
                    &format!("{direction}_l{layer}"),
                    input,
                    self.encoder_state_width,
                    &mut all,
                );
            }
        }
        push_affine("decoder_ff_state", c, h, &mut all);
        push_gru("decoder_cell", e, h, &mut all);
        for (name, shape) in [
            ("decoder_cell_C", [c, 2 * h]),
            ("decoder_cell_Cx", [c, h]),
            ("decoder_att_W", [h, a]),
            ("decoder_att_V", [e, a]),
            ("decoder_att_U", [c, a]),
        ] {
            all.push(ParameterSpec::new(name, shape));
        }
        for layer in 1..=self.fc_depth {
            let input = if layer == 1 { h } else { self.fc_width };
            push_affine(&format!("decoder_fc{layer}"), input, self.fc_width, &mut all);
        }
        match self.top {
            TopLayerConfig::None => {}
            TopLayerConfig::Tanh(width) => {
                push_affine("decoder_top", self.top_input_width(), width, &mut all)
            }
            TopLayerConfig::Gru(width) => {
                push_gru("decoder_top", self.top_input_width(), width, &mut all)
            }
        }
        all
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        check_range("depth of the encoder", self.encoder_depth, MAX_DEPTH)?;
        check_range("width of the encoder", self.encoder_state_width, MAX_WIDTH)?;
        check_range("width of the state", self.state_width, MAX_WIDTH)?;
        check_range("width of attention", self.attention_width, MAX_WIDTH)?;
        if self.fc_depth > 0 {
            check_range("fully connected layers", self.fc_depth, MAX_DEPTH)?;
            check_range("width of fully connected layers", self.fc_width, MAX_WIDTH)?;
        }
        if let TopLayerConfig::Tanh(width) | TopLayerConfig::Gru(width) = self.top {
            check_range("width of the top layer", width, MAX_WIDTH)?;
        }
        if self.embeddings.tied_output && self.output_width() != self.embeddings.dim {
            return Err(format!(
                "the output layer is tied to embeddings of width {}, but its input has width {}",
                self.embeddings.dim,
                self.output_width()
            ));
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> Vec<(&'static str, String)> {
        let top = match self.top {
            TopLayerConfig::None => "none".to_owned(),
            TopLayerConfig::Tanh(width) => format!("tanh, {width}"),
            TopLayerConfig::Gru(width) => format!("GRU, {width}"),
        };
        let connected = match self.fc_depth {
            0 => "none".to_owned(),
            depth => format!("{depth} of {}", self.fc_width),
        };
        let encoder = format!("{} of 2 x {}", self.encoder_depth, self.encoder_state_width);
        vec![
            ("type", "stacked".to_owned()),
            ("layers", format!("{} + {}", self.encoder_depth, 1 + self.fc_depth)),
            ("encoder", encoder),
            ("state", self.state_width.to_string()),
            ("attention", self.attention_width.to_string()),
            ("fully connected", connected),
            ("top layer", top),
        ]
    }
}

fn push_affine(prefix: &str, input: usize, output: usize, all: &mut Vec<ParameterSpec>) {
    all.push(ParameterSpec::new(format!("{prefix}_W"), [input, output]));
    all.push(ParameterSpec::new(format!("{prefix}_b"), [1, output]));
}

fn push_gru(prefix: &str, input: usize, state: usize, all: &mut Vec<ParameterSpec>) {
    for (suffix, width) in [("", 2 * state), ("x", state)] {
        all.push(ParameterSpec::new(format!("{prefix}_W{suffix}"), [input, width]));
        all.push(ParameterSpec::new(format!("{prefix}_U{suffix}"), [state, width]));
        all.push(ParameterSpec::new(format!("{prefix}_b{suffix}"), [1, width]));
    }
}
