"""miriam.combine gives what `miriam mbr` and `miriam rerank` write, from files and memory."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest

from miriam.combine import mbr, rerank
from miriam.metrics import corpus_chrf

TEXTS = [["a b c", "a b d", "x y z", "a b c e"], ["p q", "p r", "q p"]]
TOTALS = [[-1.0, -1.2, -0.5, -2.0], [-0.25, -0.3, -3.0]]


def scored_lists() -> list[list[tuple[str, float]]]:
    return [list(zip(texts, totals)) for texts, totals in zip(TEXTS, TOTALS)]


def write_n_best(path: Path) -> Path:
    lines = [
        f"{number} ||| {text} ||| F0= {total} 1 G= {len(text)} ||| {total}\n"
        for number, entries in enumerate(scored_lists())
        for text, total in entries
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_mbr_chooses_the_highest_expected_chrf() -> None:
    expected = []
    for entries in scored_lists():
        expected_scores = []
        for text, _ in entries:
            weighted = [
                math.exp(total) * corpus_chrf([text], [[other]]).score for other, total in entries
            ]
            expected_scores.append(sum(weighted) / sum(math.exp(total) for _, total in entries))
        expected.append(expected_scores)
    found = mbr(scored_lists(), write_lists=True)
    assert found.lists is not None
    for texts, expected_scores, ranked in zip(TEXTS, expected, found.lists, strict=True):
        scores = dict(ranked)
        assert [scores[text] for text in texts] == pytest.approx(expected_scores, rel=1e-4)
        assert [score for _, score in ranked] == sorted(scores.values(), reverse=True)
    assert found.translations == [ranked[0][0] for ranked in found.lists]
    assert mbr(scored_lists()).translations == found.translations
    assert (found.sentences, found.entries, found.candidates) == (2, 7, 7)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"utility": "bleu", "tokenize": "none", "smooth_method": "add-k", "smooth_value": 1.0},
        {"utility": "ter", "ter_case_sensitive": True},
        {"chrf_word_order": 2, "chrf_beta": 1, "scale": 0.5},
        {"estimate": "coarse-to-fine", "keep": 2, "show_loss": True, "weights": "uniform"},
        {"list_weights": [3.0, 1.0], "write_lists": True},
    ],
)
def test_files_memory_and_the_program_agree(
    program: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    path = write_n_best(tmp_path / "list")
    command: list[str | Path] = [program, "--quiet", "mbr", "--n-best", path, path]
    for name, value in options.items():
        command.append("--" + name.replace("_", "-"))
        if isinstance(value, list):
            command.append(",".join(map(str, value)))
        elif value is not True:
            command.append(str(value))
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    out = tmp_path / "out"
    by_file = mbr(path, path, output=out, **options)
    assert out.read_bytes() == printed and by_file.translations is None
    pools: list[list[Any]] = [
        [path, path],
        [scored_lists(), scored_lists()],
        [path, scored_lists()],
    ]
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


def test_uniform_weights_need_no_totals(tmp_path: Path) -> None:
    path = write_n_best(tmp_path / "list")
    uniform = mbr(TEXTS, weights="uniform").translations
    assert uniform == mbr(path, weights="uniform").translations


def test_rerank_by_weights_from_files_and_memory(program: Path, tmp_path: Path) -> None:
    path, weights, out = write_n_best(tmp_path / "list"), tmp_path / "weights", tmp_path / "out"
    weights.write_text("F0= 0.5 2\nG= -0.25\n", encoding="utf-8")
    command: list[str | Path] = [program, "--quiet", "rerank", "--n-best", path]
    command += ["--weights", weights]
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    listed = subprocess.run([*command, "--write-lists"], check=True, capture_output=True).stdout
    entries: Any = [
        [(text, {"F0": (total, 1.0), "G": len(text)}) for text, total in sentence]
        for sentence in scored_lists()
    ]
    named: Any = {"F0": [0.5, 2], "G": -0.25}
    for lists in (path, entries):
        for source in (weights, named):
            assert rerank(lists, source).translations == printed.decode().splitlines()
            assert rerank(lists, source, output=out, write_lists=True).lists is None
            found = rerank(lists, source, write_lists=True, threads=2)
            assert found.lists is not None
            for (_, text, _, total), (ours, score) in zip(
                (line.split(" ||| ") for line in listed.decode().splitlines()),
                (entry for ranked in found.lists for entry in ranked),
                strict=True,
            ):
                assert (text, float(total)) == (ours, score)
            if lists is path:
                assert out.read_bytes() == listed
    sums = [0.5 * total + 2 - 0.25 * len(text) for text, total in scored_lists()[0]]
    best = TEXTS[0][sums.index(max(sums))]
    found = rerank(entries, {"F0": (0.5, 2), "G": -0.25})
    assert found.translations is not None and found.translations[0] == best


# Lines that other programs write, and the texts in them.
LINES_AND_TEXTS = [
    ("0 ||| a b ||| 0-0 ||| WordScores= -1 ||| F0= -1 ||| -1", "a b"),
    ("0 ||| a ||| b 1 ||| F0= -2 ||| -2 ||| 0-0", "a ||| b 1"),
    ("0|||c|||F0= -3|||-3", "c"),
    ("0 |||  ||| 1 ||| F0= -4 ||| -4", "||| 1"),
    ("0 ||| a ||| 0-0 ||| 1-1 ||| F0= -5 ||| -5", "a ||| 0-0"),
    ("0 |||  ||| F0= -6 ||| -6", ""),
    ("0 ||| x|||y ||| F0= -7 ||| -7", "x|||y"),
]


def test_lists_with_alignments_separators_and_without_spaces_are_read(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("".join(line + "\n" for line, _ in LINES_AND_TEXTS), encoding="utf-8")
    texts = [text for _, text in LINES_AND_TEXTS]
    found = rerank(path, {"F0": 2}, write_lists=True)
    assert found.lists == [[(text, -2.0 * (index + 1)) for index, text in enumerate(texts)]]
    assert found.translations == ["a b"]
    risks = mbr(path, write_lists=True).lists
    assert risks is not None and sorted(text for text, _ in risks[0]) == sorted(texts)
    plain = mbr(path)
    assert plain.candidates == len(LINES_AND_TEXTS) and plain.translations == [risks[0][0][0]]
    # The features may be empty.
    path.write_text("0 ||| a |||  ||| 2\n1 ||| b |||  ||| 1\n", encoding="utf-8")
    assert rerank(path, {}, write_lists=True).lists == [[("a", 0.0)], [("b", 0.0)]]
    assert mbr(path, write_lists=True).translations == ["a", "b"]


def test_results_are_valid_input(tmp_path: Path) -> None:
    path = tmp_path / "list"
    lines = [line.encode() + b"\n" for line, _ in LINES_AND_TEXTS]
    path.write_bytes(b"".join(lines) + b"0 ||| caf\xe9 ||| F0= -8 ||| -8\n")
    found = rerank(path, {"F0": 1}, write_lists=True).lists
    assert found is not None and found[0][-1] == ("caf\udce9", -8.0)
    by_file, again = mbr(path, write_lists=True), mbr(found, write_lists=True)
    assert again == by_file
    scored = [[(text, {"F0": total}) for text, total in found[0]]]
    assert rerank(scored, {"F0": 1}, write_lists=True).lists == found
    out = tmp_path / "out"
    assert mbr([["caf\udce9"]], weights="uniform", output=out).sentences == 1
    assert out.read_bytes() == b"caf\xe9\n"


def test_iterators_and_arrays_are_sequences() -> None:
    iterators = (zip(texts, totals) for texts, totals in zip(TEXTS, TOTALS))
    assert mbr(iterators, write_lists=True) == mbr(scored_lists(), write_lists=True)
    uniform = mbr([iter(texts) for texts in TEXTS], weights="uniform")
    assert uniform == mbr(TEXTS, weights="uniform")
    values = [[-1.0, 2.0], [-3.0, 4.0]]
    entries = [[(text, {"F0": numbers}) for text, numbers in zip("ab", values)]]
    arrays = (((text, {"F0": numpy.array(numbers)}) for text, numbers in zip("ab", values)),)
    expected = rerank(entries, {"F0": [0.5, 2.0]}, write_lists=True)
    assert expected.lists == [[("b", 6.5), ("a", 3.5)]]
    weights = numpy.array([0.5, 2.0], dtype=numpy.float32)
    assert rerank(arrays, {"F0": weights}, write_lists=True) == expected
    value: Any = numpy.array(2.0)
    weight: Any = numpy.float32(0.5)
    one = rerank([[("a", {"F0": value})]], {"F0": weight}, write_lists=True)
    assert one.lists == [[("a", 1.0)]]


def test_invalid_arguments_are_named(tmp_path: Path) -> None:
    invalid_calls: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ([], {}, ValueError, "at least one"),
        ([[["a", "b"]]], {}, TypeError, "sentence 0.*only weights"),
        ([["a b"]], {"weights": "uniform"}, TypeError, "found a string"),
        ([[[("a", 0)], [(5, 0)]]], {}, TypeError, "sentence 1: expected a str as .*, found int"),
        ([[[(b"a", 0)]]], {}, TypeError, "sentence 0: expected a str as .*, found bytes"),
        ([[[]]], {}, ValueError, "sentence 0 has no translations"),
        ([[5]], {}, TypeError, "sentence 0: expected a sequence of entries, found int"),
        ([[[5]]], {}, TypeError, "sentence 0: expected pairs of .* and its total, found 5"),
        ([[[("a", 1, 2)]]], {}, TypeError, r"sentence 0: .* its total, found \('a', 1, 2\)"),
        ([[[("a", "x")]]], {}, TypeError, "sentence 0: expected a number as total, found 'x'"),
        ([[[("a\nb", 0.0)]]], {}, ValueError, "cannot be in a list"),
        ([[iter([])]], {}, ValueError, "sentence 0 has no translations"),
        ([[iter(["a", "b"])]], {}, TypeError, "sentence 0.*only weights"),
        ([[[("a", math.nan)]]], {}, ValueError, "list 0, line 1, field 4"),
        ([scored_lists(), scored_lists()[:1]], {}, ValueError, "sentence 1 is not in list 1"),
        ([scored_lists()], {"utility": "comet"}, ValueError, "chrf, bleu or ter"),
        ([scored_lists()], {"weights": "x"}, ValueError, "posterior or uniform"),
        ([scored_lists()], {"estimate": "x"}, ValueError, "coarse-to-fine"),
        ([scored_lists()], {"estimate": "coarse-to-fine", "keep": 0}, ValueError, "keep at least"),
        ([scored_lists()], {"scale": -1.0}, ValueError, "scale"),
        ([scored_lists()], {"list_weights": [1.0, 2.0]}, ValueError, "2 weights of lists for 1"),
        ([tmp_path / "absent"], {}, ValueError, "absent"),
    ]
    for lists, options, kind, message in invalid_calls:
        with pytest.raises(kind, match=message):
            mbr(*lists, **options)
    path = write_n_best(tmp_path / "list")
    wrong_weights: list[tuple[Any, str]] = [
        ({"F0": [1.0, 1.0]}, "no weights for feature G"),
        ({"F0": 1.0, "G": 1.0}, "1 weights for feature F0"),
        ({"F0": [1.0, 1.0], "G": 1.0, "H": 1.0}, "weights for feature H"),
        ({"F 0": 1.0}, "is not a name of a feature"),
        ({"F0": math.inf}, "finite number"),
        ({"": 1.0}, "is not a name of a feature"),
        ({"#F0": 1.0}, "'#F0' is not a name of a feature"),
        ({"0F": 1.0}, "'0F' is not a name of a feature"),
        ({"WordScores": 1.0}, "'WordScores' is not a name of a feature"),
        ({"F0": []}, "feature F0 has no values"),
    ]
    for weights, message in wrong_weights:
        with pytest.raises(ValueError, match=message):
            rerank(path, weights)
    wrong_types: list[tuple[Any, str]] = [
        ("12", "feature F0: expected a number or a sequence of numbers, found '12'"),
        (b"12", "feature F0: expected a number"),
        (["1", "2"], "feature F0: expected a number"),
        (None, "feature F0: expected a number"),
        ([None], "feature F0: expected a number"),
        (numpy.ones((2, 2)), "feature F0: expected a number"),
    ]
    for values, message in wrong_types:
        with pytest.raises(TypeError, match=message):
            rerank(path, {"F0": values, "G": 1.0})
        with pytest.raises(TypeError, match=message):
            rerank([[("a", {"F0": values})]], {"F0": 1.0})
    wrong_entries: list[tuple[Any, str]] = [
        ("ab", "expected pairs of a translation and its features, found 'ab'"),
        (("a", -1.0), "sentence 0: expected features by name, found float"),
    ]
    for entry, message in wrong_entries:
        with pytest.raises(TypeError, match=message):
            rerank([[entry]], {"F0": 1.0})
    nothing: Any = None
    with pytest.raises(TypeError, match="weights: expected a file, or weights by name, found None"):
        rerank(path, nothing)
    names: Any = {1: 1.0}
    with pytest.raises(TypeError, match="1 is not a name of a feature"):
        rerank(path, names)
    with pytest.raises(ValueError, match="it is also the output"):
        rerank(path, {"F0": [1.0, 1.0], "G": 1.0}, output=path)
