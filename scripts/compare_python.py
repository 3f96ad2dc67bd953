#!/usr/bin/env python3
"""Compares the Python package: miriam.kenlm and miriam.lm with PyPI's kenlm, values and speed;
miriam.ct2 with `miriam nmt translate`, output and speed, and with ctranslate2, option by option.

    python3 scripts/compare_python.py --model lm.kenlm --miriam-model lm.miriam --text text.en
    python3 scripts/compare_python.py --neural-model FOLDER --text tokens.de --miriam target/dist/miriam

The packages must be installed; `lm.kenlm` is a binary file that both read (`miriam lm build
--type kenlm-probing`), `tokens.de` has tokens of the model with spaces between them. Rounds
alternate, so that a busy machine slows both; figures are medians of CPU seconds of one thread, and
of wall seconds where several threads work. For a program and a Python process, the slope between
half of the lines and all of them is measured, so that start-up does not count. ctranslate2 is left
out if it is not installed. Some translations may differ if their scores are equal except for
rounding.
"""

import argparse
import importlib.util
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(clock, work):
    before = clock()
    work()
    return clock() - before


def import_seconds(module):
    """Returns the CPU seconds in which a new interpreter imports `module`, without its start."""
    def run(program):
        code = "import time; t = time.process_time(); " + program + "; print(time.process_time() - t)"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    return statistics.median(run(f"import {module}") for _ in range(9))


# Prints the CPU seconds of translate_batch alone, and its output.
TRANSLATE = """
import sys, time
from miriam.ct2 import Translator
translator = Translator(sys.argv[1])
tokens = [line.split() for line in open(sys.argv[2], encoding="utf-8", newline="\\n")]
before = time.process_time()
results = [result.hypotheses[0] for result in translator.translate_batch(tokens)]
print(time.process_time() - before, file=sys.stderr)
sys.stdout.writelines(" ".join(result) + "\\n" for result in results)
"""


def compare_with_program(arguments, lines):
    """Compares translate_batch with the command line over the same lines."""
    with tempfile.TemporaryDirectory() as folder:
        texts = [os.path.join(folder, name) for name in ("half", "all")]
        for path, text in zip(texts, (lines[: len(lines) // 2], lines)):
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(line + "\n" for line in text)

        def program(path):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [arguments.miriam, "nmt", "translate", "-m", arguments.neural_model, "-i", path]
            output = subprocess.run(command, capture_output=True, check=True).stdout
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output

        def package(path):
            command = [sys.executable, "-c", TRANSLATE, arguments.neural_model, path]
            done = subprocess.run(command, capture_output=True, check=True)
            return float(done.stderr), done.stdout

        slopes = {"miriam nmt translate": [], "translate_batch": []}
        ratios = []
        for number in range(arguments.rounds):
            costs = []
            for work, name in ((program, "miriam nmt translate"), (package, "translate_batch")):
                (half, _), (whole, output) = work(texts[0]), work(texts[1])
                costs.append((whole - half, output))
                slopes[name].append(whole - half)
            assert costs[0][1] == costs[1][1], "the translations are not equal"
            ratios.append(costs[1][0] / costs[0][0])
        print(f"{len(lines)} lines: all translations are equal")
        count = len(lines) - len(lines) // 2
        for name, values in slopes.items():
            print(f"{name}: {1e6 * statistics.median(values) / count:.0f} us a line "
                  f"({1e6 * min(values) / count:.0f} to {1e6 * max(values) / count:.0f})")
        print(f"translate_batch takes {statistics.median(ratios):.3f} of the program's time "
              f"({min(ratios):.3f} to {max(ratios):.3f}), round by round")


def option_sets(target_tokens):
    """Yields sets of options of translate_batch: each option alone, for several beam sizes."""
    one, two = target_tokens[:2]
    for beam in (1, 2, 4):
        yield {"beam_size": beam}
        for name, values in {
            "length_penalty": (0, 0.2, 2), "repetition_penalty": (1.3, 0.8),
            "no_repeat_ngram_size": (1, 2), "disable_unk": (True,), "max_input_length": (3,),
            "suppress_sequences": ([[one], [two, one]],), "end_token": (one, [one, two]),
            "return_end_token": (True,), "max_decoding_length": (1, 3), "min_decoding_length": (6,),
            "replace_unknowns": (True,),
        }.items():
            for value in values:
                yield {"beam_size": beam, name: value}
        yield {"beam_size": beam, "return_alternatives": True, "num_hypotheses": 4}
        yield {"beam_size": beam, "return_alternatives": True, "num_hypotheses": 4,
               "min_alternative_expansion_prob": 0.1, "length_penalty": 0.3}
    yield {"beam_size": 4, "num_hypotheses": 4}
    yield {"beam_size": 3, "patience": 2, "num_hypotheses": 3}
    # One by one: ctranslate2 mixes up the attention of the sentences of a batch.
    for more in ({"coverage_penalty": 0.3}, {"return_attention": True}):
        yield {"beam_size": 4, "max_batch_size": 1, **more}


def nearly_equal(one, other, tolerance=1e-3):
    if isinstance(one, list):
        return len(one) == len(other) and all(map(nearly_equal, one, other))
    return one == other or abs(one - other) < tolerance


def compare_with_ctranslate2(arguments, lines):
    """Compares miriam.ct2 with ctranslate2, option by option."""
    import ctranslate2
    import miriam.ct2

    theirs = ctranslate2.Translator(arguments.neural_model)
    ours = miriam.ct2.Translator(arguments.neural_model)
    sources = [line.split() for line in lines[:150]] + [[], ["</s>"], ["unheard"]]
    best = [result.hypotheses[0] for result in theirs.translate_batch(sources, beam_size=1)]
    target_tokens = sorted({token for tokens in best for token in tokens[:2]})
    prefixes = [tokens[::-1][: index % 3] for index, tokens in enumerate(best)]
    count = different = 0
    for options in option_sets(target_tokens):
        for prefix in (None, prefixes):
            found, expected = (
                translator.translate_batch(sources, prefix, return_scores=True, **options)
                for translator in (ours, theirs)
            )
            wrong = [
                index for index, (one, other) in enumerate(zip(found, expected))
                if one.hypotheses != other.hypotheses or not nearly_equal(one.scores, other.scores)
                or not nearly_equal(one.attention, other.attention)
            ]
            count += len(sources)
            different += len(wrong)
            if wrong:
                print(f"{options}{' with prefixes' if prefix else ''}: {len(wrong)} of "
                      f"{len(sources)} differ, the first {' '.join(sources[wrong[0]])!r}")
    for options in ({}, {"max_batch_size": 7}, {"offset": 2}, {"max_input_length": 3}):
        found, expected = (translator.score_batch(sources, best, **options)
                           for translator in (ours, theirs))
        for one, other in zip(found, expected):
            assert one.tokens == other.tokens, (one, other)
            assert nearly_equal(one.log_probs, other.log_probs), (one, other)
    print(f"{count} translations with {count // len(sources)} sets of options: {different} differ; "
          "all scores are equal")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a KenLM binary file")
    parser.add_argument("--miriam-model", help="the same model as a file of this project")
    parser.add_argument("--neural-model", help="a folder of CTranslate2")
    parser.add_argument("--miriam", help="the binary, to be compared with translate_batch")
    parser.add_argument("--text", required=True, help="a sentence a line")
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()

    if not (arguments.model or arguments.neural_model):
        parser.error("give --model or --neural-model")

    with open(arguments.text, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for _, line in zip(range(arguments.lines), file)]
    if arguments.neural_model:
        if arguments.miriam:
            compare_with_program(arguments, lines)
        if importlib.util.find_spec("ctranslate2"):
            compare_with_ctranslate2(arguments, lines)
        print(f"import miriam.ct2: {1e3 * import_seconds('miriam.ct2'):.1f} ms")
    if not arguments.model:
        return

    import kenlm
    import miriam.kenlm
    from miriam.lm import LanguageModel

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
