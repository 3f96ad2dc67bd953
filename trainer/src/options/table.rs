//! The options of training: Marian's names and defaults, and our own.
//!
//! Every option of Marian's trainer is here. Those that are not honoured say what becomes of
//! them: they have no effect, which is said once, or they are refused.

/// The values of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// None: true where it is given.
    Flag,
    /// One.
    One,
    /// One or several.
    Many,
    /// One, or none for the value behind it.
    Optional(&'static str),
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is honoured.
    Honoured,
    /// It has no effect, and why.
    NoEffect(&'static str),
    /// It is refused, and why.
    Refused(&'static str),
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name, without dashes.
    pub name: &'static str,
    /// The heading under which help lists it.
    pub group: &'static str,
    /// Its values.
    pub arity: Arity,
    /// What stands for a value in help.
    pub value_name: &'static str,
    /// Its default; empty for none.
    pub default: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// What becomes of it.
    pub status: Status,
}

const fn honoured(
    group: &'static str,
    name: &'static str,
    arity: Arity,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
) -> OptionSpec {
    OptionSpec { name, group, arity, value_name, default, help, status: Status::Honoured }
}

const fn no_effect(name: &'static str, arity: Arity, why: &'static str) -> OptionSpec {
    let status = Status::NoEffect(why);
    OptionSpec {
        name,
        group: "Without effect",
        arity,
        value_name: "X",
        default: "",
        help: "",
        status,
    }
}

const fn refused(name: &'static str, arity: Arity, why: &'static str) -> OptionSpec {
    let status = Status::Refused(why);
    OptionSpec { name, group: "Refused", arity, value_name: "X", default: "", help: "", status }
}

use Arity::{Flag, Many, One, Optional};

const DATA: &str = "Data";
const MODEL: &str = "Model";
const DROPOUT: &str = "Dropout";
const TRAINING: &str = "Training";
const OPTIMIZER: &str = "Optimiser and learning rate";
const VALIDATION: &str = "Validation";

const ON_CPUS: &str = "training runs on CPUs";
const NOT_BUILT: &str = "it is not built yet";
const FACTORS: &str = "factored vocabularies are not read";
const BERT: &str = "BERT is not trained";
const ULR: &str = "models with ULR are not trained";

/// All options.
pub const OPTIONS: &[OptionSpec] = &[
    honoured(
        DATA,
        "train-sets",
        Many,
        "FILE",
        "",
        "Source and target of the training text: plain, .gz or .zst",
    ),
    honoured(
        DATA,
        "vocabs",
        Many,
        "FILE",
        "",
        "Vocabularies of source and target (.spm, .yml), the same one twice for a joint one",
    ),
    honoured(
        DATA,
        "dim-vocabs",
        Many,
        "N",
        "0 0",
        "Keep so many words of each vocabulary; 0 for all",
    ),
    honoured(
        DATA,
        "max-length",
        One,
        "N",
        "50",
        "Leave out pairs with a side of more tokens, </s> included",
    ),
    honoured(DATA, "max-length-crop", Flag, "", "", "Cut longer sentences, instead of leaving out"),
    honoured(
        DATA,
        "shuffle",
        One,
        "WHAT",
        "data",
        "What is shuffled each epoch: data, batches or none",
    ),
    honoured(DATA, "no-shuffle", Flag, "", "", "The same as --shuffle none"),
    honoured(DATA, "mini-batch", One, "N", "64", "Sentences of a batch"),
    honoured(
        DATA,
        "mini-batch-words",
        One,
        "N",
        "0",
        "Tokens of the source of a batch, instead of --mini-batch",
    ),
    honoured(
        DATA,
        "count-target-words",
        Flag,
        "",
        "",
        "Count the tokens of the target for --mini-batch-words",
    ),
    honoured(
        DATA,
        "mini-batch-warmup",
        One,
        "LENGTH",
        "0",
        "Let batches grow to their size over this length of training",
    ),
    honoured(DATA, "maxi-batch", One, "N", "100", "Batches that are sorted by length together"),
    honoured(
        DATA,
        "maxi-batch-sort",
        One,
        "SIDE",
        "trg",
        "By whose length they are sorted: trg, src or none",
    ),
    honoured(
        DATA,
        "granule-words",
        One,
        "N",
        "512",
        "Compute so many target tokens at a time; changes sums in the last bits",
    ),
    honoured(MODEL, "model", One, "FILE", "", "The model to write, a .npz"),
    honoured(MODEL, "pretrained-model", One, "FILE", "", "Begin with the parameters of this model"),
    honoured(
        MODEL,
        "type",
        One,
        "TYPE",
        "transformer",
        "transformer, s2s, nematus, amun or stacked",
    ),
    honoured(MODEL, "dim-emb", One, "N", "512", "Width of embeddings"),
    honoured(MODEL, "dim-rnn", One, "N", "1024", "Width of recurrent states"),
    honoured(
        MODEL,
        "enc-type",
        One,
        "TYPE",
        "bidirectional",
        "bidirectional, bi-unidirectional or alternating",
    ),
    honoured(MODEL, "enc-cell", One, "CELL", "gru", "gru, lstm, mlstm or gru-nematus"),
    honoured(MODEL, "enc-cell-depth", One, "N", "1", "Transitions of an encoder layer"),
    honoured(MODEL, "enc-depth", One, "N", "1", "Encoder layers"),
    honoured(
        MODEL,
        "dec-cell",
        One,
        "CELL",
        "gru",
        "gru, lstm, mlstm or gru-nematus; ssru or sru in transformers",
    ),
    honoured(MODEL, "dec-cell-base-depth", One, "N", "2", "Transitions of the first decoder layer"),
    honoured(MODEL, "dec-cell-high-depth", One, "N", "1", "Transitions of further decoder layers"),
    honoured(MODEL, "dec-depth", One, "N", "1", "Decoder layers"),
    honoured(MODEL, "skip", Flag, "", "", "Skip connections between recurrent layers"),
    honoured(MODEL, "layer-normalization", Flag, "", "", "Layer norms in recurrent layers"),
    honoured(MODEL, "right-left", Flag, "", "", "Train on reversed targets"),
    honoured(
        MODEL,
        "tied-embeddings",
        Flag,
        "",
        "",
        "Tie embeddings of the target and the output layer",
    ),
    honoured(MODEL, "tied-embeddings-src", Flag, "", "", "Tie embeddings of source and target"),
    honoured(MODEL, "tied-embeddings-all", Flag, "", "", "Tie all embeddings and the output layer"),
    honoured(MODEL, "output-omit-bias", Flag, "", "", "No bias in the output layer"),
    honoured(MODEL, "transformer-heads", One, "N", "8", "Heads of attention"),
    honoured(
        MODEL,
        "transformer-no-projection",
        Flag,
        "",
        "",
        "No output projection after attention",
    ),
    honoured(MODEL, "transformer-dim-ffn", One, "N", "2048", "Inner width of feed-forward layers"),
    honoured(
        MODEL,
        "transformer-decoder-dim-ffn",
        One,
        "N",
        "0",
        "Inner width in the decoder; 0 for that of the encoder",
    ),
    honoured(
        MODEL,
        "transformer-ffn-depth",
        One,
        "N",
        "2",
        "Affine layers of a feed-forward layer",
    ),
    honoured(
        MODEL,
        "transformer-decoder-ffn-depth",
        One,
        "N",
        "0",
        "Affine layers in the decoder; 0 for those of the encoder",
    ),
    honoured(MODEL, "transformer-ffn-activation", One, "NAME", "swish", "relu, swish or gelu"),
    honoured(MODEL, "transformer-dim-aan", One, "N", "2048", "Inner width of average attention"),
    honoured(MODEL, "transformer-aan-depth", One, "N", "2", "Depth of average attention"),
    honoured(MODEL, "transformer-aan-activation", One, "NAME", "swish", "relu, swish or gelu"),
    honoured(MODEL, "transformer-aan-nogate", Flag, "", "", "No gate after average attention"),
    honoured(
        MODEL,
        "transformer-decoder-autoreg",
        One,
        "TYPE",
        "self-attention",
        "self-attention, average-attention or rnn",
    ),
    honoured(
        MODEL,
        "transformer-rnn-projection",
        Flag,
        "",
        "",
        "An output projection after the recurrent unit",
    ),
    honoured(
        MODEL,
        "transformer-tied-layers",
        Many,
        "N",
        "",
        "The layer whose parameters each decoder layer uses",
    ),
    honoured(
        MODEL,
        "transformer-guided-alignment-layer",
        One,
        "N",
        "last",
        "The decoder layer whose first head aligns",
    ),
    honoured(
        MODEL,
        "transformer-preprocess",
        One,
        "STEPS",
        "",
        "Steps before a sublayer: d dropout, n norm",
    ),
    honoured(
        MODEL,
        "transformer-postprocess",
        One,
        "STEPS",
        "dan",
        "Steps after a sublayer: d dropout, a add, n norm",
    ),
    honoured(MODEL, "transformer-postprocess-emb", One, "STEPS", "d", "Steps after embeddings"),
    honoured(MODEL, "transformer-postprocess-top", One, "STEPS", "", "Steps after the last layer"),
    honoured(
        MODEL,
        "transformer-depth-scaling",
        Flag,
        "",
        "",
        "Smaller initial values in deeper layers",
    ),
    honoured(MODEL, "dim-enc-rnn", One, "N", "512", "stacked: width of the encoder's states"),
    honoured(MODEL, "dim-att", One, "N", "0", "stacked: width of attention; 0 for that of states"),
    honoured(MODEL, "fc-depth", One, "N", "0", "stacked: fully connected layers"),
    honoured(MODEL, "dim-fc", One, "N", "768", "stacked: their width"),
    honoured(MODEL, "top", One, "TYPE", "none", "stacked: none, tanh or gru"),
    honoured(MODEL, "dim-top", One, "N", "0", "stacked: its width; 0 for that of states"),
    honoured(
        DROPOUT,
        "transformer-dropout",
        One,
        "RATE",
        "0",
        "Dropout of embeddings and outputs of sublayers",
    ),
    honoured(
        DROPOUT,
        "transformer-dropout-attention",
        One,
        "RATE",
        "0",
        "Dropout of attention weights",
    ),
    honoured(
        DROPOUT,
        "transformer-dropout-ffn",
        One,
        "RATE",
        "0",
        "Dropout of hidden layers of feed-forward layers",
    ),
    honoured(
        TRAINING,
        "after",
        Many,
        "LENGTH",
        "0e",
        "Stop after this: 10e epochs, 300Ku updates, 20Gt target tokens; the first that holds",
    ),
    honoured(TRAINING, "after-epochs", One, "N", "0", "Stop after so many epochs"),
    honoured(TRAINING, "after-batches", One, "N", "0", "Stop after so many updates"),
    honoured(TRAINING, "disp-freq", One, "LENGTH", "1000u", "Length between two lines of the log"),
    honoured(TRAINING, "disp-first", One, "N", "0", "Log the first so many updates"),
    honoured(TRAINING, "save-freq", One, "LENGTH", "10000u", "Length between two saved models"),
    honoured(TRAINING, "overwrite", Flag, "", "", "Do not keep older models"),
    honoured(TRAINING, "seed", One, "N", "1", "Seed of all random numbers"),
    honoured(
        TRAINING,
        "workers",
        One,
        "N",
        "",
        "Worker threads, as many as --threads if absent; any number gives the same model",
    ),
    honoured(TRAINING, "cpu-threads", One, "N", "", "The same as --workers"),
    honoured(
        TRAINING,
        "label-smoothing",
        One,
        "E",
        "0",
        "Probability mass that is spread over all tokens",
    ),
    honoured(
        TRAINING,
        "throw-on-divergence",
        Many,
        "X",
        "",
        "Stop where the loss diverges: slow window, fast window, deviations [bare: 1000 10 5]",
    ),
    honoured(
        TRAINING,
        "check-gradient-nan",
        Flag,
        "",
        "",
        "Skip updates whose gradient is not finite",
    ),
    honoured(OPTIMIZER, "optimizer", One, "NAME", "adam", "sgd, adagrad or adam"),
    honoured(
        OPTIMIZER,
        "optimizer-params",
        Many,
        "X",
        "",
        "Adam: beta1 beta2 epsilon weight-decay [0.9 0.999 1e-8 0]; adagrad: epsilon",
    ),
    honoured(OPTIMIZER, "optimizer-delay", One, "N", "1", "Batches of an update"),
    honoured(OPTIMIZER, "learn-rate", One, "RATE", "0.0001", "The learning rate"),
    honoured(
        OPTIMIZER,
        "lr-warmup",
        One,
        "LENGTH",
        "0",
        "Raise the rate linearly over this length",
    ),
    honoured(
        OPTIMIZER,
        "lr-warmup-start-rate",
        One,
        "RATE",
        "0",
        "The rate at which the warm-up begins",
    ),
    honoured(
        OPTIMIZER,
        "lr-warmup-cycle",
        Flag,
        "",
        "",
        "Begin the warm-up again after every such length",
    ),
    honoured(
        OPTIMIZER,
        "lr-warmup-at-reload",
        Flag,
        "",
        "",
        "Begin the warm-up again where training goes on",
    ),
    honoured(
        OPTIMIZER,
        "lr-decay-inv-sqrt",
        Many,
        "LENGTH",
        "0",
        "Lower the rate by the inverse square root from this length on",
    ),
    honoured(OPTIMIZER, "lr-decay", One, "FACTOR", "0", "Multiply the rate with this; 0 for never"),
    honoured(
        OPTIMIZER,
        "lr-decay-strategy",
        One,
        "NAME",
        "epoch+stalled",
        "When: epoch, batches, stalled, epoch+batches or epoch+stalled",
    ),
    honoured(OPTIMIZER, "lr-decay-start", Many, "N", "10 1", "The first epoch, update or stall"),
    honoured(OPTIMIZER, "lr-decay-freq", One, "N", "50000", "Updates between two decays"),
    honoured(
        OPTIMIZER,
        "lr-decay-reset-optimizer",
        Flag,
        "",
        "",
        "Begin the optimiser anew after a decay",
    ),
    honoured(OPTIMIZER, "lr-decay-repeat-warmup", Flag, "", "", "Repeat the warm-up after a decay"),
    honoured(
        OPTIMIZER,
        "clip-norm",
        One,
        "NORM",
        "1",
        "Scale gradients down to this norm; 0 for never",
    ),
    honoured(
        OPTIMIZER,
        "normalize-gradient",
        Flag,
        "",
        "",
        "Divide gradients by the number of target tokens",
    ),
    honoured(
        OPTIMIZER,
        "exponential-smoothing",
        Optional("1e-4"),
        "ALPHA",
        "0",
        "Keep a moving average of parameters, with this weight of new ones",
    ),
    honoured(
        OPTIMIZER,
        "mini-batch-words-ref",
        One,
        "N",
        "0",
        "The number of target tokens that the learning rate is meant for",
    ),
    honoured(
        VALIDATION,
        "valid-sets",
        Many,
        "FILE",
        "",
        "Source and target of the validation text",
    ),
    honoured(VALIDATION, "valid-freq", One, "LENGTH", "10000u", "Length between two validations"),
    honoured(
        VALIDATION,
        "valid-metrics",
        Many,
        "NAME",
        "cross-entropy",
        "cross-entropy, ce-mean-words, ce-sum, perplexity, bleu, bleu-segmented, chrf; the first decides",
    ),
    honoured(
        VALIDATION,
        "early-stopping",
        One,
        "N",
        "10",
        "Stop after so many validations without improvement; 0 for never",
    ),
    honoured(
        VALIDATION,
        "early-stopping-on",
        One,
        "WHICH",
        "first",
        "Whose stalls count: first metric, all metrics or any",
    ),
    honoured(
        VALIDATION,
        "early-stopping-epsilon",
        One,
        "X",
        "0",
        "Smaller improvements count as none",
    ),
    honoured(VALIDATION, "keep-best", Flag, "", "", "Keep the best model by each metric"),
    honoured(VALIDATION, "beam-size", One, "N", "12", "Beam of translations"),
    honoured(
        VALIDATION,
        "normalize",
        Optional("1"),
        "X",
        "0",
        "Length normalisation of translations",
    ),
    honoured(VALIDATION, "valid-mini-batch", One, "N", "32", "Sentences of a batch in validation"),
    honoured(
        VALIDATION,
        "valid-max-length",
        One,
        "N",
        "1000",
        "Cut longer sentences of the validation text",
    ),
    honoured(
        VALIDATION,
        "valid-translation-output",
        One,
        "FILE",
        "",
        "Write translations here; if absent, valid.translation beside the model",
    ),
    no_effect("workspace", One, "memory follows --granule-words"),
    no_effect(
        "mini-batch-fit",
        Flag,
        "memory follows --granule-words; give the size of batches by --mini-batch-words",
    ),
    no_effect("mini-batch-fit-step", One, "memory follows --granule-words"),
    no_effect("sync-sgd", Flag, "updates are synchronous anyway"),
    no_effect("devices", Many, ON_CPUS),
    no_effect("num-devices", One, ON_CPUS),
    no_effect("no-nccl", Flag, ON_CPUS),
    no_effect("shuffle-in-ram", Flag, "the corpus is in memory anyway"),
    no_effect("keep-tmp", Flag, "there are no temporary files"),
    no_effect("tempdir", One, "there are no temporary files"),
    no_effect("data-threads", One, "batches do not depend on threads"),
    no_effect("disp-label-counts", Flag, "counts are shown anyway"),
    no_effect("quiet-translation", Flag, "translations are not shown"),
    no_effect(
        "cost-type",
        One,
        "losses are shown a target token; the gradient is that of their sum",
    ),
    no_effect("valid-reset-stalled", Flag, "give another folder to begin anew"),
    no_effect("allow-unk", Flag, "<unk> is not generated in validation"),
    no_effect("relative-paths", Flag, "paths are relative to the current folder"),
    no_effect("no-restore-corpus", Flag, "training goes on where it was"),
    no_effect("optimizer-state-sharding", Flag, "workers share one state"),
    no_effect("sharding", One, "workers share one state"),
    no_effect("sync-freq", One, "workers share one state"),
    no_effect("log", One, "the log goes to standard error"),
    no_effect("log-level", One, "give it on the command line"),
    no_effect("log-time-zone", One, "the log has no times of day"),
    no_effect("quiet", Flag, "give it on the command line"),
    no_effect("sigterm", One, "signals save the training and end it"),
    no_effect("overwrite-checkpoint", Flag, "the saved state replaces the one before"),
    no_effect("sentencepiece-max-lines", One, "vocabularies are made of all lines"),
    no_effect("logical-epoch", One, "an epoch is a pass over the corpus"),
    no_effect("sqlite-drop", Flag, "the corpus is in memory"),
    no_effect("mini-batch-round-up", Flag, "batches are not rounded"),
    no_effect("lr-report", Flag, "the log has the learning rate"),
    no_effect("gradient-norm-average-window", One, "averages of norms are not needed"),
    no_effect("valid-reset-all", Flag, "give another folder to begin anew"),
    no_effect("max-length-factor", One, "translations end as in nmt translate"),
    no_effect("factors-dim-emb", One, FACTORS),
    no_effect("factors-combine", One, FACTORS),
    no_effect("lemma-dependency", One, FACTORS),
    no_effect("lemma-dim-emb", One, FACTORS),
    no_effect("bert-mask-symbol", One, BERT),
    no_effect("bert-sep-symbol", One, BERT),
    no_effect("bert-class-symbol", One, BERT),
    no_effect("bert-masking-fraction", One, BERT),
    no_effect("bert-train-type-embeddings", Flag, BERT),
    no_effect("bert-type-vocab-size", One, BERT),
    no_effect("ulr-query-vectors", One, ULR),
    no_effect("ulr-keys-vectors", One, ULR),
    no_effect("ulr-trainable-transformation", Flag, ULR),
    no_effect("ulr-dim-queries", One, ULR),
    no_effect("ulr-dim-keys", One, ULR),
    no_effect("ulr-dropout", One, ULR),
    no_effect("ulr-softmax-temperature", One, ULR),
    refused("task", One, "give it on the command line"),
    refused("best-deep", Flag, "give its options one by one"),
    refused("check-nan", Flag, "give --check-gradient-nan or --throw-on-divergence"),
    refused("interpolate-env-vars", Flag, "write the paths out"),
    refused("no-reload", Flag, "train into another folder"),
    refused("sentencepiece-options", One, "make the vocabulary with miriam nmt vocab"),
    refused("no-spm-encode", Flag, "give vocabularies in .yml for text in pieces"),
    refused("transformer-pool", Flag, NOT_BUILT),
    refused("transformer-train-position-embeddings", Flag, NOT_BUILT),
    refused("transformer-disable-position-embeddings", Flag, NOT_BUILT),
    refused("transformer-no-bias", Flag, NOT_BUILT),
    refused("transformer-no-affine", Flag, NOT_BUILT),
    refused("mini-batch-track-lr", Flag, NOT_BUILT),
    refused("embedding-normalization", Flag, NOT_BUILT),
    refused("custom-fallbacks", Many, NOT_BUILT),
    refused("train-embedder-rank", Many, NOT_BUILT),
    refused("word-penalty", One, NOT_BUILT),
    refused("allow-special", Flag, NOT_BUILT),
    refused("n-best", Flag, "validation takes the best translation"),
    refused("word-scores", Flag, "validation takes the best translation"),
    refused("async-sgd", Flag, NOT_BUILT),
    refused("dropout-rnn", One, NOT_BUILT),
    refused("dropout-src", One, NOT_BUILT),
    refused("dropout-trg", One, NOT_BUILT),
    refused("guided-alignment", One, NOT_BUILT),
    no_effect("guided-alignment-cost", One, "there is no guided alignment"),
    no_effect("guided-alignment-weight", One, "there is no guided alignment"),
    refused("data-weighting", One, NOT_BUILT),
    no_effect("data-weighting-type", One, "there is no weighting of data"),
    refused("tsv", Flag, NOT_BUILT),
    refused("tsv-fields", One, NOT_BUILT),
    refused("valid-script-path", One, NOT_BUILT),
    refused("valid-script-args", Many, NOT_BUILT),
    refused("valid-log", One, NOT_BUILT),
    refused("embedding-vectors", Many, NOT_BUILT),
    refused("embedding-fix-src", Flag, NOT_BUILT),
    refused("embedding-fix-trg", Flag, NOT_BUILT),
    refused("dynamic-gradient-scaling", Many, NOT_BUILT),
    refused("exponential-smoothing-replace-freq", One, NOT_BUILT),
    refused("quantize-bits", One, NOT_BUILT),
    refused("quantize-optimization-steps", One, NOT_BUILT),
    refused("quantize-log-based", Flag, NOT_BUILT),
    refused("quantize-biases", Flag, NOT_BUILT),
    refused("grad-dropping-rate", One, NOT_BUILT),
    refused("all-caps-every", One, NOT_BUILT),
    refused("english-title-case-every", One, NOT_BUILT),
    refused("sentencepiece-alphas", Many, "give a SentencePiece model; pieces are not sampled"),
    refused("input-types", Many, "two texts are read"),
    no_effect("multi-loss-type", One, "there is one loss"),
    refused("unlikelihood-loss", Flag, NOT_BUILT),
    refused("ulr", Flag, ULR),
    no_effect("factor-weight", One, FACTORS),
    no_effect("char-stride", One, "character models are not trained"),
    refused("fp16", Flag, "training computes in f32 on CPUs"),
    refused("precision", Many, "training computes in f32 on CPUs"),
    refused("cost-scaling", Many, "training computes in f32 on CPUs"),
    refused("gradient-checkpointing", Flag, "lower --granule-words to save memory"),
    refused("sqlite", Optional("temporary"), "the corpus is in memory"),
    refused("multi-node", Flag, "go on with Marian on a cluster: it reads the files of a training"),
];

/// The option of that name.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|option| option.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
