//! Models written in Marian's format are the same when opened again, and Marian translates with
//! them. The test with Marian needs a Python with `pymarian` (`MIRIAM_PYMARIAN_PYTHON`).

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::{
    Activation, Architecture, AutoregressionConfig, AverageAttentionConfig, CellKind, DecoderStart,
    EmbeddingConfig, EncoderKind, Gelu, LayerNormStyle, Model, ParameterSpec,
    PositionalEncodingKind, PreNormKeys, ProcessStep, ProcessSteps, RecurrentConfig,
    RecurrentDecoderConfig, RecurrentEncoderConfig, RecurrentSublayerConfig, SruKind,
    StackedConfig, TopLayerConfig, TransformerConfig, TransformerStackConfig,
};
use miriam_nmt::checkpoint::Checkpoint;
use miriam_nmt::formats::marian::{marian_options, write_marian_model};
use miriam_storage::LoadMethod;
use miriam_storage::random::SplitMix64;
use proptest::prelude::*;

use crate::oracle_data::{ORACLE_MODELS, oracle_folder};

const DIM: usize = 8;

fn any_embeddings() -> impl Strategy<Value = EmbeddingConfig> {
    (any::<[bool; 4]>(), 1usize..9, 1usize..9).prop_map(|(flags, source, target)| {
        let [shared, tied_output, output_bias, right_to_left] = flags;
        EmbeddingConfig {
            source_vocab_size: source,
            target_vocab_size: if shared { source } else { target },
            dim: DIM,
            shared,
            tied_output,
            output_bias,
            right_to_left,
            suppress_tokens: Vec::new(),
        }
    })
}

/// The kinds of pre-norm keys and of GELU in one version of Marian.
#[derive(Clone, Copy, Debug)]
struct VersionParts {
    keys: PreNormKeys,
    gelu: Gelu,
}

fn any_version() -> impl Strategy<Value = VersionParts> {
    prop::sample::select(vec![
        VersionParts { keys: PreNormKeys::Raw, gelu: Gelu::Sigmoid },
        VersionParts { keys: PreNormKeys::NormalizedAtFirstStep, gelu: Gelu::Exact },
        VersionParts { keys: PreNormKeys::Normalized, gelu: Gelu::Exact },
    ])
}

fn any_activation(gelu: Gelu) -> impl Strategy<Value = Activation> {
    prop::sample::select(vec![Activation::Relu, Activation::Swish, Activation::Gelu(gelu)])
}

fn any_steps() -> impl Strategy<Value = ProcessSteps> {
    use ProcessStep::{Add, Norm};
    let all = [&[][..], &[Add], &[Norm], &[Add, Norm], &[Norm, Add]];
    prop::sample::select(all.map(|steps| ProcessSteps(steps.to_vec())).to_vec())
}

fn any_autoregression(gelu: Gelu) -> impl Strategy<Value = AutoregressionConfig> {
    let average = (1usize..4, 5usize..9, any_activation(gelu), any::<bool>());
    let recurrent = (any::<[bool; 2]>(), prop::sample::select(vec![SruKind::Ssru, SruKind::Sru]));
    prop_oneof![
        Just(AutoregressionConfig::SelfAttention),
        average.prop_map(|(ffn_depth, ffn_width, activation, has_gate)| {
            let config = AverageAttentionConfig { ffn_depth, ffn_width, activation, has_gate };
            AutoregressionConfig::AverageAttention(config)
        }),
        recurrent.prop_map(|([has_output_projection, has_layer_norm], kind)| {
            let config = RecurrentSublayerConfig { kind, has_output_projection, has_layer_norm };
            AutoregressionConfig::Recurrent(config)
        }),
    ]
}

fn any_stacks() -> impl Strategy<Value = [TransformerStackConfig; 2]> {
    let numbers = (1usize..4, 5usize..9, 2usize..4);
    (prop::sample::select(vec![1, 2, 4, 8]), [numbers.clone(), numbers]).prop_map(
        |(heads, stacks)| {
            stacks.map(|(depth, ffn_width, ffn_depth)| TransformerStackConfig {
                depth,
                heads,
                ffn_width,
                ffn_depth,
            })
        },
    )
}

/// Language models that Marian has options for: decoders of one vocabulary.
fn any_language_model() -> impl Strategy<Value = Architecture> {
    fn one_vocabulary(embeddings: EmbeddingConfig) -> EmbeddingConfig {
        EmbeddingConfig { source_vocab_size: embeddings.target_vocab_size, ..embeddings }
    }
    let transformers = any_transformer().prop_map(|transformer| {
        Architecture::Transformer(TransformerConfig {
            embeddings: one_vocabulary(transformer.embeddings),
            encoder: TransformerStackConfig { depth: 0, ..transformer.decoder.clone() },
            ..transformer
        })
    });
    let recurrent = any_recurrent().prop_map(|recurrent| {
        Architecture::Recurrent(RecurrentConfig {
            embeddings: one_vocabulary(recurrent.embeddings),
            encoder: RecurrentEncoderConfig {
                kind: EncoderKind::Bidirectional,
                cell: recurrent.decoder.cell,
                depth: 0,
                cell_depth: 1,
            },
            layer_norm_style: recurrent.layer_norm_style.map(|_| LayerNormStyle::Marian),
            ..recurrent
        })
    });
    prop_oneof![transformers, recurrent]
}

/// Transformers that Marian has options for.
fn any_transformer() -> impl Strategy<Value = TransformerConfig> {
    let any_blocks = any_version().prop_flat_map(|version| {
        let activation = any_activation(version.gelu);
        (Just(version.keys), activation, any_autoregression(version.gelu))
    });
    let steps = [any_steps(), any_steps(), any_steps(), any_steps()];
    let layers = any::<[prop::sample::Index; 4]>();
    (any_embeddings(), any_stacks(), any_blocks, steps, layers, any::<[bool; 3]>()).prop_map(
        |(embeddings, [encoder, decoder], version, steps, layers, flags)| {
            let (pre_norm_keys, activation, autoregression) = version;
            let [preprocess, postprocess, postprocess_embedding, postprocess_top] = steps;
            let [has_output_projection, has_positions, ties_layers] = flags;
            let layer =
                |number: usize| if ties_layers { 1 + layers[number].index(number) } else { number };
            TransformerConfig {
                embeddings,
                tied_layers: (1..=decoder.depth).map(layer).collect(),
                alignment_layer: 1 + layers[0].index(decoder.depth),
                alignment_heads: 1,
                activation,
                preprocess,
                postprocess,
                postprocess_embedding,
                postprocess_top,
                has_output_projection,
                autoregression,
                positional_encoding: if has_positions {
                    PositionalEncodingKind::SinusoidalMarian
                } else {
                    PositionalEncodingKind::None
                },
                scales_embeddings: has_positions,
                decoder_start: DecoderStart::ZeroEmbedding,
                pre_norm_keys,
                norm_epsilon: 1e-6,
                encoder,
                decoder,
            }
        },
    )
}

fn any_recurrent() -> impl Strategy<Value = RecurrentConfig> {
    use CellKind::{Gru, Lstm, Mlstm, NematusGru};
    let cell = || prop::sample::select(vec![Gru, NematusGru, Lstm, Mlstm]);
    let kinds =
        vec![EncoderKind::Bidirectional, EncoderKind::BiUnidirectional, EncoderKind::Alternating];
    let s2s = (
        prop::sample::select(kinds),
        [cell(), cell()],
        [1usize..4, 1..4, 1..4, 2..5, 1..3],
        any::<[bool; 2]>(),
    )
        .prop_map(|(kind, [encoder, decoder], depths, [skip_connections, has_layer_norm])| {
            let [encoder_depth, cell_depth, depth, base_depth, high_depth] = depths;
            (
                RecurrentEncoderConfig { kind, cell: encoder, depth: encoder_depth, cell_depth },
                RecurrentDecoderConfig { cell: decoder, depth, base_depth, high_depth },
                skip_connections,
                has_layer_norm.then_some(LayerNormStyle::Marian),
            )
        });
    let nematus = (1usize..5, 2usize..6).prop_map(|(cell_depth, base_depth)| {
        let kind = EncoderKind::Bidirectional;
        (
            RecurrentEncoderConfig { kind, cell: NematusGru, depth: 1, cell_depth },
            RecurrentDecoderConfig { cell: NematusGru, depth: 1, base_depth, high_depth: 1 },
            false,
            Some(LayerNormStyle::Nematus),
        )
    });
    let parts = prop_oneof![2 => s2s, 1 => nematus];
    (any_embeddings(), 3usize..7, parts).prop_map(|(embeddings, state_width, parts)| {
        let (encoder, decoder, skip_connections, layer_norm_style) = parts;
        RecurrentConfig {
            embeddings,
            state_width,
            encoder,
            decoder,
            skip_connections,
            layer_norm_style,
        }
    })
}

fn any_stacked() -> impl Strategy<Value = StackedConfig> {
    let top = prop::sample::select(vec![
        TopLayerConfig::None,
        TopLayerConfig::Tanh(DIM),
        TopLayerConfig::Gru(DIM),
        TopLayerConfig::Tanh(5),
    ]);
    (any_embeddings(), [1usize..4, 3..7, 3..7, 0..4], top).prop_map(|(embeddings, numbers, top)| {
        let [encoder_depth, encoder_state_width, attention_width, fc_depth] = numbers;
        StackedConfig {
            embeddings,
            encoder_depth,
            encoder_state_width,
            attention_width,
            fc_depth,
            state_width: DIM,
            fc_width: DIM,
            top,
        }
    })
}

/// Valid architectures of each family that Marian's options can describe.
fn any_architecture() -> impl Strategy<Value = Architecture> {
    prop_oneof![
        2 => any_transformer().prop_map(Architecture::Transformer),
        2 => any_recurrent().prop_map(Architecture::Recurrent),
        1 => any_stacked().prop_map(Architecture::Stacked),
        2 => any_language_model(),
    ]
    .prop_filter("valid", |architecture| architecture.validate().is_ok())
}

fn write(path: &Path, model: &Model) {
    let values = |name: &str| model.parameter(name).unwrap().values();
    write_marian_model(path, model.architecture(), |parameter| values(&parameter.name))
        .unwrap_or_else(|e| panic!("{e}"));
}

fn open(path: &Path) -> Model {
    ModelBundle::open(path, None).unwrap_or_else(|e| panic!("{e}")).models.remove(0)
}

/// Returns the architecture that a file can describe: pre-norm keys have a kind only if there is
/// pre-norm.
fn as_read(mut architecture: Architecture) -> Architecture {
    if let Architecture::Transformer(transformer) = &mut architecture
        && !transformer.preprocess.has_norm()
    {
        transformer.pre_norm_keys = PreNormKeys::Raw;
    }
    architecture
}

fn assert_same_values(a: &Model, b: &Model) {
    let names = |model: &Model| model.parameters().map(|(n, _)| n.to_owned()).collect::<Vec<_>>();
    assert_eq!(names(a), names(b));
    for ((name, a), (_, b)) in a.parameters().zip(b.parameters()) {
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert!(bits(a.values()) == bits(b.values()), "{name}");
    }
}

/// Returns a model with values between -1 and 1.
fn random_model(architecture: Architecture, seed: u64) -> Model {
    let mut numbers = SplitMix64::new(seed);
    let model =
        Model::with_values(architecture, |ParameterSpec { shape: [rows, columns], .. }| {
            (0..rows * columns).map(|_| 2.0 * numbers.next_f32() - 1.0).collect()
        });
    model.unwrap_or_else(|e| panic!("{e}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn written_models_are_the_same_when_opened(architecture in any_architecture(), seed: u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.npz");
        let model = random_model(architecture.clone(), seed);
        write(&path, &model);
        let opened = open(&path);
        prop_assert_eq!(as_read(opened.architecture().clone()), as_read(architecture));
        prop_assert!(opened.unused_tensors().is_empty());
        assert_same_values(&model, &opened);
    }
}

fn small_transformer() -> TransformerConfig {
    let stack = TransformerStackConfig { depth: 2, heads: 2, ffn_width: 12, ffn_depth: 2 };
    TransformerConfig {
        embeddings: EmbeddingConfig {
            source_vocab_size: 5,
            target_vocab_size: 7,
            dim: DIM,
            shared: false,
            tied_output: true,
            output_bias: true,
            right_to_left: false,
            suppress_tokens: Vec::new(),
        },
        encoder: stack.clone(),
        decoder: stack,
        tied_layers: vec![1, 2],
        activation: Activation::Relu,
        preprocess: ProcessSteps(vec![ProcessStep::Norm]),
        postprocess: ProcessSteps(vec![ProcessStep::Add]),
        postprocess_embedding: ProcessSteps::default(),
        postprocess_top: ProcessSteps(vec![ProcessStep::Norm]),
        has_output_projection: true,
        autoregression: AutoregressionConfig::SelfAttention,
        positional_encoding: PositionalEncodingKind::SinusoidalMarian,
        scales_embeddings: true,
        decoder_start: DecoderStart::ZeroEmbedding,
        pre_norm_keys: PreNormKeys::Normalized,
        alignment_layer: 2,
        alignment_heads: 1,
        norm_epsilon: 1e-6,
    }
}

#[test]
fn options_are_yaml_in_marians_words() {
    let architecture = Architecture::Transformer(small_transformer());
    let options = marian_options(&architecture, Path::new("model.npz")).unwrap();
    let expected = "\
dec-depth: 2
dim-emb: 8
dim-vocabs: [5, 7]
enc-depth: 2
miriam-pre-norm-keys: normalized
output-omit-bias: false
right-left: false
tied-embeddings: true
tied-embeddings-all: false
tied-embeddings-src: false
transformer-decoder-autoreg: self-attention
transformer-decoder-dim-ffn: 0
transformer-decoder-ffn-depth: 0
transformer-dim-ffn: 12
transformer-disable-position-embeddings: false
transformer-ffn-activation: relu
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: 2
transformer-no-projection: false
transformer-postprocess: da
transformer-postprocess-emb: d
transformer-postprocess-top: n
transformer-preprocess: n
transformer-tied-layers: []
type: transformer
version: v1.12.0 miriam
";
    assert_eq!(options, expected);
}

#[test]
fn what_marian_has_no_option_for_is_rejected_by_name() {
    type Change = fn(&mut TransformerConfig);
    let changes: [(Change, &str); 11] = [
        (|t| t.embeddings.suppress_tokens = vec![3], "never generated ([3])"),
        (|t| t.encoder.heads = 4, "4 heads in the encoder and 2 in the decoder"),
        (|t| t.scales_embeddings = false, "not scaled"),
        (|t| t.decoder_start = DecoderStart::Token(6), "starts with token 6"),
        (|t| t.norm_epsilon = 1e-5, "an epsilon of 0.00001"),
        (|t| t.positional_encoding = PositionalEncodingKind::Sinusoidal, "Hugging Face's"),
        (|t| t.positional_encoding = PositionalEncodingKind::Table { length: 4 }, "a table of"),
        (|t| t.activation = Activation::Gelu(Gelu::Tanh), "hyperbolic tangent"),
        (|t| t.activation = Activation::Gelu(Gelu::Sigmoid), "two versions"),
        (
            |t| {
                t.pre_norm_keys = PreNormKeys::Raw;
                t.activation = Activation::Gelu(Gelu::Exact);
            },
            "two versions",
        ),
        (|t| t.tied_layers = vec![1], "tied layers [1] do not fit a decoder of 2"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.npz");
    for (change, reason) in changes {
        let mut transformer = small_transformer();
        change(&mut transformer);
        let architecture = Architecture::Transformer(transformer);
        let error = write_marian_model(&path, &architecture, |_| Vec::new()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("model.npz") && error.contains(reason), "{error}");
    }
    let nematus = RecurrentConfig {
        embeddings: small_transformer().embeddings,
        state_width: 4,
        encoder: RecurrentEncoderConfig {
            kind: EncoderKind::Bidirectional,
            cell: CellKind::NematusGru,
            depth: 1,
            cell_depth: 1,
        },
        decoder: RecurrentDecoderConfig {
            cell: CellKind::Gru,
            depth: 1,
            base_depth: 2,
            high_depth: 1,
        },
        skip_connections: false,
        layer_norm_style: Some(LayerNormStyle::Nematus),
    };
    let architecture = Architecture::Recurrent(nematus);
    let error = write_marian_model(&path, &architecture, |_| Vec::new()).unwrap_err().to_string();
    assert!(error.contains("Nematus' layer norms"), "{error}");
    // Too few values leave no file either.
    let architecture = Architecture::Transformer(small_transformer());
    let error = write_marian_model(&path, &architecture, |_| Vec::new()).unwrap_err().to_string();
    assert!(error.contains("encoder_Wemb: 0 numbers do not fit the shape [5, 8]"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Written files have the names, shapes, options and weights of the files that Marian itself opens.
#[test]
fn oracle_models_are_written_as_they_are() {
    let Some(folder) = oracle_folder() else { return };
    let written = tempfile::tempdir().unwrap();
    for name in ORACLE_MODELS {
        let path = folder.join("models").join(format!("{name}.npz"));
        let (model, copy) = (open(&path), written.path().join(format!("{name}.npz")));
        write(&copy, &model);
        let opened = open(&copy);
        let architectures = [&model, &opened].map(|model| as_read(model.architecture().clone()));
        assert_eq!(architectures[0], architectures[1], "{name}");
        assert_same_values(&model, &opened);
        // Models of Amun, and of Nematus without norms, are written as s2s, with Marian's names.
        if matches!(name, "amun" | "amun-ln" | "nematus") {
            continue;
        }
        let names = |path: &Path| -> BTreeSet<String> {
            let checkpoint = Checkpoint::open(path, LoadMethod::Lazy).unwrap();
            let rename = |name: &str| match name {
                "ff_logit_W" => "decoder_ff_logit_l2_Wt".to_owned(),
                _ => name.to_owned(),
            };
            checkpoint.names().filter(|&name| name != "Wpos").map(rename).collect()
        };
        assert_eq!(names(&path), names(&copy), "{name}");
    }
}

/// Prints the translations by each model. The arguments are the file to translate, the vocabulary
/// and the models.
const TRANSLATE: &str = "
import sys
from pymarian import Translator
lines = open(sys.argv[1], encoding='utf-8').read().splitlines()
for model in sys.argv[3:]:
    translator = Translator(models=[model], vocabs=[sys.argv[2]] * 2, cpu_threads=1, mini_batch=1,
                            max_length_factor=2, beam_size=1, allow_unk=False, quiet=True)
    for line in lines:
        print(translator.translate([line])[0] if line else '')
";

/// Marian gives the same translations with a written model as with the original one.
#[test]
fn marian_translates_with_written_models() {
    let Some(folder) = oracle_folder() else { return };
    let Some(python) = std::env::var_os("MIRIAM_PYMARIAN_PYTHON") else {
        let _ = writeln!(std::io::stderr(), "skipped: MIRIAM_PYMARIAN_PYTHON is not set");
        return;
    };
    let written = tempfile::tempdir().unwrap();
    for name in ORACLE_MODELS {
        let copy = written.path().join(format!("{name}.npz"));
        write(&copy, &open(&folder.join("models").join(format!("{name}.npz"))));
        let output = Command::new(&python)
            .args(["-c", TRANSLATE])
            .args([folder.join("input.txt"), folder.join("vocab.spm"), copy])
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let translations = String::from_utf8(output.stdout).unwrap();
        let expected = folder.join("out").join(name).join("marian.greedy.txt");
        let expected = std::fs::read_to_string(expected).unwrap();
        assert_eq!(
            translations.lines().collect::<Vec<_>>(),
            expected.lines().collect::<Vec<_>>(),
            "{name}"
        );
    }
}
