//! Options of the optimiser, of gradients and of the learning rate.

options! { "Optimiser and learning rate":
    "optimizer": One "NAME" = "adam", "sgd, adagrad or adam";
    "optimizer-params": Many "X",
        "Adam: beta1 beta2 epsilon weight-decay [0.9 0.999 1e-8 0]; adagrad: epsilon";
    "momentum-schedule": Many "B1,B2@N",
        "Adam's betas from update N on: 0.93,0.997@0 0.92,0.998@4000; with --async-sgd from batch \
        N of a worker on";
    "optimizer-delay": One "N" = "1",
        "Batches per update; 0.5, 0.33 and so on for several updates per batch";
    "quantize-bits": One "N" = "0",
        "Quantise parameters to this number of bits after every update; 0 for none";
    "quantize-optimization-steps": One "N" = "0",
        "Number of steps that fit the scale of a tensor to its values";
    "quantize-log-based": Flag, "Quantise to powers of two";
    "quantize-biases": Flag, "Quantise biases too";
    "clip-products": One "X" = "0",
        "Clip weights and the inputs of matrix products with them at this magnitude; 0 for none";
    "quantize-aware": One "KIND",
        "Round products as in decoding with this precision, i8 or i16, and validate with it";
    "learn-rate": One "RATE" = "0.0001", "The learning rate";
    "lr-cycle": Many "X",
        "Instead of --learn-rate: LOW HIGH N raises the rate linearly over N updates and restarts \
        then and at every stall";
    "lr-random": One "RATE",
        "Instead of --learn-rate: draw the rate of each update between 0 and this one";
    "batch-flexible-lr": Flag,
        "Multiply the rate by the update's target tokens divided by --batch-normal-words";
    "batch-normal-words": One "N" = "1920",
        "Target tokens per batch that the rate is meant for; 0 for the mean of earlier batches";
    "lr-warmup": One "LENGTH" = "0", "Raise the rate linearly over this length";
    "lr-warmup-start-rate": One "RATE" = "0", "Rate at which the warm-up begins";
    "lr-warmup-cycle": Flag, "Repeat the warm-up after each --lr-warmup";
    "lr-warmup-at-reload": Flag, "Repeat the warm-up when training is resumed";
    "lr-decay-inv-sqrt": Many "LENGTH" = "0",
        "Lower the rate by the inverse square root from this length on";
    "lr-decay": One "FACTOR" = "0", "Multiply the rate by this at each decay; 0 for never";
    "lr-decay-strategy": One "NAME" = "epoch+stalled",
        "Time of decays: epoch, batches, stalled, epoch+batches or epoch+stalled";
    "lr-decay-start": Many "N" = "10 1",
        "First epoch, update or stall of a decay; two numbers if --lr-decay-strategy has two \
        parts; 0 for never";
    "lr-decay-freq": One "N" = "50000", "Updates between two decays";
    "lr-decay-reset-optimizer": Flag, "Reset the optimiser after a decay";
    "lr-decay-repeat-warmup": Flag, "Repeat the warm-up after a decay";
    "clip-norm": One "NORM" = "1", "Scale gradients down to this norm; 0 for never";
    "clip-norm-per": One "WHAT" = "sum",
        "Clip the norm of the sum of gradients, or of the sum divided by words: sum or words";
    "dynamic-gradient-scaling": Many "X",
        "Scale a gradient to the average norm if its norm is this many deviations above the \
        average; log compares logarithms [bare: 2 log]";
    "gradient-norm-average-window": One "N" = "100",
        "Number of updates over which gradient norms are averaged";
    "normalize-gradient": Flag, "Divide gradients by the number of target tokens";
    "exponential-smoothing": Optional("1e-4") "ALPHA" = "0",
        "Keep a moving average of parameters, with this weight for new ones";
    "exponential-smoothing-replace-freq": One "LENGTH" = "0",
        "Replace the parameters by their average at this interval; 0 for never";
    "mini-batch-words-ref": One "N" = "0",
        "Target tokens per update that the learning rate is meant for";
}
