"""miriam.phrase: the toy system, whose translations are recorded beside it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from conftest import ROOT
from miriam.phrase import PhraseTranslator

TOY = ROOT / "examples" / "toy"


@pytest.fixture(scope="module")
def toy() -> PhraseTranslator:
    return PhraseTranslator(TOY / "moses.ini")


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return (TOY / "input.txt").read_text(encoding="utf-8").splitlines()


def test_translations_are_those_of_the_example(toy: PhraseTranslator, lines: list[str]) -> None:
    expected = (TOY / "expected.txt").read_text(encoding="utf-8").splitlines()
    for threads in (1, 3):
        found = toy.translate_many(lines, threads=threads)
        assert [one.text for one in found] == [line.strip() for line in expected]
    alone = [toy.translate(line) for line in lines]
    assert [(one.text, one.score, one.phrases) for one in alone] == [
        (one.text, one.score, one.phrases) for one in found
    ]
    for line, one in zip(lines, alone):
        words = line.split()
        covered = sorted((start, end) for start, end, _ in one.phrases)
        assert [position for span in covered for position in range(*span)] == list(
            range(len(words))
        )
        assert " ".join(words for _, _, words in one.phrases) == one.text


def test_n_best_lists_begin_with_the_best(toy: PhraseTranslator, lines: list[str]) -> None:
    for one in toy.translate_many(lines[:5], n_best=5, distinct=True):
        texts = [text for text, _, _ in one.n_best]
        scores = [score for _, score, _ in one.n_best]
        assert texts[0] == one.text and len(set(texts)) == len(texts)
        assert scores == sorted(scores, reverse=True) and scores[0] == one.score
        assert len({len(values) for _, _, values in one.n_best}) == 1


def test_options_and_pickles(toy: PhraseTranslator, lines: list[str]) -> None:
    monotone = PhraseTranslator(TOY / "moses.ini", distortion_limit=0, drop_unknown=True)
    for one in monotone.translate_many(lines):
        starts = [start for start, _, _ in one.phrases]
        assert starts == sorted(starts)
    assert monotone.translate("zzz").text == "" and toy.translate("zzz").text == "zzz"
    again = pickle.loads(pickle.dumps(monotone))
    assert isinstance(again, PhraseTranslator)
    assert [one.text for one in again.translate_many(lines)] == [
        one.text for one in monotone.translate_many(lines)
    ]


def test_mistakes_are_named(toy: PhraseTranslator, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        PhraseTranslator(tmp_path / "absent")
    with pytest.raises(ValueError, match="no-such"):
        PhraseTranslator(TOY / "moses.ini", no_such=1)
    for option in ("threads", "n_best_list", "output_search_graph", "input_file"):
        with pytest.raises(ValueError, match="about a text"):
            PhraseTranslator(TOY / "moses.ini", **{option: "x"})
    for option in ("tokenize", "recase", "html"):
        with pytest.raises(ValueError, match="miriam.text"):
            PhraseTranslator(TOY / "moses.ini", **{option: "x"})
    (tmp_path / "moses.ini").write_text("[feature]\nNoSuchFeature\n", encoding="utf-8")
    with pytest.raises(ValueError, match="NoSuchFeature"):
        PhraseTranslator(tmp_path / "moses.ini")
    assert toy.translate_many([]) == []


def test_ends_of_lines_are_no_words(toy: PhraseTranslator, lines: list[str]) -> None:
    expected = toy.translate(lines[0])
    for end in ("\n", "\r\n"):
        found = toy.translate(lines[0] + end)
        assert (found.text, found.score) == (expected.text, expected.score)
