#!/usr/bin/env python3
"""Compare neural translation with CTranslate2 and Marian, fairly on a noisy machine.

Makes a model of a shape with random weights, and gives it to both programs, each in its own format.
Runs them in turn: sources have 25 tokens (with </s>), translations exactly 25. Each program
translates a short and a long text; the slope between them is the cost of a token, without start-up.
A first round, not counted, warms the page cache and determines how long the texts must be.

    python3 -m venv venv && venv/bin/pip install ctranslate2 pymarian numpy pyyaml
    venv/bin/python scripts/compare_ctranslate2.py --shape tiny
    venv/bin/python scripts/compare_ctranslate2.py --shape base --settings 1x1 32x5
    venv/bin/python scripts/compare_ctranslate2.py --shape nllb-600m --settings 1x1 32x1 --no-agreement
    venv/bin/python scripts/compare_ctranslate2.py --threads 2
    venv/bin/python scripts/compare_ctranslate2.py --marian --type float32
    venv/bin/python scripts/compare_ctranslate2.py --agree

Prints target tokens a CPU second, the ratios pair by pair, the most memory that each program held,
and the cost of beam 5 relative to greedy search: in time, and in the multiply-adds of the shape.
--settings picks rows, BATCHxBEAM. Then start-up is measured: wall time and memory for a text
without lines.
nllb-600m is the shape of NLLB-200-distilled-600M; making it takes 10 GB of memory and 6 GB of disk.
--threads N: compares N threads with one over the same text, at least two batches a thread. Prints
tokens a second of wall time, and the ratio of CPU times.
--marian: compares with Marian, with all kinds of decoder one after the other.
--agree: nothing is timed; both programs translate and score with small models in f32, and
differences are counted.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True
from random_nmt import (KINDS, SHAPES, VOCABULARY_SIZES, Model, save_vocabulary, sentences,
                        shape_of)

LENGTH = 25
ENDLESS = -1e4
PRECISIONS = {"int8": "i8", "int16": "i16", "float32": "f32"}


class Cost(NamedTuple):
    """Seconds of CPU and of wall time, and the most memory, in MB."""
    cpu: float
    wall: float
    memory: float


def run(command):
    """Returns the CPU and wall time of a command, and its peak memory. A new process counts the
    memory of its parent until it runs its own program, so a small process starts the command."""
    words = [sys.executable, __file__, "measure", *map(str, command)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        sys.stderr.write(done.stderr.decode(errors="replace")[-2000:])
        sys.exit(f"status {done.returncode}: {' '.join(map(str, command))}")
    return Cost(*map(float, done.stdout.split()))


def measure_command(command):
    """Runs a command and prints the numbers of its `Cost`."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    print(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)
    sys.exit(os.waitstatus_to_exitcode(status))


def spread(values, digits=2):
    """Returns the median, with the least and the largest value."""
    low, high = min(values), max(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def differing(one, other):
    """Returns how many lines of two files differ."""
    one, other = Path(one).read_bytes().splitlines(), Path(other).read_bytes().splitlines()
    return abs(len(one) - len(other)) + sum(a.split() != b.split() for a, b in zip(one, other))


# Each of these functions runs in a process of its own, so that its CPU time can be measured.


def drive_ctranslate2(a):
    import ctranslate2
    translator = ctranslate2.Translator(a.model, compute_type=a.type, inter_threads=a.threads,
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
              f"--mini-batch {a.batch} --maxi-batch 100 --maxi-batch-sort src --cpu-threads {a.threads} " \
              f"--max-length-factor 1 --max-length 1000 --quiet --quiet-translation -w 512"
    if a.shortlist:
        options += f" --shortlist {a.shortlist} 100 100 0"
    translator = pymarian.Translator(options)
    text = open(a.text).read().rstrip("\n")
    with open(a.output, "w") as output:
        output.write(translator.translate(text) + "\n")


def write_shortlist(folder, words, best=20, first=100):
    """Writes the same number of random translations for each word, as Marian's list and as
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

    def __init__(self, arguments, kind, folder):
        self.arguments, self.kind, self.folder = arguments, kind, folder
        folder.mkdir(exist_ok=True, parents=True)
        words = arguments.words
        self.model = Model(kind, shape_of(arguments.shape), words, end=ENDLESS)
        self.npz, self.vocabulary = folder / "model.npz", folder / "vocab.yml"
        self.model.save_npz(self.npz)
        keep_parameters = arguments.marian and arguments.type == "int8"
        if not keep_parameters:
            # Large models need the memory.
            self.model.parameters.clear()
        save_vocabulary(words, self.vocabulary)
        self.theirs = self.npz
        if arguments.marian:
            if arguments.type == "int8":
                self.theirs = folder / "model.int8.bin"
                self.model.save_bin(self.theirs, bits8=True)
        else:
            self.theirs = folder / "ct2"
            convert(self.npz, self.vocabulary, self.theirs, quantization="int8")
        if arguments.shortlist:
            write_shortlist(folder, words)
            if not arguments.marian:
                (folder / "vmap.txt").replace(self.theirs / "vmap.txt")
        # Each program has the model in its own format, with weights as it multiplies them.
        self.ours = folder / "model.miriam"
        if not arguments.peer_only:
            source = [self.npz, "--vocabs", self.vocabulary, self.vocabulary] \
                if arguments.marian else [self.theirs]
            run([arguments.miriam, "nmt", "convert", *source, "--quiet", "--precision",
                 PRECISIONS[arguments.type], "-o", self.ours])

    def texts(self, *counts):
        """Writes a short text and a long one, of the given numbers of lines."""
        for name, count in zip(("short", "long"), counts):
            text = sentences(count, LENGTH - 1, self.arguments.words)
            (self.folder / name).write_text("".join(" ".join(line) + "\n" for line in text))

    def theirs_command(self, setting, text, output, kind=None, threads=1):
        a = self.arguments
        peer = "marian" if a.marian else "ctranslate2"
        command = [sys.executable, __file__, "drive", peer, self.theirs, self.vocabulary, text,
                   output, "--beam", setting.beam, "--batch", setting.batch,
                   "--type", kind or a.type, "--threads", threads]
        if a.shortlist:
            command += ["--shortlist", self.folder / "lex.s2t"]
        return command

    def our_command(self, setting, text, output, kind=None, threads=1):
        a = self.arguments
        # Choices stored by the run over the short text would make the long one cheaper.
        command = [a.miriam, "nmt", "translate", "--threads", threads, "--quiet",
                   "--no-tuner-file", "--precision", PRECISIONS[kind or a.type],
                   "--beam-size", setting.beam,
                   "--mini-batch", setting.batch, "--normalize", "0", "--max-length-factor",
                   "1", "-i", text, "-o", output]
        if kind in (None, a.type):
            command += ["-m", self.ours]
        elif a.marian:
            command += ["-m", self.npz, "-v", self.vocabulary, self.vocabulary]
        else:
            command += ["-m", self.theirs]
        if a.shortlist:
            command += ["--shortlist", self.folder / "lex.s2t", "100", "100", "0"]
        return command

    def sides(self):
        sides = {"theirs": self.theirs_command, "ours": self.our_command}
        if self.arguments.peer_only:
            del sides["ours"]
        return sides

    def agreement(self):
        """Prints how many lines differ if both programs compute in f32 with the same weights."""
        converted = self.theirs
        if self.arguments.marian:
            self.theirs = self.npz
        self.texts(32)
        names = [self.folder / "theirs", self.folder / "ours"]
        for beam in sorted({setting.beam for setting in self.arguments.settings}):
            setting = Setting(8, beam)
            run(self.theirs_command(setting, self.folder / "short", names[0], "float32"))
            run(self.our_command(setting, self.folder / "short", names[1], "float32"))
            print(f"f32, beam {beam}: {differing(*names)} of 32 lines differ", flush=True)
        self.theirs = converted

    def slope(self, command, setting, **options):
        """Returns the CPU and wall seconds of the additional lines of the long text, and the most
        memory."""
        short, long = (run(command(setting, self.folder / text, self.folder / "out", **options))
                       for text in ("short", "long"))
        return Cost(long.cpu - short.cpu, long.wall - short.wall, long.memory)

    def prepare(self, setting, threads=1):
        """Writes a short text, for which the slower program takes the seconds of --seconds, and a
        long one. Returns the number of additional tokens of the long text."""
        least = setting.batch * (2 * threads if threads > 1 else 1)
        trial = -(-8 // least) * least
        self.texts(trial, 3 * trial)
        slowest = max(self.slope(command, setting).cpu for command in self.sides().values())
        rounds = round(self.arguments.seconds * threads / max(slowest, 1e-3) * 2 * trial / least)
        lines = least * max(1, rounds)
        self.texts(lines, 3 * lines)
        return 2 * lines * LENGTH

    def measure(self, setting):
        """Prints a row: both programs in turn on one thread. Returns each one's tokens a second."""
        tokens = self.prepare(setting)
        costs = {side: [] for side in self.sides()}
        for _ in range(self.arguments.n):
            for side, command in self.sides().items():
                costs[side].append(self.slope(command, setting))
        speeds = {side: [tokens / cost.cpu for cost in of_side] for side, of_side in costs.items()}
        cells = [f"{setting.batch:>5} {setting.beam:>4}"]
        cells += [f"{spread(speeds[side], 0):>26}" for side in costs]
        if len(costs) == 2:
            ratios = [t.cpu / o.cpu for t, o in zip(costs["theirs"], costs["ours"])]
            cells.append(f"   {spread(ratios)}")
        memory = {side: max(cost.memory for cost in of_side) for side, of_side in costs.items()}
        cells.append("   " + ", ".join(f"{side} {most:.0f} MB" for side, most in memory.items()))
        print("".join(cells), flush=True)
        return {side: statistics.median(of_side) for side, of_side in speeds.items()}

    def start_up(self):
        """Prints the cost of opening the model: wall time and memory for a text without lines."""
        (self.folder / "empty").write_text("")
        for side, command in self.sides().items():
            runs = [run(command(Setting(1, 1), self.folder / "empty", self.folder / "out"))
                    for _ in range(max(3, self.arguments.n))]
            print(f"start-up, {side}: {spread([1000 * one.wall for one in runs], 0)} ms, "
                  f"{max(one.memory for one in runs):.0f} MB", flush=True)

    def measure_threads(self, setting, threads):
        """Prints a row for each program: one thread and several in turn over the same text."""
        tokens = self.prepare(setting, threads)
        costs = {side: ([], []) for side in self.sides()}
        for _ in range(self.arguments.n):
            for side, command in self.sides().items():
                for of_count, count in zip(costs[side], (1, threads)):
                    of_count.append(self.slope(command, setting, threads=count))
        rows = []
        for side, (one, several) in costs.items():
            name = self.arguments.peer if side == "theirs" else "Miriam"
            gains = [a.wall / b.wall for a, b in zip(one, several)]
            taken = [b.cpu / a.cpu for a, b in zip(one, several)]
            speeds = [[tokens / cost.wall for cost in of_count] for of_count in (one, several)]
            print(f"{setting.batch:>5} {setting.beam:>4} {name:>12} {spread(speeds[0], 0):>24}"
                  f" {spread(speeds[1], 0):>24} {spread(gains):>22} {spread(taken):>22}", flush=True)
            medians = [f"{statistics.median(of_count):,.0f}" for of_count in speeds]
            rows.append([f"{self.kind}, batch {setting.batch}, {setting.search}, {name}", *medians,
                         f"{statistics.median(gains):.2f}"])
        return rows


@dataclass(frozen=True)
class Setting:
    """Sentences translated together, and hypotheses of each."""
    batch: int
    beam: int

    @classmethod
    def parse(cls, text):
        batch, _, beam = text.partition("x")
        setting = cls(int(batch), int(beam))
        if min(setting.batch, setting.beam) < 1:
            raise ValueError(text)
        return setting

    @property
    def search(self):
        return "greedy" if self.beam == 1 else f"beam {self.beam}"


def table(a, comparison):
    """Prints the rows of one kind on one thread, and the cost of wider beams relative to greedy
    search."""
    print(f"\n{comparison.kind} {a.shape}, {a.type}: tokens a CPU second, one thread")
    print(f"batch beam {a.peer:>25} {'Miriam':>25}    {a.peer}/Miriam CPU time", flush=True)
    medians = {setting: comparison.measure(setting) for setting in a.settings}
    work = lambda beam: comparison.model.multiply_adds(LENGTH, LENGTH, beam)
    rows = []
    for wide in (setting for setting in a.settings if setting.beam > 1):
        greedy = medians.get(Setting(wide.batch, 1))
        if greedy is None:
            continue
        costs = [f"{greedy[side] / medians[wide][side]:>12.2f}" for side in greedy]
        ratio = work(wide.beam) / work(1)
        rows.append(f"{wide.batch:>5} {wide.beam:>4} {''.join(costs)} {ratio:>14.2f}")
    if rows:
        names = "".join(f"{name:>12}" for name in (a.peer, "Miriam")[:2 - a.peer_only])
        print(f"time a token relative to greedy search\nbatch beam {names}  multiply-adds")
        print("\n".join(rows), flush=True)
    return [[f"{comparison.kind}, batch {setting.batch}, {setting.search}",
             *(f"{speed:,.0f}" for speed in speeds.values()),
             f"{speeds.get('ours', 0) / speeds['theirs']:.2f}"] for setting, speeds in medians.items()]


def table_of_threads(a, comparison):
    print(f"\n{comparison.kind} {a.shape}, {a.type}: tokens a second of wall time")
    print(f"batch beam {'':>12} {'1 thread':>24} {f'{a.threads} threads':>24} {'speed-up':>22} "
          f"{'CPU time ratio':>22}", flush=True)
    return [row for setting in a.settings for row in comparison.measure_threads(setting, a.threads)]


def summary(title, names, rows):
    """Prints all rows once more, as a table in Markdown."""
    for row in [[title, *names], ["---"] * (len(names) + 1), *rows]:
        print(f"| {' | '.join(row)} |", flush=True)


def convert(npz, vocabulary, folder, quantization=None):
    import ctranslate2
    converter = ctranslate2.converters.MarianConverter(str(npz), [str(vocabulary)] * 2)
    converter.convert(str(folder), quantization=quantization, force=True)


def agree(a, folder):
    """Compares translations and scores of small models, in f32."""
    import ctranslate2
    words = 500
    vocabulary = folder / "vocab.yml"
    save_vocabulary(words, vocabulary)
    source, target = sentences(40, 12, words), sentences(40, 9, words, seed=3)
    # Lines of all lengths.
    source = [line[:1 + i % 12] for i, line in enumerate(source)]
    target = [line[:i % 10] for i, line in enumerate(target)]
    write = lambda name, lines: (folder / name).write_text(
        "".join(" ".join(line) + "\n" for line in lines))
    write("source", source), write("target", target)
    searches = {"greedy": {"beam_size": 1}}
    searches |= {f"beam {beam}": {"beam_size": beam} for beam in (2, 5)}
    searches["beam 4, length penalty 0.6"] = {"beam_size": 4, "length_penalty": 0.6}
    searches["beam 4, coverage penalty 0.2"] = {"beam_size": 4, "coverage_penalty": 0.2}
    searches["beam 4, patience 2"] = {"beam_size": 4, "patience": 2}
    searches["beam 4, may be empty"] = {"beam_size": 4, "min_decoding_length": 0}
    # Random models repeat themselves up to the length limit; others produce </s>.
    for seed, (shape, end) in enumerate([("64/128/2/2", 0), ("64/128/2/2", 4), ("128/256/1/3", 5)]):
        name = f"{shape}, bias of </s> {end}"
        npz, model = folder / f"m{seed}.npz", folder / f"m{seed}"
        Model("transformer", shape_of(shape), words, end, seed).save_npz(npz)
        convert(npz, vocabulary, model)
        translator = ctranslate2.Translator(str(model), compute_type="float32", intra_threads=1)
        for search, options in searches.items():
            # One by one, because in a batch CTranslate2 4.8 uses the attention, and so the
            # coverage, of other sentences.
            results = translator.translate_batch(source, max_decoding_length=40, max_batch_size=1,
                                                 **options)
            write("theirs", [result.hypotheses[0] for result in results])
            own = [word for option, value in options.items()
                   for word in ("--" + option.replace("_", "-"), value)]
            run([a.miriam, "nmt", "translate", "-m", model, "--quiet", "--max-decoding-length", 40,
                 *own, "-i", folder / "source", "-o", folder / "ours"])
            lengths = [len(result.hypotheses[0]) for result in results]
            print(f"{name}: {search}: {differing(folder / 'theirs', folder / 'ours')} of "
                  f"{len(source)} translations differ, {sum(length < 40 for length in lengths)} of them "
                  f"end by themselves, {statistics.mean(lengths):.0f} words on average", flush=True)
        scores = translator.score_batch(source, target)
        run([a.miriam, "nmt", "score", "-m", model, "--quiet", "--word-scores", "--source",
             folder / "source", "--target", folder / "target", "-o", folder / "scores"])
        largest, count = 0, 0
        for result, line in zip(scores, (folder / "scores").read_text().splitlines()):
            own = [float(x) for x in line.split("WordScores=")[1].split()]
            if len(own) != len(result.log_probs):
                sys.exit(f"{name}: {len(own)} word scores for {len(result.log_probs)}")
            largest = max([largest, *(abs(x - y) for x, y in zip(own, result.log_probs))])
            count += len(own)
        print(f"{name}: {count} word scores, the largest difference {largest:.2e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--miriam", type=Path, default=Path("target/dist/miriam"))
    parser.add_argument("--marian", action="store_true", help="compare with Marian, not CTranslate2")
    parser.add_argument("--shape", default="tiny",
                        help=f"{', '.join(SHAPES)}, or WIDTH/FFN/ENCODER/DECODER [tiny]")
    parser.add_argument("--kinds", nargs="+", choices=KINDS,
                        help="the kinds of decoder [transformer; with --marian all of them]")
    parser.add_argument("--type", choices=("int8", "int16", "float32"), default="int8")
    parser.add_argument("--words", type=int,
                        help="size of the vocabulary [32000; that of the model for nllb-600m]")
    parser.add_argument("--settings", nargs="+", metavar="BATCHxBEAM",
                        help="rows to measure [1x1 1x5 32x1 32x5; with several kinds 32x1 32x5]")
    parser.add_argument("--threads", type=int, default=1,
                        help="this many threads against one, instead of one program against the other")
    parser.add_argument("--shortlist", action="store_true",
                        help="100 frequent words and 20 for each word of the source")
    parser.add_argument("--agree", action="store_true", help="compare results of small models instead")
    parser.add_argument("--no-agreement", action="store_true",
                        help="do not compare translations in f32 first")
    parser.add_argument("-n", type=int, default=5, help="counted pairs of a row [5]")
    parser.add_argument("--seconds", type=float, default=4.0,
                        help="seconds that the slower program takes for the short text [4]")
    parser.add_argument("--keep", type=Path, help="work in this folder, and leave it there")
    parser.add_argument("--peer-only", action="store_true", help="measure the other program alone")
    a = parser.parse_args()
    a.peer = "Marian" if a.marian else "CTranslate2"
    a.words = a.words or VOCABULARY_SIZES.get(a.shape, 32000)
    a.kinds = a.kinds or (KINDS if a.marian else ["transformer"])
    if not a.marian and list(a.kinds) != ["transformer"]:
        parser.error(f"--kinds {' '.join(a.kinds)}: CTranslate2 reads transformers only; add --marian")
    settings = a.settings or ["1x1", "1x5", "32x1", "32x5"][2 * (len(a.kinds) > 1):]
    try:
        shape_of(a.shape)
        a.settings = [Setting.parse(setting) for setting in settings]
    except ValueError as error:
        parser.error(f"--shape or --settings: {error}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or Path(temporary)
        folder.mkdir(exist_ok=True, parents=True)
        if a.agree:
            return agree(a, folder)
        rows = []
        for kind in a.kinds:
            comparison = Comparison(a, kind, folder / kind)
            if not a.peer_only and not a.no_agreement:
                comparison.agreement()
            rows += (table_of_threads if a.threads > 1 else table)(a, comparison)
            comparison.start_up()
        if not a.peer_only:
            threads = ["1 thread", f"{a.threads} threads", "speed-up"]
            names = threads if a.threads > 1 else [a.peer, "Miriam", "ratio"]
            print()
            summary(f"{a.shape}, {a.type}", names, rows)


def drive():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=("ctranslate2", "marian"))
    for name in ("model", "vocabulary", "text", "output"):
        parser.add_argument(name)
    parser.add_argument("--beam", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--type")
    parser.add_argument("--shortlist")
    arguments = parser.parse_args(sys.argv[2:])
    {"ctranslate2": drive_ctranslate2, "marian": drive_marian}[arguments.peer](arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure_command(sys.argv[2:])
    drive() if sys.argv[1:2] == ["drive"] else main()
