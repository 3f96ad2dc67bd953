//! Options of Marian that are rejected, because ignoring them would train another model or read
//! different text.

use super::Arity::{Flag, Many, One};
use super::{COMET, OptionSpec, ULR, refused};

const NOT_BUILT: &str = "it is not implemented";
const HALF: &str = "CPUs do not train in float16; --precision bf16 needs no scaling of costs";

pub(super) const OPTIONS: &[OptionSpec] = &[
    refused("comet-final-sigmoid", Flag, COMET),
    refused("comet-stop-grad", Flag, COMET),
    refused("comet-mix", Flag, COMET),
    refused("comet-mix-norm", Flag, COMET),
    refused("comet-mixup-reg", Flag, COMET),
    refused("comet-prepend-zero", Flag, COMET),
    refused("comet-use-separator", Flag, COMET),
    refused("input-reorder", Many, "exactly two texts are read, the source first"),
    refused("input-join-fields", Flag, "exactly two texts are read"),
    refused("transformer-attention-mask", One, NOT_BUILT),
    refused("transformer-alibi-shift", Flag, NOT_BUILT),
    refused("transformer-alibi-trainable", Flag, NOT_BUILT),
    // When options are merged, the options of presets replace these two.
    refused("task", Many, "it is read from the command line and from configurations only"),
    refused("best-deep", Flag, "it is read from the command line and from configurations only"),
    refused("check-nan", Flag, "use --check-gradient-nan or --throw-on-divergence"),
    refused("interpolate-env-vars", Flag, "write the paths out"),
    refused("no-optimizer-reload", Flag, "instead move the optimiser's file away"),
    refused(
        "normalize-gradient-by-ratio",
        Flag,
        "it is not implemented; --normalize-gradient divides by the target tokens of an update",
    ),
    refused("fp16-fallback-to-fp32", Flag, HALF),
    refused("recover-from-fallback-after", One, NOT_BUILT),
    refused("no-reload", Flag, "train into another folder"),
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
    refused("n-best", Flag, "validation uses the best translation only"),
    refused("word-scores", Flag, "validation uses the best translation only"),
    refused("embedding-vectors", Many, NOT_BUILT),
    refused("embedding-fix-src", Flag, NOT_BUILT),
    refused("embedding-fix-trg", Flag, NOT_BUILT),
    refused(
        "sentencepiece-alphas",
        Many,
        "pieces are not sampled; use a SentencePiece model as it is",
    ),
    refused("input-types", Many, "exactly two texts are read"),
    refused("unlikelihood-loss", Flag, NOT_BUILT),
    refused("ulr", Flag, ULR),
    refused("fp16", Flag, HALF),
    refused("cost-scaling", Many, HALF),
    refused("alibi", Flag, NOT_BUILT),
    refused(
        "multi-node",
        Flag,
        "to continue on a cluster, resume there with Marian: it reads the files of a training run",
    ),
];
