//! Options of dropout.

use super::Arity::One;
use super::{OptionSpec, honoured};

const GROUP: &str = "Dropout";

pub(super) const OPTIONS: &[OptionSpec] = &[
    honoured(
        GROUP,
        "transformer-dropout",
        One,
        "RATE",
        "0",
        "Dropout of embeddings and outputs of sublayers",
    ),
    honoured(
        GROUP,
        "transformer-dropout-attention",
        One,
        "RATE",
        "0",
        "Dropout of attention weights",
    ),
    honoured(
        GROUP,
        "transformer-dropout-ffn",
        One,
        "RATE",
        "0",
        "Dropout of hidden layers of feed-forward layers",
    ),
    honoured(
        GROUP,
        "dropout-rnn",
        One,
        "RATE",
        "0",
        "Recurrent models: dropout of inputs and states of cells, the same at all time steps of a \
        sentence",
    ),
    honoured(GROUP, "dropout-src", One, "RATE", "0", "Dropout of whole source tokens"),
    honoured(GROUP, "dropout-trg", One, "RATE", "0", "Dropout of whole target tokens"),
];
