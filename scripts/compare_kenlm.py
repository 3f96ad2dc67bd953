#!/usr/bin/env python3
"""Compare n-gram queries a CPU second with KenLM's, fairly on a noisy machine.

Takes a folder with KenLM's programs, a model as ARPA, and texts. Builds both
programs' probing files in a temporary folder, then runs kenlm_benchmark and
`miriam bench lm` in turn, one thread and one pass each in a fresh process, loading
excluded, and prints medians and the ratios pair by pair. Both read the model into
huge pages.

    scripts/compare_kenlm.py kenlm/build/bin lm.arpa train.en held-out.en
"""

import argparse
import csv
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WAYS = ["single", "dyn", "batch", "sentences"]


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def kenlm_rate(kenlm, model, ids):
    """Returns the queries a CPU second of kenlm_benchmark over a file of word ids."""
    with open(ids, "rb") as words:
        out = run([kenlm / "kenlm_benchmark", "-q", "-t", "1", "-m", model], stdin=words)
    return float(re.search(rb"Queries per second excluding load, CPU: ([0-9.]+)", out)[1])


def miriam_rate(miriam, model, text, way, table):
    """Returns the queries a CPU second of `miriam bench lm`."""
    run([miriam, "bench", "lm", model, "-i", text, "--way", way, "--threads", "1",
         "--csv", table])
    with open(table, newline="") as rows:
        return float(next(csv.DictReader(rows))["queries_per_cpu_second"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=5, help="counted runs of each [5]")
    parser.add_argument("--miriam", type=Path, default=Path("target/dist/miriam"))
    parser.add_argument("kenlm", type=Path, help="the folder of KenLM's programs")
    parser.add_argument("arpa", type=Path)
    parser.add_argument("texts", type=Path, nargs="+")
    arguments = parser.parse_args()
    kenlm, miriam = arguments.kenlm, arguments.miriam
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        theirs, ours, table = folder / "kenlm", folder / "miriam", folder / "table.csv"
        run([kenlm / "build_binary", "probing", arguments.arpa, theirs])
        run([miriam, "lm", "build", arguments.arpa, "-o", ours])
        print(f"{'text':<20} {'way':<10} {'KenLM M/s':>10} {'Miriam M/s':>11}  ratio")
        for text in arguments.texts:
            ids = folder / "ids"
            with open(text, "rb") as lines:
                words = run([kenlm / "kenlm_benchmark", "-v", "-m", theirs], stdin=lines)
            ids.write_bytes(words)
            for way in WAYS:
                pairs = [
                    (kenlm_rate(kenlm, theirs, ids), miriam_rate(miriam, ours, text, way, table))
                    for _ in range(arguments.n + 1)
                ][1:]  # The first pair warms the page cache.
                ratios = [b / a for a, b in pairs]
                a, b = (statistics.median(side) / 1e6 for side in zip(*pairs))
                print(f"{text.name:<20} {way:<10} {a:>10.2f} {b:>11.2f}  "
                      f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
                      flush=True)


if __name__ == "__main__":
    main()
