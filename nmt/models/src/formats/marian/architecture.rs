//! Conversion of the options in Marian's checkpoints (`neural.md` 1.1, 1.6, 1.7), and of those of
//! our stacked models, to an [`Architecture`]. Unsupported options that change results are rejected
//! by name; options of training are ignored.

use std::collections::BTreeMap;
use std::path::Path;

use crate::architecture::{
    Activation, Architecture, AutoregressionConfig, AverageAttentionConfig, CellKind, DecoderStart,
    Dialect, EmbeddingConfig, EncoderKind, LayerNormStyle, MAX_DEPTH, Model,
    PositionalEncodingKind, PreNormKeys, ProcessStep, ProcessSteps, RecurrentConfig,
    RecurrentDecoderConfig, RecurrentEncoderConfig, RecurrentSublayerConfig, SruKind,
    StackedConfig, TopLayerConfig, TransformerConfig, TransformerStackConfig, check_range,
};
use crate::checkpoint::{Checkpoint, Tensor};
use crate::formats::nematus;
use crate::yaml::Value;
use crate::{Error, Result};

/// Marian's epsilon in the layer norms of transformers.
pub(super) const NORM_EPSILON: f32 = 1e-6;
/// Our own option, which Marian ignores: the input of keys and values in a model with pre-norm. It
/// is written only where no version of Marian decodes with this input, so its only value is
/// [`NORMALIZED`].
pub(super) const PRE_NORM_KEYS: &str = "miriam-pre-norm-keys";
/// The input of keys and values is normalised at every step, as in training.
pub(super) const NORMALIZED: &str = "normalized";

/// Returns the model of a checkpoint of Marian, Nematus or Amun. `external_options` are used if the
/// checkpoint has none.
///
/// # Errors
/// If the model has a feature that is not supported, its options are malformed, or a parameter is
/// missing or has the wrong shape.
pub fn resolve(mut checkpoint: Checkpoint, external_options: Option<&Value>) -> Result<Model> {
    let path = checkpoint.path().to_owned();
    let multipliers = checkpoint.activation_multipliers().clone();
    let embedded_options = match checkpoint.options() {
        Some(text) => Some(Value::parse(text, &format!("{}: its options", path.display()))?),
        None => None,
    };
    let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
    let mut tensors: BTreeMap<String, Tensor> = names
        .into_iter()
        .filter_map(|name| checkpoint.take(&name).map(|tensor| (name, tensor)))
        .collect();
    let options = embedded_options.as_ref().or(external_options);
    let options = match options.filter(|options| options.get("type").is_some()) {
        Some(options) => Options { value: options.clone(), path: &path },
        None if nematus::has_nematus_names(&tensors) => {
            Options { value: nematus::infer_options(&tensors), path: &path }
        }
        None => {
            let reason = "its options (special:model.yml) are missing or have no type, and its parameters \
                          do not have Nematus' names, so that its architecture is unknown";
            return Err(Error::unsupported(&path, reason));
        }
    };
    let kind = options.text("type", "")?;
    if matches!(&kind[..], "amun" | "nematus") {
        tensors = nematus::rename_to_marian(tensors);
    }
    let architecture = read_architecture(&options, &kind, &|_, name: &str| match tensors
        .get(name)
        .map(Tensor::shape)
    {
        Some(&[rows, _]) => Some(rows),
        _ => None,
    })?;
    Model::new(architecture, tensors, multipliers, &path)
}

/// Returns the architecture that Marian's options describe, with vocabularies of these sizes,
/// source first. Training begins with this architecture.
///
/// # Errors
/// If an option is malformed, asks for an unsupported feature, or does not fit the others.
pub fn from_options(options: &Value, vocab_sizes: [usize; 2]) -> Result<Architecture> {
    let path = Path::new("options of the model");
    let options = Options { value: options.clone(), path };
    let kind = options.text("type", "amun")?;
    let architecture =
        read_architecture(&options, &kind, &|side, _| vocab_sizes.get(side).copied())?;
    architecture.validate().map_err(|reason| Error::mismatch(path, "architecture", reason))?;
    Ok(architecture)
}

/// Returns the architecture of a model of the type `kind`. `table_rows` is that of
/// [`read_embeddings`].
fn read_architecture(
    options: &Options,
    kind: &str,
    table_rows: &dyn Fn(usize, &str) -> Option<usize>,
) -> Result<Architecture> {
    match kind {
        "transformer" | "s2s" | "amun" | "nematus" | "stacked" | "lm" | "lm-transformer" => {}
        _ => {
            let reason = format!(
                "a model of type {kind} is not supported; supported are transformer, s2s, amun, nematus, \
                 stacked, lm and lm-transformer"
            );
            return Err(options.unsupported(reason));
        }
    }
    check_supported(options)?;
    if !is_language_model(kind) {
        check_range("enc-depth", options.number("enc-depth", 1)?, MAX_DEPTH)
            .map_err(|reason| Error::mismatch(options.path, "options", reason))?;
    }
    let embeddings = read_embeddings(options, !is_language_model(kind), table_rows)?;
    Ok(match kind {
        "transformer" => Architecture::Transformer(read_transformer(options, embeddings)?),
        "lm-transformer" => {
            let transformer = read_transformer(options, embeddings)?;
            let encoder = TransformerStackConfig { depth: 0, ..transformer.decoder.clone() };
            Architecture::Transformer(TransformerConfig { encoder, ..transformer })
        }
        "stacked" => Architecture::Stacked(read_stacked(options, embeddings)?),
        _ => Architecture::Recurrent(read_recurrent(options, kind, embeddings)?),
    })
}

/// Whether models of Marian's type `kind` are language models: the decoder of `s2s` or
/// `transformer` without an encoder.
pub fn is_language_model(kind: &str) -> bool {
    matches!(kind, "lm" | "lm-transformer")
}

fn check_supported(options: &Options) -> Result<()> {
    for name in [
        "ulr",
        "transformer-pool",
        "transformer-no-bias",
        "transformer-no-affine",
        "transformer-alibi",
        "lsh-output",
        "char-stride",
    ] {
        if options.flag(name, false)? {
            return Err(
                options.unsupported(format!("it was made with {name}, which is not supported"))
            );
        }
    }
    for name in ["lemma-dim-emb", "factors-dim-emb"] {
        if options.number(name, 0)? != 0 {
            let reason = format!("it has factored vocabularies ({name}), which are not supported");
            return Err(options.unsupported(reason));
        }
    }
    let inputs = options.value.get("input-types").map_or(&[][..], Value::items);
    if let Some(other) = inputs.iter().find(|kind| kind.as_str() != Some("sequence")) {
        let reason = match other.as_str() {
            Some(kind) => format!("an input of type {kind} is not supported"),
            None => "an item of input-types is not a text".into(),
        };
        return Err(options.unsupported(reason));
    }
    Ok(())
}

/// Reads the options of embeddings. `table_rows` gives the number of rows of a table by its side (0
/// is the source, 1 the target) and its name. Without a source, the vocabulary of the target counts
/// as that of the source too.
fn read_embeddings(
    options: &Options,
    has_source: bool,
    table_rows: &dyn Fn(usize, &str) -> Option<usize>,
) -> Result<EmbeddingConfig> {
    let ties_all = options.flag("tied-embeddings-all", false)?;
    let mut embeddings = EmbeddingConfig {
        source_vocab_size: 0,
        target_vocab_size: 0,
        dim: options.number("dim-emb", 512)?,
        shared: ties_all || options.flag("tied-embeddings-src", false)?,
        tied_output: ties_all || options.flag("tied-embeddings", false)?,
        output_bias: !options.flag("output-omit-bias", false)?,
        right_to_left: options.flag("right-left", false)?,
        suppress_tokens: Vec::new(),
    };
    let rows = |side: usize, name: &str| {
        table_rows(side, name).ok_or_else(|| {
            Error::mismatch(options.path, name, "the table of embeddings is missing")
        })
    };
    embeddings.target_vocab_size = rows(1, embeddings.decoder_table_name())?;
    embeddings.source_vocab_size = if has_source {
        rows(0, embeddings.encoder_table_name())?
    } else {
        embeddings.target_vocab_size
    };
    let dim_vocabs = options.value.get("dim-vocabs").map_or(&[][..], Value::items);
    if dim_vocabs.len() > 2 {
        return Err(options.unsupported("it has more than one source, which is not supported"));
    }
    for (expected, found) in
        dim_vocabs.iter().zip([embeddings.source_vocab_size, embeddings.target_vocab_size])
    {
        let number = expected.as_str().and_then(|text| text.parse::<usize>().ok());
        if number.is_none_or(|number| number != 0 && number != found) {
            let reason = format!("expected {expected:?} words, the table has {found}");
            return Err(Error::mismatch(options.path, "dim-vocabs", reason));
        }
    }
    Ok(embeddings)
}

fn read_transformer(options: &Options, embeddings: EmbeddingConfig) -> Result<TransformerConfig> {
    let version = options.text("version", "")?;
    let dialect = Dialect::from_version(&version);
    let heads = options.number("transformer-heads", 8)?;
    let ffn_width = options.number("transformer-dim-ffn", 2048)?;
    let ffn_depth = options.number("transformer-ffn-depth", 2)?;
    // 0 means: as in the encoder.
    let decoder_number =
        |name, encoder| options.number(name, 0).map(|own| if own == 0 { encoder } else { own });
    let encoder = TransformerStackConfig {
        depth: options.number("enc-depth", 1)?,
        heads,
        ffn_width,
        ffn_depth,
    };
    let decoder = TransformerStackConfig {
        depth: options.number("dec-depth", 1)?,
        heads,
        ffn_width: decoder_number("transformer-decoder-dim-ffn", ffn_width)?,
        ffn_depth: decoder_number("transformer-decoder-ffn-depth", ffn_depth)?,
    };
    let tied = options.value.get("transformer-tied-layers").map_or(&[][..], Value::items);
    let tied_layers = if tied.is_empty() {
        check_range("dec-depth", decoder.depth, MAX_DEPTH)
            .map_err(|reason| Error::mismatch(options.path, "options", reason))?;
        (1..=decoder.depth).collect()
    } else {
        let numbers = tied.iter().map(|number| number.as_str()?.parse().ok());
        numbers.collect::<Option<_>>().ok_or_else(|| {
            Error::mismatch(options.path, "transformer-tied-layers", "expected a list of numbers")
        })?
    };
    let alignment_layer = match &options.text("transformer-guided-alignment-layer", "last")?[..] {
        "last" => decoder.depth,
        _ => options.number("transformer-guided-alignment-layer", 0)?,
    };
    let no_positions = options.flag("transformer-disable-position-embeddings", false)?;
    Ok(TransformerConfig {
        activation: options.activation("transformer-ffn-activation", dialect)?,
        preprocess: options.process_steps("transformer-preprocess", "")?,
        postprocess: options.process_steps("transformer-postprocess", "dan")?,
        postprocess_embedding: options.process_steps("transformer-postprocess-emb", "d")?,
        postprocess_top: options.process_steps("transformer-postprocess-top", "")?,
        has_output_projection: !options.flag("transformer-no-projection", false)?,
        autoregression: read_autoregression(options, dialect)?,
        positional_encoding: if no_positions {
            PositionalEncodingKind::None
        } else {
            PositionalEncodingKind::SinusoidalMarian
        },
        // Marian scales embeddings only where it adds positions.
        scales_embeddings: !no_positions,
        decoder_start: DecoderStart::ZeroEmbedding,
        pre_norm_keys: match &options.text(PRE_NORM_KEYS, "")?[..] {
            "" => dialect.pre_norm_keys(),
            NORMALIZED => PreNormKeys::Normalized,
            other => {
                return Err(
                    options.unsupported(format!("{PRE_NORM_KEYS} {other} is not supported"))
                );
            }
        },
        alignment_layer,
        alignment_heads: 1,
        norm_epsilon: NORM_EPSILON,
        tied_layers,
        encoder,
        decoder,
        embeddings,
    })
}

fn read_autoregression(options: &Options, dialect: Dialect) -> Result<AutoregressionConfig> {
    let kind = options.text("transformer-decoder-autoreg", "self-attention")?;
    Ok(match &kind[..] {
        "self-attention" => AutoregressionConfig::SelfAttention,
        "average-attention" => AutoregressionConfig::AverageAttention(AverageAttentionConfig {
            ffn_depth: options.number("transformer-aan-depth", 2)?,
            ffn_width: options.number("transformer-dim-aan", 2048)?,
            activation: options.activation("transformer-aan-activation", dialect)?,
            has_gate: !options.flag("transformer-aan-nogate", false)?,
        }),
        "rnn" => AutoregressionConfig::Recurrent(RecurrentSublayerConfig {
            kind: match &options.text("dec-cell", "gru")?[..] {
                "ssru" => SruKind::Ssru,
                "sru" => SruKind::Sru,
                other => {
                    let reason = format!(
                        "a transformer with dec-cell {other} is not supported, only ssru and sru"
                    );
                    return Err(options.unsupported(reason));
                }
            },
            has_output_projection: options.flag("transformer-rnn-projection", false)?,
            has_layer_norm: options.flag("layer-normalization", false)?,
        }),
        other => {
            return Err(options
                .unsupported(format!("transformer-decoder-autoreg {other} is not supported")));
        }
    })
}

fn read_cell(options: &Options, kind: &str, name: &str) -> Result<CellKind> {
    let cell = options.text(name, "gru")?;
    Ok(match (&cell[..], kind) {
        ("gru-nematus", _) | ("gru", "nematus") => CellKind::NematusGru,
        ("gru", _) => CellKind::Gru,
        ("lstm", "s2s" | "lm") => CellKind::Lstm,
        ("mlstm", "s2s" | "lm") => CellKind::Mlstm,
        _ => {
            let reason = format!("{name} {cell} in a model of type {kind} is not supported");
            return Err(options.unsupported(reason));
        }
    })
}

fn read_recurrent(
    options: &Options,
    kind: &str,
    embeddings: EmbeddingConfig,
) -> Result<RecurrentConfig> {
    let style = match kind {
        "nematus" => LayerNormStyle::Nematus,
        _ => LayerNormStyle::Marian,
    };
    let encoder_kind = match &options.text("enc-type", "bidirectional")?[..] {
        "bidirectional" => EncoderKind::Bidirectional,
        "bi-unidirectional" => EncoderKind::BiUnidirectional,
        "alternating" => EncoderKind::Alternating,
        other => return Err(options.unsupported(format!("enc-type {other} is not supported"))),
    };
    let decoder_cell = read_cell(options, kind, "dec-cell")?;
    let encoder = match kind {
        "lm" => RecurrentEncoderConfig {
            kind: EncoderKind::Bidirectional,
            cell: decoder_cell,
            depth: 0,
            cell_depth: 1,
        },
        _ => RecurrentEncoderConfig {
            kind: encoder_kind,
            cell: read_cell(options, kind, "enc-cell")?,
            depth: options.number("enc-depth", 1)?,
            cell_depth: options.number("enc-cell-depth", 1)?,
        },
    };
    Ok(RecurrentConfig {
        state_width: options.number("dim-rnn", 1024)?,
        encoder,
        decoder: RecurrentDecoderConfig {
            cell: decoder_cell,
            depth: options.number("dec-depth", 1)?,
            base_depth: options.number("dec-cell-base-depth", 2)?,
            high_depth: options.number("dec-cell-high-depth", 1)?,
        },
        skip_connections: options.flag("skip", false)?,
        layer_norm_style: options.flag("layer-normalization", false)?.then_some(style),
        embeddings,
    })
}

fn read_stacked(options: &Options, embeddings: EmbeddingConfig) -> Result<StackedConfig> {
    let state_width = options.number("dim-rnn", 1024)?;
    let top_width = options.number("dim-top", state_width)?;
    let top = match &options.text("top", "none")?[..] {
        "none" => TopLayerConfig::None,
        "tanh" => TopLayerConfig::Tanh(top_width),
        "gru" => TopLayerConfig::Gru(top_width),
        other => return Err(options.unsupported(format!("top {other} is not supported"))),
    };
    Ok(StackedConfig {
        encoder_depth: options.number("enc-depth", 1)?,
        encoder_state_width: options.number("dim-enc-rnn", 512)?,
        attention_width: options.number("dim-att", state_width)?,
        fc_depth: options.number("fc-depth", 0)?,
        fc_width: options.number("dim-fc", 768)?,
        state_width,
        top,
        embeddings,
    })
}

/// Typed access to options, with errors that name the option. A missing option has its default.
/// Null has it too, unless a text is expected: an empty scalar is null, but also an empty text.
struct Options<'a> {
    value: Value,
    path: &'a Path,
}

impl Options<'_> {
    fn get<T>(
        &self,
        name: &str,
        default: T,
        read: impl Fn(&Value) -> Option<T>,
        kind: &str,
    ) -> Result<T> {
        match self.value.get(name) {
            None => Ok(default),
            Some(value) if value.is_null() && kind != "a text" => Ok(default),
            Some(value) => read(value).ok_or_else(|| {
                Error::mismatch(self.path, name, format!("expected {kind}, found {value:?}"))
            }),
        }
    }

    fn text(&self, name: &str, default: &str) -> Result<String> {
        self.get(name, default.to_owned(), |value| value.as_str().map(str::to_owned), "a text")
    }

    fn number(&self, name: &str, default: usize) -> Result<usize> {
        self.get(name, default, |value| value.as_str()?.parse().ok(), "a number")
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool> {
        self.get(name, default, Value::as_bool, "true or false")
    }

    fn activation(&self, name: &str, dialect: Dialect) -> Result<Activation> {
        Ok(match &self.text(name, "swish")?[..] {
            "relu" => Activation::Relu,
            "swish" => Activation::Swish,
            "gelu" => Activation::Gelu(dialect.gelu()),
            other => return Err(self.unsupported(format!("{name} {other} is not supported"))),
        })
    }

    /// Reads the letters of processing steps: `d` is dropout, which is ignored, `a` adds the
    /// sublayer's input, and `n` is a norm.
    fn process_steps(&self, name: &str, default: &str) -> Result<ProcessSteps> {
        let mut steps = Vec::new();
        for letter in self.text(name, default)?.chars() {
            let step = match letter {
                'd' => continue,
                'a' => ProcessStep::Add,
                'n' => ProcessStep::Norm,
                _ => {
                    let reason = format!("{name} has a step {letter:?}, which is not supported");
                    return Err(self.unsupported(reason));
                }
            };
            if steps.contains(&step) {
                return Err(self.unsupported(format!("{name} has a step {letter:?} twice")));
            }
            steps.push(step);
        }
        Ok(ProcessSteps(steps))
    }

    fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(self.path, reason)
    }
}
