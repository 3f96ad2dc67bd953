//! Options of the architecture: those that `nmt` reads from model files.

options! { "Model":
    "model": One "FILE", "Write the model to this .npz file";
    "pretrained-model": One "FILE", "Begin with the parameters of this model";
    "type": One "TYPE" = "transformer",
        "transformer, s2s, nematus, amun or stacked; lm-transformer or lm for a language model, \
        the decoder of transformer or s2s alone, trained on one text";
    "dim-emb": One "N" = "512", "Width of embeddings";
    "dim-rnn": One "N" = "1024", "Width of recurrent states";
    "enc-type": One "TYPE" = "bidirectional", "bidirectional, bi-unidirectional or alternating";
    "enc-cell": One "CELL" = "gru", "gru, lstm, mlstm or gru-nematus";
    "enc-cell-depth": One "N" = "1", "Transitions per encoder layer";
    "enc-depth": One "N" = "1", "Encoder layers";
    "dec-cell": One "CELL" = "gru", "gru, lstm, mlstm or gru-nematus; ssru or sru in transformers";
    "dec-cell-base-depth": One "N" = "2", "Transitions of the first decoder layer";
    "dec-cell-high-depth": One "N" = "1", "Transitions of further decoder layers";
    "dec-depth": One "N" = "1", "Decoder layers";
    "skip": Flag, "Skip connections between recurrent layers";
    "layer-normalization": Flag, "Layer norms in recurrent layers";
    "right-left": Flag, "Train on reversed sources and targets";
    "tied-embeddings": Flag, "Tie embeddings of the target and the output layer";
    "tied-embeddings-src": Flag, "Tie embeddings of source and target";
    "tied-embeddings-all": Flag, "Tie all embeddings and the output layer";
    "output-omit-bias": Flag, "No bias in the output layer";
    "transformer-heads": One "N" = "8", "Heads of attention";
    "transformer-no-projection": Flag, "No output projection after attention";
    "transformer-dim-ffn": One "N" = "2048", "Inner width of feed-forward layers";
    "transformer-decoder-dim-ffn": One "N" = "0", "Inner width in the decoder; 0 for the encoder's";
    "transformer-ffn-depth": One "N" = "2", "Affine layers per feed-forward layer";
    "transformer-decoder-ffn-depth": One "N" = "0",
        "Affine layers per feed-forward layer in the decoder; 0 for the encoder's";
    "transformer-ffn-activation": One "NAME" = "swish", "relu, swish or gelu";
    "transformer-dim-aan": One "N" = "2048", "Inner width of average attention";
    "transformer-aan-depth": One "N" = "2", "Depth of average attention";
    "transformer-aan-activation": One "NAME" = "swish", "relu, swish or gelu";
    "transformer-aan-nogate": Flag, "No gate after average attention";
    "transformer-decoder-autoreg": One "TYPE" = "self-attention",
        "self-attention, average-attention or rnn";
    "transformer-rnn-projection": Flag, "Add an output projection after the recurrent unit";
    "transformer-tied-layers": Many "N",
        "Share parameters: for each decoder layer, the layer whose parameters it uses";
    "transformer-guided-alignment-layer": One "N" = "last",
        "Decoder layer whose first head gives the alignment";
    "transformer-preprocess": One "STEPS", "Steps before a sublayer: d dropout, n norm";
    "transformer-postprocess": One "STEPS" = "dan",
        "Steps after a sublayer: d dropout, a add, n norm";
    "transformer-postprocess-emb": One "STEPS" = "d", "Steps after embeddings";
    "transformer-postprocess-top": One "STEPS", "Steps after the last layer";
    "transformer-depth-scaling": Flag, "Smaller initial values in deeper layers";
    "dim-enc-rnn": One "N" = "512", "stacked: width of the encoder's states";
    "dim-att": One "N" = "0", "stacked: width of attention; 0 for that of the states";
    "fc-depth": One "N" = "0", "stacked: fully connected layers";
    "dim-fc": One "N" = "768", "stacked: width of fully connected layers";
    "top": One "TYPE" = "none", "stacked: top layer, none, tanh or gru";
    "dim-top": One "N" = "0", "stacked: width of the top layer; 0 for that of the states";
}
