#!/usr/bin/env python3
"""Writes small Hugging Face models of several architectures, and what transformers makes of them.

    python3 -m venv venv
    venv/bin/pip install torch transformers==5.23.0 sentencepiece protobuf
    venv/bin/python scripts/make_hf_golden.py nmt/testdata

Weights are random, with the scales of trained ones; models are those of `compare_models.py`, smaller.
Each is a folder with `expected.tsv`: a text, the beam, the pieces of its translation, the score.
Translations are those of generate() with early stopping, of the pieces that SentencePiece
itself cuts.

    hf-m2m100   vocab.json, languages known by the architecture
    hf-nllb     two shards; pieces and languages numbered as in fairseq, the languages in a list;
                bpe-tokenizer.json is the tokenizer.json that transformers makes of its pieces
    hf-mbart50  tokenizer.json only: a unigram model
    hf-t5       the first T5: one table, ReLU
    hf-madlad   gated layers, an output layer of its own, <2es> before sources
"""

import pathlib
import random
import shutil
import sys
import tempfile

import torch
import transformers

import compare_models as models

SENTENCES = 8
MAX_TOKENS = 12
MODELS = {"hf-m2m100": "M2M-100", "hf-nllb": "NLLB-200", "hf-mbart50": "mBART-50", "hf-t5": "T5",
          "hf-madlad": "MADLAD-400"}


def write_text(path):
    """Writes a text of few letters, so that vocabularies are small; returns its lines."""
    draw = random.Random(1)
    words = ["".join(draw.choice("abcde") for _ in range(draw.randint(1, 5))) for _ in range(60)]
    lines = [" ".join(draw.choice(words) for _ in range(draw.randint(2, 8))) for _ in range(400)]
    path.write_text("".join(line + "\n" for line in lines))
    return lines


def main(root):
    root = pathlib.Path(root)
    models.MAX_TOKENS, models.SHARD_SIZE = MAX_TOKENS, "10KB"
    torch.set_num_threads(1)
    models.BART_SHAPE.update(d_model=8, encoder_layers=1, decoder_layers=2, encoder_ffn_dim=12,
                             encoder_attention_heads=2, decoder_attention_heads=2,
                             decoder_ffn_dim=12, max_position_embeddings=24)
    models.T5_SHAPE.update(d_model=8, d_ff=12, num_layers=2)
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as temporary:
        text = pathlib.Path(temporary) / "text"
        lines = write_text(text)
        models.TRAINER_OPTIONS.update(input=str(text), normalization_rule_name="identity")
        for seed, (name, kind) in enumerate(MODELS.items(), 11):
            out = root / name
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
            tokens, pieces, languages = models.MODELS[kind](out, 30, seed)
            model = transformers.AutoModelForSeq2SeqLM.from_pretrained(out).eval()
            case = models.Model(out, model, tokens, languages)
            forced = [case.ids[token] for token in case.target_prefix]
            expected = []
            for beam in (1, 4):
                for line in lines[:SENTENCES]:
                    source = case.source(pieces.encode(line, out_type=str))
                    ids = [case.ids[token] for token in source]
                    words, score = models.generate(model, ids, tokens, forced, beam)[0]
                    expected.append(f"{line}\t{beam}\t{' '.join(words)}\t{score:.6f}\n")
            if name == "hf-nllb":
                made = pathlib.Path(temporary) / "tokenizer"
                transformers.NllbTokenizer.from_pretrained(out).save_pretrained(made)
                shutil.copy(made / "tokenizer.json", out / "bpe-tokenizer.json")
            (out / "expected.tsv").write_text("".join(expected))


if __name__ == "__main__":
    with torch.no_grad():
        main(*sys.argv[1:])
