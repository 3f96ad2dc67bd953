#!/usr/bin/env python3
"""Writes what fast_align, atools and extract-lex print for a small text, which tests of the
programs of these names expect.

usage: make_fast_align_golden.py FOLDER_OF_FAST_ALIGN_AND_ATOOLS EXTRACT_LEX

The text is the beginning of the toy corpus. Tables are sorted by bytes, for these programs
print them in the order of their hash tables.
"""

import subprocess
import sys
from pathlib import Path

LINES = 80
ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests/data/fast_align"


def sort_file(path):
    path.write_bytes(b"".join(sorted(path.read_bytes().splitlines(keepends=True))))


def main():
    folder, extract_lex = (Path(path).resolve() for path in sys.argv[1:])

    def run(*words):
        done = subprocess.run(words, cwd=DATA, check=True, capture_output=True)
        return done.stdout

    sides = [
        (ROOT / f"examples/toy/train.{language}").read_text().splitlines()[:LINES]
        for language in ("es", "en")
    ]
    text = DATA / "text"
    text.write_text("".join(f"{es} ||| {en}\n" for es, en in zip(*sides)))
    for line in (DATA / "cases").read_text().splitlines():
        name, *options = line.split()
        (DATA / f"links.{name}").write_bytes(run(folder / "fast_align", "-i", text, *options))
    links = [DATA / "links.both-recommended", DATA / "links.reverse"]
    for command in ["union", "intersect", "grow-diag", "grow-diag-final", "grow-diag-final-and", "fmeasure"]:
        found = run(folder / "atools", "-c", command, "-i", links[0], "-j", links[1])
        (DATA / f"atools.{command}").write_bytes(found)
    for command in ["convert", "invert", "display"]:
        found = run(folder / "atools", "-c", command, "-i", links[0])
        (DATA / f"atools.{command}").write_bytes(found)
    for side, name in zip(sides, ["source", "target"]):
        (DATA / name).write_text("".join(f"{line}\n" for line in side))
    run(extract_lex, "target", "source", "atools.intersect", "lex.s2t", "lex.t2s")
    for path in [*DATA.glob("table.*"), *DATA.glob("lex.*")]:
        sort_file(path)
    for name in ["source", "target"]:
        (DATA / name).unlink()


if __name__ == "__main__":
    main()
