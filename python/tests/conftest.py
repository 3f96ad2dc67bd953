"""Fixtures that the tests share."""

from __future__ import annotations

import gzip
import signal
from pathlib import Path

import pytest

import miriam

# A shell starts background programs with this signal ignored, and Python does not change that.
# Tests of Ctrl-C would then never end.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]

# The toy model of ngram-lm.md, whose scores were computed by hand.
TOY = ROOT / "tests" / "data" / "toy.arpa"


def shared_data(name: str) -> Path:
    """Returns a folder of real data beside the project; skips the test if the folder is absent."""
    path = ROOT.parent / "shared" / "data" / name
    if not path.exists():
        pytest.skip(f"{path} is absent")
    return path


@pytest.fixture(scope="session")
def program() -> Path:
    """The program of the package, with which results are compared."""
    path = Path(miriam.__file__).parents[1] / "bin" / "miriam"
    if not path.exists():
        pytest.skip("the package was installed without its program")
    return path


@pytest.fixture(scope="session")
def kenlm_cases() -> Path:
    return shared_data("kenlm-cases")


Word = tuple[str, int, int, float]


def parse_query(path: Path) -> list[tuple[list[Word], float, int]]:
    """Parses the output of KenLM's query. Each line has its words (text, id, matched length,
    log10), the total log10, and the number of unknown words."""
    lines = []
    for line in gzip.open(path, "rt", encoding="utf-8", newline="\n"):
        if not line.startswith("Perplexity") and "Total: " in line:
            *words, total = line.rstrip("\n").split("\t")
            parsed = []
            for word in words:
                text, values = word.rsplit("=", 1)
                number, length, log10 = values.split()
                parsed.append((text, int(number), int(length), float(log10)))
            _, log10, _, unknown = total.split()
            lines.append((parsed, float(log10), int(unknown)))
    return lines
