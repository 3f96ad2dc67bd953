//! Options of validation and early stopping.

options! { "Validation":
    "valid-sets": Many "FILE",
        "Source and target of the validation text, or the validation text of a language model";
    "valid-freq": One "LENGTH" = "10000u", "Length of training between two validations";
    "valid-metrics": Many "NAME" = "cross-entropy",
        "cross-entropy, ce-mean-words, ce-sum, perplexity, bleu, bleu-segmented, chrf, \
        translation, valid-script; the first one decides";
    "early-stopping": One "N" = "10", "Stop after N validations without improvement; 0 for never";
    "early-stopping-on": One "WHICH" = "first",
        "Metrics that must stall to stop: first, all or any";
    "early-stopping-epsilon": Many "X" = "0",
        "Ignore improvements up to this; one number, or one per metric";
    "keep-best": Flag, "Keep the best model by each metric";
    "beam-size": One "N" = "12", "Beam size of translations";
    "normalize": Optional("1") "X" = "0", "Length normalisation of translations";
    "valid-mini-batch": One "N" = "32", "Sentences per batch in validation";
    "valid-max-length": One "N" = "1000", "Crop validation sentences that are longer";
    "valid-translation-output": One "FILE",
        "Write translations to this file; {E}, {B}, {U} and {T} become the epoch, its batches, the \
        updates and target tokens so far; default: valid.translation beside the model";
    "max-length-factor": One "X" = "3",
        "Limit translations to this many times the length of the source";
    "allow-unk": Flag, "Allow the unknown token in translations";
    "valid-script-path": One "FILE",
        "Program that scores translations or models and prints a number";
    "valid-script-args": Many "X",
        "Arguments of the program of --valid-script-path, before the file of translations";
    "train-ce-sample": One "N" = "0", "Also show the cross-entropy of N pairs of the training text";
    "valid-log": One "FILE", "Append the lines of validation to this file";
    "valid-reset-stalled": Flag, "When training is resumed, forget the stalls of validation";
    "valid-reset-all": Flag,
        "When training is resumed, forget stalls and best values, for example after a change of \
        the validation text";
}
