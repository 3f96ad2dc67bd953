//! Conversion of an [`Architecture`] to Marian's options (`neural.md` 1.1), the inverse of reading
//! them.
//!
//! All options that Marian's own checkpoints need are written, even those at their defaults, which
//! change between versions of Marian. Features without an option are rejected by name: a file that
//! opens and computes something else is worse than an error.
//!
//! Two things are not in an architecture. Dropout, the letter `d` of the processing steps, is
//! written where Marian's defaults have it: after a sublayer and after embeddings; it counts only
//! when Marian trains the model further. The version decides the input of keys and values in
//! pre-norm self-attention and the form of gelu (`neural.md` 1.8): 1.12 or 1.9 is written,
//! whichever computes the same.

use std::collections::BTreeMap;
use std::path::Path;

use super::architecture::{NORM_EPSILON, NORMALIZED, PRE_NORM_KEYS};
use crate::architecture::{
    Activation, Architecture, AutoregressionConfig, CellKind, DecoderStart, Dialect,
    EmbeddingConfig, EncoderKind, Gelu, LayerNormStyle, PositionalEncodingKind, PreNormKeys,
    ProcessStep, ProcessSteps, RecurrentConfig, RecurrentDecoderConfig, RecurrentEncoderConfig,
    SruKind, StackedConfig, TopLayerConfig, TransformerConfig,
};
use crate::{Error, Result};

/// Returns Marian's options of a model in YAML, one per line and sorted. `path` names their file in
/// errors.
///
/// # Errors
/// [`Error::Mismatch`] if the architecture is not valid, [`Error::Unsupported`] if it has a
/// feature that Marian has no option for.
pub fn marian_options(architecture: &Architecture, path: &Path) -> Result<String> {
    architecture.validate().map_err(|reason| Error::mismatch(path, "architecture", reason))?;
    let mut options = OptionsWriter { lines: BTreeMap::new() };
    let has_source = architecture.has_source();
    let written = options.add_embeddings(architecture.embeddings(), has_source).and_then(|()| {
        let version = match architecture {
            Architecture::Transformer(transformer) => options.add_transformer(transformer)?,
            Architecture::Recurrent(recurrent) => {
                options.add_recurrent(recurrent)?;
                Dialect::Marian
            }
            Architecture::Stacked(stacked) => {
                options.add_stacked(stacked);
                Dialect::Marian
            }
        };
        options.add_text("version", version.written_version());
        Ok(())
    });
    written.map_err(|what| {
        let reason = format!(
            "Marian has no option for {what}; miriam nmt convert without --to writes this model"
        );
        Error::unsupported(path, reason)
    })?;
    Ok(options.lines.into_iter().map(|(name, value)| format!("{name}: {value}\n")).collect())
}

impl Dialect {
    /// Returns the version of Marian for files of this dialect.
    fn written_version(self) -> &'static str {
        match self {
            Dialect::Marian => "v1.12.0 miriam",
            Dialect::Browser => "v1.9.0 miriam",
        }
    }
}

/// Options by name. The errors of its functions name the feature that Marian has no option for.
struct OptionsWriter {
    /// Values as YAML.
    lines: BTreeMap<&'static str, String>,
}

impl OptionsWriter {
    fn add_text(&mut self, name: &'static str, text: &str) {
        let value = if text.is_empty() { "''".to_owned() } else { text.to_owned() };
        self.lines.insert(name, value);
    }

    fn add_number(&mut self, name: &'static str, number: usize) {
        self.lines.insert(name, number.to_string());
    }

    fn add_flag(&mut self, name: &'static str, flag: bool) {
        self.lines.insert(name, flag.to_string());
    }

    fn add_numbers(&mut self, name: &'static str, numbers: &[usize]) {
        self.lines.insert(name, format!("{numbers:?}"));
    }

    /// Adds the sizes of the vocabularies, only one if there is no source, and the options of
    /// embedding tables.
    fn add_embeddings(
        &mut self,
        embeddings: &EmbeddingConfig,
        has_source: bool,
    ) -> Result<(), String> {
        let EmbeddingConfig {
            source_vocab_size,
            target_vocab_size,
            dim,
            shared,
            tied_output,
            output_bias,
            right_to_left,
            suppress_tokens,
        } = embeddings;
        if !suppress_tokens.is_empty() {
            return Err(format!("tokens that are never generated ({suppress_tokens:?})"));
        }
        let vocab_sizes = [*source_vocab_size, *target_vocab_size];
        self.add_numbers("dim-vocabs", &vocab_sizes[usize::from(!has_source)..]);
        self.add_number("dim-emb", *dim);
        self.add_flag("tied-embeddings-all", *shared && *tied_output);
        self.add_flag("tied-embeddings-src", *shared && !tied_output);
        self.add_flag("tied-embeddings", !shared && *tied_output);
        self.add_flag("output-omit-bias", !output_bias);
        self.add_flag("right-left", *right_to_left);
        Ok(())
    }

    /// Adds the options of a transformer and returns the dialect that computes it.
    fn add_transformer(&mut self, transformer: &TransformerConfig) -> Result<Dialect, String> {
        let TransformerConfig {
            embeddings: _,
            encoder,
            decoder,
            tied_layers,
            activation,
            preprocess,
            postprocess,
            postprocess_embedding,
            postprocess_top,
            has_output_projection,
            autoregression,
            positional_encoding,
            scales_embeddings,
            decoder_start,
            pre_norm_keys,
            alignment_layer,
            alignment_heads,
            norm_epsilon,
        } = transformer;
        if encoder.heads != decoder.heads {
            let (encoder, decoder) = (encoder.heads, decoder.heads);
            return Err(format!("{encoder} heads in the encoder and {decoder} in the decoder"));
        }
        let has_positions = *positional_encoding != PositionalEncodingKind::None;
        if *scales_embeddings != has_positions {
            return Err(if has_positions {
                "embeddings that are not scaled".into()
            } else {
                "scaled embeddings without positions".into()
            });
        }
        if let DecoderStart::Token(id) = decoder_start {
            return Err(format!("decoding that starts with token {id}"));
        }
        if *alignment_heads != 1 {
            return Err(format!("alignments that average {alignment_heads} heads"));
        }
        if *norm_epsilon != NORM_EPSILON {
            return Err(format!("an epsilon of {norm_epsilon} in layer norms"));
        }
        if transformer.has_source() {
            self.add_text("type", "transformer");
            self.add_number("enc-depth", encoder.depth);
        } else {
            self.add_text("type", "lm-transformer");
        }
        self.add_number("dec-depth", decoder.depth);
        self.add_number("transformer-heads", encoder.heads);
        self.add_number("transformer-dim-ffn", encoder.ffn_width);
        self.add_number("transformer-ffn-depth", encoder.ffn_depth);
        // 0 means the same as in the encoder.
        fn differing(decoder: usize, encoder: usize) -> usize {
            if decoder == encoder { 0 } else { decoder }
        }
        let ffn_width = differing(decoder.ffn_width, encoder.ffn_width);
        let ffn_depth = differing(decoder.ffn_depth, encoder.ffn_depth);
        self.add_number("transformer-decoder-dim-ffn", ffn_width);
        self.add_number("transformer-decoder-ffn-depth", ffn_depth);
        let own_layers = tied_layers.iter().copied().eq(1..=decoder.depth);
        self.add_numbers("transformer-tied-layers", if own_layers { &[] } else { tied_layers });
        let mut gelus = vec![self.add_activation("transformer-ffn-activation", *activation)?];
        let steps = [preprocess, postprocess, postprocess_embedding, postprocess_top];
        if steps.into_iter().any(|steps| steps.norm() == Some(ProcessStep::RmsNorm)) {
            return Err("RMS norm".into());
        }
        self.add_text("transformer-preprocess", &step_letters(preprocess));
        let steps = step_letters(postprocess);
        let dropout = if steps.is_empty() { "" } else { "d" };
        self.add_text("transformer-postprocess", &format!("{dropout}{steps}"));
        let embedding_steps = format!("d{}", step_letters(postprocess_embedding));
        self.add_text("transformer-postprocess-emb", &embedding_steps);
        self.add_text("transformer-postprocess-top", &step_letters(postprocess_top));
        self.add_flag("transformer-no-projection", !has_output_projection);
        let no_positions = match positional_encoding {
            PositionalEncodingKind::None => true,
            PositionalEncodingKind::SinusoidalMarian => false,
            PositionalEncodingKind::Sinusoidal => {
                return Err("Hugging Face's positional encodings".into());
            }
            PositionalEncodingKind::Table { .. } => {
                return Err("a table of positional encodings".into());
            }
            PositionalEncodingKind::SinusoidalFromOne
            | PositionalEncodingKind::SinusoidalFromTwo => {
                let first = positional_encoding.first_position();
                return Err(format!("positions that begin at {first}"));
            }
            PositionalEncodingKind::RelativeVectors { .. }
            | PositionalEncodingKind::RelativeBias(_) => {
                return Err("relative positions".into());
            }
        };
        self.add_flag("transformer-disable-position-embeddings", no_positions);
        match alignment_layer {
            layer if *layer == decoder.depth => {
                self.add_text("transformer-guided-alignment-layer", "last");
            }
            layer => self.add_number("transformer-guided-alignment-layer", *layer),
        }
        gelus.push(self.add_autoregression(autoregression)?);
        let keys = preprocess.has_norm().then_some(*pre_norm_keys);
        self.choose_dialect(keys, gelus.into_iter().flatten())
    }

    /// Adds the decoder's sublayer over previous positions; returns its form of gelu, if it has
    /// one.
    fn add_autoregression(
        &mut self,
        config: &AutoregressionConfig,
    ) -> Result<Option<Gelu>, String> {
        match config {
            AutoregressionConfig::SelfAttention => {
                self.add_text("transformer-decoder-autoreg", "self-attention");
                Ok(None)
            }
            AutoregressionConfig::AverageAttention(average) => {
                self.add_text("transformer-decoder-autoreg", "average-attention");
                self.add_number("transformer-aan-depth", average.ffn_depth);
                self.add_number("transformer-dim-aan", average.ffn_width);
                self.add_flag("transformer-aan-nogate", !average.has_gate);
                self.add_activation("transformer-aan-activation", average.activation)
            }
            AutoregressionConfig::Recurrent(sublayer) => {
                self.add_text("transformer-decoder-autoreg", "rnn");
                let cell = match sublayer.kind {
                    SruKind::Ssru => "ssru",
                    SruKind::Sru => "sru",
                };
                self.add_text("dec-cell", cell);
                self.add_flag("transformer-rnn-projection", sublayer.has_output_projection);
                self.add_flag("layer-normalization", sublayer.has_layer_norm);
                Ok(None)
            }
        }
    }

    /// Adds an activation function; returns its form of gelu, if it is one.
    fn add_activation(
        &mut self,
        name: &'static str,
        activation: Activation,
    ) -> Result<Option<Gelu>, String> {
        let (text, gelu) = match activation {
            Activation::Relu => ("relu", None),
            Activation::Swish => ("swish", None),
            Activation::Gelu(Gelu::Tanh) => return Err("gelu by the hyperbolic tangent".into()),
            Activation::Gelu(gelu) => ("gelu", Some(gelu)),
            Activation::GatedRelu | Activation::GatedSwish | Activation::GatedGelu(_) => {
                return Err("gated feed-forward layers".into());
            }
        };
        self.add_text(name, text);
        Ok(gelu)
    }

    /// Returns the dialect that has these forms of gelu and, in a model with pre-norm, these keys.
    /// Adds [`PRE_NORM_KEYS`] if neither dialect decodes with the keys.
    fn choose_dialect(
        &mut self,
        keys: Option<PreNormKeys>,
        gelus: impl Iterator<Item = Gelu>,
    ) -> Result<Dialect, String> {
        let key_version = keys.map(|keys| match keys {
            PreNormKeys::Raw => Dialect::Browser,
            PreNormKeys::NormalizedAtFirstStep | PreNormKeys::Normalized => Dialect::Marian,
        });
        let gelu_version = gelus.map(|gelu| match gelu {
            Gelu::Sigmoid => Dialect::Browser,
            Gelu::Exact | Gelu::Tanh => Dialect::Marian,
        });
        let mut needed = key_version.into_iter().chain(gelu_version);
        let dialect = needed.next().unwrap_or(Dialect::Marian);
        if needed.any(|other| other != dialect) {
            return Err("gelu or pre-norm keys of two versions of Marian in one model".into());
        }
        if keys == Some(PreNormKeys::Normalized) {
            self.add_text(PRE_NORM_KEYS, NORMALIZED);
        }
        Ok(dialect)
    }

    fn add_recurrent(&mut self, recurrent: &RecurrentConfig) -> Result<(), String> {
        let RecurrentConfig {
            embeddings: _,
            state_width,
            encoder,
            decoder,
            skip_connections,
            layer_norm_style,
        } = recurrent;
        // Only `nematus` has these norms, and Marian rejects deep models of that type.
        let is_nematus = *layer_norm_style == Some(LayerNormStyle::Nematus);
        let is_shallow = recurrent.has_source()
            && encoder.kind == EncoderKind::Bidirectional
            && [encoder.depth, decoder.depth, decoder.high_depth] == [1; 3]
            && !skip_connections;
        let cells = [encoder.cell, decoder.cell];
        if is_nematus && !(is_shallow && cells == [CellKind::NematusGru; 2]) {
            return Err("Nematus' layer norms outside of its one architecture".into());
        }
        self.add_number("dim-rnn", *state_width);
        if recurrent.has_source() {
            self.add_text("type", if is_nematus { "nematus" } else { "s2s" });
            self.add_recurrent_encoder(encoder);
        } else {
            self.add_text("type", "lm");
        }
        let RecurrentDecoderConfig { cell, depth, base_depth, high_depth } = decoder;
        self.add_text("dec-cell", cell_name(*cell));
        self.add_number("dec-depth", *depth);
        self.add_number("dec-cell-base-depth", *base_depth);
        self.add_number("dec-cell-high-depth", *high_depth);
        self.add_flag("skip", *skip_connections);
        self.add_flag("layer-normalization", layer_norm_style.is_some());
        Ok(())
    }

    fn add_recurrent_encoder(&mut self, encoder: &RecurrentEncoderConfig) {
        let RecurrentEncoderConfig { kind, cell, depth, cell_depth } = encoder;
        let kind = match kind {
            EncoderKind::Bidirectional => "bidirectional",
            EncoderKind::BiUnidirectional => "bi-unidirectional",
            EncoderKind::Alternating => "alternating",
        };
        self.add_text("enc-type", kind);
        self.add_text("enc-cell", cell_name(*cell));
        self.add_number("enc-depth", *depth);
        self.add_number("enc-cell-depth", *cell_depth);
    }

    fn add_stacked(&mut self, stacked: &StackedConfig) {
        let StackedConfig {
            embeddings: _,
            encoder_depth,
            encoder_state_width,
            state_width,
            attention_width,
            fc_depth,
            fc_width,
            top,
        } = stacked;
        self.add_text("type", "stacked");
        self.add_number("enc-depth", *encoder_depth);
        self.add_number("dim-enc-rnn", *encoder_state_width);
        self.add_number("dim-rnn", *state_width);
        self.add_number("dim-att", *attention_width);
        self.add_number("fc-depth", *fc_depth);
        self.add_number("dim-fc", *fc_width);
        let (top, width) = match *top {
            TopLayerConfig::None => ("none", None),
            TopLayerConfig::Tanh(width) => ("tanh", Some(width)),
            TopLayerConfig::Gru(width) => ("gru", Some(width)),
        };
        self.add_text("top", top);
        if let Some(width) = width {
            self.add_number("dim-top", width);
        }
    }
}

/// Returns the letters of processing steps, without dropout.
fn step_letters(steps: &ProcessSteps) -> String {
    steps
        .0
        .iter()
        .map(|step| match step {
            ProcessStep::Add => 'a',
            ProcessStep::Norm | ProcessStep::RmsNorm => 'n',
        })
        .collect()
}

fn cell_name(cell: CellKind) -> &'static str {
    match cell {
        CellKind::Gru => "gru",
        CellKind::NematusGru => "gru-nematus",
        CellKind::Lstm => "lstm",
        CellKind::Mlstm => "mlstm",
    }
}
