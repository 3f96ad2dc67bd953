#!/usr/bin/env python3
"""Writes the small models under nmt/testdata and base/textproc/testdata with the programs
that own the formats: NumPy, CTranslate2's converter, safetensors, SentencePiece.

    python3 -m venv venv && venv/bin/pip install numpy pyyaml ctranslate2 safetensors sentencepiece
    venv/bin/python scripts/make_nmt_golden.py FOLDER

The files go to FOLDER/nmt and FOLDER/segment; compare before replacing what is there.
`tiny.miriam` is written by `miriam nmt convert nmt/testdata/tiny-ct2-int8`.
"""

import json
import os
import shutil
import sys

import ctranslate2
import numpy as np
import sentencepiece
import yaml
from safetensors.numpy import save_file

WORDS, WIDTH, INSIDE, HEADS = 24, 4, 6, 2
OPTIONS = {
    "type": "transformer", "dim-vocabs": [WORDS, WORDS], "dim-emb": WIDTH, "enc-depth": 1, "dec-depth": 1,
    "transformer-heads": HEADS, "transformer-dim-ffn": INSIDE, "transformer-ffn-depth": 2,
    "transformer-ffn-activation": "relu", "transformer-preprocess": "", "transformer-postprocess": "dan",
    "transformer-postprocess-top": "", "transformer-postprocess-emb": "d",
    "transformer-decoder-autoreg": "self-attention", "tied-embeddings-all": True, "tied-embeddings": False,
    "tied-embeddings-src": False, "version": "v1.12.0 made for tests", "layer-normalization": False,
    "lemma-dim-emb": 0, "transformer-aan-depth": 2, "transformer-aan-activation": "swish",
    "transformer-dim-aan": 16, "transformer-aan-nogate": False, "skip": False, "input-types": [],
    "transformer-no-projection": False, "transformer-guided-alignment-layer": "last",
    "transformer-decoder-dim-ffn": 0, "transformer-decoder-ffn-depth": 0, "transformer-depth-scaling": False,
    "transformer-tied-layers": [], "transformer-train-position-embeddings": False, "right-left": False,
    "ulr": False, "output-omit-bias": False, "dec-cell": "gru", "enc-cell": "gru",
}
NAMES = ["</s>", "<unk>"] + [f"w{i}" for i in range(2, WORDS)]


def parameters():
    """Returns a post-norm transformer, one layer a side; few mantissa bits, so text is exact."""
    random = np.random.default_rng(11)
    matrix = lambda *shape: (np.round(random.standard_normal(shape) * 64) / 128).astype(np.float32)
    p = {"Wemb": matrix(WORDS, WIDTH), "decoder_ff_logit_out_b": matrix(1, WORDS)}

    def norm(name):
        p[f"{name}_ln_scale"], p[f"{name}_ln_bias"] = matrix(1, WIDTH), matrix(1, WIDTH)

    for side, attentions in (("encoder", ["self"]), ("decoder", ["self", "context"])):
        for attention in attentions:
            name = f"{side}_l1_{attention}"
            for which in "qkvo":
                p[f"{name}_W{which}"], p[f"{name}_b{which}"] = matrix(WIDTH, WIDTH), matrix(1, WIDTH)
            norm(f"{name}_Wo")
        name = f"{side}_l1_ffn"
        p[f"{name}_W1"], p[f"{name}_b1"] = matrix(WIDTH, INSIDE), matrix(1, INSIDE)
        p[f"{name}_W2"], p[f"{name}_b2"] = matrix(INSIDE, WIDTH), matrix(1, WIDTH)
        norm(f"{name}_ffn")
    return p


def hugging_face(p, folder):
    """Writes this model under the names of transformers' MarianMT, with one more row for <pad>."""
    pad = lambda a, axis: np.concatenate([a, np.zeros_like(a[:1] if axis == 0 else a[:, :1])], axis)
    t = {"model.shared.weight": pad(p["Wemb"], 0), "final_logits_bias": pad(p["decoder_ff_logit_out_b"], 1)}

    def linear(name, w, b):
        t[f"{name}.weight"], t[f"{name}.bias"] = np.ascontiguousarray(p[w].T), p[b][0]

    def norm(name, of):
        t[f"{name}.weight"], t[f"{name}.bias"] = p[f"{of}_ln_scale"][0], p[f"{of}_ln_bias"][0]

    for side, attentions in (("encoder", ["self"]), ("decoder", ["self", "context"])):
        layer = f"model.{side}.layers.0"
        for attention in attentions:
            name = f"{layer}.{ {'self': 'self_attn', 'context': 'encoder_attn'}[attention] }"
            for which, called in zip("qkvo", ["q_proj", "k_proj", "v_proj", "out_proj"]):
                linear(f"{name}.{called}", f"{side}_l1_{attention}_W{which}", f"{side}_l1_{attention}_b{which}")
            norm(f"{name}_layer_norm", f"{side}_l1_{attention}_Wo")
        for i in "12":
            linear(f"{layer}.fc{i}", f"{side}_l1_ffn_W{i}", f"{side}_l1_ffn_b{i}")
        norm(f"{layer}.final_layer_norm", f"{side}_l1_ffn_ffn")
    os.makedirs(folder, exist_ok=True)
    save_file(t, f"{folder}/model.safetensors", metadata={"format": "pt"})
    config = {
        "model_type": "marian", "d_model": WIDTH, "encoder_layers": 1, "decoder_layers": 1,
        "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "encoder_ffn_dim": INSIDE,
        "decoder_ffn_dim": INSIDE, "activation_function": "relu", "vocab_size": WORDS + 1,
        "decoder_vocab_size": WORDS + 1, "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True, "scale_embedding": True, "static_position_embeddings": True,
        "normalize_before": False, "normalize_embedding": False, "add_final_layer_norm": False,
        "bad_words_ids": [[WORDS]], "decoder_start_token_id": WORDS, "eos_token_id": 0,
        "pad_token_id": WORDS, "max_position_embeddings": 512,
    }
    json.dump(config, open(f"{folder}/config.json", "w"), indent=1)
    vocabulary = {**{word: i for i, word in enumerate(NAMES)}, "<pad>": WORDS}
    json.dump(vocabulary, open(f"{folder}/vocab.json", "w"), indent=1)


def models(folder):
    os.makedirs(folder, exist_ok=True)
    p = parameters()
    options = yaml.safe_dump(OPTIONS).encode() + b"\0"
    whole = {**p, "special:model.yml": np.frombuffer(options, dtype=np.int8)}
    np.savez(f"{folder}/tiny.npz", **whole)
    np.savez_compressed(f"{folder}/tiny-deflated.npz", **whole)
    with open(f"{folder}/tiny.vocab.yml", "w") as file:
        yaml.safe_dump({word: i for i, word in enumerate(NAMES)}, file, sort_keys=False)
    for kind in (None, "int8", "int16", "float16"):
        converter = ctranslate2.converters.MarianConverter(
            f"{folder}/tiny.npz", [f"{folder}/tiny.vocab.yml"] * 2)
        name = "tiny-ct2" + (f"-{kind}" if kind else "")
        converter.convert(f"{folder}/{name}", quantization=kind, force=True)
    hugging_face(p, f"{folder}/tiny-hf")


def pieces(folder, toy):
    """Writes SentencePiece models of the toy corpus with a small character map of our own."""
    os.makedirs(folder, exist_ok=True)
    texts = ["corpus.en", "corpus.es", "mono.es"]
    for name in texts:
        shutil.copy(f"{toy}/{name}", folder)
    # A model file keeps the names of its training files, so they must have no folders.
    os.chdir(folder)
    rules = [("\u00a0", " "), ("\t", " "), ("\ufb01", "fi"), ("\u0132", "IJ"), ("e\u0301", "é"), ("\u200b", ""),
             ("A", "a"), ("B", "b"), ("E", "e"), ("\u2026", "..."), ("..", "\u2025"), ("T", "t")]
    codes = lambda text: " ".join(f"{ord(character):X}" for character in text)
    with open("rules.tsv", "w") as file:
        file.writelines(f"{codes(a)}\t{codes(b)}\n" for a, b in rules)
    common = {"input": ",".join(texts), "vocab_size": 110, "hard_vocab_limit": False, "minloglevel": 2,
              "bos_id": -1, "eos_id": 0, "unk_id": 1, "normalization_rule_tsv": "rules.tsv"}
    kinds = {
        "unigram": {"model_type": "unigram", "user_defined_symbols": ["<x>"]},
        "bpe": {"model_type": "bpe", "vocab_size": 130},
        "unigram-bytes": {"model_type": "unigram", "byte_fallback": True, "vocab_size": 380},
        "bpe-bytes": {"model_type": "bpe", "byte_fallback": True, "vocab_size": 400,
                      "user_defined_symbols": ["<x>", "la ca"], "add_dummy_prefix": False,
                      "remove_extra_whitespaces": False},
    }
    lines = [line for name in texts for line in open(name, encoding="utf8").read().split("\n")[:12]]
    lines += ["", "  ", " a  b ", "The\u00a0END\tIJ \u0132 \ufb01n e\u0301l", "日本 x", "<x>a<x> la casa",
              "\u2026 .. ... ....", "▁a ▁", "Ω Ω", "zzz\u200bz", " la ca la casa  "]
    with open("sentence-piece.txt", "w", encoding="utf8") as file:
        for name, options in kinds.items():
            sentencepiece.SentencePieceTrainer.train(model_prefix=name, **{**common, **options})
            os.rename(f"{name}.model", f"{name}.spm")
            model = sentencepiece.SentencePieceProcessor(model_file=f"{name}.spm")
            for line in lines:
                ids = model.encode(line, out_type=int)
                fields = [name, line, " ".join(map(str, ids)), "|".join(model.encode(line, out_type=str)),
                          model.decode(ids)]
                file.write("\u241f".join(fields) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    toy = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/toy")
    out = os.path.abspath(sys.argv[1])
    models(f"{out}/nmt")
    pieces(f"{out}/segment", toy)
