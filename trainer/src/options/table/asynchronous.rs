//! Options of asynchronous training.

options! { "Asynchronous training":
    "async-sgd": Flag, "Let each worker update without waiting for the others";
    "simulate-async": One "FILE",
        "Simulate the machine in this TOML file, in one thread and with reproducible results";
    "scale-rate-by-delay": Flag = "true",
        "Multiply the learning rate of a push by --optimizer-delay";
    "gradient-buffer": One "N" = "1",
        "Pushes that a shard sums up per step; transformers need several";
    "local-optimizer-batches": One "N" = "0",
        "Use a local optimiser in the first N batches of each worker; 0 for never";
    "local-optimizer-params": Many "X",
        "Betas of the local optimiser; default: those of --optimizer-params";
    "local-optimizer-shard": One "WHAT" = "delta",
        "Effect of the local optimiser on the worker's shard: copy, delta or none";
    "grad-dropping-rate": One "RATE" = "0",
        "Share of a gradient's numbers that is not pushed, such as 0.99";
    "grad-dropping-warmup": One "N" = "100",
        "Number of dense pushes per worker before the first sparse one";
    "grad-dropping-momentum": One "X" = "0", "Weight of momentum correction; 0 for none";
    "grad-dropping-scope": One "WHAT" = "shard",
        "Choose the largest numbers per shard, per tensor or globally: shard, tensor or global";
    "grad-dropping-fetch": One "WHAT" = "indices",
        "Values to fetch: those at the pushed indices, the largest changes (delta), or all (dense)";
    "grad-dropping-anneal": Many "RATE@LENGTH",
        "Dropping rates, each from a point of the training on: 0.75@0 0.9375@1e 0.99@2e";
}
