#!/usr/bin/env python3
"""Writes a small package of Argos Translate, and what CTranslate2 makes of texts with it.

    python3 -m venv venv
    venv/bin/pip install ctranslate2==4.8.5 sentencepiece numpy
    venv/bin/python scripts/make_argos_golden.py nmt/testdata

`argos.argosmodel` is a zip archive, deflated, as packages are: metadata, a SentencePiece model, and
a CTranslate2 folder with random weights of the kind that OpenNMT-py's converter writes. The metadata
name a token that translations begin with. `argos.tsv` has a text, its translation, its score: of beam
4 and length penalty 0.2, which Argos Translate decodes with.
"""

import json
import pathlib
import sys
import tempfile
import zipfile

import ctranslate2
import sentencepiece
from ctranslate2.specs import transformer_spec

from make_ct2_golden import Filler, save

PREFIX = "__yy__"
LONGEST = 14


def main(root):
    root = pathlib.Path(root)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        lines = [f"{a}{b} {b}{c} {c}{a}{b}" for a in "abc" for b in "abcd" for c in "bcd"]
        (folder / "text").write_text("".join(line + "\n" for line in lines))
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"), model_prefix=str(folder / "pieces"), vocab_size=24,
            hard_vocab_limit=False, normalization_rule_name="identity", minloglevel=2)
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "pieces.model"))
        tokens = ["<unk>", "<s>", "</s>"]
        tokens += [pieces.id_to_piece(number) for number in range(3, pieces.get_piece_size())]
        tokens.append(PREFIX)
        spec = transformer_spec.TransformerSpec.from_config((1, 2), 2)
        fill = Filler(21)
        fill.stack(spec.encoder, len(tokens), 8, 2, 4, 12)
        fill.stack(spec.decoder, len(tokens), 8, 2, 4, 12)
        spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = False
        save(spec, folder / "model", tokens, tokens)
        metadata = {"package_version": "1.0", "argos_version": "1.9", "from_code": "xx",
                    "from_name": "X", "to_code": "yy", "to_name": "Y", "target_prefix": PREFIX}
        with zipfile.ZipFile(root / "argos.argosmodel", "w", zipfile.ZIP_DEFLATED) as archive:
            inside = "translate-xx_yy-1_0"
            archive.writestr(f"{inside}/metadata.json", json.dumps(metadata))
            archive.write(folder / "pieces.model", f"{inside}/sentencepiece.model")
            for file in sorted((folder / "model").iterdir()):
                archive.write(file, f"{inside}/model/{file.name}")
            archive.writestr(f"{inside}/stanza/resources.json", "{}")
        translator = ctranslate2.Translator(str(folder / "model"), compute_type="float32")
        expected = []
        for line in lines[::3]:
            [found] = translator.translate_batch(
                [pieces.encode(line, out_type=str)], target_prefix=[[PREFIX]], beam_size=4,
                length_penalty=0.2, return_scores=True, max_decoding_length=LONGEST)
            text = pieces.decode(found.hypotheses[0][1:])
            expected.append(f"{line}\t{text}\t{found.scores[0]:.6f}\n")
        (root / "argos.tsv").write_text("".join(expected))


if __name__ == "__main__":
    main(*sys.argv[1:])
