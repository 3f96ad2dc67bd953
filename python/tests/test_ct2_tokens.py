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
