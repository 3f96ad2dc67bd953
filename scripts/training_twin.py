#!/usr/bin/env python3
"""Trains a model of Marian's shape with PyTorch, for compare_training.py.

    python3 -m venv venv && venv/bin/pip install torch numpy sentencepiece pyyaml
    venv/bin/python scripts/training_twin.py -t train.de train.en -v vocab.spm --model twin/model.npz \\
        --task m30k --valid-sets dev.de dev.en
    miriam nmt translate -m twin/model.npz -v vocab.spm vocab.spm --beam-size 5 --normalize 1 \\
        -i test.de -o test.out

Options are Marian's, with the defaults of `miriam nmt train`; --task m30k has the values of that
preset there. The log has Marian's lines. Models are transformers (self-attention or SSRU in the
decoder, norms before or after sublayers), or of type s2s with one layer of GRU cells; all have one
table of embeddings. What differs from `miriam nmt train`:

- Sentences of a batch are padded to one length. An epoch is shuffled, sorted by length and divided into
  batches of at least --mini-batch-words target tokens, which are shuffled.
- Random numbers are PyTorch's, and so is the order of dropout.

For speed, PyTorch's own operators are used if there are any (scaled_dot_product_attention,
layer_norm, cross_entropy, gru, Adam fused). The decoder's GRU multiplies the words
of all positions at once.
--compile runs the loss through torch.compile. --batch-loss FILE writes the loss of each update, for
comparison with a run from the same --pretrained-model without dropout.
"""

import argparse
import math
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import yaml

from training_networks import Batch

TASKS = {
    "m30k": {
        "dim-emb": 128, "enc-depth": 4, "dec-depth": 4, "transformer-heads": 4,
        "transformer-dim-ffn": 256, "transformer-ffn-activation": "relu",
        "transformer-preprocess": "n", "transformer-postprocess": "da",
        "transformer-postprocess-top": "n",
        "transformer-dropout": 0.3, "label-smoothing": 0.1,
        "learn-rate": 0.005, "lr-warmup": 1000, "lr-decay-inv-sqrt": 1000,
        "optimizer-params": [0.9, 0.98, 1e-9], "clip-norm": 0.0, "exponential-smoothing": 0.001,
        "mini-batch-words": 4096, "valid-freq": 250, "disp-freq": 50, "after-batches": 8000,
    }
}


class Corpus:
    """Pairs of sentences as ids, with `</s>` at the end of each sentence, which counts as a word of
    the greatest length as in Marian."""

    def __init__(self, files, pieces, max_length=None):
        sides = [pieces.encode(Path(file).read_text(encoding="utf-8").splitlines())
                 for file in files]
        end = pieces.eos_id()
        self.pairs = [(source + [end], target + [end]) for source, target in zip(*sides)]
        if max_length:
            self.pairs = [pair for pair in self.pairs if max(map(len, pair)) <= max_length]

    def batches(self, words, shuffle):
        """Returns batches: lists of pairs of about equal length."""
        order = list(self.pairs)
        if shuffle:
            random.shuffle(order)
        order.sort(key=lambda pair: len(pair[1]))
        batches, batch, count = [], [], 0
        for pair in order:
            batch.append(pair)
            count += len(pair[1])
            if count >= words:
                batches.append(batch)
                batch, count = [], 0
        if batch:
            batches.append(batch)
        if shuffle:
            random.shuffle(batches)
        return batches


class Network:
    """Parameters by Marian's names, and the loss of a batch."""

    def __init__(self, options, vocabulary):
        self.options, self.vocabulary = options, vocabulary
        self.parameters = {}
        self.is_training = True
        self.make()

    def __getitem__(self, name):
        return self.parameters[name]

    def add(self, name, rows, columns):
        """Adds a matrix, a bias (one row of zeros) or the scale of a norm (ones)."""
        if "_ln_scale" in name:
            tensor = torch.ones(rows, columns)
        elif rows == 1 and not name.endswith("U_att"):
            tensor = torch.zeros(rows, columns)
        else:
            limit = math.sqrt(3 / columns if name == "Wemb" else 6 / (rows + columns))
            tensor = torch.empty(rows, columns).uniform_(-limit, limit)
        self.parameters[name] = tensor.requires_grad_()

    def vector(self, name):
        return self.parameters[name].view(-1)

    def dropped(self, x):
        rate = self.options["transformer-dropout"]
        return F.dropout(x, rate) if self.is_training and rate else x

    def loss(self, sources, source_mask, targets, target_mask, smoothing):
        """Returns the summed loss of the target tokens. Logits are not computed for padding."""
        states = self.states(sources, source_mask, targets)[target_mask]
        logits = torch.addmm(self.vector(self.output_bias), states, self["Wemb"].T)
        return F.cross_entropy(logits, targets[target_mask], reduction="sum",
                               label_smoothing=smoothing)

    def previous_words(self, targets):
        return F.pad(F.embedding(targets[:, :-1], self["Wemb"]), (0, 0, 1, 0))


class Transformer(Network):
    output_bias = "decoder_ff_logit_out_b"

    def make(self):
        options = self.options
        dim, ffn = options["dim-emb"], options["transformer-dim-ffn"]
        self.is_recurrent = options["transformer-decoder-autoreg"] == "rnn"
        self.add("Wemb", self.vocabulary, dim)
        self.add(self.output_bias, 1, self.vocabulary)

        # Norms are before sublayers and after a stack, or after sublayers.
        self.is_pre_norm = options["transformer-preprocess"] == "n"

        def norm(name):
            suffix = "_pre" if self.is_pre_norm else ""
            self.add(name + "_ln_scale" + suffix, 1, dim)
            self.add(name + "_ln_bias" + suffix, 1, dim)

        if self.is_pre_norm:
            for side in ("encoder", "decoder"):
                self.add(side + "_top_ln_scale", 1, dim)
                self.add(side + "_top_ln_bias", 1, dim)

        def attention(name):
            for part in "qkvo":
                self.add(f"{name}_W{part}", dim, dim)
                self.add(f"{name}_b{part}", 1, dim)
            norm(name + "_Wo")

        for side, depth in (("encoder", options["enc-depth"]), ("decoder", options["dec-depth"])):
            for layer in range(1, depth + 1):
                prefix = f"{side}_l{layer}_"
                if side == "decoder" and self.is_recurrent:
                    self.add(prefix + "rnn_W", dim, dim)
                    self.add(prefix + "rnn_Wf", dim, dim)
                    self.add(prefix + "rnn_bf", 1, dim)
                    # As in Marian, the names of norms before and after this sublayer differ.
                    norm(prefix + ("rnn" if self.is_pre_norm else "rnn_ffn"))
                else:
                    attention(prefix + "self")
                if side == "decoder":
                    attention(prefix + "context")
                self.add(prefix + "ffn_W1", dim, ffn)
                self.add(prefix + "ffn_b1", 1, ffn)
                self.add(prefix + "ffn_W2", ffn, dim)
                self.add(prefix + "ffn_b2", 1, dim)
                norm(prefix + "ffn_ffn")
        half = dim // 2
        angles = torch.arange(1024.0)[:, None] / 10_000 ** (torch.arange(half) / (half - 1))
        self.positions = torch.cat([angles.sin(), angles.cos()], 1)

    def embed(self, vectors):
        dim = self.options["dim-emb"]
        return self.dropped(vectors * math.sqrt(dim) + self.positions[: vectors.shape[1]])

    def norm(self, x, name, suffix=""):
        scale = self.vector(f"{name}_ln_scale{suffix}")
        return F.layer_norm(x, scale.shape, scale, self.vector(f"{name}_ln_bias{suffix}"), 1e-6)

    def before(self, x, name):
        return self.norm(x, name, "_pre") if self.is_pre_norm else x

    def after(self, x, residual, name):
        x = self.dropped(x) + residual
        return x if self.is_pre_norm else self.norm(x, name)

    def top(self, x, side):
        return self.norm(x, side + "_top") if self.is_pre_norm else x

    def project(self, x, name, parts):
        """Returns the products with several matrices, computed at once, by attention head."""
        weights = torch.cat([self[f"{name}_W{part}"] for part in parts], 1)
        bias = torch.cat([self.vector(f"{name}_b{part}") for part in parts])
        rows = torch.addmm(bias, x.flatten(0, 1), weights).view(*x.shape[:2], len(parts), -1)
        heads = self.options["transformer-heads"]
        return [part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in rows.unbind(2)]

    def attention(self, name, x, memory=None, mask=None):
        normed = self.before(x, name + "_Wo")
        if memory is None:
            queries, keys, values = self.project(normed, name, "qkv")
        else:
            (queries,) = self.project(normed, name, "q")
            keys, values = self.project(memory, name, "kv")
        out = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask,
                                             is_causal=mask is None)
        out = out.transpose(1, 2).flatten(2)
        return self.after(out @ self[name + "_Wo"] + self.vector(name + "_bo"), x, name + "_Wo")

    def feed_forward(self, name, x):
        activation = {"relu": F.relu, "swish": F.silu}[self.options["transformer-ffn-activation"]]
        normed = self.before(x, name + "_ffn")
        hidden = activation(normed @ self[name + "_W1"] + self.vector(name + "_b1"))
        return self.after(hidden @ self[name + "_W2"] + self.vector(name + "_b2"), x,
                          name + "_ffn")

    def simple_recurrence(self, name, x):
        normed = self.before(x, name)
        forget = torch.sigmoid(normed @ self[name + "_Wf"] + self.vector(name + "_bf"))
        candidate = (1 - forget) * (normed @ self[name + "_W"])
        cell, states = torch.zeros_like(x[:, 0]), []
        for gate, new in zip(forget.unbind(1), candidate.unbind(1)):
            cell = torch.addcmul(new, gate, cell)
            states.append(cell)
        return self.after(F.relu(torch.stack(states, 1)), x, name + "_ffn")

    def states(self, sources, source_mask, targets):
        mask = source_mask[:, None, None, :]
        x = self.embed(F.embedding(sources, self["Wemb"]))
        for layer in range(1, self.options["enc-depth"] + 1):
            x = self.attention(f"encoder_l{layer}_self", x, mask=mask)
            x = self.feed_forward(f"encoder_l{layer}_ffn", x)
        context = self.top(x, "encoder")
        x = self.embed(self.previous_words(targets))
        for layer in range(1, self.options["dec-depth"] + 1):
            prefix = f"decoder_l{layer}_"
            if self.is_recurrent:
                x = self.simple_recurrence(prefix + "rnn", x)
            else:
                x = self.attention(prefix + "self", x)
            x = self.attention(prefix + "context", x, context, mask)
            x = self.feed_forward(prefix + "ffn", x)
        return self.top(x, "decoder")


class Recurrent(Network):
    output_bias = "decoder_ff_logit_l2_b"

    def make(self):
        dim, width = self.options["dim-emb"], self.options["dim-rnn"]
        self.add("Wemb", self.vocabulary, dim)
        self.add(self.output_bias, 1, self.vocabulary)

        def cell(name, inputs):
            self.add(name + "_W", inputs, 2 * width)
            self.add(name + "_Wx", inputs, width)
            self.add(name + "_U", width, 2 * width)
            self.add(name + "_Ux", width, width)
            self.add(name + "_b", 1, 2 * width)
            self.add(name + "_bx", 1, width)

        cell("encoder_bi", dim)
        cell("encoder_bi_r", dim)
        cell("decoder_cell1", dim)
        cell("decoder_cell2", 2 * width)
        for name, rows, columns in (
            ("decoder_ff_state_W", 2 * width, width), ("decoder_ff_state_b", 1, width),
            ("decoder_Wc_att", 2 * width, 2 * width), ("decoder_b_att", 1, 2 * width),
            ("decoder_W_comb_att", width, 2 * width), ("decoder_U_att", 2 * width, 1),
        ):
            self.add(name, rows, columns)
        for index, inputs in enumerate((dim, width, 2 * width)):
            self.add(f"decoder_ff_logit_l1_W{index}", inputs, dim)
            self.add(f"decoder_ff_logit_l1_b{index}", 1, dim)

    def gates(self, name, which):
        return torch.cat([self[f"{name}_{which}"], self[f"{name}_{which}x"]], 1)

    def encode(self, x, mask):
        """Encodes in both directions by PyTorch's gru, whose second bias stays zero."""
        lengths = mask.sum(1)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False)
        weights = []
        for name in ("encoder_bi", "encoder_bi_r"):
            bias = self.gates(name, "b").view(-1)
            weights += [self.gates(name, "W").T.contiguous(), self.gates(name, "U").T.contiguous(),
                        bias, torch.zeros_like(bias)]
        start = x.new_zeros(2, x.shape[0], self.options["dim-rnn"])
        out, _ = torch._VF.gru(packed.data, packed.batch_sizes, start, weights, True, 1, 0.0,
                               self.is_training, True)
        packed = torch.nn.utils.rnn.PackedSequence(
            out, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        return torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)[0]

    def states(self, sources, source_mask, targets):
        width = self.options["dim-rnn"]
        context = self.encode(F.embedding(sources, self["Wemb"]), source_mask)
        count = source_mask.sum(1, keepdim=True)
        mean = (context * source_mask[:, :, None]).sum(1) / count
        state = torch.tanh(mean @ self["decoder_ff_state_W"] + self.vector("decoder_ff_state_b"))
        keys = context @ self["decoder_Wc_att"] + self.vector("decoder_b_att")
        bias = torch.zeros(source_mask.shape).masked_fill(~source_mask, -math.inf)
        words = self.previous_words(targets)
        first, second = "decoder_cell1", "decoder_cell2"
        of_words = words @ self.gates(first, "W") + self.gates(first, "b")
        [first_u, second_u] = [self.gates(name, "U") for name in (first, second)]
        second_w, second_b = self.gates(second, "W"), self.gates(second, "b").view(-1)
        comb, score = self["decoder_W_comb_att"], self["decoder_U_att"]
        outputs, attended_all = [], []
        for of_word in of_words.unbind(1):
            of_state = state @ first_u
            gates = torch.sigmoid(of_word[:, : 2 * width] + of_state[:, : 2 * width])
            reset, keep = gates.chunk(2, 1)
            candidate = torch.tanh(of_word[:, 2 * width :] + reset * of_state[:, 2 * width :])
            state = torch.lerp(candidate, state, keep)
            energies = (torch.tanh(keys + (state @ comb)[:, None]) @ score).squeeze(2)
            weights = (energies + bias).softmax(1)
            attended = torch.bmm(weights[:, None], context).squeeze(1)
            of_input = attended @ second_w
            of_state = torch.addmm(second_b, state, second_u)
            gates = torch.sigmoid(of_input[:, : 2 * width] + of_state[:, : 2 * width])
            reset, keep = gates.chunk(2, 1)
            candidate = torch.tanh(of_input[:, 2 * width :] + reset * of_state[:, 2 * width :])
            state = torch.lerp(candidate, state, keep)
            outputs.append(state)
            attended_all.append(attended)
        parts = (words, torch.stack(outputs, 1), torch.stack(attended_all, 1))
        name = "decoder_ff_logit_l1"
        return torch.tanh(sum(part @ self[f"{name}_W{index}"] + self.vector(f"{name}_b{index}")
                              for index, part in enumerate(parts)))


def model_options(options, vocabulary):
    """Returns the options that a decoder needs."""
    names = ("type", "dim-emb", "dim-rnn", "enc-depth", "dec-depth", "transformer-heads",
             "transformer-dim-ffn", "transformer-ffn-activation", "transformer-decoder-autoreg",
             "transformer-preprocess", "transformer-postprocess", "transformer-postprocess-top")
    fixed = {
        "dim-vocabs": [vocabulary, vocabulary], "tied-embeddings": False,
        "tied-embeddings-src": False, "tied-embeddings-all": True,
        "transformer-ffn-depth": 2,
        "transformer-postprocess-emb": "d",
        "transformer-no-projection": False, "transformer-tied-layers": [],
        "dec-cell": "ssru" if options["type"] == "transformer" else "gru", "enc-cell": "gru",
        "enc-type": "bidirectional", "enc-cell-depth": 1, "dec-cell-base-depth": 2,
        "dec-cell-high-depth": 1, "skip": False, "layer-normalization": False,
        "right-left": False, "input-types": [], "version": "training_twin.py",
    }
    if options["transformer-preprocess"]:
        # Marian's decoder would normalise keys and values in the first step only.
        fixed["miriam-pre-norm-keys"] = "normalized"
    return {**{name: options[name] for name in names}, **fixed}


def save(path, network, values):
    arrays = {name: tensor.detach().numpy() for name, tensor in values.items()}
    text = yaml.safe_dump(model_options(network.options, network.vocabulary)).encode() + b"\0"
    arrays["special:model.yml"] = np.frombuffer(text, dtype=np.int8)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


class Trainer:
    def __init__(self, options, pieces):
        self.options = options
        family = Transformer if options["type"] == "transformer" else Recurrent
        self.network = family(options, pieces.get_piece_size())
        parameters = self.network.parameters
        if options["pretrained-model"]:
            archive = np.load(options["pretrained-model"])
            with torch.no_grad():
                for name, tensor in parameters.items():
                    tensor.copy_(torch.from_numpy(archive[name]).view_as(tensor))
        beta1, beta2, epsilon = options["optimizer-params"]
        self.tensors = list(parameters.values())
        self.adam = torch.optim.Adam(self.tensors, betas=(beta1, beta2), eps=epsilon, fused=True)
        smooths = options["exponential-smoothing"] > 0
        self.average = {name: t.detach().clone() for name, t in parameters.items()} if smooths \
            else parameters
        self.loss = torch.compile(self.network.loss, dynamic=True) if options["compile"] \
            else self.network.loss
        self.updates = 0

    def rate(self):
        """Returns the learning rate of the next update."""
        options, update = self.options, self.updates + 1
        rate, warmup, inverse = (options[name] for name in
                                 ("learn-rate", "lr-warmup", "lr-decay-inv-sqrt"))
        if warmup:
            rate *= min(1.0, update / warmup)
        return rate * math.sqrt(inverse / max(update, inverse)) if inverse else rate

    def update(self, batch):
        """Takes a step; returns the loss and the norm of the gradient."""
        options = self.options
        sources, targets = (Batch.pad([pair[side] for pair in batch]) for side in (0, 1))
        self.adam.param_groups[0]["lr"] = self.rate()
        self.adam.zero_grad()
        loss = self.loss(*sources, *targets, options["label-smoothing"])
        loss.backward()
        norm = torch.nn.utils.get_total_norm([tensor.grad for tensor in self.tensors])
        if options["clip-norm"] and norm > options["clip-norm"]:
            for tensor in self.tensors:
                tensor.grad.mul_(options["clip-norm"] / norm)
        self.adam.step()
        if self.average is not self.network.parameters:
            decay = max(options["exponential-smoothing"],
                        1 - (self.updates + 1) / (self.updates + 10))
            with torch.no_grad():
                torch._foreach_lerp_(list(self.average.values()), self.tensors, decay)
        self.updates += 1
        return loss.item(), norm.item()

    def validate(self, corpus):
        """Returns the mean cross-entropy of a token with the averaged parameters."""
        network, total, words = self.network, 0.0, 0
        trained = network.parameters
        network.parameters, network.is_training = self.average, False
        with torch.no_grad():
            for batch in corpus.batches(2048, shuffle=False):
                sources, targets = (Batch.pad([pair[side] for pair in batch]) for side in (0, 1))
                total += network.loss(*sources, *targets, 0.0).item()
                words += targets[1].sum().item()
        network.parameters, network.is_training = trained, True
        return total / words


def train(options):
    import sentencepiece
    torch.manual_seed(options["seed"])
    random.seed(options["seed"])
    torch.set_num_threads(options["cpu-threads"])
    pieces = sentencepiece.SentencePieceProcessor(model_file=options["vocabs"][0])
    corpus = Corpus(options["train-sets"], pieces, options["max-length"])
    valid = options["valid-sets"] and Corpus(options["valid-sets"], pieces)
    trainer = Trainer(options, pieces)
    losses = options["batch-loss"] and open(options["batch-loss"], "w", encoding="utf-8")
    path, epoch, all_words, start = Path(options["model"]), 0, 0, time.perf_counter()
    shown = [0.0, 0, 0.0, 0, start]
    while trainer.updates < options["after-batches"]:
        epoch += 1
        sentences = 0
        for batch in corpus.batches(options["mini-batch-words"], options["shuffle"] != "none"):
            loss, norm = trainer.update(batch)
            words = sum(len(target) for _, target in batch)
            sentences += len(batch)
            all_words += words
            if losses:
                print(f"{loss:.9g}", words, file=losses)
            shown = [shown[0] + loss, shown[1] + words, shown[2] + norm, shown[3] + 1, shown[4]]
            update = trainer.updates
            if update % options["disp-freq"] == 0:
                now = time.perf_counter()
                print(f"Ep. {epoch} : Up. {update} : Sen. {sentences:,} : Cost "
                      f"{shown[0] / shown[1]:.8f} * {shown[1]:,} @ {words:,} after {all_words:,} : "
                      f"Time {now - shown[4]:.2f}s : {shown[1] / (now - shown[4]):.2f} words/s : "
                      f"gNorm {shown[2] / shown[3]:.4f} : L.r. {trainer.rate():.4e}", flush=True)
                shown = [0.0, 0, 0.0, 0, now]
            if valid and update % options["valid-freq"] == 0:
                print(f"[valid] Ep. {epoch} : Up. {update} : ce-mean-words : "
                      f"{trainer.validate(valid):.6f}", flush=True)
                save(path, trainer.network, trainer.average)
                shown[4] = time.perf_counter()
            if update == options["after-batches"]:
                break
    save(path, trainer.network, trainer.average)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("-t", "--train-sets", nargs=2, required=True, metavar="TEXT")
    add("-v", "--vocabs", nargs="+", required=True, help="a SentencePiece model, of both sides")
    add("--model", required=True, help="the npz to write")
    add("--task", choices=TASKS, help="a preset; given options override it")
    add("--valid-sets", nargs=2, metavar="TEXT")
    add("--pretrained-model")
    add("--batch-loss", metavar="FILE")
    add("--type", default="transformer", choices=["transformer", "s2s"])
    add("--transformer-decoder-autoreg", default="self-attention",
        choices=["self-attention", "rnn"])
    add("--transformer-ffn-activation", default="swish", choices=["swish", "relu"])
    add("--transformer-preprocess", default="", choices=["", "n"])
    add("--transformer-postprocess", default="dan", choices=["dan", "da"])
    add("--transformer-postprocess-top", default="", choices=["", "n"])
    add("--dec-cell", choices=["ssru", "gru"])
    add("--shuffle", default="data", choices=["data", "none"])
    for name, default in (
        ("dim-emb", 512), ("dim-rnn", 1024), ("enc-depth", 1), ("dec-depth", 1),
        ("transformer-heads", 8), ("transformer-dim-ffn", 2048), ("lr-warmup", 0),
        ("lr-decay-inv-sqrt", 0), ("mini-batch-words", 4096), ("max-length", 100),
        ("after-batches", 1000), ("valid-freq", 1000), ("disp-freq", 50), ("seed", 1),
        ("cpu-threads", 2),
    ):
        add("--" + name, type=lambda text: int(text.rstrip("u")), default=default)
    for name, default in (
        ("transformer-dropout", 0.0), ("label-smoothing", 0.0), ("learn-rate", 3e-4),
        ("clip-norm", 1.0), ("exponential-smoothing", 0.0),
    ):
        add("--" + name, type=float, default=default)
    add("--optimizer-params", type=float, nargs=3, default=[0.9, 0.999, 1e-8])
    for name in ("tied-embeddings-all", "overwrite", "count-target-words"):
        add("--" + name, action="store_true", help="accepted without effect: always on")
    add("--compile", action="store_true", help="use torch.compile")
    task = parser.parse_known_args()[0].task
    if task:
        parser.set_defaults(**{name.replace("-", "_"): value
                               for name, value in TASKS[task].items()})
    options = {name.replace("_", "-"): value for name, value in vars(parser.parse_args()).items()}
    if options["type"] == "s2s" and (options["enc-depth"], options["dec-depth"]) != (1, 1):
        parser.error("models of type s2s have one layer here")
    steps = [options[f"transformer-{name}"]
             for name in ("preprocess", "postprocess", "postprocess-top")]
    if steps not in (["", "dan", ""], ["n", "da", "n"]):
        parser.error("norms are after sublayers (dan), or before them (n, da, n)")
    return options


if __name__ == "__main__":
    sys.exit(train(read_options()))
