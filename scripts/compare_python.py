#!/usr/bin/env python3
"""Compares miriam.kenlm and miriam.lm with PyPI's kenlm: values and speed.

    python3 scripts/compare_python.py --model lm.kenlm --miriam-model lm.miriam --text text.en

Both packages must be installed; `lm.kenlm` is a binary file that both read (`miriam lm build
--type kenlm-probing`). Rounds alternate, so that a busy machine slows both; figures are medians
of CPU seconds of one thread, and of wall seconds where several threads work.
"""

import argparse
import statistics
import subprocess
import sys
import time


def seconds(clock, work):
    before = clock()
    work()
    return clock() - before


def import_seconds(module):
    """The CPU seconds that a new interpreter takes to import `module`, less those of starting."""
    def run(program):
        code = "import time; t = time.process_time(); " + program + "; print(time.process_time() - t)"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    return statistics.median(run(f"import {module}") for _ in range(9))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="a KenLM binary file")
    parser.add_argument("--miriam-model", help="the same model as a file of this project")
    parser.add_argument("--text", required=True, help="a sentence a line")
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()

    import kenlm
    import miriam.kenlm
    from miriam.lm import LanguageModel

    with open(arguments.text, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for _, line in zip(range(arguments.lines), file)]
    models = {
        "kenlm": kenlm.Model(arguments.model),
        "miriam.kenlm": miriam.kenlm.Model(arguments.model),
    }
    batch = LanguageModel(arguments.miriam_model or arguments.model)
    if arguments.miriam_model:
        models["miriam.kenlm, own file"] = miriam.kenlm.Model(arguments.miriam_model)

    expected = [models["kenlm"].score(line) for line in lines]
    for name, model in models.items():
        assert [model.score(line) for line in lines] == expected, name
    assert batch.score_many(lines, threads=arguments.threads).tolist() == expected
    print(f"{len(lines)} lines: all values are equal")

    def loop(model):
        score = model.score
        for line in lines:
            score(line)

    works = {f"loop over score, {name}": (time.process_time, lambda model=model: loop(model))
             for name, model in models.items()}
    works["score_many, 1 thread"] = (time.process_time, lambda: batch.score_many(lines, threads=1))
    works[f"score_many, {arguments.threads} threads, wall"] = (
        time.perf_counter, lambda: batch.score_many(lines, threads=arguments.threads))
    works["loop over score, kenlm, wall"] = (time.perf_counter, lambda: loop(models["kenlm"]))
    times = {name: [] for name in works}
    for _ in range(arguments.rounds):
        for name, (clock, work) in works.items():
            times[name].append(seconds(clock, work))
    base = statistics.median(times["loop over score, kenlm"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name}: {median:.3f} s ({min(values):.3f} to {max(values):.3f}), "
              f"{1e6 * median / len(lines):.2f} us a line, {base / median:.2f} of kenlm")
    for module in ("miriam.kenlm", "miriam.lm", "kenlm"):
        print(f"import {module}: {1e3 * import_seconds(module):.1f} ms")


if __name__ == "__main__":
    main()
