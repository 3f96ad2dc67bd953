//! Options of dropout.

options! { "Dropout":
    "transformer-dropout": One "RATE" = "0", "Dropout of embeddings and outputs of sublayers";
    "transformer-dropout-attention": One "RATE" = "0", "Dropout of attention weights";
    "transformer-dropout-ffn": One "RATE" = "0", "Dropout of hidden layers of feed-forward layers";
    "dropout-rnn": One "RATE" = "0",
        "Recurrent models: dropout of inputs and states of cells, the same at all time steps of a \
        sentence";
    "dropout-src": One "RATE" = "0", "Dropout of whole source tokens";
    "dropout-trg": One "RATE" = "0", "Dropout of whole target tokens";
}
