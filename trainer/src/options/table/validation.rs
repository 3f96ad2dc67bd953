//! Options of validation and early stopping.

use super::Arity::{Flag, Many, One, Optional};
use super::{OptionSpec, honoured};

const GROUP: &str = "Validation";

pub(super) const OPTIONS: &[OptionSpec] = &[
    honoured(
        GROUP,
        "valid-sets",
        Many,
        "FILE",
        "",
        "Source and target of the validation text, or the validation text of a language model",
    ),
    honoured(
        GROUP,
        "valid-freq",
        One,
        "LENGTH",
        "10000u",
        "Length of training between two validations",
    ),
    honoured(
        GROUP,
        "valid-metrics",
        Many,
        "NAME",
        "cross-entropy",
        "cross-entropy, ce-mean-words, ce-sum, perplexity, bleu, bleu-segmented, chrf, \
        translation, valid-script; the first one decides",
    ),
    honoured(
        GROUP,
        "early-stopping",
        One,
        "N",
        "10",
        "Stop after N validations without improvement; 0 for never",
    ),
    honoured(
        GROUP,
        "early-stopping-on",
        One,
        "WHICH",
        "first",
        "Metrics that must stall to stop: first, all or any",
    ),
    honoured(
        GROUP,
        "early-stopping-epsilon",
        Many,
        "X",
        "0",
        "Ignore improvements up to this; one number, or one per metric",
    ),
    honoured(GROUP, "keep-best", Flag, "", "", "Keep the best model by each metric"),
    honoured(GROUP, "beam-size", One, "N", "12", "Beam size of translations"),
    honoured(GROUP, "normalize", Optional("1"), "X", "0", "Length normalisation of translations"),
    honoured(GROUP, "valid-mini-batch", One, "N", "32", "Sentences per batch in validation"),
    honoured(
        GROUP,
        "valid-max-length",
        One,
        "N",
        "1000",
        "Crop validation sentences that are longer",
    ),
    honoured(
        GROUP,
        "valid-translation-output",
        One,
        "FILE",
        "",
        "Write translations to this file; {E}, {B}, {U} and {T} become the epoch, its batches, the \
        updates and target tokens so far; default: valid.translation beside the model",
    ),
    honoured(
        GROUP,
        "max-length-factor",
        One,
        "X",
        "3",
        "Limit translations to this many times the length of the source",
    ),
    honoured(GROUP, "allow-unk", Flag, "", "", "Allow the unknown token in translations"),
    honoured(
        GROUP,
        "valid-script-path",
        One,
        "FILE",
        "",
        "Program that scores translations or models and prints a number",
    ),
    honoured(
        GROUP,
        "valid-script-args",
        Many,
        "X",
        "",
        "Arguments of the program of --valid-script-path, before the file of translations",
    ),
    honoured(
        GROUP,
        "train-ce-sample",
        One,
        "N",
        "0",
        "Also show the cross-entropy of N pairs of the training text",
    ),
    honoured(GROUP, "valid-log", One, "FILE", "", "Append the lines of validation to this file"),
    honoured(
        GROUP,
        "valid-reset-stalled",
        Flag,
        "",
        "",
        "When training is resumed, forget the stalls of validation",
    ),
    honoured(
        GROUP,
        "valid-reset-all",
        Flag,
        "",
        "",
        "When training is resumed, forget stalls and best values, for example after a change of \
        the validation text",
    ),
];
