//! Recurrent models with attention (`neural.md` 1.7): Marian's `s2s`, Amun's and
//! Nematus' models, which differ in parameter names and in the place of layer norms.

use serde::{Deserialize, Serialize};

use super::{EmbeddingConfig, MAX_DEPTH, MAX_WIDTH, ParameterSpec, check_range};

/// The configuration of a recurrent model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecurrentConfig {
    /// Vocabulary sizes, embeddings and output layer.
    pub embeddings: EmbeddingConfig,
    /// Width of the states of all cells.
    pub state_width: usize,
    /// The encoder; it has no layers in a language model.
    pub encoder: RecurrentEncoderConfig,
    /// The decoder.
    pub decoder: RecurrentDecoderConfig,
    /// Whether layers from the second on have a residual connection.
    pub skip_connections: bool,
    /// The layer norms outside of cells; `None` if the model has no layer norms.
    pub layer_norm_style: Option<LayerNormStyle>,
}

/// The configuration of the encoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecurrentEncoderConfig {
    /// The directions of its layers.
    pub kind: EncoderKind,
    /// The cell of its layers.
    pub cell: CellKind,
    /// The number of layers.
    pub depth: usize,
    /// The number of cells of a layer; those after the first are transitions without input.
    pub cell_depth: usize,
}

/// The directions of the layers of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EncoderKind {
    /// Two stacks, one for each direction.
    Bidirectional,
    /// One bidirectional layer, then forward layers.
    BiUnidirectional,
    /// Two stacks whose layers alternate in direction.
    Alternating,
}

/// The configuration of the decoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecurrentDecoderConfig {
    /// The cell of its layers.
    pub cell: CellKind,
    /// The number of layers.
    pub depth: usize,
    /// The number of cells of the first layer: one before attention, one after it, then
    /// transitions. Without a source, all after the first are transitions.
    pub base_depth: usize,
    /// The number of cells of each layer after the first.
    pub high_depth: usize,
}

/// Recurrent cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellKind {
    /// Gated recurrent unit.
    Gru,
    /// GRU with layer norms placed as in Nematus.
    NematusGru,
    /// Long short-term memory; gates in the order forget, input, cell, output.
    Lstm,
    /// Multiplicative LSTM.
    Mlstm,
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            CellKind::Gru => "GRU",
            CellKind::NematusGru => "GRU, Nematus'",
            CellKind::Lstm => "LSTM",
            CellKind::Mlstm => "mLSTM",
        }
    }
}

/// The form of layer norms outside of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LayerNormStyle {
    /// The norm has only a scale, and the bias of the affine layer is added after it; epsilon 1e-9.
    Marian,
    /// The norm has a scale and a bias, and its input includes the bias of the affine layer;
    /// epsilon 1e-5.
    Nematus,
}

impl RecurrentConfig {
    /// Whether there is an encoder, and attention to it; a language model has neither.
    pub fn has_source(&self) -> bool {
        self.encoder.depth > 0
    }

    /// Returns the width of the encoder's output at each position; 0 without an encoder.
    pub fn context_width(&self) -> usize {
        match self.encoder.kind {
            _ if !self.has_source() => 0,
            EncoderKind::BiUnidirectional if self.encoder.depth > 1 => self.state_width,
            _ => 2 * self.state_width,
        }
    }

    /// Returns the names and shapes of all parameters.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        let (e, h) = (self.embeddings.dim, self.state_width);
        let context = self.has_source().then(|| self.context_width());
        let mut all = Vec::new();
        self.embeddings.push_parameters(self.has_source(), "decoder_ff_logit_l2", e, &mut all);
        if let Some(c) = context {
            self.push_encoder(&mut all);
            self.push_affine("decoder_ff_state", "", [c, h], &mut all);
            self.push_attention(c, &mut all);
        }
        let decoder = &self.decoder;
        for j in 1..=decoder.base_depth {
            let input = [Some(e), context].get(j - 1).copied().flatten();
            self.push_cell(&format!("decoder_cell{j}"), decoder.cell, input, &mut all);
        }
        for i in 2..=decoder.depth {
            for j in 1..=decoder.high_depth {
                let input = (j == 1).then_some(h);
                self.push_cell(&format!("decoder_l{i}_cell{j}"), decoder.cell, input, &mut all);
            }
        }
        for (k, width) in [e, h].into_iter().chain(context).enumerate() {
            self.push_affine("decoder_ff_logit_l1", &k.to_string(), [width, e], &mut all);
        }
        all
    }

    fn push_encoder(&self, all: &mut Vec<ParameterSpec>) {
        let RecurrentEncoderConfig { kind, cell, depth, cell_depth } = self.encoder;
        let bidirectional = if kind == EncoderKind::BiUnidirectional { 1 } else { depth };
        for direction in ["encoder_bi", "encoder_bi_r"] {
            for i in 1..=bidirectional {
                for j in 1..=cell_depth {
                    let layer = if i > 1 { format!("_l{i}") } else { String::new() };
                    let cell_name =
                        if i > 1 || j > 1 { format!("_cell{j}") } else { String::new() };
                    let width = if i > 1 { self.state_width } else { self.embeddings.dim };
                    let input = (j == 1).then_some(width);
                    self.push_cell(&format!("{direction}{layer}{cell_name}"), cell, input, all);
                }
            }
        }
        for i in bidirectional + 1..=depth {
            for j in 1..=cell_depth {
                let width = if i == 2 { 2 * self.state_width } else { self.state_width };
                let input = (j == 1).then_some(width);
                self.push_cell(&format!("encoder_l{i}_cell{j}"), cell, input, all);
            }
        }
    }

    /// Adds the parameters of a cell; a cell without `input` is a transition.
    fn push_cell(
        &self,
        prefix: &str,
        cell: CellKind,
        input: Option<usize>,
        all: &mut Vec<ParameterSpec>,
    ) {
        let h = self.state_width;
        fn add(suffix: &str, shape: [usize; 2], all: &mut Vec<ParameterSpec>, prefix: &str) {
            all.push(ParameterSpec::new(format!("{prefix}_{suffix}"), shape));
        }
        let gates = match cell {
            CellKind::Gru | CellKind::NematusGru => {
                for (name, width) in [("", 2 * h), ("x", h)] {
                    add(&format!("U{name}"), [h, width], all, prefix);
                    add(&format!("b{name}"), [1, width], all, prefix);
                    if let Some(input) = input {
                        add(&format!("W{name}"), [input, width], all, prefix);
                    }
                    for matrix in ["U", "W"] {
                        let exists = matrix == "U" || input.is_some();
                        if cell == CellKind::NematusGru && self.layer_norm_style.is_some() && exists
                        {
                            add(&format!("{matrix}{name}_lns"), [1, width], all, prefix);
                            add(&format!("{matrix}{name}_lnb"), [1, width], all, prefix);
                        }
                    }
                }
                3
            }
            CellKind::Lstm | CellKind::Mlstm => {
                add("U", [h, 4 * h], all, prefix);
                add("b", [1, 4 * h], all, prefix);
                if let Some(input) = input {
                    add("W", [input, 4 * h], all, prefix);
                }
                if let (CellKind::Mlstm, Some(input)) = (cell, input) {
                    add("Wm", [input, h], all, prefix);
                    add("bwm", [1, h], all, prefix);
                    add("Um", [h, h], all, prefix);
                    add("bm", [1, h], all, prefix);
                }
                4
            }
        };
        if self.layer_norm_style.is_some() && cell != CellKind::NematusGru {
            if input.is_some() {
                add("gamma1", [1, gates * h], all, prefix);
            }
            add("gamma2", [1, gates * h], all, prefix);
        }
    }

    /// Adds an affine layer. `index` distinguishes the affine layers of a layer that has several
    /// inputs.
    fn push_affine(
        &self,
        prefix: &str,
        index: &str,
        shape: [usize; 2],
        all: &mut Vec<ParameterSpec>,
    ) {
        let vectors: &[&str] = match self.layer_norm_style {
            None => &["b"],
            Some(LayerNormStyle::Marian) => &["b", "gamma"],
            Some(LayerNormStyle::Nematus) => &["b", "ln_s", "ln_b"],
        };
        all.push(ParameterSpec::new(format!("{prefix}_W{index}"), shape));
        for name in vectors {
            all.push(ParameterSpec::new(format!("{prefix}_{name}{index}"), [1, shape[1]]));
        }
    }

    fn push_attention(&self, context: usize, all: &mut Vec<ParameterSpec>) {
        fn add(name: &str, shape: [usize; 2], all: &mut Vec<ParameterSpec>) {
            all.push(ParameterSpec::new(format!("decoder_{name}"), shape))
        }
        let c = context;
        add("W_comb_att", [self.state_width, c], all);
        add("Wc_att", [c, c], all);
        add("b_att", [1, c], all);
        add("U_att", [c, 1], all);
        let norms: &[&str] = match self.layer_norm_style {
            None => &[],
            Some(LayerNormStyle::Marian) => &["att_gamma1", "att_gamma2"],
            Some(LayerNormStyle::Nematus) => {
                &["Wc_att_lns", "Wc_att_lnb", "W_comb_att_lns", "W_comb_att_lnb"]
            }
        };
        for name in norms {
            add(name, [1, c], all);
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        check_range("width of states", self.state_width, MAX_WIDTH)?;
        if self.has_source() {
            check_range("depth of the encoder", self.encoder.depth, MAX_DEPTH)?;
            check_range("cells of an encoder layer", self.encoder.cell_depth, MAX_DEPTH)?;
        }
        check_range("depth of the decoder", self.decoder.depth, MAX_DEPTH)?;
        check_range("cells of a decoder layer", self.decoder.high_depth, MAX_DEPTH)?;
        let depth = self.decoder.base_depth;
        if !self.has_source() {
            check_range("cells of the first decoder layer", depth, MAX_DEPTH)?;
        } else if !(2..=MAX_DEPTH).contains(&depth) {
            return Err(format!(
                "cells around attention: {depth} is out of range, 2 to {MAX_DEPTH}"
            ));
        }
        let cells = [
            (self.encoder.cell, self.encoder.cell_depth > 1),
            (
                self.decoder.cell,
                self.decoder.base_depth > if self.has_source() { 2 } else { 1 }
                    || self.decoder.depth > 1 && self.decoder.high_depth > 1,
            ),
        ];
        for (cell, transitions) in cells {
            if cell == CellKind::Mlstm && (transitions || self.layer_norm_style.is_some()) {
                return Err("mLSTM with layer norms or transitions is not supported".into());
            }
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> Vec<(&'static str, String)> {
        let (encoder, decoder) = (&self.encoder, &self.decoder);
        if !self.has_source() {
            return self.describe_language_model();
        }
        let kind = match encoder.kind {
            EncoderKind::Bidirectional => "bidirectional",
            EncoderKind::BiUnidirectional => "bidirectional, then forwards",
            EncoderKind::Alternating => "alternating",
        };
        let cells = if encoder.cell == decoder.cell {
            encoder.cell.name().to_owned()
        } else {
            format!("{}; {}", encoder.cell.name(), decoder.cell.name())
        };
        let mut cells_of_a_layer = format!("{} + {}", encoder.cell_depth, decoder.base_depth);
        if decoder.depth > 1 {
            cells_of_a_layer += &format!(", {} above", decoder.high_depth);
        }
        let mut lines = vec![
            ("type", "recurrent".to_owned()),
            ("cells", cells),
            ("layers", format!("{} + {}", encoder.depth, decoder.depth)),
            ("cells of a layer", cells_of_a_layer),
            ("encoder", kind.into()),
            ("state", self.state_width.to_string()),
        ];
        self.describe_connections(&mut lines);
        lines
    }

    fn describe_language_model(&self) -> Vec<(&'static str, String)> {
        let decoder = &self.decoder;
        let above = if decoder.depth > 1 {
            format!(", {} above", decoder.high_depth)
        } else {
            String::new()
        };
        let mut lines = vec![
            ("type", "recurrent language model".to_owned()),
            ("cells", decoder.cell.name().to_owned()),
            ("layers", decoder.depth.to_string()),
            ("cells of a layer", format!("{}{above}", decoder.base_depth)),
            ("state", self.state_width.to_string()),
        ];
        self.describe_connections(&mut lines);
        lines
    }

    fn describe_connections(&self, lines: &mut Vec<(&'static str, String)>) {
        if self.skip_connections {
            lines.push(("skip connections", "yes".into()));
        }
        if let Some(style) = self.layer_norm_style {
            let style = match style {
                LayerNormStyle::Marian => "yes",
                LayerNormStyle::Nematus => "as in Nematus",
            };
            lines.push(("layer norms", style.into()));
        }
    }
}
