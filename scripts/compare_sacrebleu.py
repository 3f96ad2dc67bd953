#!/usr/bin/env python3
"""Compares `miriam evaluate` with sacreBLEU, byte by byte, and records its numbers.

    python3 -m venv venv && venv/bin/pip install sacrebleu==2.6.0
    venv/bin/python scripts/compare_sacrebleu.py target/release/miriam REFERENCE OUTPUT...
    venv/bin/python scripts/compare_sacrebleu.py --record NAME=OUTPUT:REFERENCE[:REFERENCE]...

The first form runs both programs on each output with many options, twelve decimal
places, and prints the options under which they differ, and the CPU seconds of both.
Files are plain or .gz. The second form writes the lines of
`base/metrics/testdata/sacrebleu.tsv`: text, metric with signature, score of the
corpus, mean and confidence interval of 1,000 resampled scores, and for texts whose name starts
with `odd` the scores of the lines.
"""

import gzip
import itertools
import resource
import subprocess
import sys

BLEU = [
    "",
    "--tokenize none",
    "--tokenize intl",
    "--tokenize char",
    "--tokenize zh",
    "--lowercase",
    "--smooth-method floor",
    "--smooth-method floor --smooth-value 0.25",
    "--smooth-method add-k",
    "--smooth-method none",
    "--confidence",
    "--confidence --tokenize none --confidence-n 300",
    "--sentence-level",
    "--sentence-level --short --format text",
    "--format text --short --confidence",
    "--score-only",
]
CHRF = [
    "",
    "--chrf-word-order 2",
    "--chrf-char-order 4 --chrf-beta 3",
    "--chrf-whitespace",
    "--chrf-lowercase",
    "--chrf-eps-smoothing",
    "--chrf-word-order 2 --confidence",
    "--chrf-word-order 2 --sentence-level",
]
TER = [
    "",
    "--ter-case-sensitive",
    "--ter-normalized",
    "--ter-normalized --ter-asian-support",
    "--ter-no-punct",
    "--ter-normalized --ter-no-punct --ter-asian-support",
    "--confidence --confidence-n 200",
    "--sentence-level",
]


def lines(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip() for line in file]


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.decode()}")
    return done.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(miriam, reference, outputs):
    theirs_program = [sys.executable, "-m", "sacrebleu"]
    seconds = {}
    different = 0
    for output in outputs:
        for metric, variants in [("bleu", BLEU), ("chrf", CHRF), ("ter", TER)]:
            for options in variants:
                options = options.split() + ["-w", "12"]
                theirs, theirs_time = run(
                    theirs_program + [reference, "-i", output, "-m", metric, "--force"] + options)
                ours, ours_time = run(
                    [miriam, "evaluate", "--reference", reference, "-i", output,
                     "--metric", metric, "--force"] + options)
                seconds.setdefault(metric, []).append((ours_time, theirs_time))
                if ours != theirs:
                    different += 1
                    print(f"{output}: {metric} {' '.join(options)}")
                    pairs = itertools.zip_longest(ours.splitlines(), theirs.splitlines())
                    for number, (one, other) in enumerate(pairs, 1):
                        if one != other:
                            print(f"  line {number}: {one!r}, sacreBLEU {other!r}")
                            break
    for metric, times in seconds.items():
        ours, theirs = map(sum, zip(*times))
        print(f"{metric}: {len(times)} runs, CPU {ours:.2f} s, sacreBLEU {theirs:.2f} s")
    print(f"{different} differ")
    return different != 0


def metrics():
    from sacrebleu.metrics import BLEU, CHRF, TER
    for tokenize in ["13a", "none", "intl", "char", "zh"]:
        yield BLEU(tokenize=tokenize, force=True), BLEU(tokenize=tokenize, effective_order=True)
    for method, value in [("floor", None), ("floor", 0.25), ("add-k", None), ("add-k", 2), ("none", None)]:
        options = dict(smooth_method=method, smooth_value=value, force=True)
        yield BLEU(**options), BLEU(**options, effective_order=True)
    yield BLEU(lowercase=True, force=True), BLEU(lowercase=True, effective_order=True)
    for options in [{}, dict(word_order=2), dict(word_order=2, eps_smoothing=True),
                    dict(char_order=4, beta=3), dict(whitespace=True), dict(lowercase=True)]:
        yield CHRF(**options), CHRF(**options)
    for options in [{}, dict(case_sensitive=True), dict(normalized=True), dict(no_punct=True),
                    dict(normalized=True, asian_support=True),
                    dict(normalized=True, asian_support=True, no_punct=True)]:
        yield TER(**options), TER(**options)


def record(texts):
    for text in texts:
        name, files = text.split("=")
        output, *references = [lines(path) for path in files.split(":")]
        for corpus, sentence in metrics():
            score = corpus.corpus_score(output, references)
            key = f"{score.name}|{corpus.get_signature()}"
            drawn = corpus.corpus_score(output, references, n_bootstrap=1000)
            fields = [name, key, repr(score.score), repr(float(drawn._mean)), repr(float(drawn._ci))]
            if name.startswith("odd"):
                each = zip(output, *references)
                scores = [sentence.sentence_score(line, list(refs)).score for line, *refs in each]
                fields.append(" ".join(repr(float(score)) for score in scores))
            print("\t".join(fields))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2:])
    elif len(sys.argv) > 3:
        sys.exit(compare(sys.argv[1], sys.argv[2], sys.argv[3:]))
    else:
        sys.exit(__doc__)
