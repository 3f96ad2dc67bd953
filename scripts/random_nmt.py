"""Neural models with random weights, written in Marian's formats by NumPy.

Speed does not depend on the values of weights, so a model of any shape can be measured
without training one. Writes `.npz`, `.bin` of floats or of intgemm's eight bits, and a
vocabulary in YAML.
"""

import struct

import numpy as np
import yaml

# Width, width of feed-forward layers, layers of encoder and decoder.
SHAPES = {"tiny": (256, 1536, 6, 2), "base": (512, 2048, 6, 6), "nllb-600m": (1024, 4096, 12, 12)}
# Sizes of the vocabularies, for shapes of well-known models.
VOCABULARY_SIZES = {"nllb-600m": 256206}
KINDS = ("transformer", "ssru", "aan", "gru")

OPTIONS = {
    "bert-train-type-embeddings": True, "bert-type-vocab-size": 2, "dec-cell": "gru",
    "dec-cell-base-depth": 2, "dec-cell-high-depth": 1, "enc-cell": "gru", "enc-cell-depth": 1,
    "enc-type": "bidirectional", "factors-combine": "sum", "factors-dim-emb": 0,
    "input-types": [], "layer-normalization": False, "lemma-dependency": "",
    "lemma-dim-emb": 0, "output-omit-bias": False, "right-left": False, "skip": False,
    "special-vocab": [], "tied-embeddings": False, "tied-embeddings-all": True,
    "tied-embeddings-src": False, "transformer-aan-activation": "swish",
    "transformer-aan-depth": 2, "transformer-aan-nogate": False,
    "transformer-decoder-autoreg": "self-attention", "transformer-decoder-dim-ffn": 0,
    "transformer-decoder-ffn-depth": 0, "transformer-depth-scaling": False,
    "transformer-ffn-activation": "relu", "transformer-ffn-depth": 2,
    "transformer-guided-alignment-layer": "last", "transformer-no-projection": False,
    "transformer-pool": False, "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d", "transformer-postprocess-top": "",
    "transformer-preprocess": "", "transformer-rnn-projection": False,
    "transformer-tied-layers": [], "transformer-train-position-embeddings": False,
    "ulr": False, "ulr-dim-emb": 0, "ulr-trainable-transformation": False,
    "version": "v1.12.0 random weights",
}


def shape_of(text):
    """Returns the shape that a text gives, by its name or by four numbers."""
    if text in SHAPES:
        return SHAPES[text]
    try:
        numbers = tuple(int(number) for number in text.split("/"))
    except ValueError:
        numbers = ()
    if len(numbers) != 4 or min(numbers) < 1:
        raise ValueError(f"{text}: {', '.join(SHAPES)}, or WIDTH/FFN/ENCODER/DECODER is needed")
    return numbers


class Model:
    """Parameters by Marian's names, and the options that go with them."""

    def __init__(self, kind, shape, words, end, seed=1):
        """`end` is the bias of </s>: with -1e4 no search ends before the length limit, with a few
        units sentences end after a few words."""
        self.kind, self.words = kind, words
        self.width, self.inside, self.encoder, self.decoder = shape
        self.random = np.random.default_rng(seed)
        self.parameters = {}
        heads = max(1, self.width // 64)
        self.options = {
            **OPTIONS, "type": "s2s" if kind == "gru" else "transformer",
            "dim-vocabs": [words, words], "dim-emb": self.width, "enc-depth": self.encoder,
            "dec-depth": self.decoder, "dim-rnn": 2 * self.width, "transformer-heads": heads,
            "transformer-dim-ffn": self.inside, "transformer-dim-aan": self.inside,
        }
        self.matrix("Wemb", words, self.width, self.width ** -0.5)
        if kind == "gru":
            self.recurrent()
        else:
            self.transformer(kind)
        output = "decoder_ff_logit_l2_b" if kind == "gru" else "decoder_ff_logit_out_b"
        bias = self.random.standard_normal((1, words)).astype(np.float32) * 0.1
        bias[0, 0] = end
        self.parameters[output] = bias

    def matrix(self, name, rows, columns, deviation=None):
        deviation = deviation or (2 / (rows + columns)) ** 0.5
        values = self.random.standard_normal((rows, columns), dtype=np.float32)
        self.parameters[name] = values * np.float32(deviation)

    def affine(self, prefix, suffix, rows, columns):
        self.matrix(f"{prefix}_W{suffix}", rows, columns)
        self.parameters[f"{prefix}_b{suffix}"] = np.zeros((1, columns), np.float32)

    def norm(self, prefix):
        noise = self.random.standard_normal((2, 1, self.width)).astype(np.float32) * 0.1
        self.parameters[f"{prefix}_ln_scale"] = 1 + noise[0]
        self.parameters[f"{prefix}_ln_bias"] = noise[1]

    def attention(self, prefix):
        for which in "qkvo":
            self.affine(prefix, which, self.width, self.width)
        self.norm(f"{prefix}_Wo")

    def transformer(self, kind):
        d, f = self.width, self.inside
        autoregression = {"transformer": "self-attention", "ssru": "rnn", "aan": "average-attention"}
        self.options["transformer-decoder-autoreg"] = autoregression[kind]
        if kind == "ssru":
            self.options["dec-cell"] = "ssru"
        for side, depth in (("encoder", self.encoder), ("decoder", self.decoder)):
            for layer in range(1, depth + 1):
                prefix = f"{side}_l{layer}"
                if side == "encoder" or kind == "transformer":
                    self.attention(f"{prefix}_self")
                elif kind == "ssru":
                    self.matrix(f"{prefix}_rnn_W", d, d)
                    self.affine(f"{prefix}_rnn", "f", d, d)
                    self.norm(f"{prefix}_rnn_ffn")
                else:
                    self.affine(f"{prefix}_aan", "1", d, f)
                    self.affine(f"{prefix}_aan", "2", f, d)
                    self.affine(f"{prefix}_aan", "i", d, d)
                    self.affine(f"{prefix}_aan", "f", d, d)
                    self.norm(f"{prefix}_aan_ffn")
                if side == "decoder":
                    self.attention(f"{prefix}_context")
                self.affine(f"{prefix}_ffn", "1", d, f)
                self.affine(f"{prefix}_ffn", "2", f, d)
                self.norm(f"{prefix}_ffn_ffn")

    def cell(self, prefix, input_width):
        h = 2 * self.width
        for suffix, columns in (("", 2 * h), ("x", h)):
            self.matrix(f"{prefix}_W{suffix}", input_width, columns)
            self.matrix(f"{prefix}_U{suffix}", h, columns)
            self.parameters[f"{prefix}_b{suffix}"] = np.zeros((1, columns), np.float32)

    def recurrent(self):
        """Adds one layer a side, as Nematus and Amun have it, with states of twice the width."""
        e, h = self.width, 2 * self.width
        self.options.update({"enc-depth": 1, "dec-depth": 1})
        self.cell("encoder_bi", e)
        self.cell("encoder_bi_r", e)
        self.affine("decoder_ff_state", "", 2 * h, h)
        self.cell("decoder_cell1", e)
        self.cell("decoder_cell2", 2 * h)
        self.matrix("decoder_W_comb_att", h, 2 * h)
        self.matrix("decoder_Wc_att", 2 * h, 2 * h)
        self.matrix("decoder_U_att", 2 * h, 1)
        self.parameters["decoder_b_att"] = np.zeros((1, 2 * h), np.float32)
        for index, rows in enumerate((e, h, 2 * h)):
            self.affine("decoder_ff_logit_l1", str(index), rows, e)

    def multiply_adds(self, source, target, beam):
        """Returns the multiply-adds for a sentence of `source` tokens and a translation of `target`
        tokens, with a beam of `beam` hypotheses that begins with one."""
        d, f = self.width, self.inside
        rows = 1 + (target - 1) * beam
        if self.kind == "gru":
            h = 2 * d
            cell = lambda inputs: 3 * h * (inputs + h)
            encoder = source * (2 * cell(d) + 2 * h * 2 * h)
            decoder = cell(d) + cell(2 * h) + h * 2 * h + source * 2 * h * 2 + d * (d + h + 2 * h)
        else:
            layer = lambda positions: 4 * d * d + 2 * positions * d
            past = {"transformer": layer((target + 1) / 2), "ssru": 2 * d * d,
                    "aan": 2 * d * f + 2 * d * d}[self.kind]
            # Keys and values of the source are computed once a sentence.
            encoder = source * (self.encoder * (layer(source) + 2 * d * f) + self.decoder * 2 * d * d)
            decoder = self.decoder * (past + 2 * d * d + 2 * source * d + 2 * d * f)
        return encoder + rows * (decoder + d * self.words)

    def header(self):
        return yaml.safe_dump(self.options).encode() + b"\0"

    def save_npz(self, path):
        header = np.frombuffer(self.header(), dtype=np.int8)
        np.savez(path, **self.parameters, **{"special:model.yml": header})

    def save_bin(self, path, bits8=False, browser=False):
        """Writes Marian's binary form. With `bits8`, matrices are those of intgemm, with the type
        numbers of Marian's main line. With `browser`, the file is like Firefox's models: the table
        of words has eight bits too, there are scales of activations, and type numbers are those of
        the fork for browsers."""
        items = []
        integers = 0x4101 if browser else 0x10001
        for name, values in {**self.parameters, "special:model.yml": None}.items():
            if values is None:
                header = self.header()
                items.append((name, 0x101, (len(header),), header))
            elif browser and name == "Wemb" or (
                    (bits8 or browser) and "_W" in name and len(name) - name.rindex("_W") <= 3):
                quotient = np.float32(127 / np.abs(values).max())
                columns = values if name == "Wemb" else values.T
                whole = np.clip(np.rint(columns * quotient), -127, 127).astype(np.int8)
                items.append((name, integers, values.shape, whole.tobytes() + quotient.tobytes()))
                if browser:
                    alpha = "none" if name == "Wemb" else name
                    scale = np.float32(16).tobytes()
                    items.append((f"{alpha}_QuantMultA", 0x404, (1, 1), scale))
            else:
                items.append((name, 0x404, values.shape, values.astype("<f4").tobytes()))
        items.sort()
        padded = lambda size: -size % 256
        head = struct.pack("<QQ", 1, len(items))
        for name, kind, dimensions, data in items:
            size = len(data) + padded(len(data))
            head += struct.pack("<QQQQ", len(name) + 1, kind, len(dimensions), size)
        head += b"".join(name.encode() + b"\0" for name, *_ in items)
        for _, _, dimensions, _ in items:
            head += struct.pack(f"<{len(dimensions)}i", *dimensions)
        pad = padded(len(head) + 8)
        with open(path, "wb") as file:
            file.write(head + struct.pack("<Q", pad) + b"\0" * pad)
            for *_, data in items:
                file.write(data + b"\0" * padded(len(data)))


def save_vocabulary(words, path):
    """Writes a vocabulary: `</s>`, `<unk>`, then w2, w3 and so on."""
    with open(path, "w") as file:
        file.write("</s>: 0\n<unk>: 1\n")
        file.writelines(f"w{number}: {number}\n" for number in range(2, words))


def sentences(count, length, words, seed=2):
    """Returns `count` lines of `length` random words each."""
    random = np.random.default_rng(seed)
    numbers = random.integers(2, words, (count, length))
    return [[f"w{number}" for number in line] for line in numbers]
