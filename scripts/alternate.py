#!/usr/bin/env python3
"""Compare the CPU time of two commands fairly on a noisy machine.

Runs both in turn, A B A B ..., because the speed of a shared machine drifts over
minutes. Single timings mislead, and so do all runs of A before all runs of B. Prints the
median CPU seconds (user and system) and peak memory of each, and the ratio pair by
pair. Output of the commands is discarded.

    scripts/alternate.py -n 5 'moses2 -f moses.ini -i test.de -threads 1' \\
        'miriam translate -f moses.ini -i test.de -threads 1'
"""

import argparse
import os
import statistics
import subprocess
import sys


def run(command):
    """Runs a shell command once, and returns its CPU seconds and peak memory (MB)."""
    process = subprocess.Popen(
        ["bash", "-c", "exec " + command],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"status {process.returncode}: {command}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=5, help="counted runs of each [5]")
    parser.add_argument("commands", nargs=2, metavar="COMMAND")
    arguments = parser.parse_args()
    first, second = arguments.commands
    run(first), run(second)  # Warm the page cache.
    pairs = [(run(first), run(second)) for _ in range(arguments.n)]
    for name, side in (("A", 0), ("B", 1)):
        seconds = [pair[side][0] for pair in pairs]
        memory = max(pair[side][1] for pair in pairs)
        print(f"{name}  {statistics.median(seconds):8.2f} s  "
              f"({min(seconds):.2f} to {max(seconds):.2f})  {memory:8.0f} MB")
    ratios = [a[0] / b[0] for a, b in pairs]
    print(f"A/B {statistics.median(ratios):7.2f}    ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
