//! Devlin's model (2017, section 5): deep bidirectional GRUs read, one attentional GRU
//! writes, and above it lie fully connected layers, which cost a sixth of a GRU each.
//!
//! No files of his exist. Ours are `.npz` archives as Marian's, whose `special:model.yml`
//! says `type: stacked` and has the keys
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
//! Parameters are inputs by outputs; GRUs have Marian's six (`_W`, `_U`, `_b` of the gates
//! r and z, `_Wx`, `_Ux`, `_bx` of the candidate).
//!
//! What the paper leaves open: every layer of the encoder reads both directions of the one
//! below; the state begins as `tanh` of an affine layer over the mean of the encoder's
//! states, a top GRU with zeros; ReLU layers have biases.

use serde::{Deserialize, Serialize};

use super::{MAX_DEPTH, MAX_WIDTH, Parameter, Tables, within};

/// A model's shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stacked {
    /// Vocabularies, embeddings, output.
    pub tables: Tables,
    /// Layers of the encoder.
    pub encoder_depth: usize,
    /// Width of each direction of the encoder.
    pub encoder_state: usize,
    /// Width of the attentional GRU.
    pub state: usize,
    /// Width of keys and queries of attention.
    pub attention: usize,
    /// Fully connected layers; every second one adds what the one before the last gave.
    pub depth: usize,
    /// Their width.
    pub width: usize,
    /// What lies between them and the output layer.
    pub top: Top,
}

/// The layer below the softmax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Top {
    /// None: the output layer multiplies what lies below.
    None,
    /// Fully connected, tanh, so wide.
    Tanh(usize),
    /// A GRU, so wide.
    Gru(usize),
}

impl Stacked {
    /// Width of what the encoder gives for each word.
    pub fn context(&self) -> usize {
        2 * self.encoder_state
    }

    /// Width of what the top layer reads.
    fn below_top(&self) -> usize {
        if self.depth > 0 { self.width } else { self.state }
    }

    /// Width of what the output layer multiplies.
    pub fn output(&self) -> usize {
        match self.top {
            Top::None => self.below_top(),
            Top::Tanh(width) | Top::Gru(width) => width,
        }
    }

    /// Every parameter that it needs.
    pub fn parameters(&self) -> Vec<Parameter> {
        let (e, h, c, a) = (self.tables.embedding, self.state, self.context(), self.attention);
        let mut all = Vec::new();
        self.tables.parameters("decoder_ff_logit", self.output(), &mut all);
        for layer in 1..=self.encoder_depth {
            let input = if layer == 1 { e } else { c };
            for direction in ["encoder", "encoder_r"] {
                gru(&format!("{direction}_l{layer}"), input, self.encoder_state, &mut all);
            }
        }
        affine("decoder_ff_state", c, h, &mut all);
        gru("decoder_cell", e, h, &mut all);
        for (name, shape) in [
            ("decoder_cell_C", [c, 2 * h]),
            ("decoder_cell_Cx", [c, h]),
            ("decoder_att_W", [h, a]),
            ("decoder_att_V", [e, a]),
            ("decoder_att_U", [c, a]),
        ] {
            all.push(Parameter::new(name, shape));
        }
        for layer in 1..=self.depth {
            let input = if layer == 1 { h } else { self.width };
            affine(&format!("decoder_fc{layer}"), input, self.width, &mut all);
        }
        match self.top {
            Top::None => {}
            Top::Tanh(width) => affine("decoder_top", self.below_top(), width, &mut all),
            Top::Gru(width) => gru("decoder_top", self.below_top(), width, &mut all),
        }
        all
    }

    pub(super) fn check(&self) -> Result<(), String> {
        within("depth of the encoder", self.encoder_depth, MAX_DEPTH)?;
        within("width of the encoder", self.encoder_state, MAX_WIDTH)?;
        within("width of the state", self.state, MAX_WIDTH)?;
        within("width of attention", self.attention, MAX_WIDTH)?;
        if self.depth > 0 {
            within("fully connected layers", self.depth, MAX_DEPTH)?;
            within("width of fully connected layers", self.width, MAX_WIDTH)?;
        }
        if let Top::Tanh(width) | Top::Gru(width) = self.top {
            within("width of the top layer", width, MAX_WIDTH)?;
        }
        if self.tables.tied_output && self.output() != self.tables.embedding {
            return Err(format!(
                "an output layer tied to embeddings of {} over a layer of {}",
                self.tables.embedding,
                self.output()
            ));
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> Vec<(&'static str, String)> {
        let top = match self.top {
            Top::None => "none".to_owned(),
            Top::Tanh(width) => format!("tanh, {width}"),
            Top::Gru(width) => format!("GRU, {width}"),
        };
        let connected = match self.depth {
            0 => "none".to_owned(),
            depth => format!("{depth} of {}", self.width),
        };
        let encoder = format!("{} of 2 x {}", self.encoder_depth, self.encoder_state);
        vec![
            ("type", "stacked".to_owned()),
            ("layers", format!("{} + {}", self.encoder_depth, 1 + self.depth)),
            ("encoder", encoder),
            ("state", self.state.to_string()),
            ("attention", self.attention.to_string()),
            ("fully connected", connected),
            ("top layer", top),
        ]
    }
}

fn affine(prefix: &str, input: usize, output: usize, all: &mut Vec<Parameter>) {
    all.push(Parameter::new(format!("{prefix}_W"), [input, output]));
    all.push(Parameter::new(format!("{prefix}_b"), [1, output]));
}

fn gru(prefix: &str, input: usize, state: usize, all: &mut Vec<Parameter>) {
    for (suffix, width) in [("", 2 * state), ("x", state)] {
        all.push(Parameter::new(format!("{prefix}_W{suffix}"), [input, width]));
        all.push(Parameter::new(format!("{prefix}_U{suffix}"), [state, width]));
        all.push(Parameter::new(format!("{prefix}_b{suffix}"), [1, width]));
    }
}
