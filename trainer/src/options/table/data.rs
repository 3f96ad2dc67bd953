//! Options of corpora, vocabularies and batches.

options! { "Data":
    "train-sets": Many "FILE",
        "Source and target of the training text, or the text of a language model: plain, .gz, \
        .zst, .bz2 or .xz";
    "tsv": Flag,
        "Source and target are tab-separated fields of one file; without --train-sets, of standard \
        input";
    "tsv-fields": One "N",
        "Expected number of tab-separated fields with --tsv; default: they are counted";
    "guided-alignment": One "FILE" = "none",
        "Train attention towards these alignments, links i-j of pieces; with --tsv the index of a \
        field works too";
    "data-weighting": One "FILE" = "none",
        "Weights of the losses of the training text; with --tsv the index of a field, from 0, \
        works too";
    "data-weighting-type": One "WHAT" = "sentence",
        "sentence: one weight per line; word: one per target piece and one for </s>";
    "all-caps-every": One "N" = "0", "Put every Nth line in capitals";
    "english-title-case-every": One "N" = "0",
        "Put the source of every Nth line in English title case";
    "vocabs": Many "FILE",
        "Vocabularies of source and target (.spm, .yml), the same file twice for a joint one; one \
        for a language model";
    "dim-vocabs": Many "N" = "0 0", "Keep N words of each vocabulary; 0 for all";
    "sentencepiece-options": One "TEXT",
        "Settings of SentencePiece's trainer for vocabularies that are made, such as \
        --character_coverage=1 --byte_fallback --user_defined_symbols=<a>,<b>";
    "no-spm-encode": Flag,
        "Lines of the training and validation text are tokens of the vocabularies; do not segment \
        them";
    "max-length": One "N" = "50",
        "Leave out pairs with more than N tokens on a side, </s> included";
    "max-length-crop": Flag, "Crop longer sentences instead of leaving them out";
    "shuffle": One "WHAT" = "data", "Shuffle each epoch: data, batches or none";
    "no-shuffle": Flag, "The same as --shuffle none";
    "mini-batch": One "N" = "64", "Sentences per batch";
    "mini-batch-words": One "N" = "0", "Source tokens per batch, instead of --mini-batch";
    "count-target-words": Flag, "Let --mini-batch-words count target tokens";
    "mini-batch-fit": Flag,
        "Fill a batch up to the memory of --workspace, regardless of --mini-batch";
    "workspace": One "MB" = "2048",
        "Megabytes of activations and gradients per batch, with --mini-batch-fit";
    "mini-batch-warmup": One "LENGTH" = "0",
        "Let batches grow to their full size over this length of training";
    "maxi-batch": One "N" = "100", "Batches that are sorted by length together";
    "maxi-batch-sort": One "SIDE" = "trg",
        "The side by whose length sentences are sorted: trg, src or none";
    "granule-words": One "N" = "600",
        "Limit a micro-batch to about N target or 2N source tokens; changes sums in the last bits";
    "granule-megabytes": One "MB" = "0",
        "Limit the activations and gradients of a micro-batch to this size; 0 for no limit";
    "batches": One "FILE",
        "Use the batches of this file: one micro-batch per line, as line numbers from 0; an empty \
        line ends an update";
    "no-restore-corpus": Flag,
        "Restart the epoch when training is resumed; the corpus may have changed";
}
