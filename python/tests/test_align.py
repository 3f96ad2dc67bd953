"""miriam.align: links of a text whose words are known to be translations."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import miriam.align as align

SOURCE = "das haus\ndas buch\nein buch\n"
TARGET = "the house\nthe book\na book\n"


def write(folder: Path, **texts: str) -> list[Path]:
    paths = []
    for name, text in texts.items():
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("model", ["ibm2", "hmm"])
def test_words_are_aligned(tmp_path: Path, model: str) -> None:
    source, target = write(tmp_path, source=SOURCE, target=TARGET)
    links, saved = tmp_path / "links", tmp_path / "model"
    found = align.align(source, target, links, model=model, save_model=saved, threads=2)
    assert (found.pairs, found.links, found.empty_pairs) == (3, 6, 0)
    assert all(value is not None and value >= 1 for value in found.perplexity)
    assert links.read_text() == "0-0 1-1\n" * 3
    again = align.align(source, target, links, load_model=saved)
    assert again.links == 6 and again.perplexity == (None, None)
    agreement = align.evaluate(links, links)
    assert (agreement.precision, agreement.recall, agreement.error_rate) == (1, 1, 0)


def test_directions_are_joined(tmp_path: Path) -> None:
    forward, reverse = write(tmp_path, forward="0-0 1-0\n", reverse="0-0 1-1\n")
    links = tmp_path / "links"
    for how, text in [("intersection", "0-0\n"), ("union", "0-0 1-0 1-1\n")]:
        assert align.symmetrize(forward, reverse, links, how=how).links == len(text.split())
        assert links.read_text() == text


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_calls_and_leaves_files(tmp_path: Path) -> None:
    line = " ".join(f"{at}-{at}" for at in range(40)) + "\n"
    links, output = write(tmp_path, links=line * 300_000, output="old\n")
    calls: list[Callable[[], object]] = [
        lambda: align.symmetrize(links, links, output, threads=1),
        lambda: align.symmetrize(links, links, output, threads=2),
        lambda: align.evaluate(links, links),
    ]
    for call in calls:
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call()
        timer.join()
        assert output.read_text(encoding="utf-8") == "old\n"


def test_mistakes_are_named(tmp_path: Path) -> None:
    source, target = write(tmp_path, source=SOURCE, target="the house\n")
    links = tmp_path / "links"
    with pytest.raises(OSError, match="target"):
        align.align(source, target, links)
    with pytest.raises(OSError, match="absent"):
        align.align(source, tmp_path / "absent", links)
    for options in ({"model": "ibm4"}, {"symmetrize": "both"}):
        with pytest.raises(ValueError, match="expected"):
            align.align(source, target, links, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="iterations"):
        align.align(source, target, links, iterations=1)
    with pytest.raises(ValueError, match="load_model"):
        align.align(source, target, links, load_model=source, lexical_table=links)
    training_options: list[dict[str, Any]] = [{"model": "ibm2"}, {"iterations": 4}, {"hmm_iterations": 1}]
    for given in training_options:
        with pytest.raises(ValueError, match=f"{next(iter(given))} cannot be used with load_model"):
            align.align(source, target, links, load_model=source, **given)
    with pytest.raises(ValueError, match='hmm_iterations needs model="hmm"'):
        align.align(source, target, links, hmm_iterations=1)
    assert not links.exists()


def test_inputs_and_outputs_are_not_overwritten(tmp_path: Path) -> None:
    source, target, other = write(tmp_path, source=SOURCE, target=TARGET, other="")
    with pytest.raises(OSError, match="source.*it is also the output"):
        align.align(source, target, other, save_model=source)
    with pytest.raises(OSError, match="target.*it is also the output"):
        align.align(source, target, other, lexical_table=target)
    assert (source.read_text(), target.read_text()) == (SOURCE, TARGET)
    with pytest.raises(ValueError, match="links and save_model would write the same file"):
        align.align(source, target, other, save_model=other)
    new = tmp_path / "new"
    with pytest.raises(ValueError, match="save_model and lexical_table would write the same file"):
        align.align(source, target, other, save_model=new, lexical_table=new)
    assert other.read_text() == "" and not new.exists()
