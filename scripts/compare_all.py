#!/usr/bin/env python3
"""Run every comparison for which the other program is available, one after the other.

Programs and data are given by options or by environment variables; wheels (CTranslate2, pymarian,
PyTorch, transformers, sacreBLEU) are those of the Python that runs this. A comparison without its
program or its data prints one line that says what is missing, and the next one runs. Each
comparison prints its own table; together, they print the tables of the README and of
docs/benchmarks.md.

    scripts/compare_all.py --list
    scripts/compare_all.py --moses2 moses2 --their-ini probing.ini --our-ini miriam.ini \\
        --source test.de --kenlm kenlm/build/bin --arpa lm.arpa --text held-out.en
    venv/bin/python scripts/compare_all.py --only ctranslate2 marian

Ends with status 1 if a comparison failed, otherwise with 0, even if none could run.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent

# Options that name programs and data, with their environment variables.
PATHS = {
    "moses2": ("MOSES2", "the program moses2"),
    "their-ini": ("MOSES2_INI", "an ini for Moses2"),
    "our-ini": ("MIRIAM_INI", "an ini for Miriam over the same models"),
    "source": ("COMPARE_SOURCE", "a text to translate or to train from"),
    "target": ("COMPARE_TARGET", "its translation, line by line"),
    "kenlm": ("KENLM", "the folder of KenLM's programs"),
    "arpa": ("COMPARE_ARPA", "a language model as ARPA text"),
    "text": ("COMPARE_TEXT", "a text to score with it"),
    "mosesdecoder": ("MOSESDECODER", "the folder of Moses' scripts"),
    "hypotheses": ("COMPARE_HYPOTHESES", "translations of --source, to score against --target"),
}

SEARCH = ["--", "-search-algorithm", "1", "-cube-pruning-pop-limit", "400", "-s", "400"]

# Name, the paths and the wheels that it needs, and its command; {name} is the value of --name.
COMPARISONS = [
    ("moses2", ["moses2", "their-ini", "our-ini", "source"], [],
     ["compare_moses2.py", "--miriam", "{miriam}", "{moses2}", "{their-ini}", "{our-ini}", "{source}",
      *SEARCH]),
    ("kenlm", ["kenlm", "arpa", "text"], [],
     ["compare_kenlm.py", "--miriam", "{miriam}", "{kenlm}", "{arpa}", "{text}"]),
    ("text-tools", ["mosesdecoder"], [],
     ["compare_text_tools.py", "--miriam", "{miriam}", "--moses", "{mosesdecoder}"]),
    ("sacrebleu", ["target", "hypotheses"], ["sacrebleu"],
     ["compare_sacrebleu.py", "{miriam}", "{target}", "{hypotheses}"]),
    ("ctranslate2", [], ["ctranslate2", "numpy", "yaml"],
     ["compare_ctranslate2.py", "--miriam", "{miriam}", "--shape", "tiny"]),
    ("marian", [], ["pymarian", "numpy", "yaml"],
     ["compare_ctranslate2.py", "--miriam", "{miriam}", "--marian", "--type", "float32",
      "--settings", "32x1"]),
    ("training", ["source", "target"], ["pymarian", "numpy", "sentencepiece", "yaml"],
     ["compare_training.py", "--miriam", "{miriam}", "--source", "{source}", "--target", "{target}"]),
    ("hugging-face", [], ["torch", "transformers", "sentencepiece", "ctranslate2"],
     ["compare_hugging_face.py", "--miriam", "{miriam}"]),
    ("models", [], ["torch", "transformers", "sentencepiece", "ctranslate2"],
     ["compare_models.py", "--miriam", "{miriam}"]),
]


def missing(paths, wheels, values):
    """Returns descriptions of what a comparison lacks."""
    lacking = []
    for name in paths:
        variable, what = PATHS[name]
        if values[name] is None:
            lacking.append(f"{what} (--{name} or {variable})")
        elif not Path(values[name]).exists():
            lacking.append(f"{what}: there is no {values[name]}")
    lacking += [f"the wheel {wheel}" for wheel in wheels if importlib.util.find_spec(wheel) is None]
    return lacking


def arguments(argv):
    names = [name for name, *_ in COMPARISONS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--miriam", default="target/dist/miriam", help="[target/dist/miriam]")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME",
                        help=f"these comparisons: {', '.join(names)} [all]")
    parser.add_argument("--list", action="store_true", help="say what would run, and run nothing")
    for name, (variable, what) in PATHS.items():
        parser.add_argument(f"--{name}", dest=name, metavar="PATH", default=os.environ.get(variable),
                            help=f"{what} [{variable}]")
    return parser.parse_args(argv)


def main(argv=None):
    given = arguments(argv)
    values = vars(given)
    failed = []
    for name, paths, wheels, command in COMPARISONS:
        if name not in given.only:
            continue
        lacking = missing(paths, wheels, values)
        if lacking:
            print(f"{name}: left out, without {'; '.join(lacking)}", flush=True)
            continue
        command = [word.format_map(values) for word in command]
        if given.list:
            print(f"{name}: {' '.join(command)}", flush=True)
            continue
        if not Path(given.miriam).is_file():
            sys.exit(f"there is no {given.miriam}: cargo build --profile dist, or give --miriam")
        print(f"\n## {name}\n", flush=True)
        run = subprocess.run([sys.executable, SCRIPTS / command[0], *command[1:]])
        if run.returncode:
            print(f"{name}: failed with status {run.returncode}", flush=True)
            failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
