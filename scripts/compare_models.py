#!/usr/bin/env python3
"""Compare Miriam's translations and scores, in f32, with those of transformers and of CTranslate2 for
the same models of every architecture.

Makes small models with random weights that have the scales of trained ones: MarianMT, M2M-100,
NLLB-200, mBART-50, T5, T5 1.1 (gated), MADLAD-400 (heads wider than d_model / num_heads, an untied
output layer) and MT5. Each is a folder as transformers saves it, with SentencePiece models of the toy
corpus (mBART-50: tokenizer.json only), and a CTranslate2 folder made by its converter. For each, lines
are translated by greedy search and with a beam of 4, and translations are scored; lines that differ
are counted, and the largest difference of scores is printed. The exit status is 1 if lines differ that
are not ties.

Lines that differ are scored again in f64. They are ties if the two choices differ by less than 1e-5:
for greedy search, the log probabilities of the first tokens that differ; for a beam, the scores of the
two translations, or those of the last prefix inside the beam and the first one outside.

Forced scores are compared with those of transformers in f64 and of CTranslate2 in f32. With beams,
MarianMT's scores differ from those of transformers by the probability of <pad>: Miriam and CTranslate2
renormalise after suppressing it, transformers does not.

    python3 -m venv venv
    venv/bin/pip install torch transformers sentencepiece ctranslate2 protobuf sacremoses
    venv/bin/python scripts/compare_models.py
"""

import argparse
import copy
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ctranslate2
import sentencepiece
import torch
import transformers

TOY = Path(__file__).parent.parent / "examples" / "toy"
MAX_TOKENS = 24
TIE_TOLERANCE = 1e-5
# Names of languages of M2M-100, mBART-50 and NLLB-200.
LANGUAGE = re.compile(r"__\w+__|[a-z]{2}_[A-Z]{2}|[a-z]{3}_[A-Z][a-z]{3}")


# Options of the SentencePiece trainer besides type and size.
TRAINER_OPTIONS = {"input": f"{TOY / 'train.en'},{TOY / 'train.es'}"}


def train_pieces(path, kind, size, **options):
    """Trains a SentencePiece model on the toy corpus and returns its processor."""
    sentencepiece.SentencePieceTrainer.train(
        model_prefix=str(path), vocab_size=size, model_type=kind, hard_vocab_limit=False,
        minloglevel=2, **TRAINER_OPTIONS, **options)
    Path(f"{path}.model").rename(path)
    Path(f"{path}.vocab").unlink()
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1))


def fairseq_tokens(pieces, languages):
    """Returns the tokens by id as fairseq numbers them: four special ones, pieces, languages."""
    tokens = ["<s>", "<pad>", "</s>", "<unk>"]
    tokens += [pieces.id_to_piece(number) for number in range(3, pieces.get_piece_size())]
    return tokens + list(languages)


def is_special(token):
    """Whether a token is never part of text; </s>, which ends each translation, does not count."""
    if token == "</s>":
        return False
    return token.startswith(("<", "madeup")) or LANGUAGE.fullmatch(token) is not None


def randomize(model, tokens, seed):
    """Sets random weights with the scales of trained ones, so that translations vary and scores are
    not ties."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            normal = torch.randn(weight.shape, generator=generator)
            if weight.ndim == 1:
                is_scale = name.endswith("weight")
                weight.copy_(normal * 0.1 + (1.0 if is_scale else 0.0))
            elif "relative_attention_bias" in name:
                weight.copy_(normal)
            elif "embed_positions" in name:
                weight.copy_(normal * 0.5)
            elif "shared" in name or "embed_tokens" in name:
                weight.copy_(normal * 0.7 / weight.shape[1] ** 0.5)
            elif "lm_head" in name:
                weight.copy_(normal * 2.0 / weight.shape[1] ** 0.5)
            elif "q_proj" in name or "k_proj" in name:
                # Attention that looks at few tokens differs from step to step.
                weight.copy_(normal * 2.5 / weight.shape[1] ** 0.5)
            elif ".q." in name or ".k." in name:
                # T5 does not divide by the root of a head's width.
                weight.copy_(normal * 0.9 / weight.shape[1] ** 0.5)
            elif name.endswith(("out_proj.weight", "fc2.weight", ".o.weight", ".wo.weight")):
                # Sublayers outweigh the embedding; otherwise each word would be repeated for ever.
                weight.copy_(normal * 4.0 / weight.shape[1] ** 0.5)
            else:
                weight.copy_(normal * 1.2 / weight.shape[1] ** 0.5)
        # Makes logits as far apart as after training.
        for name, weight in model.named_parameters():
            if name.endswith(("decoder.layer_norm.weight", "decoder.final_layer_norm.weight")):
                weight *= 3.0
        for table in {model.get_input_embeddings().weight, model.get_output_embeddings().weight}:
            # Special tokens are rare, and some translations end.
            special = [number for number, token in enumerate(tokens) if is_special(token)]
            table[special] *= 0.5
            table[model.config.eos_token_id] *= 1.15
    model.eval()


BART_SHAPE = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    "max_position_embeddings": 64, "dropout": 0.0,
}
# Maximum file size for NLLB-200, so small that the weights are split into several files.
SHARD_SIZE = "60KB"
FAIRSEQ_IDS = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
T5_SHAPE = {"d_model": 32, "d_ff": 48, "num_layers": 2, "num_heads": 3, "dropout_rate": 0.0}


class Model:
    """A model in a folder of transformers, with what decoding needs."""

    def __init__(self, folder, model, tokens, languages=None):
        self.folder, self.model, self.tokens = folder, model, tokens
        self.model_f64 = copy.deepcopy(model).double()
        self.ids = {token: number for number, token in enumerate(tokens)}
        # The tokens before a source and before a translation.
        self.source_prefix, self.target_prefix = languages or ([], [])

    def source(self, pieces):
        """Returns the tokens that the encoder reads."""
        return [*self.source_prefix, *pieces, "</s>"]


def save(model, out, tokens, seed, config=None, **options):
    randomize(model, tokens, seed)
    for name, value in (config or {}).items():
        setattr(model.generation_config, name, value)
    model.save_pretrained(out, **options)


def make_marian(out, size, seed):
    pieces = train_pieces(out / "source.spm", "unigram", size, bos_id=-1, eos_id=0, unk_id=1)
    (out / "target.spm").write_bytes((out / "source.spm").read_bytes())
    tokens = [pieces.id_to_piece(number) for number in range(pieces.get_piece_size())] + ["<pad>"]
    write_json(out / "vocab.json", {token: number for number, token in enumerate(tokens)})
    pad = len(tokens) - 1
    config = transformers.MarianConfig(
        vocab_size=len(tokens), pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0,
        bos_token_id=None, forced_eos_token_id=None, scale_embedding=True,
        activation_function="swish", **BART_SHAPE)
    write_json(out / "tokenizer_config.json", {"tokenizer_class": "MarianTokenizer"})
    save(transformers.MarianMTModel(config), out, tokens, seed, {"bad_words_ids": [[pad]]})
    return tokens, pieces, ([], [])


def make_m2m100(out, size, seed):
    pieces = train_pieces(out / "sentencepiece.bpe.model", "bpe", size)
    tokens = fairseq_tokens(pieces, [])
    write_json(out / "vocab.json", {token: number for number, token in enumerate(tokens)})
    tokenizer = transformers.M2M100Tokenizer(out / "vocab.json", out / "sentencepiece.bpe.model")
    tokens += [f"__{code}__" for code in tokenizer.lang_code_to_id]
    tokens += [f"madeupword{number}" for number in range(8)]
    tokenizer.save_pretrained(out)
    config = transformers.M2M100Config(
        vocab_size=len(tokens), scale_embedding=True, activation_function="relu",
        encoder_layerdrop=0.0, decoder_layerdrop=0.0, **FAIRSEQ_IDS, **BART_SHAPE)
    save(transformers.M2M100ForConditionalGeneration(config), out, tokens, seed)
    return tokens, pieces, (["__en__"], ["__es__"])


def make_nllb(out, size, seed):
    """Makes a folder like Facebook's for NLLB-200: a SentencePiece model, languages in a list, weights
    in several files."""
    languages = ["ace_Arab", "deu_Latn", "eng_Latn", "spa_Latn", "zho_Hans", "zho_Hant"]
    pieces = train_pieces(out / "sentencepiece.bpe.model", "bpe", size)
    tokens = [*fairseq_tokens(pieces, languages), "<mask>", "<none 0>", "<none 1>"]
    write_json(out / "tokenizer_config.json", {
        "tokenizer_class": "NllbTokenizer", "additional_special_tokens": languages,
        "src_lang": "eng_Latn"})
    config = transformers.M2M100Config(
        vocab_size=len(tokens), scale_embedding=True, activation_function="relu",
        encoder_layerdrop=0.0, decoder_layerdrop=0.0, **FAIRSEQ_IDS, **BART_SHAPE)
    save(transformers.M2M100ForConditionalGeneration(config), out, tokens, seed,
         max_shard_size=SHARD_SIZE)
    return tokens, pieces, (["eng_Latn"], ["spa_Latn"])


def make_mbart50(out, size, seed):
    pieces = train_pieces(out / "sentencepiece.bpe.model", "unigram", size)
    write_json(out / "tokenizer_config.json", {"tokenizer_class": "MBart50Tokenizer"})
    tokenizer = transformers.MBart50Tokenizer.from_pretrained(out)
    # The folder has only the tokenizer's own file, not the SentencePiece model.
    tokenizer.save_pretrained(out)
    (out / "sentencepiece.bpe.model").unlink()
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    config = transformers.MBartConfig(
        vocab_size=len(tokens), scale_embedding=True, activation_function="gelu",
        forced_eos_token_id=None, **FAIRSEQ_IDS, **BART_SHAPE)
    model = transformers.MBartForConditionalGeneration(config)
    generator = torch.Generator().manual_seed(seed)
    model.final_logits_bias.copy_(torch.randn(1, len(tokens), generator=generator) * 0.2)
    save(model, out, tokens, seed)
    return tokens, pieces, (["en_XX"], ["es_XX"])


def make_t5(out, size, seed, kind="t5", tags=(), **shape):
    pieces = train_pieces(out / "spiece.model", "unigram", size, pad_id=0, eos_id=1, unk_id=2,
                          bos_id=-1, user_defined_symbols=list(tags))
    tokens = [pieces.id_to_piece(number) for number in range(pieces.get_piece_size())]
    tokens += [f"<extra_id_{number}>" for number in reversed(range(100))] + ["<none 0>"] * 4
    write_json(out / "tokenizer_config.json", {"tokenizer_class": "T5Tokenizer", "extra_ids": 100})
    config_class = {"t5": transformers.T5Config, "mt5": transformers.MT5Config}[kind]
    model_class = {"t5": transformers.T5ForConditionalGeneration,
                   "mt5": transformers.MT5ForConditionalGeneration}[kind]
    config = config_class(vocab_size=len(tokens), pad_token_id=0, eos_token_id=1,
                          decoder_start_token_id=0, **{**T5_SHAPE, **shape})
    model = model_class(config)
    save(model, out, tokens, seed)
    if not shape.get("tie_word_embeddings", True):
        untie(out, tokens, seed)
    return tokens, pieces, ([tags[0]] if tags else [], [])


def untie(out, tokens, seed):
    """Gives the saved model an output layer of its own, as T5 1.1 has; transformers 5 ties it in memory
    unless the file has one."""
    from safetensors.torch import load_file, save_file
    tensors = load_file(out / "model.safetensors")
    table = tensors["shared.weight"]
    generator = torch.Generator().manual_seed(seed + 1)
    output = torch.randn(table.shape, generator=generator) / table.shape[1] ** 0.5
    output[[number for number, token in enumerate(tokens) if is_special(token)]] *= 0.3
    tensors["lm_head.weight"] = output
    save_file(tensors, out / "model.safetensors", {"format": "pt"})
    config = json.loads((out / "config.json").read_text())
    config["tie_word_embeddings"] = False
    config.pop("scale_decoder_outputs", None)
    write_json(out / "config.json", config)


GATED = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
MODELS = {
    "MarianMT": make_marian,
    "M2M-100": make_m2m100,
    "NLLB-200": make_nllb,
    "mBART-50": make_mbart50,
    "T5": lambda *a: make_t5(*a, d_kv=10, feed_forward_proj="relu"),
    "T5 1.1": lambda *a: make_t5(*a, d_kv=8, **GATED),
    "MADLAD-400": lambda *a: make_t5(*a, d_kv=16, tags=("<2es>", "<2en>"), **GATED),
    "MT5": lambda *a: make_t5(*a, d_kv=12, kind="mt5", **GATED),
}


class Miriam:
    """Runs Miriam's subcommands on one model."""

    def __init__(self, miriam, model, folder, *options):
        self.start, self.model, self.folder, self.options = [miriam, "nmt"], model, folder, options

    def run(self, command, *arguments):
        command = [*self.start, command, "-m", self.model, "--quiet", "--precision", "f32",
                   *self.options, *arguments]
        command = list(map(str, command))
        process = subprocess.run(command, capture_output=True, text=True)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{process.stderr}")
        return process.stdout.split("\n")[:-1]

    def write(self, name, lines):
        (self.folder / name).write_text("".join(line + "\n" for line in lines))
        return self.folder / name

    def translate(self, lines, beam, *options):
        """Returns the n-best list of each line, with scores."""
        source = self.write("source", lines)
        output = self.run("translate", "--beam-size", beam, "--n-best", "--normalize", "1",
                         "--max-decoding-length", MAX_TOKENS, "-i", source, *options)
        lists = [[] for _ in lines]
        for line in output:
            number, tokens, _, score = line.split(" ||| ")
            lists[int(number)].append((tokens.split(), float(score)))
        return lists

    def score(self, source, target, *options):
        source, target = self.write("source", source), self.write("target", target)
        lines = self.run("score", "--word-scores", *options, "--source", source, "--target", target)
        return [[float(x) for x in line.split("WordScores=")[1].split()] for line in lines]


def forced_scores(case, source, target):
    """Returns, in f64, the scores of the translation's tokens and </s>, and the log probabilities of
    all tokens at each step."""
    tokens = [*case.target_prefix, *target, "</s>"]
    labels = torch.tensor([[case.ids[token] for token in tokens]])
    start = torch.tensor([[case.model.config.decoder_start_token_id]])
    ids = torch.tensor([[case.ids[token] for token in source]])
    with torch.no_grad():
        logits = case.model_f64(ids, decoder_input_ids=torch.cat([start, labels[:, :-1]], 1)).logits[0]
    steps = logits.log_softmax(-1)[len(case.target_prefix):]
    return steps[range(len(steps)), labels[0, len(case.target_prefix):]], steps


def is_tie(case, source, own, other, beam):
    """Whether two translations of a source are equally good."""
    if beam == 1:
        place = next(n for n, (a, b) in enumerate(zip([*own, "</s>"], [*other, "</s>"])) if a != b)
        choices = [case.ids[[*words, "</s>"][place]] for words in (own, other)]
        _, steps = forced_scores(case, source, own)
        step = steps[place]
        return abs(step[choices[0]] - step[choices[1]]).item() < TIE_TOLERANCE
    means = []
    for words in (own, other):
        scores, _ = forced_scores(case, source, words)
        # A translation of the maximum length was cut, so it has no </s>.
        count = min(len(scores), MAX_TOKENS - len(case.target_prefix))
        means.append(scores[:count].sum().item() / (count + len(case.target_prefix)))
    return abs(means[0] - means[1]) < TIE_TOLERANCE or is_tie_in_beam(case, source, own, other, beam)


def is_tie_in_beam(case, source, own, other, beam):
    """Whether, in f64, the last prefix in the beam and the first outside tie at some step, and one of
    them is a prefix of a translation."""
    end = case.ids["</s>"]
    wanted = [[case.ids[token] for token in [*case.target_prefix, *words]] for words in (own, other)]
    ids = torch.tensor([[case.ids[token] for token in source]])
    hypotheses = [(0.0, [])]
    for step in range(MAX_TOKENS):
        starts = [[case.model.config.decoder_start_token_id, *words] for _, words in hypotheses]
        with torch.no_grad():
            logits = case.model_f64(ids.repeat(len(starts), 1), decoder_input_ids=torch.tensor(starts)).logits
        candidates = []
        for (score, words), row in zip(hypotheses, logits[:, -1].log_softmax(-1)):
            best = [wanted[0][step]] if step < len(case.target_prefix) else row.topk(2 * beam).indices.tolist()
            candidates += [(score + row[word].item(), [*words, word]) for word in best if word != end]
        candidates.sort(reverse=True)
        border = candidates[beam - 1 : beam + 1]
        if len(border) == 2 and border[0][0] - border[1][0] < TIE_TOLERANCE and any(
                words == whole[: step + 1] for _, words in border for whole in wanted):
            return True
        hypotheses = candidates[:beam]
        if not hypotheses:
            return False
    return False


def compare_lists(name, what, ours, theirs, summary, case, sources, beam):
    """Counts lines whose best translation differs, and those of them that are ties."""
    differing, ties, largest = 0, 0, 0.0
    for own, other, source in zip(ours, theirs, sources, strict=True):
        if own[0][0] == other[0][0]:
            largest = max(largest, abs(own[0][1] - other[0][1]))
            continue
        differing += 1
        ties += is_tie(case, source, own[0][0], other[0][0], beam)
    report(name, what, differing, len(ours), largest, ties, summary)


def report(name, what, differing, count, largest, ties, summary):
    tied = f" ({ties} ties)" if ties else ""
    print(f"{name:<12} {what:<28} {differing:>3} of {count} lines differ{tied}, scores by at most "
          f"{largest:.1e}", flush=True)
    summary["lines"] += differing - ties
    summary["score"] = max(summary["score"], largest)


def compare_scores(name, what, ours, theirs, summary):
    largest, wrong = 0.0, 0
    for own, other in zip(ours, theirs, strict=True):
        if len(own) != len(other):
            wrong += 1
            continue
        largest = max([largest, *(abs(x - y) for x, y in zip(own, other))])
    report(name, what, wrong, len(ours), largest, 0, summary)


def generate(model, ids, tokens, forced, beam):
    """Returns the n-best list of transformers: tokens after the forced ones, and scores divided by
    length."""
    options = {"num_beams": beam, "num_return_sequences": beam, "early_stopping": beam > 1}
    if beam > 1:
        options["length_penalty"] = 1.0
    if forced:
        options["forced_bos_token_id"] = forced[0]
    with torch.no_grad():
        output = model.generate(
            torch.tensor([ids]), do_sample=False, max_new_tokens=MAX_TOKENS, min_new_tokens=None,
            output_scores=True, return_dict_in_generate=True, **options)
    end = model.generation_config.eos_token_id
    end = end[0] if isinstance(end, list) else end
    all_scores = output.sequences_scores.tolist() if beam > 1 else [None] * len(output.sequences)
    result = []
    for row, (sequence, score) in enumerate(zip(output.sequences.tolist(), all_scores)):
        words = sequence[1:]
        if end in words:
            words = words[: words.index(end)]
        if score is None:
            scores = model.compute_transition_scores(output.sequences, output.scores, normalize_logits=True)
            scores = [x for x in scores[row].tolist() if x > float("-inf")]
            length = min(len(words) + 1, MAX_TOKENS)
            score = sum(scores[:length]) / length
        result.append(([tokens[word] for word in words[len(forced):]], score))
    return result


# generate() may return an empty translation; by CTranslate2's rules Miriam generates at least a token.
NO_MIN_LENGTH = ["--min-length", "0"]


def compare_with_transformers(name, case, ours, sentences, summary):
    """Compares translations and forced scores. Returns the translations of the beam, whose tokens are
    scored."""
    model, tokens = case.model, case.tokens
    ids = [[case.ids[token] for token in case.source(pieces)] for pieces in sentences]
    forced = [case.ids[token] for token in case.target_prefix]
    lines = [" ".join(pieces) for pieces in sentences]
    for beam in (1, 4):
        theirs = [generate(model, source, tokens, forced, beam) for source in ids]
        own = ours.translate(lines, beam, "--no-spm-encode", "--no-spm-decode", *NO_MIN_LENGTH)
        what = "transformers, " + ("greedy" if beam == 1 else f"beam {beam}")
        sources = [case.source(pieces) for pieces in sentences]
        compare_lists(name, what, own, theirs, summary, case, sources, beam)
    # The translations of the last search, which had a beam of 4.
    targets = [translations[0][0] for translations in theirs]
    scores = [forced_scores(case, case.source(pieces), target)[0].tolist()
              for pieces, target in zip(sentences, targets)]
    own = ours.score(lines, [" ".join(target) for target in targets], "--no-spm-encode")
    compare_scores(name, "transformers, forced scores", own, scores, summary)
    return targets


def compare_with_ctranslate2(name, case, ours, folder, sentences, targets, summary):
    """Compares translations and the scores of `targets`."""
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=2)
    sources = [case.source(pieces) for pieces in sentences]
    prefix = [case.target_prefix] * len(sources) if case.target_prefix else None
    # CTranslate2 folders of models without languages do not append </s> to the source, so it is part of
    # each line.
    end = [] if case.source_prefix or case.target_prefix else ["</s>"]
    lines = [" ".join([*pieces, *end]) for pieces in sentences]
    for beam in (1, 4):
        results = translator.translate_batch(
            sources, target_prefix=prefix, beam_size=beam, num_hypotheses=beam,
            return_scores=True, max_decoding_length=MAX_TOKENS)
        theirs = [[(tokens[len(case.target_prefix):], score)
                   for tokens, score in zip(result.hypotheses, result.scores)]
                  for result in results]
        own = ours.translate(lines, beam)
        what = "CTranslate2, " + ("greedy" if beam == 1 else f"beam {beam}")
        compare_lists(name, what, own, theirs, summary, case, sources, beam)
    scored = translator.score_batch(sources, [[*case.target_prefix, *target] for target in targets])
    theirs = [result.log_probs[len(case.target_prefix):] for result in scored]
    compare_scores(name, "CTranslate2, forced scores",
                   ours.score(lines, [" ".join(target) for target in targets]), theirs, summary)


def convert(case, folder):
    """Converts the model into a CTranslate2 folder. Calls the converter's code for the architecture, but
    registers the vocabulary made here, because the converter's tokenisers do not fit newer versions of
    transformers."""
    from ctranslate2.converters import transformers as converters
    if case.model.config.model_type == "mbart":
        # Older versions of transformers had these keys in the configuration.
        case.model.config.normalize_before = case.model.config.normalize_embedding = True
    loader = converters._MODEL_LOADERS[type(case.model.config).__name__]
    spec = loader.get_model_spec(case.model)
    # The converter drops the row of <pad>, Marian's start, and starts from zeros.
    is_marian = case.model.config.model_type == "marian"
    tokens = list(case.tokens)[: -1 if is_marian else None]
    tokens = [token if token not in tokens[:number] else f"<none {number}>"
              for number, token in enumerate(tokens)]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    start = "</s>" if is_marian else tokens[case.model.config.decoder_start_token_id]
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = start, "</s>", "<unk>"
    spec.config.decoder_start_token = start
    spec.validate()
    spec.optimize(None)
    folder.mkdir(exist_ok=True)
    spec.save(str(folder))


def read_sentences(pieces, count):
    """Returns `count` different sentences of the toy corpus in pieces, of 2 to 40 each."""
    lines = (TOY / "train.en").read_text().splitlines()
    sentences = []
    for line in lines:
        tokens = pieces.encode(line, out_type=str)
        if 2 <= len(tokens) <= 40 and tokens not in sentences:
            sentences.append(tokens)
        if len(sentences) == count:
            break
    return sentences


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--miriam", default="target/release/miriam")
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--pieces", type=int, default=400)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--keep", type=Path, help="keep models in this folder")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    summary = {"lines": 0, "score": 0.0}
    with tempfile.TemporaryDirectory() as temporary:
        root = arguments.keep or Path(temporary)
        for seed, name in enumerate(MODELS, 1):
            if name not in arguments.models:
                continue
            out = root / name.replace(" ", "-").lower()
            out.mkdir(parents=True, exist_ok=True)
            tokens, pieces, languages = MODELS[name](out, arguments.pieces, seed)
            model = transformers.AutoModelForSeq2SeqLM.from_pretrained(out)
            model.eval()
            case = Model(out, model, tokens, languages)
            options = []
            if case.target_prefix:
                options = ["--from", case.source_prefix[0], "--to", case.target_prefix[0]]
            elif case.source_prefix:
                options = ["--to", case.source_prefix[0]]
            sentences = read_sentences(pieces, arguments.lines)
            ours = Miriam(arguments.miriam, out, root, *options)
            targets = compare_with_transformers(name, case, ours, sentences, summary)
            folder = out / "ct2"
            convert(case, folder)
            ct2 = Miriam(arguments.miriam, folder, root, *options)
            compare_with_ctranslate2(name, case, ct2, folder, sentences, targets, summary)
    print(f"{summary['lines']} lines differ that are not ties; scores differ by at most "
          f"{summary['score']:.1e}")
    return 1 if summary["lines"] else 0


if __name__ == "__main__":
    sys.exit(main())
