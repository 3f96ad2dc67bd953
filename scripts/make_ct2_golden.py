#!/usr/bin/env python3
"""Writes small CTranslate2 models of several origins, and what CTranslate2 makes of them.

    python3 -m venv /tmp/ct2 && /tmp/ct2/bin/pip install ctranslate2==4.8.5 numpy
    /tmp/ct2/bin/python scripts/make_ct2_golden.py nmt/testdata

Weights are random, of scales as after training. Each model is built by CTranslate2's own
specifications as its converters fill them, and is a folder with `expected.tsv`: the tokens of
a source sentence, the beam, the tokens of a translation, its score; best first.

    ct2-base     kind TransformerBase, binary version 2, as old converters of OpenNMT-tf wrote it
    ct2-base-v1  the same model in binary version 1, with the names of OpenNMT-tf
    ct2-relative OpenNMT-py: vectors of relative positions, one key and value head for all queries
    ct2-t5       T5 v1.1, MT5, MADLAD: RMS norm, gated layers, biases of relative positions, heads of
                 their own width, no biases of matrices, scaled output
    ct2-bart     BART, mBART: norm of embeddings, learned positions
"""

import json
import pathlib
import struct
import sys

import ctranslate2
import numpy as np
from ctranslate2.specs import attention_spec, common_spec, transformer_spec

SPECIAL = ["<blank>", "<s>", "</s>"]
SOURCE = SPECIAL + [f"s{n}" for n in range(22)]
TARGET = SPECIAL + [f"t{n}" for n in range(19)]
SHARED = ["<pad>", "</s>", "<unk>"] + [f"w{n}" for n in range(25)]
SENTENCES = 12


class Filler:
    """Fills the empty variables of a specification."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def matrix(self, rows, columns, scale=1.0):
        values = self.random.normal(0, scale / np.sqrt(columns), (rows, columns))
        return values.astype(np.float32)

    def vector(self, size, mean=0.0, scale=0.2):
        return self.random.normal(mean, scale, size).astype(np.float32)

    def linear(self, spec, rows, columns, bias=True):
        spec.weight = self.matrix(rows, columns)
        if bias:
            spec.bias = self.vector(rows)

    def norm(self, spec, width):
        spec.gamma = self.vector(width, 1.0)
        if hasattr(spec, "beta"):
            spec.beta = self.vector(width)

    def attention(self, spec, dim, heads, head_dim, self_attention, bias, kv_heads=None):
        width, kv = heads * head_dim, (kv_heads or heads) * head_dim
        self.norm(spec.layer_norm, dim)
        if self_attention:
            self.linear(spec.linear[0], width + 2 * kv, dim, bias)
        else:
            self.linear(spec.linear[0], width, dim, bias)
            self.linear(spec.linear[1], 2 * kv, dim, bias)
        self.linear(spec.linear[-1], dim, width, bias)
        if hasattr(spec, "relative_position_keys"):
            spec.relative_position_keys = self.matrix(7, head_dim)
            spec.relative_position_values = self.matrix(7, head_dim)
        if hasattr(spec, "relative_attention_bias"):
            spec.relative_attention_bias = self.matrix(8, heads, 2.0)
            spec.relative_attention_max_distance = np.dtype("int32").type(12)

    def stack(self, spec, words, dim, heads, head_dim, inner, bias=True, kv_heads=None):
        embeddings = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
        embeddings.weight = self.matrix(words, dim, 3.0)
        if hasattr(spec, "layer_norm"):
            self.norm(spec.layer_norm, dim)
        for layer in spec.layer:
            self.attention(layer.self_attention, dim, heads, head_dim, True, bias, kv_heads)
            if hasattr(layer, "attention"):
                self.attention(layer.attention, dim, heads, head_dim, False, bias, kv_heads)
            self.norm(layer.ffn.layer_norm, dim)
            self.linear(layer.ffn.linear_0, inner, dim, bias)
            self.linear(layer.ffn.linear_1, dim, inner, bias)
            if hasattr(layer.ffn, "linear_0_noact"):
                self.linear(layer.ffn.linear_0_noact, inner, dim, bias)
        if hasattr(spec, "projection"):
            self.linear(spec.projection, words, dim, bias)
            spec.projection.weight *= np.float32(2)


def save(spec, folder, source, target, quantization=None):
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.validate()
    spec.optimize(quantization)
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))


def base():
    """Returns a model with eight heads, a number that files of TransformerBase do not state."""
    spec = transformer_spec.TransformerSpec.from_config((2, 2), 8)
    fill = Filler(1)
    # The vocabularies lack <unk>, which CTranslate2 appends.
    fill.stack(spec.encoder, len(SOURCE) + 1, 16, 8, 2, 24)
    fill.stack(spec.decoder, len(TARGET) + 1, 16, 8, 2, 24)
    return spec


def relative():
    spec = transformer_spec.TransformerSpec.from_config(
        (2, 2), 4, with_relative_position=True, multi_query_attention=True,
        activation=common_spec.Activation.GELU)
    spec.encoder.scale_embeddings = False
    spec.decoder.scale_embeddings = False
    fill = Filler(6)
    fill.stack(spec.encoder, len(SOURCE) + 1, 16, 4, 4, 24, kv_heads=1)
    fill.stack(spec.decoder, len(TARGET) + 1, 16, 4, 4, 24, kv_heads=1)
    spec.decoder.projection.bias *= np.float32(0.1)
    return spec


def t5():
    spec = transformer_spec.TransformerSpec.from_config(
        (2, 2), 3, activation=common_spec.Activation.GELUTanh, ffn_glu=True,
        relative_attention_bias=True, rms_norm=True)
    fill = Filler(3)
    for stack in (spec.encoder, spec.decoder):
        fill.stack(stack, len(SHARED), 8, 3, 4, 12, bias=False)
        stack.scale_embeddings = False
        for layer in stack.layer:
            layer.self_attention.queries_scale = 1.0
            first = stack.layer[0].self_attention
            layer.self_attention.relative_attention_bias = first.relative_attention_bias
            if hasattr(layer, "attention"):
                layer.attention.queries_scale = 1.0
    spec.decoder.embeddings.weight = spec.encoder.embeddings[0].weight
    spec.decoder.projection.weight *= np.float32(3)
    spec.decoder.scale_outputs = 8 ** -0.5
    spec.config.bos_token = spec.config.decoder_start_token = "<pad>"
    return spec


def bart():
    spec = transformer_spec.TransformerSpec.from_config(
        (2, 2), 2, pre_norm=False, activation=common_spec.Activation.GELU,
        layernorm_embedding=True)
    fill = Filler(8)
    for stack in (spec.encoder, spec.decoder):
        fill.stack(stack, len(SHARED), 8, 2, 4, 12)
        fill.norm(stack.layernorm_embedding, 8)
        stack.position_encodings.encodings = fill.matrix(40, 8)
        stack.scale_embeddings = 1.0
    spec.decoder.embeddings.weight = spec.encoder.embeddings[0].weight
    spec.config.bos_token = "<pad>"
    spec.config.decoder_start_token = "</s>"
    return spec


def write_string(file, text):
    file.write(struct.pack("<H", len(text) + 1) + text.encode() + b"\0")


def old_name(name):
    """Returns the name of a variable in OpenNMT-tf's first version."""
    parts = ["transformer"] + name.split("/")
    side = parts[1]
    for index, part in enumerate(parts):
        if part in ("layer_norm", "embeddings", "projection"):
            parts[index] = {"layer_norm": "LayerNorm", "projection": "dense"}.get(part, part)
        elif part == "self_attention":
            parts[index] = "masked_multi_head" if side == "decoder" else "multi_head"
        elif part == "attention":
            parts[index] = "multi_head"
        elif part.startswith("linear_"):
            number = part[7:]
            parts[index] = "conv1d" if number == "0" else "conv1d_" + number
    if parts[-2] == "embeddings":
        parts[-2:] = ["w_embs"]
    else:
        parts[-1] = {"weight": "kernel"}.get(parts[-1], parts[-1])
    return "/".join(parts) + ":0"


def write_old(spec, folder, version):
    """Writes binary version 1 or 2 of a TransformerBase, which has neither flags nor aliases."""
    folder.mkdir(parents=True, exist_ok=True)
    for side, words in (("source", SOURCE), ("target", TARGET)):
        (folder / f"{side}_vocabulary.txt").write_text("".join(word + "\n" for word in words))
    variables = [(n, v) for n, v in spec.variables(ordered=True) if v.numpy().ndim > 0]
    variables = [(n.replace("embeddings_0", "embeddings"), v.numpy()) for n, v in variables]
    with open(folder / "model.bin", "wb") as file:
        file.write(struct.pack("<I", version))
        if version > 1:
            write_string(file, "TransformerBase")
            file.write(struct.pack("<I", 2))
        file.write(struct.pack("<I", len(variables)))
        for name, value in variables:
            write_string(file, name if version > 1 else old_name(name))
            file.write(struct.pack("<B", value.ndim))
            file.write(struct.pack(f"<{value.ndim}I", *value.shape))
            file.write(struct.pack("<BI", value.itemsize, value.size) + value.tobytes())


def expect(folder, words, seed, prefix=(), suffix=()):
    random = np.random.default_rng(seed)
    words = [word for word in words if word not in SPECIAL + SHARED[:3]] + ["none"]
    sentences = [
        list(prefix) + list(random.choice(words, random.integers(1, 11))) + list(suffix)
        for _ in range(SENTENCES)
    ]
    translator = ctranslate2.Translator(str(folder), compute_type="float32", inter_threads=1)
    lines = []
    for beam in (1, 4):
        for sentence in sentences:
            [result] = translator.translate_batch(
                [[str(word) for word in sentence]], beam_size=beam, num_hypotheses=beam,
                return_scores=True, max_decoding_length=14)
            for tokens, score in zip(result.hypotheses, result.scores):
                lines.append("\t".join(
                    [" ".join(sentence), str(beam), " ".join(tokens), f"{score:.6f}"]))
    (folder / "expected.tsv").write_text("\n".join(lines) + "\n")


def main(root):
    root = pathlib.Path(root)
    spec = base()
    spec.register_source_vocabulary(SOURCE + ["<unk>"])
    spec.register_target_vocabulary(TARGET + ["<unk>"])
    spec.validate()
    for version, name in ((2, "ct2-base"), (1, "ct2-base-v1")):
        write_old(spec, root / name, version)
        expect(root / name, SOURCE, 10)
    save(relative(), root / "ct2-relative", SOURCE + ["<unk>"], TARGET + ["<unk>"])
    expect(root / "ct2-relative", SOURCE, 11)
    save(t5(), root / "ct2-t5", SHARED, SHARED)
    expect(root / "ct2-t5", SHARED, 12, suffix=["</s>"])
    save(bart(), root / "ct2-bart", SHARED, SHARED)
    expect(root / "ct2-bart", SHARED, 13, prefix=["w0"], suffix=["</s>"])


if __name__ == "__main__":
    main(*sys.argv[1:])
