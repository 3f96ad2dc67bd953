"""miriam.text against the outputs of Moses' scripts, subword-nmt and SentencePiece."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
from pathlib import Path
from typing import Any, Callable, Sequence

import pytest

import miriam.text as text
from conftest import ROOT

GOLDEN = ROOT / "base" / "textproc" / "tests" / "golden"
DATA = ROOT / "base" / "textproc" / "testdata"


def lines(name: str) -> list[bytes]:
    return (GOLDEN / name).read_bytes().removesuffix(b"\n").split(b"\n")


def decoded(lines: Sequence[bytes]) -> list[str]:
    return [line.decode("utf-8", "replace") for line in lines]


def check(
    source: str,
    expected: str,
    many: Callable[[Sequence[bytes]], list[str]],
    one: Callable[[str], str],
) -> None:
    found = many(lines(source))
    assert found == decoded(lines(expected)), expected
    for line, result in zip(lines(source), found):
        try:
            assert one(line.decode()) == result
        except UnicodeDecodeError:
            # This line is not UTF-8, so it is tested as bytes only.
            pass


def test_moses_tools() -> None:
    for language in "cs de en es fr so".split():
        tokenizer = text.Tokenizer(language)
        check("raw", f"tok.{language}", tokenizer.tokenize_many, tokenizer.tokenize)
    for tokenizer, name in [
        (text.Tokenizer("en", aggressive=True), "aggressive"),
        (text.Tokenizer("en", escape=False), "noescape"),
    ]:
        check("raw", f"tok-{name}.en", tokenizer.tokenize_many, tokenizer.tokenize)
    for language in "cs de en fr pl".split():
        normalizer = text.PunctuationNormalizer(language)
        check("raw", f"normalized.{language}", normalizer.normalize_many, normalizer.normalize)
    for language in "cs de en fi fr it ko".split():
        detokenizer = text.Detokenizer(language)
        name = f"detok.{language}"
        check("tok.en", name, detokenizer.detokenize_many, detokenizer.detokenize)
    detokenizer = text.Detokenizer("en", capitalize=True)
    check("tok.en", "detok-uppercase.en", detokenizer.detokenize_many, detokenizer.detokenize)
    truecaser = text.Truecaser(GOLDEN / "truecase-model")
    check("tok.en", "truecased", truecaser.truecase_many, truecaser.truecase)
    assert truecaser.truecase_many(lines("tok.en"), caseless=True) == decoded(lines("truecased-asr"))
    for line, expected in zip(decoded(lines("truecased")), decoded(lines("detruecased"))):
        if "\ufffd" not in line:
            assert text.detruecase(line) == expected


def test_a_truecaser_is_trained(tmp_path: Path) -> None:
    model = tmp_path / "model"
    trained = text.Truecaser.train(["I saw the cat .", "He saw the cat and Mr. Cat"], model)
    # A form that was seen stays; the first word takes its most frequent form.
    line = "The Cat saw Mr. cat"
    assert trained.truecase(line) == text.Truecaser(model).truecase(line) == "the Cat saw Mr. cat"


def test_results_do_not_depend_on_threads() -> None:
    source = [f'Mr. {number} said "hello, world".' for number in range(2000)]
    tokenizer = text.Tokenizer()
    assert tokenizer.tokenize_many(source, threads=1) == tokenizer.tokenize_many(source, threads=3)
    with pytest.raises(TypeError, match="line 1"):
        tokenizer.tokenize_many(["a", 2])
    assert tokenizer.tokenize_many([]) == []


def test_sentences() -> None:
    splitter = text.SentenceSplitter("en")
    assert splitter.split("Mr. X is here. Is he? Yes!\nAnd I\n") == [
        "Mr. X is here.",
        "Is he?",
        "Yes!",
        "And I",
    ]
    assert splitter.split_many(["A. B", ""]) == [["A. B"], []]


def test_unknown_languages_are_reported(recwarn: pytest.WarningsRecorder, tmp_path: Path) -> None:
    prefixes = tmp_path / "prefixes"
    prefixes.write_text("Xyz\n", encoding="utf-8")
    for language in ("en-US", "EN"):
        for create in (text.Tokenizer, text.SentenceSplitter):
            with pytest.warns(UserWarning, match=f'no list of abbreviations for "{language}"'):
                create(language)
    recwarn.clear()
    text.Tokenizer("en-US", nonbreaking_prefixes=prefixes)
    text.SentenceSplitter("en-US", nonbreaking_prefixes=prefixes)
    # These tools do not warn, as on the command line.
    text.Detokenizer("en-US")
    text.PunctuationNormalizer("en-US")
    assert not list(recwarn)


def test_subwords() -> None:
    codes = text.Bpe(DATA / "learned.codes")
    segmented = (DATA / "learned.segmented").read_text(encoding="utf-8").splitlines()
    words = (ROOT / "examples" / "toy" / "test.es").read_text(encoding="utf-8").splitlines()
    assert [codes.join(line) for line in segmented] == words
    assert codes.segment_many(words) == segmented == [codes.segment(line) for line in words]
    assert text.Bpe(DATA / "learned.codes", separator="_").segment(words[0]) == segmented[
        0
    ].replace("@@", "_")
    assert codes.join("a@@") == "a"


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_line_ends_do_not_belong_to_words(end: str) -> None:
    codes = text.Bpe(DATA / "learned.codes")
    # The expected subwords are those of subword-nmt 0.3.8.
    for line, expected in [
        ("la casa roja", "la casa roj@@ a"),
        ("buenos", "b@@ ue@@ n@@ os"),
        ("la casa\troja", "la ca@@ s@@ a@@ \t@@ roj@@ a"),
    ]:
        assert codes.segment(line) == codes.segment(line + end) == expected
        assert codes.segment_many([line + end, line.encode() + end.encode()]) == [expected] * 2
        assert codes.join(expected + end.strip(" ")) == line
    assert codes.join("a@@ b@@" + end) == "ab"
    assert codes.segment(end) == codes.join(end.strip(" ")) == ""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_results_have_no_line_end(end: str) -> None:
    detokenizer, tokenizer = text.Detokenizer(), text.Tokenizer()
    normalizer, truecaser = text.PunctuationNormalizer(), text.Truecaser(GOLDEN / "truecase-model")
    # The expected texts are those of Moses' scripts.
    assert detokenizer.detokenize("I see it ." + end) == "I see it."
    assert detokenizer.detokenize_many(["I see it ." + end]) == ["I see it."]
    read = ["Hello there." + end, end, "Bye." + end]
    assert tokenizer.tokenize_many(read) == ["Hello there .", "", "Bye ."]
    assert tokenizer.tokenize(end) == ""
    assert normalizer.normalize("x" + end) == "x"
    assert truecaser.truecase("the cat" + end) == truecaser.truecase("the cat")
    assert text.detruecase("the cat" + end) == "The cat"


def test_sentence_pieces() -> None:
    models = {name: text.SentencePiece(DATA / f"{name}.spm") for name in ("unigram", "bpe")}
    seen = 0
    for line in (DATA / "sentence-piece.txt").read_text(encoding="utf-8").split("\n"):
        name, *fields = line.split("\x1f" if "\x1f" in line else "\u241f")
        if name not in models or len(fields) != 4:
            continue
        source, ids, pieces, back = fields
        model = models[name]
        numbers = [int(number) for number in ids.split()]
        assert model.encode_ids(source) == numbers
        assert model.decode_ids(numbers) == back
        if "|" not in source:
            assert "|".join(model.encode(source)) == pieces
            # Pieces contain the text of unknown characters, ids do not.
            assert "\u2047" in back or model.decode(pieces.split("|")) == back
            seen += 1
    assert seen > 50
    unigram = models["unigram"]
    assert unigram.encode_many(["the car", ""]) == [unigram.encode("the car"), []]
    with pytest.raises(ValueError, match="pieces"):
        unigram.decode_ids([len(unigram)])


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    for load in (text.Truecaser, text.Bpe, text.SentencePiece):
        with pytest.raises(OSError, match="missing"):
            load(missing)
    with pytest.raises(OSError, match="missing"):
        text.Tokenizer(nonbreaking_prefixes=missing)
    with pytest.raises(OSError, match="missing"):
        text.Tokenizer(protected=missing)


def copies(tool: Any, tmp_path: Path) -> list[Any]:
    """Returns copies of a tool, one of them from a pickle that is loaded in another folder."""
    pickled = pickle.dumps(tool)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        return [pickle.loads(pickled), copy.copy(tool), copy.deepcopy(tool)]


def test_tools_are_pickled_and_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prefixes").write_text("Xyz\n", encoding="utf-8")
    (tmp_path / "protected").write_text("http\\S+\n", encoding="utf-8")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    truecaser = text.Truecaser.train(["I saw the cat ."], "model")
    line = "Xyz. A - B well-known \"http://a.b\" it's The cat"
    tokenizers = [
        text.Tokenizer("fr"),
        text.Tokenizer(aggressive=True, escape=False, skip_markup=True),
        text.Tokenizer(nonbreaking_prefixes="prefixes", protected="protected"),
    ]
    splitters = [text.SentenceSplitter("de"), text.SentenceSplitter(nonbreaking_prefixes="prefixes")]
    codes = os.path.relpath(DATA / "learned.codes")
    calls: list[tuple[Any, str]] = [
        *((tokenizer, "tokenize") for tokenizer in tokenizers),
        *((splitter, "split") for splitter in splitters),
        (text.Detokenizer("fr", capitalize=True), "detokenize"),
        (text.PunctuationNormalizer("fr"), "normalize"),
        (truecaser, "truecase"),
        (text.Truecaser("model"), "truecase"),
        (text.Bpe(codes, separator="_"), "segment"),
        (text.SentencePiece(os.path.relpath(DATA / "bpe.spm")), "encode"),
    ]
    for tool, method in calls:
        expected = getattr(tool, method)(line)
        for same in copies(tool, tmp_path / "other"):
            assert type(same) is type(tool)
            assert getattr(same, method)(line) == expected, tool


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_tools_go_to_other_processes(method: str) -> None:
    tokenizer = text.Tokenizer("fr")
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map_async(tokenizer.tokenize, ["l'eau", "d'accord."]).get(60)
    assert found == ["l&apos; eau", "d&apos; accord ."]


def test_an_implausible_number_of_threads_is_rejected() -> None:
    for call in (text.Tokenizer("en").tokenize_many, text.SentenceSplitter("en").split_many):
        with pytest.raises(ValueError, match="threads: give a number up to 4096"):
            call(["a b"], threads=10**6)
