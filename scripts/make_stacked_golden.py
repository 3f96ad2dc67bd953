#!/usr/bin/env python3
"""Writes nmt/testdata/stacked-*: small models of Devlin's kind with random weights, and their
expected outputs, computed in NumPy by the equations of his paper (2017, sections 4 and 5).

    python3 -m venv venv && venv/bin/pip install numpy pyyaml
    venv/bin/python scripts/make_stacked_golden.py nmt/testdata

A line of stacked-*.txt: source words, a tab, target words, a tab, the natural logarithm of the
probability of each target word and of </s> after them.
"""

import sys

import numpy as np
import yaml

WORDS, EMBEDDING, SIDE, STATE, ATTENTION, WIDTH = 24, 6, 5, 7, 4, 9


def options(top, depth):
    return {
        "type": "stacked", "dim-vocabs": [WORDS, WORDS], "dim-emb": EMBEDDING, "enc-depth": 2,
        "dim-enc-rnn": SIDE, "dim-rnn": STATE, "dim-att": ATTENTION, "fc-depth": depth, "dim-fc": WIDTH,
        "top": top, "dim-top": 8, "tied-embeddings-all": False, "tied-embeddings": False,
        "output-omit-bias": False, "version": "made for tests",
    }


def parameters(top, depth):
    random = np.random.default_rng(7 + depth)
    p = {}

    def matrix(name, *shape):
        p[name] = (random.standard_normal(shape) * 0.7).astype(np.float32)

    def gru(name, width, state):
        for suffix, columns in (("", 2 * state), ("x", state)):
            matrix(f"{name}_W{suffix}", width, columns)
            matrix(f"{name}_U{suffix}", state, columns)
            matrix(f"{name}_b{suffix}", 1, columns)

    def affine(name, width, columns):
        matrix(f"{name}_W", width, columns)
        matrix(f"{name}_b", 1, columns)

    matrix("encoder_Wemb", WORDS, EMBEDDING)
    matrix("decoder_Wemb", WORDS, EMBEDDING)
    for layer, width in ((1, EMBEDDING), (2, 2 * SIDE)):
        gru(f"encoder_l{layer}", width, SIDE)
        gru(f"encoder_r_l{layer}", width, SIDE)
    affine("decoder_ff_state", 2 * SIDE, STATE)
    gru("decoder_cell", EMBEDDING, STATE)
    matrix("decoder_cell_C", 2 * SIDE, 2 * STATE)
    matrix("decoder_cell_Cx", 2 * SIDE, STATE)
    matrix("decoder_att_W", STATE, ATTENTION)
    matrix("decoder_att_V", EMBEDDING, ATTENTION)
    matrix("decoder_att_U", 2 * SIDE, ATTENTION)
    below = STATE
    for layer in range(1, depth + 1):
        affine(f"decoder_fc{layer}", below, WIDTH)
        below = WIDTH
    if top == "tanh":
        affine("decoder_top", below, 8)
    if top == "gru":
        gru("decoder_top", below, 8)
    matrix("decoder_ff_logit_Wt", WORDS, below if top == "none" else 8)
    matrix("decoder_ff_logit_b", 1, WORDS)
    return p


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def step(p, name, h, *inputs):
    """Returns the state after one step of a GRU; inputs are (values, suffix of their matrices)."""
    size = h.shape[0]
    gates = h @ p[f"{name}_U"] + p[f"{name}_b"][0] + sum(x @ p[f"{name}_{m}"] for x, m in inputs)
    r, z = sigmoid(gates[:size]), sigmoid(gates[size:])
    inner = r * (h @ p[f"{name}_Ux"]) + sum(x @ p[f"{name}_{m}x"] for x, m in inputs)
    return z * h + (1 - z) * np.tanh(inner + p[f"{name}_bx"][0])


def encode(p, source):
    x = p["encoder_Wemb"][source]
    for layer in (1, 2):
        sides = []
        for name, order in ((f"encoder_l{layer}", range(len(x))), (f"encoder_r_l{layer}", range(len(x) - 1, -1, -1))):
            h, out = np.zeros(SIDE), np.zeros((len(x), SIDE))
            for t in order:
                h = out[t] = step(p, name, h, (x[t], "W"))
            sides.append(out)
        x = np.concatenate(sides, 1)
    return x


def score(p, top, depth, source, target):
    states = encode(p, source)
    h = np.tanh(states.mean(0) @ p["decoder_ff_state_W"] + p["decoder_ff_state_b"][0])
    above = np.zeros(8)
    keys = np.tanh(states @ p["decoder_att_U"])
    scores, x = [], np.zeros(EMBEDDING)
    for word in target + [0]:
        query = np.tanh(h @ p["decoder_att_W"] + x @ p["decoder_att_V"])
        context = softmax(keys @ query) @ states
        h = step(p, "decoder_cell", h, (x, "W"), (context, "C"))
        layers = [h]
        for layer in range(1, depth + 1):
            y = layers[-1] @ p[f"decoder_fc{layer}_W"] + p[f"decoder_fc{layer}_b"][0]
            if layer >= 3 and layer % 2 == 1:
                y = y + layers[layer - 2]
            layers.append(np.maximum(y, 0))
        out = layers[-1]
        if top == "tanh":
            out = np.tanh(out @ p["decoder_top_W"] + p["decoder_top_b"][0])
        if top == "gru":
            above = out = step(p, "decoder_top", above, (out, "W"))
        probabilities = softmax(p["decoder_ff_logit_Wt"] @ out + p["decoder_ff_logit_b"][0])
        scores.append(np.log(probabilities[word]))
        x = p["decoder_Wemb"][word].astype(np.float64)
    return scores


def main(folder):
    random = np.random.default_rng(3)
    for top, depth in (("none", 0), ("tanh", 5), ("gru", 2)):
        p = parameters(top, depth)
        text = yaml.safe_dump(options(top, depth)).encode() + b"\0"
        np.savez(f"{folder}/stacked-{top}.npz", **p, **{"special:model.yml": np.frombuffer(text, np.int8)})
        exact = {name: values.astype(np.float64) for name, values in p.items()}
        with open(f"{folder}/stacked-{top}.txt", "w") as file:
            for _ in range(5):
                source = [int(word) for word in random.integers(2, WORDS, random.integers(1, 9))] + [0]
                target = [int(word) for word in random.integers(2, WORDS, random.integers(1, 9))]
                scores = score(exact, top, depth, source, target)
                fields = (source, target, [f"{x:.7f}" for x in scores])
                file.write("\t".join(" ".join(map(str, field)) for field in fields) + "\n")


main(sys.argv[1])
