//! Options of the training loop and of the loss.

options! { "Training":
    "after": Many "LENGTH" = "0e",
        "Stop after 10e epochs, 300Ku updates or 20Gt target tokens; of several, the first that is \
        reached";
    "after-epochs": One "N" = "0", "Stop after N epochs";
    "after-batches": One "N" = "0", "Stop after N updates";
    "logical-epoch": Many "LENGTH" = "1e 0",
        "Length of an epoch in the log, in --after and in --after-epochs: 2e, 100Ku or 1Gt; then the \
        decimals in the log";
    "disp-freq": One "LENGTH" = "1000u", "Length of training between two lines of the log";
    "disp-first": One "N" = "0", "Log the first N updates";
    "log": One "FILE", "Append the lines of the log to this file too";
    "save-freq": One "LENGTH" = "10000u", "Length of training between two saved models";
    "overwrite": Flag, "Overwrite older models";
    "relative-paths": Flag, "Resolve paths in a configuration relative to its folder";
    "seed": One "N" = "1", "Seed of all random numbers";
    "workers": One "N",
        "Worker threads, 1 or more, or all; default: --threads; the number does not change the \
        model";
    "cpu-threads": One "N", "The same as --workers; 0 means not set";
    "precision": Many "KIND" = "float32",
        "Precision of products with weights: float32, or bf16, which needs a CPU with AVX-512 BF16";
    "label-smoothing": One "E" = "0", "Probability mass that is spread over all tokens";
    "guided-alignment-cost": One "NAME" = "ce",
        "The loss of guided alignment: ce, the cross-entropy";
    "guided-alignment-weight": One "X" = "0.1",
        "Weight of the loss of guided alignment, relative to the loss of tokens";
    "throw-on-divergence": Many "X",
        "Stop if the loss diverges: slow window, fast window, deviations [bare: 1000 10 5]";
    "check-gradient-nan": Flag, "Skip updates whose gradient is not finite";
}
