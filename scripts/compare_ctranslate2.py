#!/usr/bin/env python3
"""Compare neural translation with CTranslate2 and Marian, fairly on a noisy machine.

Makes a model of a shape with random weights, gives it to both programs, and runs them in
turn, one thread each: 25 tokens in (with </s>), exactly 25 out. Each program translates a
short and a long text; the slope between them is what a token costs, without start-up.
Prints target tokens a CPU second and the ratios pair by pair.

    python3 -m venv venv && venv/bin/pip install ctranslate2 pymarian numpy pyyaml
    venv/bin/python scripts/compare_ctranslate2.py --shape tiny
    venv/bin/python scripts/compare_ctranslate2.py --marian --shape tiny --kind ssru
    venv/bin/python scripts/compare_ctranslate2.py --agree

With --agree nothing is timed: small models are translated and scored by both in f32, and
what differs is counted. A model of Hugging Face's takes part where torch and transformers
are installed.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from random_nmt import KINDS, Model, save_vocabulary, sentences, shape_of

LENGTH = 25


def run(command):
    """CPU seconds and peak memory (MB) of a command."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.stderr.write(errors.decode(errors="replace")[-2000:])
        sys.exit(f"status {process.returncode}: {' '.join(map(str, command))}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def spread(values, digits=2):
    """Median with the least and the largest."""
    low, high = min(values), max(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def differing(one, other):
    """How many lines of two files differ."""
    one, other = Path(one).read_bytes().splitlines(), Path(other).read_bytes().splitlines()
    return abs(len(one) - len(other)) + sum(a.split() != b.split() for a, b in zip(one, other))


# What a process of its own does, so that its CPU time can be measured.


def drive_ctranslate2(a):
    import ctranslate2
    translator = ctranslate2.Translator(a.model, compute_type=a.type, inter_threads=1,
                                        intra_threads=1)
    lines = [line.split() for line in open(a.text)]
    results = translator.translate_batch(
        lines, max_batch_size=a.batch, beam_size=a.beam, min_decoding_length=LENGTH,
        max_decoding_length=LENGTH, use_vmap=a.shortlist is not None)
    with open(a.output, "w") as output:
        output.writelines(" ".join(result.hypotheses[0]) + "\n" for result in results)


def drive_marian(a):
    import pymarian
    options = f"-m {a.model} -v {a.vocabulary} {a.vocabulary} --beam-size {a.beam} " \
              f"--mini-batch {a.batch} --maxi-batch 100 --maxi-batch-sort src --cpu-threads 1 " \
              f"--max-length-factor 1 --max-length 1000 --quiet --quiet-translation -w 512"
    if a.shortlist:
        options += f" --shortlist {a.shortlist} 100 100 0"
    translator = pymarian.Translator(options)
    text = open(a.text).read().rstrip("\n")
    with open(a.output, "w") as output:
        output.write(translator.translate(text) + "\n")


def write_shortlist(folder, words, best=20, first=100):
    """For each word the same number of random translations: Marian's list and
    CTranslate2's map of the same candidates."""
    import numpy as np
    random = np.random.default_rng(5)
    with open(folder / "lex.s2t", "w") as lex, open(folder / "vmap.txt", "w") as vmap:
        vmap.write("\t" + " ".join(f"w{number}" for number in range(2, first)) + "\n")
        for word in range(2, words):
            targets = random.choice(np.arange(2, words), best, replace=False)
            lex.writelines(f"w{target} w{word} {1 / best:.4f}\n" for target in targets)
            vmap.write(f"w{word}\t" + " ".join(f"w{target}" for target in targets) + "\n")


class Comparison:
    """The files of one model and the commands of both programs over them."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        words = arguments.words
        model = Model(arguments.kind, shape_of(arguments.shape), words, endless=True)
        self.npz, self.vocabulary = folder / "model.npz", folder / "vocab.yml"
        model.save_npz(self.npz)
        save_vocabulary(words, self.vocabulary)
        self.theirs = self.npz
        if arguments.marian:
            if arguments.type == "int8":
                self.theirs = folder / "model.int8.bin"
                model.save_bin(self.theirs, bits8=True)
        else:
            self.theirs = folder / "ct2"
            convert(self.npz, self.vocabulary, self.theirs, quantization="int8")
        if arguments.shortlist:
            write_shortlist(folder, words)
            if not arguments.marian:
                (folder / "vmap.txt").replace(self.theirs / "vmap.txt")

    def texts(self, batch, lines):
        for name, count in zip(("short", "long"), lines):
            text = sentences(count, LENGTH - 1, self.arguments.words)
            (self.folder / name).write_text("".join(" ".join(line) + "\n" for line in text))

    def theirs_command(self, beam, batch, text, output, kind=None):
        a = self.arguments
        peer = "marian" if a.marian else "ctranslate2"
        command = [sys.executable, __file__, "drive", peer, self.theirs, self.vocabulary, text,
                   output, "--beam", beam, "--batch", batch, "--type", kind or a.type]
        if a.shortlist:
            command += ["--shortlist", self.folder / "lex.s2t"]
        return command

    def our_command(self, beam, batch, text, output, kind=None):
        a = self.arguments
        precision = {"int8": "i8", "int16": "i16", "float32": "f32"}[kind or a.type]
        command = [a.miriam, "nmt", "translate", "--threads", "1", "--quiet", "--precision",
                   precision, "--beam-size", beam, "--mini-batch", batch, "--normalize", "0",
                   "--max-length-factor", "1", "-i", text, "-o", output]
        if a.marian:
            command += ["-m", self.npz, "-v", self.vocabulary, self.vocabulary]
            if a.shortlist:
                command += ["--shortlist", self.folder / "lex.s2t", "100", "100", "0"]
        else:
            command += ["-m", self.theirs]
        return command

    def agreement(self):
        """Lines that differ where both compute in f32 with the same weights."""
        if self.arguments.marian and self.arguments.type == "int8":
            self.theirs, held = self.npz, self.theirs
        else:
            held = self.theirs
        self.texts(8, (32, 32))
        names = [self.folder / "theirs", self.folder / "ours"]
        for beam in self.arguments.beams:
            run(self.theirs_command(beam, 8, self.folder / "short", names[0], "float32"))
            run(self.our_command(beam, 8, self.folder / "short", names[1], "float32"))
            print(f"f32, beam {beam}: {differing(*names)} of 32 lines differ", flush=True)
        self.theirs = held

    def measure(self, beam, batch):
        a = self.arguments
        # Enough sentences for a second or so of the slower program.
        rounds = max(1, round(a.seconds * a.expected / LENGTH / batch))
        lines = (batch * rounds, batch * rounds * 3)
        self.texts(batch, lines)
        sides = {"theirs": self.theirs_command, "ours": self.our_command}
        if a.peer_only:
            del sides["ours"]
        seconds = {side: [] for side in sides}
        memory = dict.fromkeys(sides, 0)
        for _ in range(a.n + 1):
            for side, command in sides.items():
                pair = [run(command(beam, batch, self.folder / text, self.folder / side))
                        for text in ("short", "long")]
                seconds[side].append(pair[1][0] - pair[0][0])
                memory[side] = max(memory[side], pair[1][1])
        tokens = (lines[1] - lines[0]) * LENGTH
        # The first round warms the page cache.
        speeds = {side: [tokens / s for s in runs[1:]] for side, runs in seconds.items()}
        cells = [f"{batch:>5} {beam:>4}"]
        cells += [f"{spread(speeds[side], 0):>26} {memory[side]:>5.0f} MB" for side in sides]
        if not a.peer_only:
            ratios = [t / o for t, o in zip(seconds["theirs"][1:], seconds["ours"][1:])]
            cells.append(f"   {spread(ratios)}")
        print("".join(cells), flush=True)


def convert(npz, vocabulary, folder, quantization=None):
    import ctranslate2
    converter = ctranslate2.converters.MarianConverter(str(npz), [str(vocabulary)] * 2)
    converter.convert(str(folder), quantization=quantization, force=True)


def agree(a, folder):
    """Translations and scores of small models, in f32."""
    import ctranslate2
    words = 500
    vocabulary = folder / "vocab.yml"
    save_vocabulary(words, vocabulary)
    source, target = sentences(40, 12, words), sentences(40, 9, words, seed=3)
    # Of all lengths.
    source = [line[:1 + i % 12] for i, line in enumerate(source)]
    target = [line[:i % 10] for i, line in enumerate(target)]
    write = lambda name, lines: (folder / name).write_text(
        "".join(" ".join(line) + "\n" for line in lines))
    write("source", source), write("target", target)
    models = {}
    for seed, shape in enumerate(["64/128/2/2", "128/256/1/3"]):
        npz, out = folder / f"m{seed}.npz", folder / f"m{seed}"
        Model("transformer", shape_of(shape), words, endless=False, seed=seed).save_npz(npz)
        convert(npz, vocabulary, out)
        models[f"Marian's converter, {shape}"] = (out, out)
    hugging_face = make_hugging_face(folder, words)
    if hugging_face:
        models["Hugging Face"] = hugging_face
    for name, (theirs, ours) in models.items():
        # What transformers' tokenizer would have added.
        end = ["</s>"] if name == "Hugging Face" else []
        tokens = [line + end for line in source]
        translator = ctranslate2.Translator(str(theirs), compute_type="float32", intra_threads=1)
        for beam in (1, 2, 5):
            results = translator.translate_batch(tokens, beam_size=beam, max_decoding_length=40)
            write("theirs", [result.hypotheses[0] for result in results])
            run([a.miriam, "nmt", "translate", "-m", ours, "--quiet", "--beam-size", beam, "--max-decoding-length",
                 40, "-i", folder / "source", "-o", folder / "ours"])
            print(f"{name}: beam {beam}: {differing(folder / 'theirs', folder / 'ours')} of "
                  f"{len(source)} translations differ")
        scores = translator.score_batch(tokens, target)
        run([a.miriam, "nmt", "score", "-m", ours, "--quiet", "--word-scores", "--source",
             folder / "source", "--target", folder / "target", "-o", folder / "scores"])
        largest, count = 0, 0
        for result, line in zip(scores, (folder / "scores").read_text().splitlines()):
            own = [float(x) for x in line.split("WordScores=")[1].split()]
            if len(own) != len(result.log_probs):
                sys.exit(f"{name}: {len(own)} word scores for {len(result.log_probs)}")
            largest = max([largest, *(abs(x - y) for x, y in zip(own, result.log_probs))])
            count += len(own)
        print(f"{name}: {count} word scores, the largest difference {largest:.2e}")


def make_hugging_face(folder, words):
    """A small MarianMT of transformers', as saved and as CTranslate2 converts it."""
    try:
        import ctranslate2
        import torch
        import transformers
    except ImportError as error:
        print(f"Hugging Face: left out, {error}")
        return None
    import json
    torch.manual_seed(1)
    config = transformers.MarianConfig(
        vocab_size=words + 1, d_model=64, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128,
        decoder_ffn_dim=128, activation_function="swish", max_position_embeddings=256,
        pad_token_id=words, decoder_start_token_id=words, eos_token_id=0, forced_eos_token_id=0,
        scale_embedding=True, init_std=0.3, bad_words_ids=[[words]])
    out = folder / "hf"
    transformers.MarianMTModel(config).eval().save_pretrained(out, safe_serialization=True)
    tokens = {"</s>": 0, "<unk>": 1, **{f"w{i}": i for i in range(2, words)}, "<pad>": words}
    (out / "vocab.json").write_text(json.dumps(tokens))
    converter = ctranslate2.converters.TransformersConverter(str(out))

    # Its pieces are words here; the converter asks the tokenizer for the list only.
    class Words:
        bos_token, eos_token, unk_token = "</s>", "</s>", "<unk>"
        def get_vocab(self):
            return tokens
        def __len__(self):
            return len(tokens)

    converter.load_tokenizer = lambda *_, **__: Words()
    converter.convert(str(folder / "hf-ct2"), force=True)
    return folder / "hf-ct2", out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--miriam", type=Path, default=Path("target/release/miriam"))
    parser.add_argument("--marian", action="store_true", help="compare with Marian, not CTranslate2")
    parser.add_argument("--shape", default="tiny", help="tiny, base, or WIDTH/FFN/ENCODER/DECODER [tiny]")
    parser.add_argument("--kind", choices=KINDS, default="transformer",
                        help="what decodes; all but transformer need --marian")
    parser.add_argument("--type", choices=("int8", "int16", "float32"), default="int8")
    parser.add_argument("--words", type=int, default=32000, help="size of the vocabulary [32000]")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--shortlist", action="store_true",
                        help="100 frequent words and 20 for each word of the source")
    parser.add_argument("--agree", action="store_true", help="compare results of small models instead")
    parser.add_argument("-n", type=int, default=5, help="counted pairs [5]")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of the short text [1]")
    parser.add_argument("--expected", type=float, default=1000,
                        help="tokens a second to make the texts for [1000]")
    parser.add_argument("--keep", type=Path, help="work in this folder, and leave it there")
    parser.add_argument("--peer-only", action="store_true", help="measure the other program alone")
    arguments = parser.parse_args()
    if arguments.kind != "transformer" and not arguments.marian:
        parser.error(f"--kind {arguments.kind}: CTranslate2 reads transformers only; add --marian")
    try:
        shape_of(arguments.shape)
    except ValueError as error:
        parser.error(f"--shape: {error}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True, parents=True)
        if arguments.agree:
            return agree(arguments, folder)
        comparison = Comparison(arguments, folder)
        if not arguments.peer_only:
            comparison.agreement()
        peer = "Marian" if arguments.marian else "CTranslate2"
        print(f"{arguments.kind} {arguments.shape}, {arguments.type}: tokens a CPU second")
        print(f"batch beam {peer:>25}         {'Miriam':>25}         {peer}/Miriam CPU time")
        for batch in arguments.batches:
            for beam in arguments.beams:
                comparison.measure(beam, batch)


def drive():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=("ctranslate2", "marian"))
    for name in ("model", "vocabulary", "text", "output"):
        parser.add_argument(name)
    parser.add_argument("--beam", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--type")
    parser.add_argument("--shortlist")
    arguments = parser.parse_args(sys.argv[2:])
    {"ctranslate2": drive_ctranslate2, "marian": drive_marian}[arguments.peer](arguments)


if __name__ == "__main__":
    drive() if sys.argv[1:2] == ["drive"] else main()
