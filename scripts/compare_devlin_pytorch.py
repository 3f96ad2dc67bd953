#!/usr/bin/env python3
"""Costs of Devlin's shape S1 (2017) in PyTorch: f32, one thread, sentence by sentence, a beam of 6
and candidate lists, as in `miriam bench nmt devlin`.

    python3 -m venv venv && venv/bin/pip install torch
    venv/bin/python scripts/compare_devlin_pytorch.py news.en --sentences 50

The matrices of all gates are joined, as in cuDNN (torch.nn.GRU in the encoder, one GEMM per joined
matrix in the decoder), and Devlin's speedups are not used. Weights are random, and translations
are as long as their sources.
"""

import argparse
import time

import torch

EMBEDDING, SIDE, STATE, ATTENTION, BEAM = 512, 512, 1024, 1024, 6


class Model(torch.nn.Module):
    def __init__(self, words):
        super().__init__()
        linear = lambda inputs, outputs: torch.nn.Linear(inputs, outputs, bias=False)
        self.source = torch.nn.Embedding(words, EMBEDDING)
        self.target = torch.nn.Embedding(words, EMBEDDING)
        self.encoder = torch.nn.GRU(EMBEDDING, SIDE, 3, bidirectional=True)
        self.start = torch.nn.Linear(2 * SIDE, STATE)
        self.keys, self.of_state, self.of_word = linear(2 * SIDE, ATTENTION), linear(STATE, ATTENTION), linear(EMBEDDING, ATTENTION)
        self.recurrent, self.context = torch.nn.Linear(STATE, 3 * STATE), linear(2 * SIDE, 3 * STATE)
        self.word = linear(EMBEDDING, 3 * STATE)
        self.output = torch.nn.Linear(STATE, words)

    def translate(self, source, candidates):
        states, _ = self.encoder(self.source(source).unsqueeze(1))
        states = states.squeeze(1)
        keys = torch.tanh(self.keys(states))
        weights, bias = self.output.weight[candidates], self.output.bias[candidates]
        h = torch.tanh(self.start(states.mean(0, keepdim=True)))
        x = torch.zeros(1, EMBEDDING)
        scores = torch.zeros(1)
        for _ in range(len(source)):
            query = torch.tanh(self.of_state(h) + self.of_word(x))
            context = torch.softmax(query @ keys.T, 1) @ states
            gates, inputs = self.recurrent(h), self.context(context) + self.word(x)
            r = torch.sigmoid(gates[:, :STATE] + inputs[:, :STATE])
            z = torch.sigmoid(gates[:, STATE:2 * STATE] + inputs[:, STATE:2 * STATE])
            new = torch.tanh(inputs[:, 2 * STATE:] + r * gates[:, 2 * STATE:])
            h = z * h + (1 - z) * new
            likely = torch.log_softmax(torch.addmm(bias, h, weights.T), 1) + scores.unsqueeze(1)
            scores, best = likely.flatten().topk(BEAM)
            h, x = h[best // len(candidates)], self.target(candidates[best % len(candidates)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("--sentences", type=int, default=50)
    parser.add_argument("--words", type=int, default=80000)
    parser.add_argument("--passes", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    with open(arguments.input, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.split()][: arguments.sentences]
    ids = {}
    sources = [torch.tensor([ids.setdefault(word, 2 + len(ids)) for word in line] + [0]) for line in lines]
    lists = [torch.randint(arguments.words, (100 + 20 * len(source),)).unique() for source in sources]
    model = Model(arguments.words).eval()
    best = float("inf")
    with torch.inference_mode():
        for _ in range(arguments.passes):
            before = time.process_time()
            for source, candidates in zip(sources, lists):
                model.translate(source, candidates)
            best = min(best, time.process_time() - before)
    words = sum(len(source) for source in sources)
    print(f"PyTorch {torch.__version__}: {words / best:.0f} words / s, {1000 * best / len(sources):.2f} ms / sentence")


main()
