#!/usr/bin/env python3
"""Compare Miriam's text tools with Moses' scripts on random lines that are difficult.

    scripts/compare_text_tools.py --moses MOSESDECODER [--miriam BINARY]
        [--lines N] [--seed S] [--record FOLDER]

Lines are random sequences of letters, signs, quotation marks, spaces, and strings for
which the scripts have rules. Prints for each tool how many lines differ, and the first
three of them; ends with status 1 if the outputs of any tool differ. With --record, the
lines and Moses' output are kept in FOLDER. The files of base/textproc/tests/golden are
the output of --record with --lines 150 --seed 7 and Moses commit 34452895; a casing that
is as frequent as another in the truecase model is chosen at random by Perl.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

# Strings of which lines are made. Â is left out for the day when Catalan is compared: its
# rules in Moses have a middle dot, whose two UTF-8 bytes Perl reads as "Â·".
PIECES = (
    list("abcXYs5 79aZ1 ,.'\"-:;()[]|&<>`!?%/@#$")
    + [",", "'", ".", " ", " ", ",", "'", "..", " ' "]
    + list("éÉß·½²Ⅷ٣日本—“”„’‘…€«»Σİª")
    + ["\u00a0", "\u2009", "\t", "\u0301", "\x7f", "\x01", "\u0085", "\u200b", "\U0001f600"]
    + ["Mr", "No", "Dr", "e.g", "p.m", "etc", "usw", "Nr", "www.x.y", "3.14", "1,000"]
    + ["&quot;", "&apos;", "&amp;", "@-@", " @-@ ", "n't", "l'", "d'", "'s", "'ll", "e - mail", "EU : n"]
)
# Fewer strings, so that the same ones meet more often.
FEW_PIECES = ["a", "5", ",", "'", ".", "-", " ", "s"]


def make_lines(seed, count):
    generator = random.Random(seed)
    ascii_only = [piece for piece in PIECES if piece.isascii()]
    for _ in range(count):
        pieces = generator.choices([PIECES, ascii_only, FEW_PIECES], [6, 2, 2])[0]
        yield "".join(generator.choice(pieces) for _ in range(generator.randint(1, 14)))


def runs_of_tools(folder):
    """Returns the runs in order. A run has a name, which is also that of the file of Moses' output
    in the folder, the name of the file that is its input, and the commands of Moses and Miriam."""
    runs = []
    for language in "cs de en es fr so".split():
        moses = ["tokenizer/tokenizer.perl", "-q", "-l", language]
        ours = ["tokenize", "-l", language, "--log-level", "error"]
        runs.append((f"tok.{language}", "raw", moses, ours))
        if language in ("en", "fr"):
            runs.append((f"tok-aggressive.{language}", "raw", moses + ["-a"], ours + ["-a"]))
    runs.append(("tok-noescape.en", "raw", ["tokenizer/tokenizer.perl", "-q", "-no-escape"],
                  ["tokenize", "-no-escape"]))
    for language in "cs de en fr pl".split():
        runs.append((f"normalized.{language}", "raw",
                      ["tokenizer/normalize-punctuation.perl", "-l", language],
                      ["normalize", "-l", language]))
    for language in "cs de en fi fr it ko".split():
        runs.append((f"detok.{language}", "tok.en",
                      ["tokenizer/detokenizer.perl", "-q", "-l", language],
                      ["detokenize", "-l", language]))
    runs.append(("detok-uppercase.en", "tok.en", ["tokenizer/detokenizer.perl", "-q", "-u"],
                  ["detokenize", "-u"]))
    model = str(folder / "truecase-model")
    runs.append(("truecased", "tok.en", ["recaser/truecase.perl", "--model", model],
                  ["truecase", "--model", model]))
    runs.append(("truecased-asr", "tok.en", ["recaser/truecase.perl", "--model", model, "-a"],
                  ["truecase", "--model", model, "-a"]))
    runs.append(("detruecased", "truecased", ["recaser/detruecase.perl"], ["truecase", "--undo"]))
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moses", type=Path, required=True)
    parser.add_argument("--miriam", default="target/dist/miriam")
    parser.add_argument("--lines", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    is_equal = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.record or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        lines = "\n".join(make_lines(options.seed, options.lines)) + "\n"
        (folder / "raw").write_text(lines, encoding="utf-8", newline="\n")
        for name, source, moses, ours in runs_of_tools(folder):
            text = (folder / source).read_bytes()
            script = ["perl", str(options.moses / "scripts" / moses[0])] + moses[1:]
            theirs = subprocess.run(script, input=text, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, check=True).stdout
            (folder / name).write_bytes(theirs)
            if name == "tok.en":
                train = options.moses / "scripts/recaser/train-truecaser.perl"
                subprocess.run(["perl", str(train), "--corpus", str(folder / "tok.en"),
                                "--model", str(folder / "truecase-model")], check=True)
            mine = subprocess.run([options.miriam] + ours, input=text, stdout=subprocess.PIPE,
                                  check=True).stdout
            pairs = list(zip(text.split(b"\n"), theirs.split(b"\n"), mine.split(b"\n")))
            wrong = [pair for pair in pairs if pair[1] != pair[2]]
            print(f"{name}: {len(wrong)} of {len(pairs) - 1} lines differ")
            for line, one, other in wrong[:3]:
                print(f"  input {line!r}\n  moses {one!r}\n  ours  {other!r}")
            counts = [output.count(b"\n") for output in (theirs, mine)]
            if counts[0] != counts[1]:
                print(f"  moses has {counts[0]} lines, ours {counts[1]}")
            is_equal = is_equal and not wrong and counts[0] == counts[1]
    sys.exit(0 if is_equal else 1)


if __name__ == "__main__":
    main()
