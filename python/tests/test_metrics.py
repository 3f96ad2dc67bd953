"""miriam.metrics against scores that were computed by hand, and against sacreBLEU if installed."""

from __future__ import annotations

import math
import random
from typing import Any, Sequence

import pytest

from conftest import shared_data
from miriam.metrics import Score, corpus_bleu, corpus_chrf, corpus_ter

HYPOTHESES = ["the cat sat on the mat", "it was raining"]
REFERENCES = [["the cat sat on a mat", "it was raining"]]


def test_scores_are_those_computed_on_paper() -> None:
    bleu = corpus_bleu(HYPOTHESES, REFERENCES)
    # The precisions are 8/9, 5/7, 3/5 and 1/3, and both sides have nine words.
    expected = 100 * math.prod([8 / 9, 5 / 7, 3 / 5, 1 / 3]) ** 0.25
    assert isinstance(bleu, Score) and abs(bleu.score - expected) < 1e-9
    assert bleu.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    # One word of nine is replaced.
    score, signature = corpus_ter(HYPOTHESES, REFERENCES)
    assert abs(score - 100 / 9) < 1e-9 and "tok:tercom" in signature
    assert corpus_chrf(REFERENCES[0], REFERENCES).score == 100
    assert corpus_bleu(["A b c d"], [["a b c d"], ["A B C D"]], lowercase=True).score > 99.99


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"references\[1\]: expected 2 lines, one per"):
        corpus_bleu(HYPOTHESES, [REFERENCES[0], ["one"]])
    with pytest.raises(TypeError, match="put the lines of a single reference into a list"):
        corpus_bleu(["one"], ["one"])
    with pytest.raises(TypeError, match="put the lines of a single reference into a list"):
        corpus_bleu(["one"], [b"one"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="beta -1: expected a number from 0"):
        corpus_chrf(HYPOTHESES, REFERENCES, beta=-1)
    with pytest.raises(TypeError, match="put it into a list"):
        corpus_bleu("one", [["one"]])
    with pytest.raises(ValueError, match="no reference"):
        corpus_chrf(HYPOTHESES, [])
    with pytest.raises(ValueError, match="hypotheses: expected at least one line"):
        corpus_ter([], [[]])
    unknown = "unknown tokeniser; expected one of 13a, none, intl, char, zh, spm, flores101"
    with pytest.raises(ValueError, match=f'"14a": {unknown}'):
        corpus_bleu(HYPOTHESES, REFERENCES, tokenize="14a")
    with pytest.raises(ValueError, match=f'"flores20": {unknown}'):
        corpus_bleu(HYPOTHESES, REFERENCES, tokenize="flores20", tokenize_model="absent.model")
    with pytest.raises(ValueError, match='the tokeniser "13a" has no model'):
        corpus_bleu(HYPOTHESES, REFERENCES, tokenize_model="absent.model")
    with pytest.raises(ValueError, match="expected exp, floor, add-k or none"):
        corpus_bleu(HYPOTHESES, REFERENCES, smooth_method="much")
    with pytest.raises(ValueError, match="smoothing value -0.5: expected a number from 0"):
        corpus_bleu(HYPOTHESES, REFERENCES, smooth_method="add-k", smooth_value=-0.5)
    with pytest.raises(ValueError, match=r"hypotheses\[1\] has no reference"):
        corpus_bleu(HYPOTHESES, [["the cat", None]])


@pytest.mark.parametrize(
    "hypotheses, references, error, message",
    [
        (["a", None], [["a", "b"]], TypeError, r"hypotheses\[1\]: expected a str, found <class 'None"),
        ([b"a"], [["a"]], TypeError, r"hypotheses\[0\]: expected a str, found <class 'bytes"),
        (["a \udc80"], [["a"]], ValueError, r"hypotheses\[0\]: 'utf-8' codec can't encode"),
        (5, [["a"]], TypeError, "hypotheses: expected a list of strings, found <class 'int"),
        ("a", [["a"]], TypeError, "hypotheses: expected a list of strings, found a string"),
        (["a"], [["a"], [float("nan")]], TypeError, r"references\[1\]\[0\]: expected a str"),
        (["a"], [["a"], None], TypeError, r"references\[1\]: expected a list of strings"),
    ],
)
def test_errors_name_argument_and_index(
    hypotheses: Any, references: Any, error: type[Exception], message: str
) -> None:
    for metric in (corpus_bleu, corpus_chrf, corpus_ter):
        with pytest.raises(error, match=message):
            metric(hypotheses, references)


def test_lines_may_come_from_iterators() -> None:
    read: Any = ((line for line in text) for text in REFERENCES)
    hypotheses: Any = (line for line in HYPOTHESES)
    assert corpus_bleu(hypotheses, read) == corpus_bleu(HYPOTHESES, REFERENCES)


def test_lines_may_lack_references() -> None:
    assert corpus_bleu(HYPOTHESES, [REFERENCES[0], [None, None]], force=True, tokenize=None) == (
        corpus_bleu(HYPOTHESES, REFERENCES)
    )
    second = ["the cat sat there", None]
    score, signature = corpus_bleu(HYPOTHESES, [REFERENCES[0], second])
    assert signature.startswith("nrefs:var|")
    # The second reference adds no n-gram that the first hypothesis matches.
    assert score == corpus_bleu(HYPOTHESES, REFERENCES).score


def test_scores_of_lines_that_lack_references_equal_sacrebleus() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    references: Sequence[Sequence[str | None]] = [REFERENCES[0], ["the cat sat there", None]]
    for beta in (0.5, 1.0, 2):
        score = corpus_chrf(HYPOTHESES, references, beta=beta).score
        assert score == sacrebleu.corpus_chrf(HYPOTHESES, references, beta=beta).score
    for ours, theirs in (
        (corpus_bleu(HYPOTHESES, references), sacrebleu.BLEU()),
        (corpus_ter(HYPOTHESES, references), sacrebleu.TER()),
    ):
        assert ours.score == theirs.corpus_score(HYPOTHESES, references).score
        own, other = ours.signature, str(theirs.get_signature())
        assert own.rsplit("|", 1)[0] == other.rsplit("|", 1)[0]


def test_scores_and_signatures_equal_sacrebleus() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    lines = (shared_data("kenlm-cases") / "heldout.en").read_text(encoding="utf-8").splitlines()
    lines = (lines * 4)[:2500]  # More than one part.
    shuffled = random.Random(1)
    noisy = [" ".join(shuffled.sample(line.split(), len(line.split()))) for line in lines]
    references = [lines, [line.upper() for line in lines]]
    for ours, theirs in (
        (corpus_bleu(noisy, references), sacrebleu.BLEU()),
        (corpus_bleu(noisy, references, lowercase=True), sacrebleu.BLEU(lowercase=True)),
        (corpus_chrf(noisy, references, word_order=2), sacrebleu.CHRF(word_order=2)),
        (corpus_ter(noisy[:200], [lines[:200]]), sacrebleu.TER()),
    ):
        is_ter = isinstance(theirs, sacrebleu.TER)
        expected = theirs.corpus_score(
            noisy[:200] if is_ter else noisy, [lines[:200]] if is_ter else references
        )
        assert ours.score == expected.score
        own, other = ours.signature, str(theirs.get_signature())
        assert own.rsplit("|", 1)[0] == other.rsplit("|", 1)[0]
