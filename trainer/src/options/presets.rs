//! Presets (`task`): named sets of options, which given options override.

use super::raw::RawOptions;
use crate::error::{Error, Result};

/// The name for no preset.
pub const NO_PRESET: &str = "none";

/// A preset: its name, its purpose, its options in YAML.
struct Preset {
    name: &'static str,
    about: &'static str,
    yaml: &'static str,
}

/// The presets: Marian's shapes and schedules of Vaswani et al. (2017), Bergamot's students, and
/// models for a small corpus of image descriptions (`docs/spec/training.md` A.16).
///
/// In presets with `mini-batch-fit`, `mini-batch` only multiplies the number of sentences that are
/// sorted together, as in Marian.
const PRESETS: &[Preset] = &[
    Preset {
        name: "m30k",
        about: "a small transformer for some ten thousand pairs",
        yaml: "type: transformer\ndim-emb: 128\nenc-depth: 4\ndec-depth: 4\ntransformer-heads: 4\n\
               transformer-dim-ffn: 256\ntransformer-ffn-activation: relu\n\
               transformer-preprocess: n\ntransformer-postprocess: da\n\
               transformer-postprocess-top: n\n\
               transformer-dropout: 0.3\ntied-embeddings-all: true\nlabel-smoothing: 0.1\n\
               learn-rate: 0.005\nlr-warmup: 1000\nlr-decay-inv-sqrt: [1000]\n\
               optimizer-params: [0.9, 0.98, 1e-9]\nclip-norm: 0\nexponential-smoothing: 0.001\n\
               mini-batch-words: 4096\ncount-target-words: true\nmax-length: 100\n\
               maxi-batch: 1000\n\
               valid-freq: 250u\nvalid-metrics: [ce-mean-words, bleu]\nbeam-size: 5\nnormalize: 1\n\
               disp-freq: 50u\nsave-freq: 250u\nkeep-best: true\noverwrite: true\nafter: [8000u]\n",
    },
    // Measured in docs/benchmarks.md.
    Preset {
        name: "m30k-gru",
        about: "a small recurrent model for some ten thousand pairs, which learns from fewer words",
        yaml: "type: s2s\ndim-emb: 256\ndim-rnn: 256\nlayer-normalization: true\n\
               dropout-rnn: 0.3\ntied-embeddings-all: true\nlabel-smoothing: 0.1\n\
               learn-rate: 0.002\nlr-warmup: 500\nlr-decay-inv-sqrt: [500]\n\
               optimizer-params: [0.9, 0.98, 1e-9]\nclip-norm: 1\nexponential-smoothing: 0.001\n\
               mini-batch-words: 2048\n\
               valid-freq: 500u\nvalid-metrics: [ce-mean-words, bleu]\nbeam-size: 5\nnormalize: 1\n\
               disp-freq: 100u\nsave-freq: 500u\nkeep-best: true\noverwrite: true\nafter: [8000u]\n",
    },
    Preset {
        name: "toy",
        about: "a tiny transformer for some thousand pairs, in a minute",
        yaml: "type: transformer\ndim-emb: 64\nenc-depth: 2\ndec-depth: 2\ntransformer-heads: 4\n\
               transformer-dim-ffn: 128\ntransformer-ffn-activation: relu\n\
               transformer-dropout: 0.1\ntied-embeddings-all: true\nlabel-smoothing: 0.1\n\
               learn-rate: 0.005\nlr-warmup: 200\nlr-decay-inv-sqrt: [200]\n\
               optimizer-params: [0.9, 0.98, 1e-9]\nclip-norm: 0\nexponential-smoothing: 0.003\n\
               mini-batch-words: 2048\ncount-target-words: true\nmax-length: 100\n\
               valid-freq: 200u\nvalid-metrics: [ce-mean-words, bleu]\nbeam-size: 4\nnormalize: 1\n\
               disp-freq: 50u\nsave-freq: 200u\nkeep-best: true\noverwrite: true\nafter: [1000u]\n",
    },
    // Chosen by size if no preset is named (`preset_by_size`).
    Preset {
        name: "tiny",
        about: "the same as toy; chosen below 5,000 pairs",
        yaml: "base: toy\noverwrite: true\n",
    },
    Preset {
        name: "small",
        about: "the same as m30k; chosen from 5,000 pairs on",
        yaml: "base: m30k\noverwrite: true\n",
    },
    Preset {
        name: "medium",
        about: "six layers of width 256; chosen from 200,000 pairs on",
        yaml: "type: transformer\ndim-emb: 256\nenc-depth: 6\ndec-depth: 6\ntransformer-heads: 4\n\
               transformer-dim-ffn: 1024\ntransformer-ffn-activation: relu\n\
               transformer-preprocess: n\ntransformer-postprocess: da\n\
               transformer-postprocess-top: n\n\
               transformer-dropout: 0.2\ntied-embeddings-all: true\nlabel-smoothing: 0.1\n\
               learn-rate: 0.002\nlr-warmup: 4000\nlr-decay-inv-sqrt: [4000]\n\
               optimizer-params: [0.9, 0.98, 1e-9]\nclip-norm: 0\nexponential-smoothing: 1e-4\n\
               mini-batch-words: 8192\ncount-target-words: true\nmax-length: 100\n\
               maxi-batch: 1000\n\
               valid-freq: 1000u\nvalid-metrics: [ce-mean-words, bleu]\nbeam-size: 5\nnormalize: 1\n\
               disp-first: 5\ndisp-freq: 100u\nsave-freq: 1000u\nearly-stopping: 10\n\
               keep-best: true\noverwrite: true\n",
    },
    Preset {
        name: "large",
        about: "transformer-base-prenorm; chosen from 2,000,000 pairs on",
        yaml: "base: transformer-base-prenorm\ndisp-first: 5\ndisp-freq: 100u\nsave-freq: 1000u\n\
               valid-freq: 5000u\nvalid-metrics: [ce-mean-words, bleu]\nearly-stopping: 10\n\
               keep-best: true\noverwrite: true\n",
    },
    Preset {
        name: "best-deep",
        about: "the deep recurrent model of Edinburgh's systems, Marian's --best-deep",
        yaml: "type: s2s\nenc-type: alternating\nenc-depth: 4\nenc-cell-depth: 2\n\
               dec-depth: 4\ndec-cell-base-depth: 4\ndec-cell-high-depth: 2\nskip: true\n\
               layer-normalization: true\ntied-embeddings: true\nlabel-smoothing: 0.1\n\
               learn-rate: 0.0003\nlr-decay-inv-sqrt: [16000]\nclip-norm: 0\n\
               exponential-smoothing: 1e-4\nmini-batch-fit: true\nmini-batch: 1000\n\
               maxi-batch: 1000\n",
    },
    Preset {
        name: "transformer-base",
        about: "the base model of Vaswani et al. (2017)",
        yaml: "type: transformer\ndim-emb: 512\nenc-depth: 6\ndec-depth: 6\ntransformer-heads: 8\n\
               transformer-dim-ffn: 2048\ntransformer-ffn-activation: relu\n\
               transformer-dropout: 0.1\ntied-embeddings-all: true\nlabel-smoothing: 0.1\n\
               learn-rate: 0.0003\nlr-warmup: 16000\nlr-decay-inv-sqrt: [16000]\n\
               optimizer-params: [0.9, 0.98, 1e-9]\nclip-norm: 0\nexponential-smoothing: 1e-4\n\
               max-length: 100\nmini-batch-fit: true\nmini-batch: 1000\n\
               maxi-batch: 1000\nbeam-size: 8\nnormalize: 1\nvalid-mini-batch: 16\n",
    },
    Preset {
        name: "transformer-big",
        about: "the big model of Vaswani et al. (2017)",
        yaml: "type: transformer\ndim-emb: 1024\nenc-depth: 6\ndec-depth: 6\n\
               transformer-heads: 16\ntransformer-dim-ffn: 4096\ntransformer-ffn-activation: relu\n\
               transformer-dropout: 0.1\ntied-embeddings-all: true\nlabel-smoothing: 0.1\n\
               learn-rate: 0.0002\nlr-warmup: 8000\nlr-decay-inv-sqrt: [8000]\n\
               optimizer-params: [0.9, 0.998, 1e-9]\nclip-norm: 0\nexponential-smoothing: 1e-4\n\
               max-length: 100\nmini-batch-fit: true\nmini-batch: 1000\n\
               maxi-batch: 1000\nbeam-size: 8\nnormalize: 1\nvalid-mini-batch: 8\n",
    },
    Preset {
        name: "transformer-base-prenorm",
        about: "transformer-base with norms before sublayers",
        yaml: "base: transformer-base\ntransformer-preprocess: n\ntransformer-postprocess: da\n\
               transformer-postprocess-top: n\n",
    },
    Preset {
        name: "transformer-big-prenorm",
        about: "transformer-big with norms before sublayers",
        yaml: "base: transformer-big\ntransformer-preprocess: n\ntransformer-postprocess: da\n\
               transformer-postprocess-top: n\n",
    },
    Preset {
        name: "student-tiny",
        about: "a fast student: six encoder layers, two decoder layers with simple recurrent units",
        yaml: "type: transformer\ndim-emb: 256\nenc-depth: 6\ndec-depth: 2\ntransformer-heads: 8\n\
               transformer-dim-ffn: 1536\ntransformer-ffn-activation: relu\n\
               transformer-decoder-autoreg: rnn\ndec-cell: ssru\ntied-embeddings-all: true\n\
               learn-rate: 0.0003\nlr-warmup: 16000\nlr-decay-inv-sqrt: [32000]\n\
               optimizer-params: [0.9, 0.98, 1e-9]\nclip-norm: 0\nexponential-smoothing: 1e-4\n\
               max-length: 200\noptimizer-delay: 2\nmini-batch-fit: true\nmini-batch: 1000\n\
               maxi-batch: 1000\n\
               valid-freq: 5000u\nvalid-metrics: [bleu]\nbeam-size: 1\nnormalize: 1\n\
               early-stopping: 20\n",
    },
    // The shape of the small student of docs/students.md.
    Preset {
        name: "student-small",
        about: "a student for some ten thousand pairs: two encoder layers and one decoder layer of width 64",
        yaml: "base: m30k\ndim-emb: 64\nenc-depth: 2\ndec-depth: 1\n\
               transformer-decoder-autoreg: rnn\ndec-cell: ssru\ntransformer-dropout: 0.1\n\
               beam-size: 1\nafter: [2000u]\n",
    },
    Preset {
        name: "student-base",
        about: "a student as wide as transformer-base, as deep as student-tiny",
        yaml: "base: student-tiny\ndim-emb: 512\ntransformer-dim-ffn: 2048\n",
    },
    // The students of Junczys-Dowmunt et al. (2018) with average attention, in the form that was
    // fastest: without its feed-forward network (depth 1) and gate. Widths are those of table 1.
    Preset {
        name: "small-aan",
        about: "Marian's small student of 2018: six layers of width 256 with average attention",
        yaml: "base: transformer-base\ndim-emb: 256\n\
               transformer-decoder-autoreg: average-attention\ntransformer-aan-depth: 1\n\
               transformer-aan-nogate: true\n\
               valid-freq: 5000u\nvalid-metrics: [bleu]\nbeam-size: 1\nearly-stopping: 20\n",
    },
    Preset {
        name: "tiny-256",
        about: "small-aan with narrower feed-forward networks",
        yaml: "base: small-aan\ntransformer-dim-ffn: 1536\n",
    },
    Preset {
        name: "tiny-192",
        about: "tiny-256 of width 192",
        yaml: "base: tiny-256\ndim-emb: 192\n",
    },
    // System (5) of table 5.6 of Bogoychev's thesis. Its local optimisers end, and its betas
    // change, after the number of batches that the thesis gives (A.6, A.7).
    Preset {
        name: "bogoychev-async",
        about: "a shallow recurrent model by the asynchronous recipe of Bogoychev's thesis (2019)",
        yaml: "type: s2s\nenc-cell: gru\ndec-cell: gru\ndim-emb: 500\ndim-rnn: 1024\n\
               async-sgd: true\noptimizer-delay: 2\nlearn-rate: 0.00045\n\
               local-optimizer-batches: 4000\nlocal-optimizer-shard: delta\n\
               optimizer-params: [0.93, 0.997]\n\
               momentum-schedule: [\"0.93,0.997@0\", \"0.92,0.998@4000\"]\n\
               mini-batch-fit: true\nworkspace: 10000\nmini-batch: 1000\nmaxi-batch: 1000\n\
               max-length: 50\nvalid-freq: 10000u\nvalid-metrics: [ce-mean, bleu]\n\
               beam-size: 12\nnormalize: 1\nearly-stopping: 5\nkeep-best: true\n",
    },
];

/// Returns the preset of a student that is trained on `pairs` pairs.
pub fn student_preset(pairs: u64) -> &'static str {
    if pairs < 200_000 { "student-small" } else { "student-tiny" }
}

/// Returns the names and purposes of all presets.
pub fn preset_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    PRESETS.iter().map(|preset| (preset.name, preset.about))
}

/// Returns the preset called `name`, or an error that lists all names.
fn find_preset(name: &str) -> Result<&'static Preset, String> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        format!("unknown preset {name:?}; use one of {}", names.join(", "))
    })
}

/// Checks that `name` is the name of a preset, or [`NO_PRESET`].
pub(super) fn check_task(name: &str) -> Result<(), String> {
    if name == NO_PRESET { Ok(()) } else { find_preset(name).map(|_| ()) }
}

/// Returns the options of a preset.
///
/// # Errors
/// If the name is unknown.
pub fn preset(name: &str) -> Result<RawOptions> {
    let preset = find_preset(name).map_err(|reason| Error::usage(format!("--task: {reason}")))?;
    match preset.yaml.strip_prefix("base: ").and_then(|rest| rest.split_once('\n')) {
        Some((base, yaml)) => {
            Ok(RawOptions::from_yaml(yaml.as_bytes(), name)?.or_else_from(self::preset(base)?))
        }
        None => RawOptions::from_yaml(preset.yaml.as_bytes(), name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_options_that_are_honoured() {
        for (name, _) in preset_names() {
            let options = preset(name).unwrap();
            assert!(options.check_status().unwrap().is_empty(), "{name}");
        }
        assert_eq!(preset("student-base").unwrap().get_string("dim-emb"), "512");
        assert_eq!(preset("student-base").unwrap().get_string("mini-batch-fit"), "true");
        assert_eq!(preset("student-base").unwrap().get_string("dec-cell"), "ssru");
        let asynchronous = preset("bogoychev-async").unwrap().training_config([100, 100]).unwrap();
        assert!(asynchronous.asynchronous.is_some());
        assert!(preset("m31k").unwrap_err().to_string().contains("m30k"));
    }

    /// The sizes in tables 3 and 4 of Junczys-Dowmunt et al. (2018), in MiB with 36,000 subwords.
    #[test]
    fn students_with_average_attention_have_the_sizes_of_the_paper() {
        for (name, published) in [("small-aan", 95.0), ("tiny-256", 84.0), ("tiny-192", 60.0)] {
            let options = preset(name).unwrap();
            let config = options.training_config([36_000, 36_000]).unwrap();
            let parameters = config.architecture.parameters();
            let floats: usize = parameters.iter().map(|spec| spec.shape[0] * spec.shape[1]).sum();
            let size = 4.0 * floats as f64 / f64::from(1 << 20);
            assert!((size - published).abs() < 0.6, "{name}: {size} MiB");
            let early_stopping = ["beam-size", "early-stopping"].map(|key| options.get_string(key));
            assert_eq!(early_stopping, ["1", "20"], "{name}");
        }
    }

    /// The values of Marian 1.12's presets that differ from its defaults, without values for GPUs.
    #[test]
    fn transformers_have_marians_values() {
        let common = "type=transformer enc-depth=6 dec-depth=6 tied-embeddings-all=true \
                      transformer-postprocess=dan transformer-preprocess= \
                      transformer-ffn-activation=relu transformer-dropout=0.1 mini-batch-fit=true \
                      label-smoothing=0.1 clip-norm=0 exponential-smoothing=1e-4 max-length=100 \
                      mini-batch=1000 maxi-batch=1000 beam-size=8 normalize=1";
        let base = "dim-emb=512 transformer-dim-ffn=2048 transformer-heads=8 learn-rate=0.0003 \
                    lr-warmup=16000 lr-decay-inv-sqrt=16000 optimizer-params=0.9,0.98,1e-9 \
                    valid-mini-batch=16";
        let big = "dim-emb=1024 transformer-dim-ffn=4096 transformer-heads=16 learn-rate=0.0002 \
                   lr-warmup=8000 lr-decay-inv-sqrt=8000 optimizer-params=0.9,0.998,1e-9 \
                   valid-mini-batch=8";
        for (name, own) in [("transformer-base", base), ("transformer-big", big)] {
            let options = preset(name).unwrap();
            for (option, value) in common.split(' ').chain(own.split(' ')).filter_map(|pair| {
                let pair = pair.trim();
                pair.split_once('=')
            }) {
                assert_eq!(options.get_strings(option).join(","), value, "{name}: {option}");
            }
            let config = options.training_config([100, 100]).unwrap();
            assert_eq!(config.batches.size, crate::data::BatchSize::Bytes(2048 << 20), "{name}");
        }
    }
}
