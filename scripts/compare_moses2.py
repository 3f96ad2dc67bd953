#!/usr/bin/env python3
"""Compare CPU time with Moses2's over the same system, fairly on a noisy machine.

Takes a Moses2 binary, an ini for each program over the same models, and a text,
which is repeated up to the number of lines requested. Runs both in turn, one thread each,
on one line (start-up), on the short text and on the long one; checks that the
translations agree; and prints medians, the ratios pair by pair, words a second and
peak memory. The slope is the cost of further lines: long less short.

    scripts/compare_moses2.py moses2 probing.ini miriam.ini test.de -- \\
        -search-algorithm 1 -cube-pruning-pop-limit 400 -s 400
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(command, output):
    """CPU seconds, wall seconds and peak memory (MB) of a command."""
    start = time.monotonic()
    with open(output, "wb") as out:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"status {process.returncode}: {' '.join(map(str, command))}")
    wall = time.monotonic() - start
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def differing(one, other):
    """How many lines of two files differ."""
    one, other = one.read_bytes().splitlines(), other.read_bytes().splitlines()
    return abs(len(one) - len(other)) + sum(a != b for a, b in zip(one, other))


def spread(values, digits=2):
    """Median with the least and the largest."""
    low, high = min(values), max(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=5, help="counted pairs [5]")
    parser.add_argument("--lines", type=int, nargs=2, default=[1000, 10000],
                        metavar=("SHORT", "LONG"), help="lines of the texts [1000 10000]")
    parser.add_argument("--miriam", type=Path, default=Path("target/dist/miriam"))
    parser.add_argument("moses2", type=Path)
    parser.add_argument("their_ini", type=Path)
    parser.add_argument("our_ini", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("options", nargs="*", help="options of both, after --")
    arguments = parser.parse_args()
    if arguments.lines[0] >= arguments.lines[1]:
        parser.error("--lines: the long text must be longer than the short one")
    lines = arguments.text.read_bytes().splitlines(keepends=True)
    if not lines:
        parser.error(f"{arguments.text} is empty")
    programs = {
        "Moses2": [arguments.moses2, "-f", arguments.their_ini],
        "Miriam": [arguments.miriam, "translate", "-f", arguments.our_ini],
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        texts = {}
        for name, count in zip(("one line", "short", "long"), [1, *arguments.lines]):
            repeated = [lines[i % len(lines)] for i in range(count)]
            (folder / name).write_bytes(b"".join(repeated))
            texts[name] = sum(len(line.split()) for line in repeated)
        measured = {(program, text): [] for program in programs for text in texts}
        different = {}
        for _ in range(arguments.n + 1):
            for text in texts:
                for program, command in programs.items():
                    command = [*command, "-i", folder / text, "-threads", "1", *arguments.options]
                    measured[program, text].append(run(command, folder / program))
                different[text] = differing(folder / "Moses2", folder / "Miriam")
        # The first round warms the page cache.
        measured = {key: runs[1:] for key, runs in measured.items()}
    more = arguments.lines[1] - arguments.lines[0]
    words = texts["long"] - texts["short"]
    cpu = {key: [seconds for seconds, _, _ in runs] for key, runs in measured.items()}
    slopes = {
        program: [(b - a) / more * 1000
                  for a, b in zip(cpu[program, "short"], cpu[program, "long"])]
        for program in programs
    }
    for text, count in zip(("short", "long"), arguments.lines):
        print(f"{different[text]} of {count} lines differ")
    rows = [("start-up (one line), CPU s", lambda p: spread(cpu[p, "one line"])),
            ("start-up, wall s", lambda p: spread([w for _, w, _ in measured[p, "one line"]])),
            (f"{arguments.lines[0]} lines, CPU s", lambda p: spread(cpu[p, "short"])),
            (f"{arguments.lines[1]} lines, CPU s", lambda p: spread(cpu[p, "long"])),
            ("per further 1,000 lines, CPU s", lambda p: spread(slopes[p])),
            ("words a CPU second, further lines",
             lambda p: f"{words / more * 1000 / statistics.median(slopes[p]):.0f}"),
            ("peak memory, MB", lambda p: f"{max(m for _, _, m in measured[p, 'long']):.0f}")]
    print(f"{'':<36} {'Moses2':<26} Miriam")
    for title, cell in rows:
        print(f"{title:<36} {cell('Moses2'):<26} {cell('Miriam')}")
    ratios = {
        "short text": [a / b for a, b in zip(cpu["Moses2", "short"], cpu["Miriam", "short"])],
        "further lines": [a / b for a, b in zip(slopes["Moses2"], slopes["Miriam"])],
    }
    for title, ratio in ratios.items():
        print(f"Moses2 / Miriam, {title}: {spread(ratio)}")


if __name__ == "__main__":
    main()
