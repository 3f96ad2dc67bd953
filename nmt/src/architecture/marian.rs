//! Marian's options (`neural.md` 1.1, 1.6, 1.7), as they lie in its models, turned into
//! the description. Options that change what is computed and are not covered are refused
//! by name; what matters to training only is passed over.

use std::collections::BTreeMap;
use std::path::Path;

use super::nematus;
use super::recurrent::{Cell, Encoder, EncoderKind, LayerNormStyle, Recurrent, RecurrentDecoder};
use super::transformer::{
    Activation, Autoregression, AverageAttention, Gelu, Positions, PreNormKeys, Process,
    RecurrentCell, RecurrentSublayer, Stack, Start, Step, Transformer,
};
use super::{Architecture, Model, Stacked, Tables, Top};
use crate::checkpoint::{Checkpoint, Tensor};
use crate::yaml::Value;
use crate::{Error, Result};

/// Marian's epsilon in the layer norms of transformers.
const NORM_EPSILON: f32 = 1e-6;

/// What engines disagree on for the same file (`neural.md` 1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// As Marian computes since 1.10.
    Marian,
    /// As Marian 1.9 and the fork of the browsers compute.
    Browser,
}

impl Dialect {
    /// The dialect of the version that wrote a model, such as `v1.9.56 a1b2c3 2023`.
    fn of_version(version: &str) -> Self {
        let mut numbers = version.trim_start_matches('v').split(['.', ' ']);
        let mut number = || numbers.next().and_then(|n| n.parse::<u32>().ok());
        match (number(), number()) {
            (Some(major), Some(minor)) if (major, minor) < (1, 10) => Dialect::Browser,
            _ => Dialect::Marian,
        }
    }

    fn gelu(self) -> Gelu {
        match self {
            Dialect::Marian => Gelu::Exact,
            Dialect::Browser => Gelu::Sigmoid,
        }
    }

    fn pre_norm_keys(self) -> PreNormKeys {
        match self {
            Dialect::Marian => PreNormKeys::NormalisedAtFirst,
            Dialect::Browser => PreNormKeys::Raw,
        }
    }
}

impl Architecture {
    /// Makes a Marian model compute as `dialect` does, whatever version wrote it.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        let Architecture::Transformer(transformer) = self else { return };
        transformer.pre_norm_keys = dialect.pre_norm_keys();
        let average = match &mut transformer.autoregression {
            Autoregression::AverageAttention(average) => Some(&mut average.activation),
            _ => None,
        };
        for activation in [Some(&mut transformer.activation), average].into_iter().flatten() {
            if let Activation::Gelu(gelu) = activation {
                *gelu = dialect.gelu();
            }
        }
    }
}

/// The model in a file of Marian, Nematus or Amun. `beside` are the options of a file
/// that has none inside.
pub fn resolve(mut checkpoint: Checkpoint, beside: Option<&Value>) -> Result<Model> {
    let path = checkpoint.path().to_owned();
    let multipliers = checkpoint.activation_multipliers().clone();
    let inside = match checkpoint.options() {
        Some(text) => Some(Value::parse(text, &format!("{}: its options", path.display()))?),
        None => None,
    };
    let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
    let mut tensors: BTreeMap<String, Tensor> = names
        .into_iter()
        .filter_map(|name| checkpoint.take(&name).map(|tensor| (name, tensor)))
        .collect();
    let options = inside.as_ref().or(beside).filter(|options| options.get("type").is_some());
    let options = match options {
        Some(options) => Options { value: options.clone(), path: &path },
        None if nematus::has_its_names(&tensors) => {
            Options { value: nematus::options_of(&tensors), path: &path }
        }
        None => {
            let reason = "it holds no options (special:model.yml), and its parameters are not \
                          named as Nematus' are: this program cannot tell what it is";
            return Err(Error::unsupported(&path, reason));
        }
    };
    let kind = options.text("type", "")?;
    if matches!(&kind[..], "amun" | "nematus") {
        tensors = nematus::rename(tensors);
    }
    let architecture = architecture(&options, &kind, &tensors)?;
    Model::new(architecture, tensors, multipliers, &path)
}

fn architecture(
    options: &Options,
    kind: &str,
    tensors: &BTreeMap<String, Tensor>,
) -> Result<Architecture> {
    match kind {
        "transformer" | "s2s" | "amun" | "nematus" | "stacked" => {}
        _ => {
            let reason = format!(
                "a model of type {kind}; transformer, s2s, amun, nematus and stacked are read"
            );
            return Err(options.refuse(reason));
        }
    }
    refuse_what_is_not_covered(options)?;
    let tables = tables(options, tensors)?;
    Ok(match kind {
        "transformer" => Architecture::Transformer(transformer(options, tables)?),
        "stacked" => Architecture::Stacked(stacked(options, tables)?),
        _ => Architecture::Recurrent(recurrent(options, kind, tables)?),
    })
}

fn refuse_what_is_not_covered(options: &Options) -> Result<()> {
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
            return Err(options.refuse(format!("it was made with {name}, which is not covered")));
        }
    }
    for name in ["lemma-dim-emb", "factors-dim-emb"] {
        if options.number(name, 0)? != 0 {
            let reason = format!("it has factored vocabularies ({name}), which are not covered");
            return Err(options.refuse(reason));
        }
    }
    let inputs = options.value.get("input-types").map_or(&[][..], Value::items);
    if let Some(other) = inputs.iter().find(|kind| kind.text() != Some("sequence")) {
        let reason = format!("an input of type {:?} is not covered", other.text());
        return Err(options.refuse(reason));
    }
    Ok(())
}

fn tables(options: &Options, tensors: &BTreeMap<String, Tensor>) -> Result<Tables> {
    let all = options.flag("tied-embeddings-all", false)?;
    let mut tables = Tables {
        source_words: 0,
        target_words: 0,
        embedding: options.number("dim-emb", 512)?,
        shared_embeddings: all || options.flag("tied-embeddings-src", false)?,
        tied_output: all || options.flag("tied-embeddings", false)?,
        output_bias: !options.flag("output-omit-bias", false)?,
        right_to_left: options.flag("right-left", false)?,
        never: Vec::new(),
    };
    let rows = |name: &str| match tensors.get(name).map(Tensor::shape) {
        Some(&[rows, _]) => Ok(rows),
        _ => Err(Error::mismatch(options.path, name, "the table of embeddings is missing")),
    };
    tables.source_words = rows(tables.encoder_table())?;
    tables.target_words = rows(tables.decoder_table())?;
    let promised = options.value.get("dim-vocabs").map_or(&[][..], Value::items);
    if promised.len() > 2 {
        return Err(options.refuse("it has more than one source, which is not covered"));
    }
    for (promised, found) in promised.iter().zip([tables.source_words, tables.target_words]) {
        let number = promised.text().and_then(|text| text.parse::<usize>().ok());
        if number.is_none_or(|number| number != 0 && number != found) {
            let reason = format!("{promised:?} words promised, the table has {found}");
            return Err(Error::mismatch(options.path, "dim-vocabs", reason));
        }
    }
    Ok(tables)
}

fn transformer(options: &Options, tables: Tables) -> Result<Transformer> {
    let version = options.text("version", "")?;
    let dialect = Dialect::of_version(&version);
    let heads = options.number("transformer-heads", 8)?;
    let ffn_width = options.number("transformer-dim-ffn", 2048)?;
    let ffn_depth = options.number("transformer-ffn-depth", 2)?;
    let or_encoders =
        |name, encoders| options.number(name, 0).map(|own| if own == 0 { encoders } else { own });
    let encoder = Stack { depth: options.number("enc-depth", 1)?, heads, ffn_width, ffn_depth };
    let decoder = Stack {
        depth: options.number("dec-depth", 1)?,
        heads,
        ffn_width: or_encoders("transformer-decoder-dim-ffn", ffn_width)?,
        ffn_depth: or_encoders("transformer-decoder-ffn-depth", ffn_depth)?,
    };
    let tied = options.value.get("transformer-tied-layers").map_or(&[][..], Value::items);
    let tied_layers = if tied.is_empty() {
        super::within("dec-depth", decoder.depth, super::MAX_DEPTH)
            .map_err(|reason| Error::mismatch(options.path, "options", reason))?;
        (1..=decoder.depth).collect()
    } else {
        let numbers = tied.iter().map(|number| number.text()?.parse().ok());
        numbers.collect::<Option<_>>().ok_or_else(|| {
            Error::mismatch(options.path, "transformer-tied-layers", "a list of numbers is needed")
        })?
    };
    let alignment_layer = match &options.text("transformer-guided-alignment-layer", "last")?[..] {
        "last" => decoder.depth,
        _ => options.number("transformer-guided-alignment-layer", 0)?,
    };
    let no_positions = options.flag("transformer-disable-position-embeddings", false)?;
    Ok(Transformer {
        activation: options.activation("transformer-ffn-activation", dialect)?,
        preprocess: options.process("transformer-preprocess", "")?,
        postprocess: options.process("transformer-postprocess", "dan")?,
        postprocess_embedding: options.process("transformer-postprocess-emb", "d")?,
        postprocess_top: options.process("transformer-postprocess-top", "")?,
        projection: !options.flag("transformer-no-projection", false)?,
        autoregression: autoregression(options, dialect)?,
        positions: if no_positions { Positions::None } else { Positions::SinusoidalMarian },
        scaled_embeddings: true,
        start: Start::Zeros,
        pre_norm_keys: dialect.pre_norm_keys(),
        alignment_layer,
        norm_epsilon: NORM_EPSILON,
        tied_layers,
        encoder,
        decoder,
        tables,
    })
}

fn autoregression(options: &Options, dialect: Dialect) -> Result<Autoregression> {
    let kind = options.text("transformer-decoder-autoreg", "self-attention")?;
    Ok(match &kind[..] {
        "self-attention" => Autoregression::SelfAttention,
        "average-attention" => Autoregression::AverageAttention(AverageAttention {
            ffn_depth: options.number("transformer-aan-depth", 2)?,
            ffn_width: options.number("transformer-dim-aan", 2048)?,
            activation: options.activation("transformer-aan-activation", dialect)?,
            gate: !options.flag("transformer-aan-nogate", false)?,
        }),
        "rnn" => Autoregression::Recurrent(RecurrentSublayer {
            cell: match &options.text("dec-cell", "gru")?[..] {
                "ssru" => RecurrentCell::Ssru,
                "sru" => RecurrentCell::Sru,
                other => {
                    let reason =
                        format!("a transformer with dec-cell {other}; ssru and sru are read");
                    return Err(options.refuse(reason));
                }
            },
            projection: options.flag("transformer-rnn-projection", false)?,
            layer_norm: options.flag("layer-normalization", false)?,
        }),
        other => return Err(options.refuse(format!("transformer-decoder-autoreg {other}"))),
    })
}

fn recurrent(options: &Options, kind: &str, tables: Tables) -> Result<Recurrent> {
    let cell = |name: &str| {
        let cell = options.text(name, "gru")?;
        Ok(match (&cell[..], kind) {
            ("gru-nematus", _) | ("gru", "nematus") => Cell::NematusGru,
            ("gru", _) => Cell::Gru,
            ("lstm", "s2s") => Cell::Lstm,
            ("mlstm", "s2s") => Cell::Mlstm,
            _ => {
                let reason = format!("{name} {cell} in a model of type {kind} is not covered");
                return Err(options.refuse(reason));
            }
        })
    };
    let style = match kind {
        "nematus" => LayerNormStyle::Nematus,
        _ => LayerNormStyle::Marian,
    };
    let encoder_kind = match &options.text("enc-type", "bidirectional")?[..] {
        "bidirectional" => EncoderKind::Bidirectional,
        "bi-unidirectional" => EncoderKind::BiUnidirectional,
        "alternating" => EncoderKind::Alternating,
        other => return Err(options.refuse(format!("enc-type {other} is not covered"))),
    };
    Ok(Recurrent {
        state: options.number("dim-rnn", 1024)?,
        encoder: Encoder {
            kind: encoder_kind,
            cell: cell("enc-cell")?,
            depth: options.number("enc-depth", 1)?,
            cell_depth: options.number("enc-cell-depth", 1)?,
        },
        decoder: RecurrentDecoder {
            cell: cell("dec-cell")?,
            depth: options.number("dec-depth", 1)?,
            base_depth: options.number("dec-cell-base-depth", 2)?,
            high_depth: options.number("dec-cell-high-depth", 1)?,
        },
        skip: options.flag("skip", false)?,
        layer_norm: options.flag("layer-normalization", false)?.then_some(style),
        tables,
    })
}

fn stacked(options: &Options, tables: Tables) -> Result<Stacked> {
    let state = options.number("dim-rnn", 1024)?;
    let width = options.number("dim-top", state)?;
    let top = match &options.text("top", "none")?[..] {
        "none" => Top::None,
        "tanh" => Top::Tanh(width),
        "gru" => Top::Gru(width),
        other => return Err(options.refuse(format!("top {other} is not covered"))),
    };
    Ok(Stacked {
        encoder_depth: options.number("enc-depth", 1)?,
        encoder_state: options.number("dim-enc-rnn", 512)?,
        attention: options.number("dim-att", state)?,
        depth: options.number("fc-depth", 0)?,
        width: options.number("dim-fc", 768)?,
        state,
        top,
        tables,
    })
}

/// Options with their names in messages.
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
                Error::mismatch(self.path, name, format!("{value:?} where {kind} is needed"))
            }),
        }
    }

    fn text(&self, name: &str, default: &str) -> Result<String> {
        self.get(name, default.to_owned(), |value| value.text().map(str::to_owned), "a text")
    }

    fn number(&self, name: &str, default: usize) -> Result<usize> {
        self.get(name, default, |value| value.text()?.parse().ok(), "a number")
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool> {
        self.get(name, default, Value::flag, "true or false")
    }

    fn activation(&self, name: &str, dialect: Dialect) -> Result<Activation> {
        Ok(match &self.text(name, "swish")?[..] {
            "relu" => Activation::Relu,
            "swish" => Activation::Swish,
            "gelu" => Activation::Gelu(dialect.gelu()),
            other => return Err(self.refuse(format!("{name} {other} is not covered"))),
        })
    }

    /// Letters: `d` dropout, which does nothing here, `a` add, `n` norm.
    fn process(&self, name: &str, default: &str) -> Result<Process> {
        let mut steps = Vec::new();
        for letter in self.text(name, default)?.chars() {
            let step = match letter {
                'd' => continue,
                'a' => Step::Add,
                'n' => Step::Norm,
                _ => {
                    let reason = format!("{name} has a step {letter:?}, which is not covered");
                    return Err(self.refuse(reason));
                }
            };
            if steps.contains(&step) {
                return Err(self.refuse(format!("{name} has a step {letter:?} twice")));
            }
            steps.push(step);
        }
        Ok(Process(steps))
    }

    fn refuse(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(self.path, reason)
    }
}
