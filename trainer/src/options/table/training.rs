//! Options of the loop of training and of the loss.

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
        "Stop after this: 10e epochs, 300Ku updates, 20Gt target tokens; the first that holds",
    ),
    honoured(GROUP, "after-epochs", One, "N", "0", "Stop after N epochs"),
    honoured(GROUP, "after-batches", One, "N", "0", "Stop after N updates"),
    honoured(GROUP, "disp-freq", One, "LENGTH", "1000u", "Length between two lines of the log"),
    honoured(GROUP, "disp-first", One, "N", "0", "Log the first N updates"),
    honoured(GROUP, "log", One, "FILE", "", "Append the lines of the log to this file too"),
    honoured(GROUP, "save-freq", One, "LENGTH", "10000u", "Length between two saved models"),
    honoured(GROUP, "overwrite", Flag, "", "", "Do not keep older models"),
    honoured(
        GROUP,
        "relative-paths",
        Flag,
        "",
        "",
        "Paths in configurations are relative to their folders",
    ),
    honoured(GROUP, "seed", One, "N", "1", "Seed of all random numbers"),
    honoured(
        GROUP,
        "workers",
        One,
        "N",
        "",
        "Worker threads from 1, or all; as many as --threads if absent; any number gives the same model",
    ),
    honoured(GROUP, "cpu-threads", One, "N", "", "The same as --workers; 0 is as if absent"),
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
    honoured(GROUP, "guided-alignment-weight", One, "X", "0.1", "Its weight beside that of tokens"),
    honoured(
        GROUP,
        "throw-on-divergence",
        Many,
        "X",
        "",
        "Stop where the loss diverges: slow window, fast window, deviations [bare: 1000 10 5]",
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
