#!/usr/bin/env python3
"""Compare CPU time with Moses2's over the same systems, fairly on a noisy machine.

Takes a Moses2 binary, an ini for each program over the same models, and a text,
which is repeated up to the number of lines requested. Runs both in turn, one thread each,
on one line (start-up), on the short text and on the long one; checks that the
translations agree; and prints medians, the ratios pair by pair, words a second and
peak memory. The slope is the cost of further lines: the long text minus the short one.

    scripts/compare_moses2.py moses2 probing.ini miriam.ini test.de -- \\
        -search-algorithm 1 -cube-pruning-pop-limit 400 -s 400

More systems, or the same system with other options, are measured after the first one on the same
text, and a table at the end has the ratios of all. --system takes a name, both inis, and options
that replace options of the same name; {list} is a file for an n-best list, which is compared too.

        --system 'two-models two.probing.ini two.miriam.ini' \\
        --system 'n-best-100 probing.ini miriam.ini -n-best-list {list} 100' \\
        --system 'stack probing.ini miriam.ini -search-algorithm 0 -s 100'
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(command, output):
    """Runs a command; returns its CPU seconds, wall seconds and peak memory (MB)."""
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
    """Returns how many lines of two files differ."""
    one, other = one.read_bytes().splitlines(), other.read_bytes().splitlines()
    return abs(len(one) - len(other)) + sum(a != b for a, b in zip(one, other))


def spread(values, digits=2):
    """Returns the median, with the least and the largest value."""
    low, high = min(values), max(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def grouped(words):
    """Returns options by name, each with its values; a number is not a name."""
    options = {}
    for word in words:
        if word.startswith("-") and not word[1:2].isdigit():
            options[word] = []
        elif options:
            options[list(options)[-1]].append(word)
        else:
            sys.exit(f"{word} comes before the first option")
    return options


def system(text):
    """Returns the name, Moses2's ini, our ini and the options in a value of --system."""
    words = shlex.split(text)
    if len(words) < 3:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME THEIR_INI OUR_INI [OPTIONS]")
    return words[0], Path(words[1]), Path(words[2]), words[3:]


def repeated(text, counts, folder):
    """Writes a text for each name in `counts`, with that number of lines; returns the number of
    words of each."""
    lines = text.read_bytes().splitlines(keepends=True)
    if not lines:
        sys.exit(f"{text} is empty")
    words = {}
    for name, count in counts.items():
        chosen = [lines[i % len(lines)] for i in range(count)]
        (folder / name).write_bytes(b"".join(chosen))
        words[name] = sum(len(line.split()) for line in chosen)
    return words


def measure(programs, options, texts, rounds, folder):
    """Returns the runs of both programs, by program and text, and how many lines of each text
    differ, including lines of n-best lists."""
    measured = {(program, text): [] for program in programs for text in texts}
    different = {}
    has_list = any("{list}" in word for word in options)
    for _ in range(rounds + 1):
        for text in texts:
            for program, command in programs.items():
                own = [word.replace("{list}", str(folder / f"{program}.list")) for word in options]
                command = [*command, "-i", folder / text, "-threads", "1", *own]
                measured[program, text].append(run(command, folder / program))
            different[text] = differing(folder / "Moses2", folder / "Miriam")
            if has_list:
                different[text] += differing(folder / "Moses2.list", folder / "Miriam.list")
    # The first round warms the page cache.
    return {key: runs[1:] for key, runs in measured.items()}, different


def report(measured, different, texts, counts):
    """Prints the measurements of one system; returns its ratios by title."""
    more = counts["long"] - counts["short"]
    words = texts["long"] - texts["short"]
    cpu = {key: [seconds for seconds, _, _ in runs] for key, runs in measured.items()}
    slopes = {
        program: [(b - a) / more * 1000
                  for a, b in zip(cpu[program, "short"], cpu[program, "long"])]
        for program in ("Moses2", "Miriam")
    }
    for text in ("short", "long"):
        print(f"{different[text]} lines of {counts[text]} sentences differ")
    rows = [("start-up (one line), CPU s", lambda p: spread(cpu[p, "one line"])),
            ("start-up, wall s", lambda p: spread([w for _, w, _ in measured[p, "one line"]])),
            (f"{counts['short']} lines, CPU s", lambda p: spread(cpu[p, "short"])),
            (f"{counts['long']} lines, CPU s", lambda p: spread(cpu[p, "long"])),
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
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=5, help="counted pairs [5]")
    parser.add_argument("--lines", type=int, nargs=2, default=[1000, 10000],
                        metavar=("SHORT", "LONG"), help="lines of the texts [1000 10000]")
    parser.add_argument("--miriam", type=Path, default=Path("target/dist/miriam"))
    parser.add_argument("--system", type=system, action="append", default=[],
                        metavar="'NAME THEIR_INI OUR_INI [OPTIONS]'",
                        help="a further system; repeatable")
    parser.add_argument("moses2", type=Path)
    parser.add_argument("their_ini", type=Path)
    parser.add_argument("our_ini", type=Path)
    parser.add_argument("text", type=Path)
    parser.usage = parser.format_usage().removeprefix("usage: ").rstrip() + " [-- OPTIONS of both]"
    # argparse takes no further positional arguments after an option.
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = parser.parse_args(sys.argv[1:end])
    arguments.options = sys.argv[end + 1:]
    if arguments.lines[0] >= arguments.lines[1]:
        parser.error("--lines: the long text must be longer than the short one")
    counts = dict(zip(("one line", "short", "long"), [1, *arguments.lines]))
    systems = [("first", arguments.their_ini, arguments.our_ini, []), *arguments.system]
    for _, *inis, _ in systems:
        for ini in inis:
            if not ini.exists():
                parser.error(f"there is no {ini}")
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        texts = repeated(arguments.text, counts, folder)
        for name, their_ini, our_ini, own in systems:
            options = {**grouped(arguments.options), **grouped(own)}
            options = [word for name, values in options.items() for word in (name, *values)]
            programs = {
                "Moses2": [arguments.moses2, "-f", their_ini],
                "Miriam": [arguments.miriam, "translate", "-f", our_ini],
            }
            if arguments.system:
                print(f"\n{name}: {our_ini} {' '.join(options)}")
            measured, different = measure(programs, options, texts, arguments.n, folder)
            table[name] = (different, report(measured, different, texts, counts))
    if arguments.system:
        titles = ["short text", "further lines"]
        print(f"\n{'Moses2 / Miriam':<20} {titles[0]:<24} {titles[1]:<24} lines that differ")
        for name, (different, ratios) in table.items():
            cells = "".join(f"{spread(ratios[title]):<25}" for title in titles)
            print(f"{name:<20} {cells}{different['short']}, {different['long']}")


if __name__ == "__main__":
    main()
