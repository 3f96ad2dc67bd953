#!/usr/bin/env python3
"""Compare results with transformers and with CTranslate2's conversions of its models, in f32.

Packages of PyPI make the files: SentencePiece models of the toy corpus, a small MarianMT trained on
it for some seconds and saved by transformers, and CTranslate2 folders of five types: float32,
float16, bfloat16, int16 and int8. Counts lines that differ from transformers' generate() and from
CTranslate2 on the same folder, and prints the largest difference of scores of words.

    python3 -m venv venv
    venv/bin/pip install torch transformers sacremoses sentencepiece ctranslate2
    venv/bin/python scripts/compare_hugging_face.py
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ctranslate2
import sentencepiece
import torch
import transformers

TOY = Path(__file__).parent.parent / "examples" / "toy"
TYPES = ("float32", "float16", "bfloat16", "int16", "int8")
MAX_TOKENS = 40


def make_model(folder, pieces, shape, updates):
    """Trains a MarianMT, and saves it with transformers, with the files of its tokenizer."""
    width, inside, encoder, decoder = shape
    out = folder / "marian-mt"
    out.mkdir(parents=True, exist_ok=True)
    names = {"</s>": 0, "<unk>": 1}
    for side, text in (("source", "train.en"), ("target", "train.es")):
        sentencepiece.SentencePieceTrainer.train(
            input=str(TOY / text), model_prefix=str(out / side), vocab_size=pieces,
            hard_vocab_limit=False, bos_id=-1, eos_id=0, unk_id=1, minloglevel=2)
        (out / f"{side}.model").rename(out / f"{side}.spm")
        (out / f"{side}.vocab").unlink()
        model = sentencepiece.SentencePieceProcessor(model_file=str(out / f"{side}.spm"))
        for number in range(model.get_piece_size()):
            names.setdefault(model.id_to_piece(number), len(names))
    pad = names["<pad>"] = len(names)
    (out / "vocab.json").write_text(json.dumps(names, ensure_ascii=False))
    tokenizer = transformers.MarianTokenizer(
        source_spm=str(out / "source.spm"), target_spm=str(out / "target.spm"),
        vocab=str(out / "vocab.json"))
    tokenizer.save_pretrained(out)
    torch.manual_seed(1)
    config = transformers.MarianConfig(
        vocab_size=pad + 1, d_model=width, encoder_layers=encoder, decoder_layers=decoder,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=inside,
        decoder_ffn_dim=inside, activation_function="swish", max_position_embeddings=256,
        pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, forced_eos_token_id=0,
        scale_embedding=True, bos_token_id=None)
    model = transformers.MarianMTModel(config)
    train(model, tokenizer, updates)
    model.generation_config.bad_words_ids = [[pad]]
    model.save_pretrained(out)
    return out, model, tokenizer


def train(model, tokenizer, updates, batch=64):
    """Trains the model for some seconds, because a random model repeats one word without an end."""
    pairs = list(zip(*((TOY / name).read_text().splitlines() for name in ("train.en", "train.es"))))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    start = time.monotonic()
    for update in range(updates):
        some = [pairs[(update * batch + at) % len(pairs)] for at in range(batch)]
        inputs = tokenizer([source for source, _ in some], text_target=[target for _, target in some],
                           return_tensors="pt", padding=True)
        labels = inputs["labels"]
        labels[labels == tokenizer.pad_token_id] = -100
        loss = model(**inputs).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    print(f"trained for {updates} updates, {time.monotonic() - start:.0f} s, loss {loss.item():.2f}",
          flush=True)


def say(name, what, differing, count, largest=None):
    scores = "" if largest is None else f", scores of words differ by at most {largest:.1e}"
    print(f"{name:<34} {what:<14} {differing:>3} of {count} lines differ{scores}", flush=True)


class Miriam:
    """Runs Miriam's subcommands on one model."""

    def __init__(self, miriam, model, folder, *options):
        self.start, self.model, self.folder, self.options = [miriam, "nmt"], model, folder, options

    def run(self, command, *arguments):
        command = [*self.start, command, "-m", self.model, "--quiet", "--precision", "f32", *arguments]
        command = list(map(str, command))
        process = subprocess.run(command, capture_output=True, text=True)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{process.stderr}")
        return process.stdout.splitlines()

    def write(self, name, lines):
        (self.folder / name).write_text("".join(line + "\n" for line in lines))
        return self.folder / name

    def translate(self, lines, beam):
        source = self.write("source", lines)
        return self.run("translate", *self.options, "--beam-size", beam,
                        "--max-decoding-length", MAX_TOKENS, "-i", source)

    def score(self, source, target):
        source, target = self.write("source", source), self.write("target", target)
        lines = self.run("score", "--word-scores", *self.options, "--source", source, "--target", target)
        return [[float(x) for x in line.split("WordScores=")[1].split()] for line in lines]


def compare_scores(name, ours, theirs):
    largest = 0.0
    wrong = 0
    for own, other in zip(ours, theirs, strict=True):
        if len(own) != len(other):
            wrong += 1
            continue
        largest = max([largest, *(abs(x - y) for x, y in zip(own, other))])
    say(name, "forced scores", wrong, len(ours), largest)


def compare_with_transformers(ours, model, tokenizer, source, target):
    """Compares translations of text with generate(), and forced scores with the model's."""
    searches = {"greedy": {"num_beams": 1},
                # Only with early stopping does generate() end a search when CTranslate2 does.
                "beam 4, early": {"num_beams": 4, "early_stopping": True},
                "beam 4": {"num_beams": 4}}
    for search, options in searches.items():
        theirs = []
        for line in source:
            batch = tokenizer([line], return_tensors="pt")
            # A forced </s> would replace the last token of a truncated translation.
            found = model.generate(**batch, **options, do_sample=False, max_new_tokens=MAX_TOKENS,
                                   length_penalty=1.0, forced_eos_token_id=None)
            theirs += tokenizer.batch_decode(found, skip_special_tokens=True)
        # Miriam prints the unknown word as SentencePiece does; transformers prints nothing.
        own = [line.replace(" \u2047 ", "") for line in ours.translate(source, options["num_beams"])]
        differing = sum(a.strip() != b.strip() for a, b in zip(own, theirs, strict=True))
        say("transformers, text", search, differing, len(source))
    theirs = []
    for line, to in zip(source, target):
        batch = tokenizer([line], text_target=[to], return_tensors="pt")
        with torch.no_grad():
            scores = model(**batch).logits.log_softmax(-1)[0]
        theirs.append(scores[range(len(scores)), batch["labels"][0]].tolist())
    compare_scores("transformers, text", ours.score(source, target), theirs)


def compare_with_ctranslate2(ours, name, translator, source, target):
    """Compares translations and forced scores of pieces with CTranslate2 on the same folder."""
    # With these folders no </s> is added to a source, so the tokens must include it.
    ended = [[*pieces, "</s>"] for pieces in source]
    lines = [" ".join(pieces) for pieces in ended]
    for beam in (1, 4):
        results = translator.translate_batch(ended, beam_size=beam, max_decoding_length=MAX_TOKENS)
        theirs = [" ".join(result.hypotheses[0]) for result in results]
        own = ours.translate(lines, beam)
        differing = sum(a != b for a, b in zip(own, theirs, strict=True))
        say(name, f"beam {beam}" if beam > 1 else "greedy", differing, len(source))
    theirs = [result.log_probs for result in translator.score_batch(ended, target)]
    compare_scores(name, ours.score(lines, [" ".join(pieces) for pieces in target]), theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--miriam", type=Path, default=Path("target/release/miriam"))
    parser.add_argument("-n", type=int, default=100, help="sentences [100]")
    parser.add_argument("--pieces", type=int, default=300, help="pieces of each side [300]")
    parser.add_argument("--shape", type=int, nargs=4, default=[64, 128, 2, 2],
                        metavar=("WIDTH", "FFN", "ENCODER", "DECODER"))
    parser.add_argument("--updates", type=int, default=300, help="updates of training [300]")
    parser.add_argument("--types", nargs="+", choices=TYPES, default=TYPES)
    parser.add_argument("--keep", type=Path, help="work in this folder, and leave it there")
    a = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or Path(temporary)
        out, model, tokenizer = make_model(folder, a.pieces, a.shape, a.updates)
        read = lambda side: [line for name in ("test", "dev")
                             for line in (TOY / f"{name}.{side}").read_text().splitlines()][:a.n]
        source, target = read("en"), read("es")
        compare_with_transformers(Miriam(a.miriam, out, folder), model, tokenizer, source, target)
        pieces = [tokenizer.convert_ids_to_tokens(tokenizer(line)["input_ids"])[:-1] for line in source]
        goals = [tokenizer.convert_ids_to_tokens(tokenizer(text_target=line)["input_ids"])[:-1]
                 for line in target]
        for kind in a.types:
            made = folder / kind
            converter = ctranslate2.converters.TransformersConverter(str(out))
            with contextlib.redirect_stdout(io.StringIO()):
                converter.convert(str(made), quantization=kind, force=True)
            translator = ctranslate2.Translator(str(made), compute_type="float32", intra_threads=1)
            ours = Miriam(a.miriam, made, folder, "--no-spm-encode")
            compare_with_ctranslate2(ours, f"CTranslate2 folder of {kind}", translator, pieces, goals)


if __name__ == "__main__":
    main()
