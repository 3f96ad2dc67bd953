"""A language model in the search of miriam.ct2's Translator."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import miriam.ct2 as ct2
from conftest import ROOT
from test_ct2 import SOURCES, TINY, hypotheses


def word_model(folder: Path) -> Path:
    """A language model that likes one word far more than all others."""
    words = ["<unk>", "<s>", "</s>", *(f"w{number}" for number in range(2, 10))]
    unigrams = "".join(f"{-0.5 if word == 'w9' else -6}\t{word}\n" for word in words)
    path = folder / "words.arpa"
    counts = f"\\data\\\nngram 1={len(words)}\n\n"
    path.write_text(f"{counts}\\1-grams:\n{unigrams}\n\\end\\\n", encoding="utf-8")
    return path


def test_a_language_model_takes_part_in_the_search(tmp_path: Path) -> None:
    tiny = ct2.Translator(str(TINY))
    lm = word_model(tmp_path)
    # With a beam of 12, every word of the vocabulary is among the candidates.
    options: dict[str, Any] = {"max_decoding_length": 6, "beam_size": 12}
    without = tiny.translate_batch(SOURCES, **options)
    fused = ct2.Translator(str(TINY), lm=lm, lm_weight=0)
    assert hypotheses(fused.translate_batch(SOURCES, **options)) == hypotheses(without)
    for pieces in [False, True]:
        fused = ct2.Translator(str(TINY), lm=lm, lm_weight=2, lm_pieces=pieces)
        found = fused.translate_batch(SOURCES, **options)
        assert hypotheses(found) == [[["w9"] * 6]] * len(SOURCES)
        texts = [" ".join(source) for source in SOURCES]
        plain = tiny.translate_texts(texts, **options)
        assert fused.translate_texts(texts, lm_weight=0, **options) == plain
        assert fused.translate_texts(texts, **options) != plain
        with pytest.raises(RuntimeError, match="not in sampling"):
            fused.translate_batch(SOURCES, beam_size=1, sampling_topk=3)
    refused: list[dict[str, Any]] = [{"lm_weight": 0.5}, {"lm_pieces": True}]
    for wrong in refused:
        with pytest.raises(ValueError, match="has no effect without lm"):
            ct2.Translator(str(TINY), **wrong)
    with pytest.raises(RuntimeError, match="absent.arpa"):
        ct2.Translator(str(TINY), lm=tmp_path / "absent.arpa")
    with pytest.raises((ValueError, RuntimeError), match="there is none"):
        tiny.translate_texts(["w2 w3"], lm_weight=0.5)


def test_a_neural_language_model_gives_what_the_program_gives(program: Path, tmp_path: Path) -> None:
    toy, model = ROOT / "examples" / "toy", ROOT / "examples" / "toy-neural"
    lm = tmp_path / "lm"
    train: list[str | Path] = [program, "--quiet", "nmt", "train", "--type", "lm-transformer", "-o", lm]
    train += ["--vocabs", model / "vocab.spm", "--target", toy / "train.es"]
    train += "--dim-emb 16 --dec-depth 1 --transformer-dim-ffn 32 --transformer-heads 2".split()
    train += "--learn-rate 0.01 --after 30u --mini-batch 20".split()
    subprocess.run(train, check=True)
    translate: list[str | Path] = [program, "--quiet", "nmt", "translate", "-m", model, "-i", toy / "test.en"]
    translate += ["--lm", lm, "--lm-weight", "2", "--no-tuner-file"]
    printed = subprocess.run(translate, check=True, capture_output=True).stdout.decode()
    lines = (toy / "test.en").read_text(encoding="utf-8").splitlines()
    found = ct2.Translator(str(model), lm=lm, lm_weight=2).translate_texts(lines)
    assert found == printed.splitlines()
    assert ct2.Translator(str(model)).translate_texts(lines) != found
