"""Languages of multilingual models, named in each call of miriam.ct2.Translator."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import miriam.ct2 as ct2
from conftest import ROOT

DATA = ROOT / "nmt" / "testdata"

# The folder, the languages of its expected.tsv, another target and another source language.
MODELS = [
    ("hf-nllb", "en", "es", "zh", "de"),
    ("hf-m2m100", "en", "es", "de", "fr"),
    ("hf-mbart50", "en", "es", "ro", "de"),
    ("hf-madlad", None, "es", "en", None),
]


# The largest number of tokens of a translation in expected.tsv, including the language token.
LIMIT = 12


def golden(folder: str) -> tuple[list[str], list[str]]:
    """Returns texts, and their translations by transformers with a beam of 4, without the tokens of
    languages."""
    lines = (DATA / folder / "expected.tsv").read_text(encoding="utf-8").splitlines()
    rows = [row for row in (line.split("\t") for line in lines) if row[1] == "4"]
    pieces = [[piece for piece in row[2].split() if "_" not in piece] for row in rows]
    joined = ["".join(words).replace("\u2581", " ").strip() for words in pieces]
    return [row[0] for row in rows], joined


@pytest.mark.parametrize(("folder", "source", "target", "target2", "source2"), MODELS)
def test_a_call_names_its_languages(
    folder: str, source: str | None, target: str, target2: str, source2: str | None
) -> None:
    translator = ct2.Translator(str(DATA / folder))
    texts, expected = golden(folder)

    def translate(source: str | None, target: str | None) -> list[str]:
        return translator.translate_texts(
            texts,
            source_language=source,
            target_language=target,
            beam_size=4,
            max_decoding_length=LIMIT,
        )

    found = translate(source, target)
    assert [text.strip() for text in found] == expected
    assert translate(source, target2) != found
    awaited = translator.translate_texts_async(
        texts,
        source_language=source,
        target_language=target,
        beam_size=4,
        max_decoding_length=LIMIT,
    )
    assert asyncio.run(awaited) == found
    with pytest.raises(ValueError, match="target_language"):
        translate(source, None)
    with pytest.raises(ValueError, match="not one of its languages"):
        translate(source, "tlh")
    if source is None:
        tagged = [f"<2{target}> {text}" for text in texts]
        again = translator.translate_texts(tagged, beam_size=4, max_decoding_length=LIMIT)
        assert again == found
        return
    assert translate(source2, target) != found
    with pytest.raises(ValueError, match="source_language"):
        translate(None, target)


def test_options_of_decoding_are_keywords() -> None:
    translator = ct2.Translator(str(DATA / "hf-nllb"))

    def translate(**decoding: Any) -> str:
        decoding = {"max_decoding_length": LIMIT, **decoding}
        [text] = translator.translate_texts(
            ["ac c cdacb bddeb"], source_language="en", target_language="es", **decoding
        )
        return text

    # Transformers repeats a letter here; without repetition no piece occurs twice.
    plain = translate(beam_size=1)
    other = translate(beam_size=1, no_repeat_ngram_size=1)
    assert plain == "e" * 11 and len(set(other.replace(" ", ""))) > 1
    assert 0 < len(translate(beam_size=1, max_decoding_length=4)) < len(plain)
    with pytest.raises(TypeError, match="unexpected keyword argument 'ngrams'"):
        translate(ngrams=1)
    with pytest.raises(ValueError, match="repetition-penalty: expected a number above 0"):
        translate(repetition_penalty=0)


def test_a_model_of_one_pair_takes_no_target_language() -> None:
    tiny = ct2.Translator(str(DATA / "tiny-ct2"))
    with pytest.raises(ValueError, match="names no languages"):
        tiny.translate_texts(["w2"], target_language="es")
    # A source language is allowed, because it also selects the abbreviations.
    assert tiny.translate_texts(["w2"], source_language="de") == tiny.translate_texts(["w2"])


def test_calls_with_tokens_give_the_whole_prefix(tmp_path: Path) -> None:
    """The token that a folder forces before translations of texts is not added to calls with
    tokens."""
    shutil.copytree(DATA / "hf-mbart50", tmp_path / "forced")
    plain = ct2.Translator(str(DATA / "hf-mbart50"))
    settings = json.loads((DATA / "hf-mbart50" / "generation_config.json").read_text())
    tokenizer = json.loads((DATA / "hf-mbart50" / "tokenizer.json").read_text(encoding="utf-8"))
    ids = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    settings["forced_bos_token_id"] = ids["es_XX"]
    (tmp_path / "forced" / "generation_config.json").write_text(json.dumps(settings))
    forced = ct2.Translator(str(tmp_path / "forced"))
    words = [piece for piece, _ in tokenizer["model"]["vocab"] if piece.startswith("\u2581")]
    source = ["en_XX", *words[:4], "</s>"]
    target = ["ro_RO", *words[4:7]]
    for prefix in (["ro_RO"], None):
        found, expected = (
            one.translate_batch([source], [prefix], max_decoding_length=6)[0]
            for one in (forced, plain)
        )
        assert found.hypotheses == expected.hypotheses
    scores, expected_scores = (
        one.score_batch([source], [target])[0].log_probs for one in (forced, plain)
    )
    assert scores == expected_scores
