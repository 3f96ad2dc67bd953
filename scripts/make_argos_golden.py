#!/usr/bin/env python3
"""Writes a small package of Argos Translate, and what CTranslate2 makes of texts with it.

    python3 -m venv venv
    venv/bin/pip install ctranslate2==4.8.5 sentencepiece numpy sacremoses subword-nmt
    venv/bin/python scripts/make_argos_golden.py nmt/testdata

`argos.argosmodel` is a zip archive, deflated, as packages are: metadata, a SentencePiece model, and
a CTranslate2 folder with random weights of the kind that OpenNMT-py's converter writes. The metadata
name a token that translations begin with. A line of `argos.tsv` has a text, its translation and its
score, with a beam of 4 and a length penalty of 0.2, as Argos Translate decodes.
`argos-bpe.argosmodel` and `.tsv` are the same with BPE codes: sacremoses tokenises and detokenises,
subword-nmt cuts words into subwords.
"""

import io
import json
import pathlib
import sys
import tempfile
import zipfile

import ctranslate2
import sentencepiece
from ctranslate2.specs import transformer_spec
from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from make_ct2_golden import Filler, save

PREFIX = "__yy__"
MAX_TOKENS = 14


class Pieces:
    """A SentencePiece model."""

    name, file, codes, prefix = "argos", "sentencepiece.model", ("xx", "yy"), [PREFIX]

    def __init__(self, folder):
        self.lines = [f"{a}{b} {b}{c} {c}{a}{b}" for a in "abc" for b in "abcd" for c in "bcd"]
        (folder / "text").write_text("".join(line + "\n" for line in self.lines))
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"), model_prefix=str(folder / "pieces"), vocab_size=24,
            hard_vocab_limit=False, normalization_rule_name="identity", minloglevel=2)
        self.path = folder / "pieces.model"
        self.model = sentencepiece.SentencePieceProcessor(model_file=str(self.path))
        self.tokens = [self.model.id_to_piece(number)
                       for number in range(3, self.model.get_piece_size())]

    def encode(self, text):
        return self.model.encode(text, out_type=str)

    def decode(self, tokens):
        return self.model.decode(tokens)


class Codes:
    """BPE codes over words of Moses' tokeniser."""

    name, file, codes, prefix = "argos-bpe", "bpe.model", ("de", "en"), []

    def __init__(self, folder):
        self.lines = [f"„{a}{b}“ ({b}{c}), z.B. {c}{a}{b}-{a} & {a}'{c}: {b} % {c} !"
                      for a in "abc" for b in "abcd" for c in "bcd"]
        self.normalizer = MosesPunctNormalizer("de")
        self.tokenizer, self.detokenizer = MosesTokenizer("de"), MosesDetokenizer("en")
        words = [" ".join(self.words(line)) for line in self.lines]
        learned = io.StringIO()
        learn_bpe(io.StringIO("\n".join(words)), learned, 30)
        self.path = folder / "codes"
        self.path.write_text(learned.getvalue())
        self.bpe = BPE(io.StringIO(learned.getvalue()))
        self.tokens = sorted({token for line in self.lines for token in self.encode(line)})

    def words(self, text):
        return self.tokenizer.tokenize(self.normalizer.normalize(text))

    def encode(self, text):
        return self.bpe.segment_tokens(" ".join(self.words(text)).strip("\r\n ").split(" "))

    def decode(self, tokens):
        return self.detokenizer.detokenize(" ".join(tokens).replace("@@ ", "").split(" "))


def main(root):
    for tokenizer in (Pieces, Codes):
        write(pathlib.Path(root), tokenizer)


def write(root, tokenizer):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        pieces = tokenizer(folder)
        tokens = ["<unk>", "<s>", "</s>", *pieces.tokens, *pieces.prefix]
        spec = transformer_spec.TransformerSpec.from_config((1, 2), 2)
        fill = Filler(21)
        fill.stack(spec.encoder, len(tokens), 8, 2, 4, 12)
        fill.stack(spec.decoder, len(tokens), 8, 2, 4, 12)
        spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = False
        save(spec, folder / "model", tokens, tokens)
        source, target = pieces.codes
        metadata = {"package_version": "1.0", "argos_version": "1.9", "from_code": source,
                    "from_name": "X", "to_code": target, "to_name": "Y"}
        if pieces.prefix:
            metadata["target_prefix"] = pieces.prefix[0]
        archive = root / f"{pieces.name}.argosmodel"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as archive:
            inside = f"translate-{source}_{target}-1_0"
            archive.writestr(f"{inside}/metadata.json", json.dumps(metadata))
            archive.write(pieces.path, f"{inside}/{pieces.file}")
            for file in sorted((folder / "model").iterdir()):
                archive.write(file, f"{inside}/model/{file.name}")
            archive.writestr(f"{inside}/stanza/resources.json", "{}")
        translator = ctranslate2.Translator(str(folder / "model"), compute_type="float32")
        expected = []
        for line in pieces.lines[::3]:
            [found] = translator.translate_batch(
                [pieces.encode(line)], target_prefix=[pieces.prefix] if pieces.prefix else None,
                beam_size=4, length_penalty=0.2, return_scores=True, max_decoding_length=MAX_TOKENS)
            text = pieces.decode(found.hypotheses[0][len(pieces.prefix):])
            expected.append(f"{line}\t{text}\t{found.scores[0]:.6f}\n")
        (root / f"{pieces.name}.tsv").write_text("".join(expected))


if __name__ == "__main__":
    main(*sys.argv[1:])
