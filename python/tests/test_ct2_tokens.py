"""Tokens that callers give to miriam.ct2, and those that are added. The expected numbers are those of
CTranslate2 4.8.5."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import miriam.ct2 as ct2
from conftest import ROOT
from test_ct2 import SOURCES, TINY

DATA = ROOT / "nmt" / "testdata"
GREEDY: dict[str, Any] = {"beam_size": 1, "max_decoding_length": 2, "return_scores": True}


@pytest.fixture(scope="module")
def tiny() -> ct2.Translator:
    return ct2.Translator(str(TINY))


def test_the_end_is_added_after_an_end_of_the_caller(tiny: ct2.Translator) -> None:
    """`config.json` has `add_source_eos`."""
    [result] = tiny.translate_batch([["w5", "w13", "</s>"]], return_attention=True, **GREEDY)
    assert result.scores == pytest.approx([-2.166216], abs=1e-4)
    assert result.attention[0][0] == pytest.approx([0.265, 0.262, 0.239], abs=1e-3)
    [scored] = tiny.score_batch([["w5", "w13", "</s>"]], [["w7"]])
    assert scored.log_probs == pytest.approx([-3.733154, -3.757370], abs=1e-4)


def test_tokens_get_what_the_configuration_says(tmp_path: Path) -> None:
    """The SentencePiece model of Hugging Face says that texts end with `</s>`, `config.json` that
    tokens do not."""
    folder = tmp_path / "t5"
    shutil.copytree(DATA / "ct2-t5", folder)
    shutil.copy(DATA / "hf-t5" / "spiece.model", folder)
    translator = ct2.Translator(str(folder))
    for source, score in [(["w5", "w3"], -1.254171), (["w5", "w3", "</s>"], -0.963841)]:
        [result] = translator.translate_batch([source], **GREEDY)
        assert result.scores == pytest.approx([score], abs=1e-4)


def test_a_word_with_the_id_of_the_end_of_the_other_side_is_a_word(tmp_path: Path) -> None:
    """The source vocabulary has a word with the id of `</s>` in the target vocabulary, and
    `<blank>` in the place of `</s>`."""
    folder = tmp_path / "separate"
    shutil.copytree(DATA / "ct2-base", folder)
    source = folder / "source_vocabulary.txt"
    source.write_text(source.read_text("utf-8").replace("</s>\n", "word\n"), "utf-8")
    translator = ct2.Translator(folder)
    options: dict[str, Any] = {**GREEDY, "max_decoding_length": 4}
    sources = [["word"], ["nowhere"], ["<blank>"]]
    results = translator.translate_batch(sources, **options)
    assert [result.hypotheses for result in results] == [
        [["<blank>", "t11", "t11", "t11"]],
        [["<blank>", "t11", "t1", "t11"]],
        [["t8", "<blank>", "t11", "t8"]],
    ]
    scores = [score for result in results for score in result.scores]
    assert scores == pytest.approx([-1.120921, -0.837802, -1.239716], abs=1e-4)
    texts = translator.translate_texts(["word"], beam_size=1, max_decoding_length=4)
    assert texts == ["<blank> t11 t11 t11"]


def test_a_source_that_is_cut_to_its_end_is_translated(tiny: ct2.Translator) -> None:
    options: dict[str, Any] = {**GREEDY, "max_decoding_length": 3}
    [result] = tiny.translate_batch([["w2", "w3", "w4"]], max_input_length=1, **options)
    assert result.hypotheses == [["w14", "w14", "w14"]]
    assert result.scores == pytest.approx([-2.190522], abs=1e-4)


def test_as_many_translations_as_requested(tiny: ct2.Translator) -> None:
    """A prefix that fills the translation fills the beam; greedy search repeats its result."""
    full: dict[str, Any] = {"max_decoding_length": 2, "return_scores": True}
    cases: list[tuple[dict[str, Any], list[float]]] = [
        ({"beam_size": 2, "num_hypotheses": 2}, [0, -5e9]),
        ({"beam_size": 2, "num_hypotheses": 2, "length_penalty": 0}, [0, -1e10]),
        ({"beam_size": 2, "num_hypotheses": 4, "patience": 2}, [0, -5e9]),
        ({"beam_size": 1, "num_hypotheses": 3, "sampling_topk": 3}, [0, 0, 0]),
    ]
    for options, scores in cases:
        [result] = tiny.translate_batch([["w2", "w3"]], [["w4", "w5", "w6"]], **full, **options)
        assert result.hypotheses == [["w4", "w5"]] * len(scores)
        assert result.scores == pytest.approx(scores)
    [result] = tiny.translate_batch(
        [["w2", "w3"]], beam_size=1, patience=2, num_hypotheses=2, **full
    )
    assert result.hypotheses == [["w14", "w14"]] * 2
    assert result.scores == pytest.approx([-2.171609] * 2, abs=1e-4)


def test_the_prefix_of_an_empty_source_is_its_translation(tiny: ct2.Translator) -> None:
    prefixes = [["w4", "</s>"]] * 2
    results = tiny.translate_batch([[], ["</s>"]], prefixes, return_scores=True)
    assert [result.hypotheses for result in results] == [[["w4", "</s>"]]] * 2


def test_candidates_follow_from_the_whole_source(tmp_path: Path) -> None:
    folder = tmp_path / "map"
    shutil.copytree(TINY, folder)
    (folder / "vmap.txt").write_text("\tw2\nw5\tw9\n", "utf-8")
    translator = ct2.Translator(folder)
    options: dict[str, Any] = {"use_vmap": True, "disable_unk": True, **GREEDY}
    # Both sources are cut to the same tokens.
    sources = [["w3", "w4"], ["w3", "w4", "w5"]]
    results = translator.translate_batch(sources, max_input_length=2, **options)
    assert [result.hypotheses for result in results] == [[["w2", "w2"]]] * 2
    scores = [score for result in results for score in result.scores]
    assert scores == pytest.approx([-0.342095, -0.818982], abs=1e-4)


def test_tokens_may_be_bytes(tiny: ct2.Translator) -> None:
    as_bytes = [[token.encode() for token in source] for source in SOURCES]
    options: dict[str, Any] = {"max_decoding_length": 6, "no_repeat_ngram_size": 1}
    prefixes = [["w3"]] * len(SOURCES)
    expected = tiny.translate_batch(
        SOURCES, prefixes, end_token="w20", suppress_sequences=[["w14"]], **options
    )
    found = tiny.translate_batch(
        as_bytes,
        [[b"w3"]] * len(SOURCES),
        end_token=b"w20",
        suppress_sequences=[[b"w14"]],
        **options,
    )
    assert [one.hypotheses for one in found] == [one.hypotheses for one in expected]
    scores, expected_scores = (
        [one.log_probs for one in tiny.score_batch(given, SOURCES)] for given in (as_bytes, SOURCES)
    )
    assert scores == expected_scores


def test_an_empty_list_of_end_tokens_is_rejected(tiny: ct2.Translator) -> None:
    with pytest.raises(ValueError, match="end_token: the list is empty"):
        tiny.translate_batch(SOURCES, end_token=[])
    [expected], [found] = (
        tiny.translate_batch(SOURCES[:1], end_token=end, max_decoding_length=6)
        for end in (None, "")
    )
    assert found.hypotheses == expected.hypotheses


def test_fewer_targets_than_sources_are_a_runtime_error(tiny: ct2.Translator) -> None:
    with pytest.raises(RuntimeError, match="target has fewer examples"):
        tiny.score_batch(SOURCES, SOURCES[:1])
    with pytest.raises(ValueError, match="target has more examples"):
        tiny.score_batch(SOURCES[:1], SOURCES)


def test_files_may_have_further_targets(tiny: ct2.Translator, tmp_path: Path) -> None:
    """CTranslate2 ignores them, without a warning."""
    source, target, output = (tmp_path / name for name in ("source", "target", "output"))
    source.write_text("w2 w3\nw4\nw5\n", encoding="utf-8")
    target.write_text("w9\nw3\nw8\n", encoding="utf-8")

    def translate(**limits: Any) -> list[str]:
        stats = tiny.translate_file(
            source, output, target_path=target, max_decoding_length=5, **limits
        )
        assert stats.num_examples == 3
        return output.read_text(encoding="utf-8").splitlines()

    expected = translate()
    with target.open("a", encoding="utf-8") as file:
        file.write("w5\nw6\n")
    all_limits: list[dict[str, Any]]
    all_limits = [{}, {"max_batch_size": 1}, {"read_batch_size": 2}]
    for limits in all_limits:
        with pytest.warns(UserWarning, match="those after 3 are ignored") as warned:
            assert translate(**limits) == expected
        assert [warning.filename for warning in warned] == [__file__]
        with pytest.warns(UserWarning, match="those after 3 are ignored"):
            stats = tiny.score_file(source, target, output, **limits)
        assert stats.num_examples == 3
        assert len(output.read_text(encoding="utf-8").splitlines()) == 3


def test_sources_and_targets_are_cut_before_the_end(tiny: ct2.Translator) -> None:
    """The numbers are those of CTranslate2 4.8.5."""
    target = ["w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11"]
    for length, total in [(1, -3.764879), (3, -10.856047), (5, -18.301765), (1024, -32.427579)]:
        [result] = tiny.score_batch([["w3", "w4", "w5", "w6"]], [target], max_input_length=length)
        assert result.tokens == target[: length - 1] + ["</s>"]
        assert sum(result.log_probs) == pytest.approx(total, abs=5e-3)


@pytest.mark.parametrize("device", ["CPU", "AUTO"])
def test_devices_may_be_in_upper_case(device: str) -> None:
    assert ct2.Translator(str(TINY), device).device in ("cpu", "cuda")
    assert "float32" in ct2.get_supported_compute_types(device)
    with pytest.raises(ValueError, match="unsupported device"):
        ct2.Translator(str(TINY), device.title())


def test_detokenised_text_is_text(tiny: ct2.Translator, tmp_path: Path) -> None:
    source, output = tmp_path / "source", tmp_path / "output"
    source.write_text("w2 w3\nw4\n")

    def translate(detokenize: Any) -> str:
        tiny.translate_file(
            source,
            output,
            max_decoding_length=3,
            source_tokenize_fn=str.split,
            target_detokenize_fn=detokenize,
        )
        return output.read_text()

    expected = translate(" ".join)
    assert translate(lambda tokens: " ".join(tokens).encode()) == expected
    for wrong in (lambda tokens: None, lambda tokens: tokens):
        with pytest.raises(TypeError, match="target_detokenize_fn: expected a str"):
            translate(wrong)
    with pytest.raises(TypeError, match="target_detokenize_fn: expected a str"):
        tiny.score_file(
            source,
            source,
            output,
            source_tokenize_fn=str.split,
            target_tokenize_fn=str.split,
            target_detokenize_fn=lambda tokens: None,  # type: ignore[arg-type, return-value]
        )


def test_vocabularies_of_a_model_of_marian() -> None:
    model, words = DATA / "tiny.npz", DATA / "tiny.vocab.yml"
    with pytest.raises(RuntimeError, match="no vocabularies were found"):
        ct2.Translator(model)
    both: list[Path | bytes] = [words, os.fsencode(words)]
    found = [ct2.Translator(os.fsencode(model), vocabs=vocabs) for vocabs in (words, both)]
    # The command line prints this translation.
    assert [one.translate_texts(["w4"]) for one in found] == [["w14 w14 w14 w16 w14 w14"]] * 2
    with pytest.raises(ValueError, match=r"vocabs: expected .* found 1 path"):
        ct2.Translator(model, vocabs=[words])
    with pytest.raises(TypeError, match="vocabs: expected a path"):
        ct2.Translator(model, vocabs=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="vocabs cannot be used with files"):
        ct2.Translator(model, vocabs=words, files={})


def test_portions_of_lines_are_measured_in_tokens() -> None:
    lines = [b"one two three", b"four five", b"six", b"seven"]
    portions = list(ct2._portions([lines], 4, "tokens"))
    assert portions == [[lines[:1]], [lines[1:]]]


def test_files_keep_the_bytes_of_unknown_tokens(tiny: ct2.Translator, tmp_path: Path) -> None:
    """CTranslate2 copies the bytes; `joined` replaces those that are not UTF-8."""
    source, prefix, output = (tmp_path / name for name in ("source", "prefix", "output"))
    source.write_bytes(b"caf\xe9\nw2 \xff\xfe\n")
    prefix.write_text("<unk>\n<unk>\n", encoding="utf-8")
    options: dict[str, Any] = {"max_decoding_length": 1, "replace_unknowns": True}
    tiny.translate_file(source, output, prefix, **options)
    first, second = output.read_bytes().splitlines()
    assert first == b"caf\xe9" and second in (b"w2", b"\xff\xfe")
    tokens = [line.split() for line in source.read_bytes().splitlines()]
    results = tiny.translate_batch(tokens, [["<unk>"]] * 2, **options)
    assert results[0].joined == results[0].hypotheses[0] == ["caf\ufffd"]


def test_detokenised_bytes_are_written_unchanged(tiny: ct2.Translator, tmp_path: Path) -> None:
    source, output = tmp_path / "source", tmp_path / "output"
    source.write_text("w2\n")
    tiny.translate_file(
        source,
        output,
        max_decoding_length=1,
        source_tokenize_fn=str.split,
        target_detokenize_fn=lambda tokens: b"\xe9",
    )
    assert output.read_bytes() == b"\xe9\n"


def test_a_source_with_only_the_token_of_its_beginning_is_empty() -> None:
    """`bos_token` of `config.json` is `<pad>`."""
    translator = ct2.Translator(str(DATA / "ct2-t5"))
    prefix = ["w3"]
    for source in (["<pad>"], ["<pad>", "</s>"], []):
        [result] = translator.translate_batch([source], [prefix], max_decoding_length=3)
        assert result.hypotheses == [prefix]
    for source in (["<s>"], ["<pad>", "w5"]):
        [result] = translator.translate_batch([source], [prefix], max_decoding_length=3)
        assert len(result.hypotheses[0]) > 1


def test_sources_and_targets_end_with_the_table_of_positions() -> None:
    """The model has 40 positions. Beyond them, CTranslate2 fails too."""
    translator = ct2.Translator(str(DATA / "ct2-bart"))
    options: dict[str, Any] = {"max_decoding_length": 2}
    assert len(translator.translate_batch([["w2"] * 40], **options)) == 1
    sources = [["w3"], ["w2"] * 41]
    with pytest.raises(RuntimeError, match=r"source\[1\]: 41 tokens .* max_input_length=40"):
        translator.translate_batch(sources, **options)
    for one in translator.translate_batch(sources, asynchronous=True, **options):
        with pytest.raises(RuntimeError, match="the model has 40 positions"):
            one.result()
    assert len(translator.translate_batch(sources, max_input_length=40, **options)) == 2
    assert len(translator.score_batch([["w2"] * 40], [["w2"] * 39])[0].tokens) == 40
    with pytest.raises(RuntimeError, match=r"target\[0\]: 41 tokens .* the model has 40 positions"):
        translator.score_batch([["w2"]], [["w2"] * 40])
    [pending] = translator.score_batch(sources[1:], [["w2"]], asynchronous=True)
    with pytest.raises(RuntimeError, match=r"source\[0\]: 41 tokens"):
        pending.result()
