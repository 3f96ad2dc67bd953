//! Options of asynchronous training.

use super::Arity::{Flag, Many, One};
use super::{OptionSpec, honoured};

const GROUP: &str = "Asynchronous training";

pub(super) const OPTIONS: &[OptionSpec] = &[
    honoured(
        GROUP,
        "async-sgd",
        Flag,
        "",
        "",
        "Let each worker make its own updates, without waiting",
    ),
    honoured(
        GROUP,
        "simulate-async",
        One,
        "FILE",
        "",
        "Simulate the machine in this TOML file, in one thread and with reproducible results",
    ),
    honoured(
        GROUP,
        "scale-rate-by-delay",
        Flag,
        "",
        "true",
        "Multiply the rate of a push with its --optimizer-delay",
    ),
    honoured(
        GROUP,
        "gradient-buffer",
        One,
        "N",
        "1",
        "Pushes that a shard adds up for a step; transformers need several",
    ),
    honoured(
        GROUP,
        "local-optimizer-batches",
        One,
        "N",
        "0",
        "First batches of each worker in which it has an optimiser of its own; 0 for none",
    ),
    honoured(
        GROUP,
        "local-optimizer-params",
        Many,
        "X",
        "",
        "Betas of that optimiser; those of --optimizer-params if absent",
    ),
    honoured(
        GROUP,
        "local-optimizer-shard",
        One,
        "WHAT",
        "delta",
        "The effect of its step on the worker's shard: copy, delta or none",
    ),
    honoured(
        GROUP,
        "grad-dropping-rate",
        One,
        "RATE",
        "0",
        "The share of a gradient's numbers that is not pushed, as 0.99",
    ),
    honoured(
        GROUP,
        "grad-dropping-warmup",
        One,
        "N",
        "100",
        "Dense pushes of each worker before the first sparse one",
    ),
    honoured(
        GROUP,
        "grad-dropping-momentum",
        One,
        "X",
        "0",
        "The weight of momentum correction; 0 for none",
    ),
    honoured(
        GROUP,
        "grad-dropping-scope",
        One,
        "WHAT",
        "shard",
        "Where the largest numbers are chosen: shard, global or tensor",
    ),
    honoured(
        GROUP,
        "grad-dropping-fetch",
        One,
        "WHAT",
        "indices",
        "The values to fetch: at the pushed indices, the largest of the delta, or dense",
    ),
    honoured(
        GROUP,
        "grad-dropping-anneal",
        Many,
        "RATE@LENGTH",
        "",
        "Rates from a length of training on, as 0.75@0 0.9375@1e 0.99@2e",
    ),
];
