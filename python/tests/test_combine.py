"""miriam.combine: what miriam mbr and miriam rerank write, from files and from memory."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

from miriam.combine import mbr, rerank
from miriam.metrics import corpus_chrf

TEXTS = [["a b c", "a b d", "x y z", "a b c e"], ["p q", "p r", "q p"]]
TOTALS = [[-1.0, -1.2, -0.5, -2.0], [-0.25, -0.3, -3.0]]


def in_memory() -> list[list[tuple[str, float]]]:
    return [list(zip(texts, totals)) for texts, totals in zip(TEXTS, TOTALS)]


def write_list(path: Path) -> Path:
    lines = [
        f"{number} ||| {text} ||| F0= {total} 1 G= {len(text)} ||| {total}\n"
        for number, entries in enumerate(in_memory())
        for text, total in entries
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_the_expected_score_decides() -> None:
    expected = []
    for entries in in_memory():
        sums = []
        for text, _ in entries:
            gains = [
                math.exp(total) * corpus_chrf([text], [[other]]).score for other, total in entries
            ]
            sums.append(sum(gains) / sum(math.exp(total) for _, total in entries))
        expected.append(sums)
    found = mbr(in_memory(), write_lists=True)
    assert found.lists is not None
    for texts, sums, ranked in zip(TEXTS, expected, found.lists):
        scores = dict(ranked)
        assert [scores[text] for text in texts] == pytest.approx(sums, rel=1e-4)
        assert [score for _, score in ranked] == sorted(scores.values(), reverse=True)
    assert found.translations == [ranked[0][0] for ranked in found.lists]
    assert mbr(in_memory()).translations == found.translations
    assert (found.sentences, found.entries, found.candidates) == (2, 7, 7)


def test_files_memory_and_the_program_agree(program: Path, tmp_path: Path) -> None:
    path = write_list(tmp_path / "list")
    cases: list[dict[str, Any]] = [
        {},
        {"utility": "bleu", "tokenize": "none", "smooth_method": "add-k", "smooth_value": 1.0},
        {"utility": "ter", "ter_case_sensitive": True},
        {"chrf_word_order": 2, "chrf_beta": 1, "scale": 0.5},
        {"estimate": "coarse-to-fine", "keep": 2, "show_loss": True, "weights": "uniform"},
        {"list_weights": [3.0, 1.0], "write_lists": True},
    ]
    for options in cases:
        words: list[str | Path] = [program, "--quiet", "mbr", "--n-best", path, path]
        for name, value in options.items():
            words.append("--" + name.replace("_", "-"))
            if isinstance(value, list):
                words.append(",".join(map(str, value)))
            elif value is not True:
                words.append(str(value))
        printed = subprocess.run(words, check=True, capture_output=True).stdout
        out = tmp_path / "out"
        by_file = mbr(path, path, output=out, **options)
        assert out.read_bytes() == printed and by_file.translations is None
        pools: list[list[Any]] = [[path, path], [in_memory(), in_memory()], [path, in_memory()]]
        for lists in pools:
            found = mbr(*lists, threads=2, **options)
            assert found.translations is not None
            if "write_lists" in options:
                assert found.lists is not None
                shown = [
                    f"{number} ||| {text} ||| MBR= {score:g} ||| {score:g}"
                    for number, ranked in enumerate(found.lists)
                    for text, score in ranked
                ]
                assert shown == printed.decode().splitlines()
            else:
                assert found.translations == printed.decode().splitlines()
            counts = ("sentences", "not_first", "worse", "loss")
            assert [getattr(found, name) for name in counts] == [
                getattr(by_file, name) for name in counts
            ]
    uniform = mbr(TEXTS, weights="uniform").translations
    assert uniform == mbr(path, weights="uniform").translations


def test_weights_decide(program: Path, tmp_path: Path) -> None:
    path, weights, out = write_list(tmp_path / "list"), tmp_path / "weights", tmp_path / "out"
    weights.write_text("F0= 0.5 2\nG= -0.25\n", encoding="utf-8")
    words: list[str | Path] = [program, "--quiet", "rerank", "--n-best", path, "--weights", weights]
    printed = subprocess.run(words, check=True, capture_output=True).stdout
    listed = subprocess.run([*words, "--write-lists"], check=True, capture_output=True).stdout
    entries: Any = [
        [(text, {"F0": (total, 1.0), "G": len(text)}) for text, total in sentence]
        for sentence in in_memory()
    ]
    named: Any = {"F0": [0.5, 2], "G": -0.25}
    for given in (path, entries):
        for by in (weights, named):
            assert rerank(given, by).translations == printed.decode().splitlines()
            assert rerank(given, by, output=out, write_lists=True).lists is None
            found = rerank(given, by, write_lists=True, threads=2)
            assert found.lists is not None
            for (number, text, _, total), (ours, score) in zip(
                (line.split(" ||| ") for line in listed.decode().splitlines()),
                (entry for ranked in found.lists for entry in ranked),
            ):
                assert (text, float(total)) == (ours, score)
            if given is path:
                assert out.read_bytes() == listed
    sums = [0.5 * total + 2 - 0.25 * len(text) for text, total in in_memory()[0]]
    best = TEXTS[0][sums.index(max(sums))]
    found = rerank(entries, {"F0": (0.5, 2), "G": -0.25})
    assert found.translations is not None and found.translations[0] == best


def test_mistakes_are_named(tmp_path: Path) -> None:
    wrong: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ([], {}, ValueError, "at least one"),
        ([[["a", "b"]]], {}, TypeError, "sentence 0.*only weights"),
        ([["a b"]], {"weights": "uniform"}, TypeError, "found a string"),
        ([[[]]], {}, ValueError, "sentence 0 has no translations"),
        ([[[("a\nb", 0.0)]]], {}, ValueError, "cannot be in a list"),
        ([[[("a ||| b", 0.0)]]], {}, ValueError, "cannot be in a list"),
        ([[[("a", math.nan)]]], {}, ValueError, "list 0, line 1, field 4"),
        ([in_memory(), in_memory()[:1]], {}, ValueError, "sentence 1 is not in list 1"),
        ([in_memory()], {"utility": "comet"}, ValueError, "chrf, bleu or ter"),
        ([in_memory()], {"weights": "x"}, ValueError, "posterior or uniform"),
        ([in_memory()], {"estimate": "x"}, ValueError, "coarse-to-fine"),
        ([in_memory()], {"estimate": "coarse-to-fine", "keep": 0}, ValueError, "keep at least 1"),
        ([in_memory()], {"scale": -1.0}, ValueError, "scale"),
        ([in_memory()], {"list_weights": [1.0, 2.0]}, ValueError, "2 weights of lists for 1"),
        ([tmp_path / "absent"], {}, ValueError, "absent"),
    ]
    for lists, options, kind, message in wrong:
        with pytest.raises(kind, match=message):
            mbr(*lists, **options)
    path = write_list(tmp_path / "list")
    wrong_weights: list[tuple[Any, str]] = [
        ({"F0": [1.0, 1.0]}, "no weights for feature G"),
        ({"F0": 1.0, "G": 1.0}, "1 weights for feature F0"),
        ({"F0": [1.0, 1.0], "G": 1.0, "H": 1.0}, "weights for feature H"),
        ({"F 0": 1.0}, "is not a name of a feature"),
        ({"F0": math.inf}, "finite number"),
    ]
    for weights, message in wrong_weights:
        with pytest.raises(ValueError, match=message):
            rerank(path, weights)
    with pytest.raises(ValueError, match="same file|also"):
        rerank(path, {"F0": [1.0, 1.0], "G": 1.0}, output=path)
