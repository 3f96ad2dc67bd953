"""miriam.phrase: the toy system, whose translations are recorded beside it."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy
import pytest

from conftest import ROOT
from miriam.phrase import PhraseTranslation, PhraseTranslator, build

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


def test_the_source_has_no_markup() -> None:
    translator = PhraseTranslator(TOY, xml_input="exclusive")
    line = 'a <x translation="perro grande">dog</x> .'
    for found in (translator.translate(line), *translator.translate_many([line])):
        assert found.source == ["a", "dog", "."]
        assert found.phrases == [(0, 1, "un"), (1, 2, "perro grande"), (2, 3, ".")]
    [invalid] = translator.translate_many(['a <x translation="b">dog'])
    assert invalid.errors and invalid.source == ["a", "<x", 'translation="b">dog']


def test_an_implausible_number_of_threads_is_rejected(toy: PhraseTranslator) -> None:
    with pytest.raises(ValueError, match="threads: give a number up to 4096"):
        toy.translate_many(["the"], threads=10**6)


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
    same = PhraseTranslator(
        TOY / "moses.ini", distortion_limit=numpy.int64(0), drop_unknown=numpy.bool_(True)
    )
    assert [one.text for one in same.translate_many(lines)] == [
        one.text for one in monotone.translate_many(lines)
    ]
    assert monotone.translate("zzz").text == "" and toy.translate("zzz").text == "zzz"
    again = pickle.loads(pickle.dumps(monotone))
    assert isinstance(again, PhraseTranslator)
    assert [one.text for one in again.translate_many(lines)] == [
        one.text for one in monotone.translate_many(lines)
    ]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_the_search_of_a_line() -> None:
    wide = PhraseTranslator(TOY, stack=20_000, distortion_limit=12, beam_threshold=0)
    words = (ROOT / "examples/toy/train.en").read_text(encoding="utf-8").split()
    line = " ".join(words[:190])
    for translate in (lambda: wide.translate(line), lambda: wide.translate_many([line])):
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            translate()
        timer.join()
        assert time.monotonic() - started < 10


class Named(PhraseTranslator):
    def __init__(self, name: str, ini: str | Path) -> None:
        super().__init__(ini, stack=50)
        self.name = name


class Unloaded(PhraseTranslator):
    def __init__(self) -> None:
        pass


def test_subclasses_load_a_system() -> None:
    with pytest.raises(ValueError, match="must call PhraseTranslator.__init__"):
        Unloaded().translate("the house")


def test_pickles_keep_the_folder_and_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> None:
    monkeypatch.chdir(TOY.parent)
    translator = Named("x", "toy")
    pickled = pickle.dumps(translator)
    monkeypatch.chdir(tmp_path)
    for same in (pickle.loads(pickled), copy.copy(translator), copy.deepcopy(translator)):
        assert type(same) is Named and same.name == "x"
        assert same.translate(lines[0]).text == translator.translate(lines[0]).text


def attributes(found: PhraseTranslation) -> list[object]:
    names = ("text", "source", "score", "phrases", "alignment", "n_best", "errors")
    return [getattr(found, name) for name in names]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_translations_come_from_other_processes(
    method: str, toy: PhraseTranslator, lines: list[str]
) -> None:
    expected = toy.translate_many([lines[0], "the house|NN"], n_best=3)
    copies = [copy.copy(one) for one in expected]
    for found in (pickle.loads(pickle.dumps(expected)), copies, copy.deepcopy(expected)):
        assert [attributes(one) for one in found] == [attributes(one) for one in expected]
    with multiprocessing.get_context(method).Pool(1) as pool:
        [sent] = pool.map_async(toy.translate, lines[:1]).get(60)
    assert attributes(sent) == attributes(toy.translate(lines[0]))


def wrong(option: str) -> dict[str, Any]:
    return {option: "x"}


def test_mistakes_are_named(toy: PhraseTranslator, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        PhraseTranslator(tmp_path / "absent")
    with pytest.raises(ValueError, match="no-such"):
        PhraseTranslator(TOY / "moses.ini", no_such=1)
    for option in ("threads", "n_best_list", "output_search_graph", "input_file"):
        with pytest.raises(ValueError, match="about a text"):
            PhraseTranslator(TOY / "moses.ini", **wrong(option))
    for option in ("tokenize", "recase", "html", "no_raw"):
        with pytest.raises(ValueError, match="raw=False"):
            PhraseTranslator(TOY / "moses.ini", **wrong(option))
    (tmp_path / "moses.ini").write_text("[feature]\nNoSuchFeature\n", encoding="utf-8")
    with pytest.raises(ValueError, match="NoSuchFeature"):
        PhraseTranslator(tmp_path / "moses.ini")
    assert toy.translate_many([]) == []


def test_line_ends_are_not_words(toy: PhraseTranslator, lines: list[str]) -> None:
    expected = toy.translate(lines[0])
    for end in ("\n", "\r\n"):
        found = toy.translate(lines[0] + end)
        assert (found.text, found.score) == (expected.text, expected.score)


@pytest.fixture
def raw_toy(tmp_path: Path) -> Path:
    """A copy of the toy system with steps for raw text beside its ini."""
    for name in ("moses.ini", "phrase-table", "reordering-table", "lm.arpa"):
        shutil.copy(TOY / name, tmp_path / name)
    steps = "tokenize en\nnonbreaking-prefixes list\ndetokenize es\nrecase yes\n"
    (tmp_path / "preparation").write_text(steps, encoding="utf-8")
    (tmp_path / "list").write_text("Xyz\n", encoding="utf-8")
    return tmp_path


def test_a_system_with_a_preparation_takes_raw_text(raw_toy: Path) -> None:
    raw = PhraseTranslator(raw_toy)
    line = "the red house, the house is big."
    one = raw.translate(line, n_best=3)
    tokens = "the red house , the house is big ."
    assert one.source == tokens.split()
    prepared = PhraseTranslator(raw_toy / "moses.ini", raw=False)
    plain = prepared.translate(tokens, n_best=3)
    assert (one.score, one.phrases, one.alignment) == (plain.score, plain.phrases, plain.alignment)
    assert plain.text == "la casa roja , la casa es grande ."
    assert one.text == "La casa roja, la casa es grande."
    assert one.n_best[0][0] == one.text and plain.n_best[0][0] == plain.text
    assert [found.text for found in raw.translate_many([line, "Xyz. Big"])][0] == one.text
    assert raw.translate("Xyz. Big").source == ["Xyz.", "Big"]
    for translator in (raw, prepared):
        again = pickle.loads(pickle.dumps(translator))
        assert again.translate(line).text == translator.translate(line).text
    with pytest.raises(ValueError, match="raw=False"):
        PhraseTranslator(raw_toy, xml_input="exclusive")
    assert PhraseTranslator(raw_toy, raw=False, xml_input="exclusive").translate("the").text == "el"
    (raw_toy / "preparation").unlink()
    assert PhraseTranslator(raw_toy).translate(tokens).text == plain.text
    with pytest.raises(OSError, match="preparation.*raw=False"):
        PhraseTranslator(raw_toy, raw=True)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_names_of_folders_may_have_any_bytes(
    tmp_path: Path, toy: PhraseTranslator, lines: list[str]
) -> None:
    folder = tmp_path / os.fsdecode(b"p\xe9")
    folder.mkdir()
    for name in ("moses.ini", "phrase-table", "reordering-table", "lm.arpa"):
        shutil.copy(TOY / name, folder / name)
    translator = PhraseTranslator(folder, stack=100)
    for same in (translator, pickle.loads(pickle.dumps(translator))):
        assert same.translate(lines[0]).text == toy.translate(lines[0]).text


def test_words_that_are_cut_at_a_bar_are_errors_of_the_line(toy: PhraseTranslator) -> None:
    found = toy.translate_many(["the house|NN", "the house"])
    assert found[0].text == found[1].text
    assert "1 word is cut at a bar" in found[0].errors[0] and found[1].errors == []


def test_binary_tables_are_built(tmp_path: Path, toy: PhraseTranslator, lines: list[str]) -> None:
    tasks: list[str] = []
    built = build(TOY, tmp_path / "binary", progress=lambda now: tasks.append(now.task))
    assert built.ini == str(tmp_path / "binary" / "moses.ini") and built.text_reordering == []
    assert tasks
    found = PhraseTranslator(built.ini).translate_many(lines)
    assert [one.text for one in found] == [one.text for one in toy.translate_many(lines)]
    with pytest.raises(OSError, match="nothing to build"):
        build(built.ini, tmp_path / "again")
    with pytest.raises(FileNotFoundError, match="absent"):
        build(tmp_path / "absent", tmp_path / "again")


def test_models_of_rescore_give_what_the_program_gives(
    program: Path, tmp_path: Path, toy: PhraseTranslator, lines: list[str]
) -> None:
    ini = (TOY / "moses.ini").read_text(encoding="utf-8").replace("path=", f"path={TOY}/")
    neural = ROOT / "examples" / "toy-neural"
    models = f"[rescore]\nNeuralModel path={neural}\nNeuralModel path={neural} reverse=true\n"
    # The first model has a negative weight, so that translations change.
    weights = "[weight]\nNeural0= -0.8\nReverse0= 0.3\n"
    path = tmp_path / "moses.ini"
    path.write_text(ini.replace("[weight]\n", models + weights), encoding="utf-8")
    listed = tmp_path / "list"
    command: list[str | Path] = [program, "translate", "-quiet", "-f", path, "-i", TOY / "input.txt"]
    command += ["-n-best-list", listed, "4", "distinct"]
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    found = PhraseTranslator(path).translate_many(lines, n_best=5, distinct=True, threads=2)
    assert "".join(f"{one.text} \n" for one in found).encode() == printed
    assert [one.text for one in found] != [one.text for one in toy.translate_many(lines)]
    entries = listed.read_text(encoding="utf-8").splitlines()
    ours = [(number, text) for number, one in enumerate(found) for text, _, _ in one.n_best]
    fields = [line.split(" ||| ") for line in entries]
    assert ours == [(int(number), text.rstrip()) for number, text, *_ in fields]
    for (_, _, features, _), (_, _, values) in zip(fields, (e for one in found for e in one.n_best)):
        neural_scores = [float(word) for word in features.split() if not word.endswith("=")][-2:]
        assert list(values)[-2:] == pytest.approx(neural_scores, rel=1e-4)
