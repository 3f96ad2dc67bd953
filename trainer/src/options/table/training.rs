//! Options of the training loop and of the loss.

use super::Arity::{Flag, Many, One};
use super::{OptionSpec, honoured};

const GROUP: &str = "Training";

pub(super) const OPTIONS: &[OptionSpec] = &[
    honoured(
        GROUP,
        "after",
        Many,
        "LENGTH",
        "0e",
        "Stop after 10e epochs, 300Ku updates or 20Gt target tokens; of several, the first that is \
        reached",
    ),
    honoured(GROUP, "after-epochs", One, "N", "0", "Stop after N epochs"),
    honoured(GROUP, "after-batches", One, "N", "0", "Stop after N updates"),
    honoured(
        GROUP,
        "disp-freq",
        One,
        "LENGTH",
        "1000u",
        "Length of training between two lines of the log",
    ),
    honoured(GROUP, "disp-first", One, "N", "0", "Log the first N updates"),
    honoured(GROUP, "log", One, "FILE", "", "Append the lines of the log to this file too"),
    honoured(
        GROUP,
        "save-freq",
        One,
        "LENGTH",
        "10000u",
        "Length of training between two saved models",
    ),
    honoured(GROUP, "overwrite", Flag, "", "", "Overwrite older models"),
    honoured(
        GROUP,
        "relative-paths",
        Flag,
        "",
        "",
        "Resolve paths in a configuration relative to its folder",
    ),
    honoured(GROUP, "seed", One, "N", "1", "Seed of all random numbers"),
    honoured(
        GROUP,
        "workers",
        One,
        "N",
        "",
        "Worker threads, 1 or more, or all; default: --threads; the number does not change the \
        model",
    ),
    honoured(GROUP, "cpu-threads", One, "N", "", "The same as --workers; 0 means not set"),
    honoured(
        GROUP,
        "precision",
        Many,
        "KIND",
        "float32",
        "Precision of products with weights: float32, or bf16, which needs a CPU with AVX-512 BF16",
    ),
    honoured(
        GROUP,
        "label-smoothing",
        One,
        "E",
        "0",
        "Probability mass that is spread over all tokens",
    ),
    honoured(
        GROUP,
        "guided-alignment-cost",
        One,
        "NAME",
        "ce",
        "The loss of guided alignment: ce, cross-entropy",
    ),
    honoured(
        GROUP,
        "guided-alignment-weight",
        One,
        "X",
        "0.1",
        "Weight of the loss of guided alignment, relative to the loss of tokens",
    ),
    honoured(
        GROUP,
        "throw-on-divergence",
        Many,
        "X",
        "",
        "Stop if the loss diverges: slow window, fast window, deviations [bare: 1000 10 5]",
    ),
    honoured(
        GROUP,
        "check-gradient-nan",
        Flag,
        "",
        "",
        "Skip updates whose gradient is not finite",
    ),
];
