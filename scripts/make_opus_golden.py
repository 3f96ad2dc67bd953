#!/usr/bin/env python3
"""Writes a small package of OPUS-MT, as people download them.

    python3 -m venv venv
    venv/bin/pip install sentencepiece
    venv/bin/python scripts/make_opus_golden.py nmt/testdata

`opus-mt.zip` has what such archives have: a decoder's configuration with paths of another machine,
the checkpoint (`tiny.npz`), SentencePiece models, a vocabulary with other ids than theirs and with
the token of a language, and the scripts that prepare text and restore it.
"""

import pathlib
import sys
import tempfile
import zipfile

import sentencepiece

MODEL = "opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz"
WORDS = "opus.spm32k-spm32k.vocab.yml"
CONFIGURATION = f"""relative-paths: false
models:
  - /scratch/train/{MODEL}
vocabs:
  - /scratch/train/{WORDS}
  - /scratch/train/{WORDS}
beam-size: 3
normalize: 1
max-length-factor: 2
"""


def main(root):
    root = pathlib.Path(root)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        lines = [f"{a}{b} {b}{c} {c}{a}{b}\n" for a in "abc" for b in "abcd" for c in "bcd"]
        (folder / "text").write_text("".join(lines))
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"), model_prefix=str(folder / "pieces"), vocab_size=20,
            hard_vocab_limit=False, normalization_rule_name="identity", minloglevel=2)
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "pieces.model"))
        words = [pieces.id_to_piece(number) for number in range(3, pieces.get_piece_size())][::-1]
        words = ["</s>", "<unk>", *words, ">>xyz<<"]
        # The checkpoint has 24 words.
        words += [f"x{number}" for number in range(len(words), 24)]
        assert len(words) == 24
        files = {
            "decoder.yml": CONFIGURATION,
            WORDS: "".join(f'"{word}": {number}\n' for number, word in enumerate(words)),
            MODEL: (root / "tiny.npz").read_bytes(),
            "source.spm": (folder / "pieces.model").read_bytes(),
            "target.spm": (folder / "pieces.model").read_bytes(),
            "preprocess.sh": "#!/bin/bash\n${SPMENCODE} --model $2\n",
            "postprocess.sh": "#!/bin/bash\nsed 's/ //g;s/▁/ /g'\n",
            "README.md": "# opus-2020-02-26.zip\n\n* a small package for tests\n",
        }
    with zipfile.ZipFile(root / "opus-mt.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main(*sys.argv[1:])
