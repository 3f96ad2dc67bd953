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
        "Let each worker update without waiting for the others",
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
        "Multiply the learning rate of a push by --optimizer-delay",
    ),
    honoured(
        GROUP,
        "gradient-buffer",
        One,
        "N",
        "1",
        "Pushes that a shard sums up per step; transformers need several",
    ),
    honoured(
        GROUP,
        "local-optimizer-batches",
        One,
        "N",
        "0",
        "Use a local optimiser in the first N batches of each worker; 0 for never",
    ),
    honoured(
        GROUP,
        "local-optimizer-params",
        Many,
        "X",
        "",
        "Betas of the local optimiser; default: those of --optimizer-params",
    ),
    honoured(
        GROUP,
        "local-optimizer-shard",
        One,
        "WHAT",
        "delta",
        "Effect of the local optimiser on the worker's shard: copy, delta or none",
    ),
    honoured(
        GROUP,
        "grad-dropping-rate",
        One,
        "RATE",
        "0",
        "Share of a gradient's numbers that is not pushed, such as 0.99",
    ),
    honoured(
        GROUP,
        "grad-dropping-warmup",
        One,
        "N",
        "100",
        "Number of dense pushes per worker before the first sparse one",
    ),
    honoured(
        GROUP,
        "grad-dropping-momentum",
        One,
        "X",
        "0",
        "Weight of momentum correction; 0 for none",
    ),
    honoured(
        GROUP,
        "grad-dropping-scope",
        One,
        "WHAT",
        "shard",
        "Choose the largest numbers per shard, per tensor or globally: shard, tensor or global",
    ),
    honoured(
        GROUP,
        "grad-dropping-fetch",
        One,
        "WHAT",
        "indices",
        "Values to fetch: those at the pushed indices, the largest changes (delta), or all (dense)",
    ),
    honoured(
        GROUP,
        "grad-dropping-anneal",
        Many,
        "RATE@LENGTH",
        "",
        "Dropping rates, each from a point of the training on: 0.75@0 0.9375@1e 0.99@2e",
    ),
];
