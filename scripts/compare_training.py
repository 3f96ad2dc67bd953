#!/usr/bin/env python3
"""Compare neural training with Marian and PyTorch: the same updates, and words a second.

All programs take Marian's options, so they all do the same training. Marian is that of the package
pymarian, or a command given by --marian. PyTorch runs training_twin.py, beside this script. If a
package is missing, its program is left out, with a line that says so.

    python3 -m venv venv && venv/bin/pip install pymarian numpy torch sentencepiece pyyaml
    venv/bin/python scripts/compare_training.py --agree
    venv/bin/python scripts/compare_training.py --agree --types transformer gru --variants plain
    venv/bin/python scripts/compare_training.py --source train.de --target train.en
    venv/bin/python scripts/compare_training.py --source train.de --target train.en \\
        --shapes d128 --dropout 0.1 -n 3 --updates 20
    python3 scripts/compare_training.py --alone --source train.de --target train.en

--agree: nothing is timed. Marian writes initial parameters, and both programs train from them on
the same batches, without dropout. Cost, gradient norm and learning rate of every update are
compared, then the parameters, and the gradient at trained parameters. Then each program translates
with the model of the other, and each continues a training run of the other. The gradient, the
translations and the continued runs are compared only with the variant "clip-norm 1". Ends with
status 1 if something differs by more than the tolerances (COST, NORM, PARAMETERS, GRADIENT).

Otherwise speed is measured, on the given text: all programs make updates of about the same number
of tokens, in turn. Words are target tokens with </s>; PyTorch computes more positions, since it
pads. Start-up and preparation are measured by a run of one update and subtracted. CPU seconds are
printed with wall seconds, for a machine that has other work.

--alone: Miriam alone, every architecture at a width of 128 and the shapes of the comparison, on
one thread: target tokens a CPU second, and the peak of its memory beside the memory that it
computed in advance (the line [memory] of its log).

Where Marian and Miriam differ, and why:
- Marian's gradient of layer norm on CPUs multiplies with the scale after it has summed over
  the row, which is right only while all scales are alike. The types that end in -norm show the
  effect and have wider tolerances; the other types have no layer norm.
- Marian sums the squares of the gradient in f32, so its norm is off by some 1e-4, and so is
  clipping.
- SSRU has a ReLU, at whose kink gradients jump: rounding grows in some tens of updates. So its
  costs, norms and parameters have the wide tolerances, but its gradients at trained parameters do
  not.
- With --mini-batch N, Marian divides each batch of N sentences into the parts of an
  --optimizer-delay (one thread ignores the delay); Miriam joins batches of N, as Marian
  does with --mini-batch-fit. For the variant "delay", Marian's batches are twice as large, on
  two threads; it has no clipping, since Marian clips the part of each thread by its own norm.
- The gradient of the biases of keys is zero except for rounding, which Adam turns into steps. These
  biases are not compared.
"""

import argparse
import importlib.util
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
COST, NORM, PARAMETERS, GRADIENT = 1e-5, 1e-3, 1e-3, 2e-5
# For types with layer norms, and for SSRU over all updates.
LOOSE_COST, LOOSE_NORM, LOOSE_PARAMETERS, LOOSE_GRADIENT = 2e-3, 5e-3, 5e-2, 5e-2

SMALL = "--dim-emb 64 --tied-embeddings-all"
TRANSFORMER = f"--type transformer {SMALL} --transformer-dim-ffn 128 --transformer-heads 4 " \
              "--enc-depth 2 --dec-depth 2 --transformer-dim-aan 128"
NO_NORM = "--transformer-postprocess da"
SSRU = "--transformer-decoder-autoreg rnn --dec-cell ssru"
AAN = "--transformer-decoder-autoreg average-attention"
TYPES = {
    "transformer": f"{TRANSFORMER} {NO_NORM}",
    "ssru": f"{TRANSFORMER} {NO_NORM} {SSRU}",
    "aan": f"{TRANSFORMER} {NO_NORM} {AAN}",
    "gru": f"--type s2s {SMALL} --dim-rnn 64",
    "transformer-norm": TRANSFORMER,
    "ssru-norm": f"{TRANSFORMER} {SSRU}",
    "aan-norm": f"{TRANSFORMER} {AAN}",
}
VARIANTS = {
    "plain": "--clip-norm 0",
    "clip-norm 1": "--clip-norm 1",
    "warm-up": "--lr-warmup 20u --lr-decay-inv-sqrt 20u",
    "smoothed": "--exponential-smoothing 1e-2",
    "labels": "--label-smoothing 0.1",
    "delay": "--optimizer-delay 2 --clip-norm 0",
    "words-ref": "--mini-batch-words-ref 200",
    "words-ref, smoothed": "--mini-batch-words-ref 200 --exponential-smoothing 1e-2",
    "sgd": "--optimizer sgd --learn-rate 1e-5 --clip-norm 0",
    "normalized": "--normalize-gradient",
}
RATE = "--learn-rate 0.001"

SHAPES = {
    "d128": "--type transformer --dim-emb 128 --transformer-dim-ffn 256 --enc-depth 4 "
            "--dec-depth 4 --transformer-heads 4",
    "d256": "--type transformer --dim-emb 256 --transformer-dim-ffn 1024 --enc-depth 3 "
            "--dec-depth 3 --transformer-heads 8",
    "student": "--type transformer --dim-emb 256 --transformer-dim-ffn 1536 --enc-depth 6 "
               f"--dec-depth 2 --transformer-heads 8 {SSRU}",
    "gru": "--type s2s --dim-emb 256 --dim-rnn 256",
}
SMALL_TRANSFORMER = SHAPES["d128"]
SMALL_RNN = "--type s2s --dim-emb 128 --dim-rnn 128"
ARCHITECTURES = {
    **SHAPES,
    "ssru 128": f"{SMALL_TRANSFORMER} {SSRU}",
    "aan 128": f"{SMALL_TRANSFORMER} {AAN} --transformer-dim-aan 256",
    "gru 128": SMALL_RNN,
    "lstm 128": f"{SMALL_RNN} --enc-cell lstm --dec-cell lstm",
    "mlstm 128": f"{SMALL_RNN} --enc-cell mlstm --dec-cell mlstm",
    "deep gru 128": f"{SMALL_RNN} --enc-cell-depth 4 --dec-cell-base-depth 4",
    "nematus 128": "--type nematus --dim-emb 128 --dim-rnn 128 --layer-normalization "
                   "--enc-cell gru-nematus --dec-cell gru-nematus",
}
PEERS = {"marian": "theirs", "pytorch": "twin"}
LINE = re.compile(r"Ep\. (\d+) : Up\. (\d+) : Sen\. ([\d,]+) : Cost ([\d.]+) \* ([\d,]+) @ "
                  r"([\d,]+) after ([\d,]+) .*gNorm ([\d.]+)(?: : L\.r\. (\S+))?")


class Update(NamedTuple):
    """A line of a log."""
    epoch: int
    update: int
    sentences: int
    cost: float
    words: int
    total: int
    norm: float
    rate: str


class Cost(NamedTuple):
    """Seconds of CPU and of wall time, and the peak of memory in MB."""
    cpu: float
    wall: float
    memory: float


class Failure(Exception):
    """A program that failed."""


def run(command, log):
    """Runs a command; its messages are in the file `log`."""
    start = time.perf_counter()
    with open(log, "wb") as messages:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                   stdout=messages, stderr=messages)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        last = Path(log).read_text(errors="replace").strip().splitlines()[-3:]
        raise Failure(f"status {process.returncode}: {' '.join(map(str, command))}\n"
                      + "\n".join(last))
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - start,
                usage.ru_maxrss / 1024)


def make_anew(folder):
    """Makes an empty folder, in which nothing is left of a run that could be resumed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def updates(log):
    """Returns the lines of a log that report updates."""
    number = lambda text: int(text.replace(",", ""))
    found = LINE.findall(Path(log).read_text(errors="replace"))
    return [Update(int(epoch), int(update), number(sentences), float(cost), number(words),
                   number(total), float(norm), rate)
            for epoch, update, sentences, cost, words, _, total, norm, rate in found]


def same_rate(one, other):
    """Whether two learning rates agree but for the last digit: Marian computes them in f32."""
    number, exponent = one.split("e")
    return abs(float(one) - float(other)) < 1.5 * 10 ** (int(exponent) - len(number) + 2)


class Programs:
    """The commands of the programs."""
    names = {"theirs": "Marian", "twin": "PyTorch", "ours": "Miriam"}

    def __init__(self, a):
        self.marian = shlex.split(a.marian) if a.marian else [sys.executable, "-m", "pymarian"]
        self.miriam = [a.miriam]
        self.twin = [sys.executable, Path(__file__).with_name("training_twin.py")]
        self.twin += ["--compile"] if a.compile else []

    def peers(self, wanted):
        """Yields the wanted programs that are installed."""
        packages = {"theirs": ["pymarian"], "twin": ["torch", "sentencepiece", "yaml"]}
        for side in wanted:
            is_given = side == "theirs" and self.marian[0] != sys.executable
            missing = [name for name in packages[side] if importlib.util.find_spec(name) is None]
            if is_given or not missing:
                yield side
            else:
                print(f"{self.names[side]} is left out: this Python lacks {', '.join(missing)}")

    def train(self, side, model, options, log):
        options = options if isinstance(options, list) else shlex.split(options)
        if side == "theirs":
            command = [*self.marian, "train", "--lr-report", "--sync-sgd"]
        elif side == "twin":
            command = self.twin
        else:
            command = [*self.miriam, "nmt", "train"]
        return run([*command, "--model", model, *options], log)

    def translate(self, side, model, vocabulary, text, output, log):
        options = ["-m", model, "-v", vocabulary, vocabulary, "-i", text, "-o", output,
                   "--beam-size", 4, "--cpu-threads", 1]
        command = [*self.marian, "decode"] if side == "theirs" else \
            [*self.miriam, "nmt", "translate"]
        return run([*command, *options], log)


def delayed(options, side):
    """Returns the options of `side` with which updates of both programs have the same sentences."""
    options = list(options)
    if side == "theirs":
        options[options.index("--mini-batch") + 1] = "64"
        options[options.index("--cpu-threads") + 1] = "2"
    return options


def largest_difference(one, other):
    """Returns the largest root mean square of the difference of a tensor in two models, and the
    name of this tensor. The value is relative to the root mean square of the tensor in the first
    model, or to 0.01 if that is larger. Biases of keys are left out."""
    import numpy as np
    one, other = np.load(one), np.load(other)
    names = lambda archive: {name for name in archive.files if not name.startswith("special:")}
    if names(one) != names(other):
        return float("inf"), f"names: {sorted(names(one) ^ names(other))}"
    differences = [(0.0, "")]
    for name in names(one):
        if name.endswith("_bk"):
            continue
        a, b = one[name].astype(float).ravel(), other[name].astype(float).ravel()
        if a.size != b.size:
            return float("inf"), f"shape of {name}"
        scale = max(np.sqrt((a * a).mean()), 1e-2)
        differences.append((float(np.sqrt(((a - b) ** 2).mean()) / scale), name))
    return max(differences)


class Agreement:
    """Trains with both programs from the same parameters and compares."""

    def __init__(self, a, folder):
        self.programs, self.folder, self.count = Programs(a), folder, a.updates or 50
        self.has_failed = False
        words = Counter()
        for side, suffix in (("source", "es"), ("target", "en")):
            given = getattr(a, side) or ROOT / "examples/toy" / f"train.{suffix}"
            with open(given, encoding="utf-8") as text:
                lines = [line for _, line in zip(range(300), text)]
            (folder / side).write_text("".join(lines), encoding="utf-8")
            words.update(word for line in lines for word in line.split())
        ordered = sorted(words, key=lambda word: (-words[word], word))
        self.vocabulary = folder / "vocab.yml"
        quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in ordered)
        self.vocabulary.write_text("</s>: 0\n<unk>: 1\n" + "".join(
            f'"{word}": {index}\n' for index, word in enumerate(quoted, 2)), encoding="utf-8")
        self.common = ["-t", str(folder / "source"), str(folder / "target"), "-v",
                       str(self.vocabulary), str(self.vocabulary)] + shlex.split(
            "--shuffle none --maxi-batch 1 --maxi-batch-sort none --mini-batch 32 --seed 1 "
            "--disp-freq 1u --cpu-threads 1 --max-length 100")

    def start(self, kind):
        """Returns the file of a type's initial parameters, which Marian writes."""
        model = self.folder / f"{kind}.npz"
        if not model.exists():
            options = [*self.common, *shlex.split(TYPES[kind]), "--learn-rate", "0",
                       "--after-batches", "1"]
            self.programs.train("theirs", model, options, self.folder / "init.log")
        return model

    def compare(self, kind, variant):
        """Trains with both programs, and prints a row of the table."""
        start = self.start(kind)
        options = [*self.common, *shlex.split(TYPES[kind]), *shlex.split(VARIANTS[variant]),
                   "--after-batches", str(self.count), "--pretrained-model", str(start)]
        if "--learn-rate" not in options:
            options += shlex.split(RATE)
        models, logs = {}, {}
        for side in ("theirs", "ours"):
            folder = self.folder / f"{kind}-{variant.replace(' ', '-')}-{side}"
            make_anew(folder)
            models[side] = folder / "model.npz"
            of_side = delayed(options, side) if variant == "delay" else options
            self.programs.train(side, models[side], of_side, folder / "log")
            logs[side] = updates(folder / "log")
        theirs, ours = logs["theirs"], logs["ours"]
        loose = kind.endswith("-norm") or kind == "ssru"
        limits = (LOOSE_COST, LOOSE_NORM, LOOSE_PARAMETERS) if loose else \
            (COST, NORM, PARAMETERS)
        key = lambda line: (line.epoch, line.update, line.sentences, line.words, line.total)
        batches = sum(key(t) != key(o) for t, o in zip(theirs, ours)) + \
            abs(len(theirs) - len(ours))
        rates = sum(not same_rate(t.rate, o.rate) for t, o in zip(theirs, ours))
        costs = [abs(t.cost - o.cost) / t.cost for t, o in zip(theirs, ours)]
        norms = [abs(t.norm - o.norm) / t.norm for t, o in zip(theirs, ours)]
        parameters, name = largest_difference(models["theirs"], models["ours"])
        good = batches == rates == 0 and max(costs, default=9) <= limits[0] \
            and max(norms) <= limits[1] and parameters <= limits[2]
        self.has_failed |= not good
        print(f"{kind:>17} {variant:>20} {len(ours):>5} {batches:>8} {rates:>6} "
              f"{costs[0]:>9.1e} {max(costs):>9.1e} {max(norms):>9.1e} {parameters:>9.1e} "
              f"{name:<34} {'' if good else 'DIFFERS'}", flush=True)
        return models

    def compare_gradients(self, kind, start):
        """Prints a row for the gradient at trained parameters: one step of plain descent."""
        import numpy as np
        options = [*self.common, *shlex.split(TYPES[kind]), "--pretrained-model", str(start),
                   *shlex.split("--optimizer sgd --learn-rate 0.1 --clip-norm 0 "
                                "--after-batches 1")]
        steps = []
        for side in ("theirs", "ours"):
            folder = self.folder / f"{kind}-gradient-{side}"
            make_anew(folder)
            self.programs.train(side, folder / "model.npz", options, folder / "log")
            steps.append(np.load(folder / "model.npz"))
        start, worst = np.load(start), (0.0, "")
        for name in start.files:
            if name.startswith("special:") or name.endswith("_bk"):
                continue
            one, other = (step[name].astype(float).ravel() - start[name].astype(float).ravel()
                          for step in steps)
            difference = np.linalg.norm(one - other) / max(np.linalg.norm(one), 1e-12)
            worst = max(worst, (float(difference), name))
        good = worst[0] <= (LOOSE_GRADIENT if kind.endswith("-norm") else GRADIENT)
        self.has_failed |= not good
        print(f"{kind}: gradients at trained parameters differ by at most {worst[0]:.1e}, in "
              f"{worst[1]}{'' if good else ': DIFFERS'}", flush=True)

    def hand_over(self, kind, models):
        """Lets each program translate with the other's model and continue the other's training."""
        for side, other in (("theirs", "ours"), ("ours", "theirs")):
            program = "Marian" if side == "theirs" else "Miriam"
            outputs = []
            for index, model in enumerate((models[other], models[side])):
                output = self.folder / f"{kind}-{side}-{index}.out"
                with self.reporting(f"{kind}: {program} translates"):
                    self.programs.translate(side, model, self.vocabulary,
                                            self.folder / "source", output,
                                            self.folder / "translate.log")
                    outputs.append(output.read_text(encoding="utf-8").splitlines())
            if len(outputs) == 2:
                same = sum(one == two for one, two in zip(*outputs))
                print(f"{kind}: {program} with both models: {same} of {len(outputs[0])} "
                      "translations equal", flush=True)
        # The other program makes the first half of the updates, then this one continues the run.
        half, whole = str(self.count // 2), str(self.count)
        options = [*self.common, *shlex.split(TYPES[kind]), *shlex.split(RATE),
                   "--pretrained-model", str(self.start(kind))]
        for side, other in (("theirs", "ours"), ("ours", "theirs")):
            names = ("Marian", "Miriam") if side == "theirs" else ("Miriam", "Marian")
            what = f"{kind}: {names[0]} continues {names[1]}'s training"
            folder = self.folder / f"{kind}-{side}-resumed"
            make_anew(folder)
            with self.reporting(what):
                self.programs.train(other, folder / "model.npz",
                                    [*options, "--after-batches", half], folder / "first.log")
                self.programs.train(side, folder / "model.npz",
                                    [*options, "--after-batches", whole], folder / "log")
                resumed = updates(folder / "log")
                through = updates(models[side].parent / "log")
                by_number = {line.update: line for line in through}
                costs = [abs(line.cost - by_number[line.update].cost) / line.cost
                         for line in resumed if line.update in by_number]
                print(f"{what}: updates {resumed[0].update} to {resumed[-1].update}, costs differ "
                      f"from those of one run by at most {max(costs):.1e}", flush=True)

    def reporting(self, what):
        agreement = self

        class Reporter:
            def __enter__(self):
                pass

            def __exit__(self, kind, error, trace):
                if isinstance(error, (Failure, OSError, IndexError, ValueError)):
                    agreement.has_failed = True
                    print(f"{what}: FAILS: {error}", flush=True)
                    return True
                return False
        return Reporter()


def agree(a, folder):
    agreement = Agreement(a, folder)
    print(f"{'type':>17} {'variant':>20} lines  batches  rates  cost, 1st   largest     "
          "gNorm   weights  of tensor", flush=True)
    for kind in a.types:
        models = None
        for variant in a.variants:
            with agreement.reporting(f"{kind}, {variant}"):
                of_variant = agreement.compare(kind, variant)
                models = of_variant if variant == "clip-norm 1" else models
        if models:
            with agreement.reporting(f"{kind}: gradients"):
                agreement.compare_gradients(kind, models["theirs"])
            agreement.hand_over(kind, models)
    return agreement.has_failed


def spread(values, digits=0):
    """Returns the median, with the least and the largest value."""
    low, high = min(values), max(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def training_options(a, folder, threads):
    """Returns the options that all training runs have in common."""
    vocabulary = a.vocabulary or folder / "vocab.spm"
    if not a.vocabulary:
        run([a.miriam, "nmt", "vocab", "--kind", "sentencepiece-unigram", "--size",
             a.words, "-o", vocabulary, "--text", a.source, a.target], folder / "vocab.log")
    return ["-t", a.source, a.target, "-v", str(vocabulary), str(vocabulary)] + shlex.split(
        f"--tied-embeddings-all --mini-batch-words {a.mini_batch_words} --max-length 100 "
        f"--seed 1 --disp-freq 1u --cpu-threads {threads} --overwrite --learn-rate 0.0003")


def speed(a, folder):
    """Prints the words a second of all programs, shape by shape."""
    programs = Programs(a)
    peers = list(programs.peers([PEERS[name] for name in a.peers]))
    common = training_options(a, folder, a.threads)
    counted = a.updates or 20
    print(f"target tokens a second, {a.threads} threads, {counted} updates of about "
          f"{a.mini_batch_words} tokens, dropout {a.dropout}")
    print(f"{'':>8} {'':>7} {'a CPU second':>26} {'a wall second':>26} {'tokens/update':>14}")
    rows = []
    for shape in a.shapes:
        options = [*common, *shlex.split(SHAPES[shape])]
        if a.dropout:
            if "--type s2s" in SHAPES[shape]:
                print(f"{shape}: left out, no dropout in s2s models here")
                continue
            options += ["--transformer-dropout", str(a.dropout)]
        # The first counted run must not be the first to read the text.
        first = {side: measure(programs, side, folder, options, 1)[:2]
                 for side in (*peers, "ours")}
        speeds = {side: [] for side in first}
        for _ in range(a.n):
            for side, (tokens, cost) in first.items():
                whole, of_whole, _ = measure(programs, side, folder, options, 1 + counted)
                tokens = whole - tokens
                speeds[side].append((tokens / (of_whole.cpu - cost.cpu),
                                     tokens / (of_whole.wall - cost.wall), tokens / counted))
        for side, found in speeds.items():
            cpu, wall, size = zip(*found)
            print(f"{shape:>8} {programs.names[side]:>7} {spread(cpu):>26} {spread(wall):>26} "
                  f"{statistics.median(size):>14.0f}", flush=True)
        for side in peers:
            pairs = list(zip(speeds["ours"], speeds[side]))
            ratios = [spread([o[index] / t[index] for o, t in pairs], 2) for index in (0, 1)]
            print(f"{shape:>8} {'ratio':>7} {ratios[0]:>26} {ratios[1]:>26}", flush=True)
            rows.append([shape, programs.names[side],
                         *(spread([run[index] for run in speeds[of]]) for index in (0, 1)
                           for of in (side, "ours")), *ratios])
    for row in [["shape", "peer", "peer/CPU s", "Miriam/CPU s", "peer/s", "Miriam/s",
                 "ratio of CPU s", "ratio of wall"], ["---"] * 8, *rows]:
        print(f"| {' | '.join(row)} |", flush=True)


def alone(a, folder):
    """Prints the words a CPU second and the memory of Miriam, architecture by architecture."""
    programs = Programs(a)
    common = training_options(a, folder, threads=1)
    counted = a.updates or 20
    print("| | target tokens a CPU second | peak MB | counted MB |\n|---|---|---|---|")
    for name, shape in ARCHITECTURES.items():
        options = [*common, *shlex.split(shape)]
        try:
            found = []
            for _ in range(a.n):
                tokens, cost, _ = measure(programs, "ours", folder, options, 1)
                whole, of_whole, log = measure(programs, "ours", folder, options, 1 + counted)
                found.append((whole - tokens) / (of_whole.cpu - cost.cpu))
            memory = re.search(r"\[memory\].*: (\d+) MB", log)
            print(f"| {name} | {spread(found)} | {of_whole.memory:.0f} | "
                  f"{memory[1] if memory else 'none'} |", flush=True)
        except Failure as failure:
            print(f"| {name} | fails: {str(failure).splitlines()[-1]} | | |", flush=True)


def measure(programs, side, folder, options, count):
    """Trains for `count` updates from the beginning.

    Returns the target tokens, the cost and the log."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        log = Path(place) / "log"
        cost = programs.train(side, Path(place) / "model.npz",
                              [*options, "--after-batches", str(count)], log)
        lines = updates(log)
        if not lines or lines[-1].update != count:
            raise Failure(f"no line of update {count} in the log of {side}")
        return lines[-1].total, cost, log.read_text(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--miriam", default=str(ROOT / "target/release/miriam"),
                        help="[target/release/miriam]")
    parser.add_argument("--marian", help="Marian's command [pymarian of this Python]")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), help="[both]")
    parser.add_argument("--compile", action="store_true", help="PyTorch by torch.compile")
    parser.add_argument("--agree", action="store_true", help="compare updates, not speed")
    parser.add_argument("--alone", action="store_true", help="Miriam's speed and memory alone")
    parser.add_argument("--source", help="text of the source [with --agree: examples/toy]")
    parser.add_argument("--target", help="text of the target")
    parser.add_argument("--updates", type=int, help="updates of a run [50; speed: 20]")
    parser.add_argument("--types", nargs="+", choices=TYPES, default=list(TYPES))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--vocabulary", help="a SentencePiece model [one is made]")
    parser.add_argument("--words", type=int, default=8000, help="pieces of that model [8000]")
    parser.add_argument("--mini-batch-words", type=int, default=4096, help="[4096]")
    parser.add_argument("--threads", type=int, default=2, help="[2]")
    parser.add_argument("--dropout", type=float, default=0.0, help="[0]")
    parser.add_argument("-n", type=int, default=3, help="counted runs of each [3]")
    parser.add_argument("--keep", help="a folder for all files [a temporary one]")
    a = parser.parse_args()
    if not a.agree and not (a.source and a.target):
        parser.error("speed needs --source and --target")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(a.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            job = agree if a.agree else alone if a.alone else speed
            sys.exit(1 if job(a, folder) else 0)
        except Failure as failure:
            sys.exit(str(failure))


if __name__ == "__main__":
    main()
