"""Networks in PyTorch for the models of the training tests, over batches with padding and masks,
and a reader of the models' files (`make_training_golden.py`)."""

import math

import numpy as np
import torch
import torch.nn.functional as F
import yaml

# Entries of archives that are not parameters.
NOT_PARAMETERS = ("decoder_c_tt", "uidx", "history_errs")


def marian_names(config):
    """Returns Marian's name for each parameter that has another name in Nematus' files."""
    is_nematus = config["type"] == "nematus"
    names = {"Wemb": "encoder_Wemb", "Wemb_dec": "decoder_Wemb"}
    # The two cells of the decoder's first layer: before and after the attention.
    for part in ("U", "Ux", "W", "Wx", "b", "bx"):
        names["decoder_" + part] = "decoder_cell1_" + part
        after = {"W": "Wc", "Wx": "Wcx"}.get(part, part + "_nl")
        names["decoder_" + after] = "decoder_cell2_" + part
        for direction in ("", "r_"):
            names[f"encoder_{direction}{part}"] = f"encoder_bi_{direction}{part}"
    for index, part in enumerate(("prev", "lstm", "ctx")):
        for kind in "Wb":
            names[f"ff_logit_{part}_{kind}"] = f"decoder_ff_logit_l1_{kind}{index}"
        for kind in "sb" if is_nematus else "":
            names[f"ff_logit_{part}_ln_{kind}"] = f"decoder_ff_logit_l1_ln_{kind}{index}"
        if not is_nematus:
            names[f"ff_logit_l1_gamma{index}"] = f"decoder_ff_logit_l1_gamma{index}"
    for kind in "Wb":
        names["ff_logit_" + kind] = "decoder_ff_logit_l2_" + kind
        names["ff_state_" + kind] = "decoder_ff_state_" + kind
    if not is_nematus:
        names["ff_state_gamma"] = "decoder_ff_state_gamma"
        for gamma in ("gamma1", "gamma2"):
            for direction in ("", "r_"):
                names[f"encoder_{direction}{gamma}"] = f"encoder_bi_{direction}{gamma}"
        return names
    for kind in "sb":
        names["ff_state_ln_" + kind] = "decoder_ff_state_ln_" + kind
    for part in ("U", "Ux", "b", "bx"):
        for cell in range(2, config["enc-cell-depth"] + 1):
            for direction in ("", "r_"):
                old = f"encoder_{direction}{part}_drt_{cell - 1}"
                names[old] = f"encoder_bi_{direction}cell{cell}_{part}"
        for cell in range(3, config["dec-cell-base-depth"] + 1):
            names[f"decoder_{part}_nl_drt_{cell - 2}"] = f"decoder_cell{cell}_{part}"
    for old, new in list(names.items()):
        if old.startswith(("encoder", "decoder")):
            for kind in ("_lns", "_lnb"):
                names[old + kind] = new + kind
    return names


def read_model(path):
    """Returns the options of a model and its parameters by Marian's names, as two-dimensional
    arrays."""
    archive = np.load(path)
    config = yaml.safe_load(archive["special:model.yml"].tobytes().rstrip(b"\0"))
    names = marian_names(config) if config["type"] in ("amun", "nematus") else {}
    parameters = {}
    for name in archive.files:
        if not name.startswith("special:") and name not in NOT_PARAMETERS:
            parameters[names.get(name, name)] = np.atleast_2d(archive[name])
    # The trainer keeps every output layer as a table, with a row for each token.
    if "decoder_ff_logit_l2_W" in parameters:
        output = parameters.pop("decoder_ff_logit_l2_W")
        parameters["decoder_ff_logit_l2_Wt"] = np.ascontiguousarray(output.T)
    return config, parameters


class Batch:
    """Pairs of sentences, padded with token 0 to equal lengths."""

    def __init__(self, pairs):
        self.sources, self.source_mask = self.pad([source for source, _ in pairs])
        self.targets, self.target_mask = self.pad([target for _, target in pairs])

    @staticmethod
    def pad(sentences):
        longest = max(map(len, sentences))
        tokens = torch.zeros(len(sentences), longest, dtype=torch.long)
        mask = torch.zeros(len(sentences), longest, dtype=torch.bool)
        for row, sentence in enumerate(sentences):
            tokens[row, : len(sentence)] = torch.tensor(sentence)
            mask[row, : len(sentence)] = True
        return tokens, mask


class Network:
    """The methods that all families of networks share."""

    def __init__(self, config, parameters, dtype):
        self.config = config
        self.parameters = {
            name: torch.tensor(values, dtype=dtype).requires_grad_()
            for name, values in parameters.items()
        }
        self.dtype = dtype

    def __getitem__(self, name):
        return self.parameters[name]

    def vector(self, name):
        return self.parameters[name].reshape(-1)

    def table(self, side):
        own = self.parameters.get(side + "_Wemb")
        return self["Wemb"] if own is None else own

    def previous_words(self, batch):
        """Returns the vectors of the words before each target word: zeros before the first."""
        vectors = self.table("decoder")[batch.targets[:, :-1]]
        return F.pad(vectors, (0, 0, 1, 0))

    def loss(self, batch, smoothing):
        """Returns the sum of the cross-entropies of the target words."""
        labels = batch.targets.masked_fill(~batch.target_mask, -100)
        logits = self.logits(batch)
        return F.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), reduction="sum", label_smoothing=smoothing
        )


class Transformer(Network):
    EPSILON = 1e-6

    def norm(self, x, name, suffix=""):
        scale, bias = (self.vector(f"{name}_ln_{kind}{suffix}") for kind in ("scale", "bias"))
        return F.layer_norm(x, scale.shape, scale, bias, self.EPSILON)

    def before(self, x, name):
        normalises = "n" in self.config["transformer-preprocess"]
        return self.norm(x, name, "_pre") if normalises else x

    def after(self, x, residual, name):
        for step in self.config["transformer-postprocess"]:
            if step == "a":
                x = x + residual
            elif step == "n":
                x = self.norm(x, name)
        return x

    def affine(self, x, name, which):
        return x @ self[f"{name}_W{which}"] + self.vector(f"{name}_b{which}")

    def positions(self, length):
        width = self.config["dim-emb"]
        half = width // 2
        steps = torch.arange(half, dtype=torch.float64) / (half - 1)
        angles = torch.arange(length, dtype=torch.float64)[:, None] / 10_000**steps
        return torch.cat([angles.sin(), angles.cos()], 1).to(self.dtype)

    def embed(self, vectors):
        return vectors * math.sqrt(self.config["dim-emb"]) + self.positions(vectors.shape[1])

    def attention(self, name, x, memory, mask):
        """Returns attention to `memory`, or to `x` itself if there is none. In self-attention, keys
        and values are normalised first if queries are."""
        inputs = self.before(x, name + "_Wo")
        memory = inputs if memory is None else memory
        heads = self.config["transformer-heads"]

        def split(rows):
            return rows.unflatten(-1, (heads, -1)).transpose(1, 2)

        queries = split(self.affine(inputs, name, "q"))
        keys = split(self.affine(memory, name, "k"))
        values = split(self.affine(memory, name, "v"))
        scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        out = (weights @ values).transpose(1, 2).flatten(2)
        if not self.config["transformer-no-projection"]:
            out = self.affine(out, name, "o")
        return self.after(out, x, name + "_Wo")

    ACTIVATIONS = {"relu": F.relu, "swish": F.silu, "gelu": F.gelu}

    def activation(self, x, option):
        return self.ACTIVATIONS[self.config[option]](x)

    def feed_forward(self, name, x):
        hidden = self.affine(self.before(x, name + "_ffn"), name, "1")
        hidden = self.activation(hidden, "transformer-ffn-activation")
        return self.after(self.affine(hidden, name, "2"), x, name + "_ffn")

    def running_mean(self, name, x):
        counts = torch.arange(1, x.shape[1] + 1, dtype=self.dtype)[:, None]
        mean = self.before(x.cumsum(1) / counts, name + "_ffn")
        if self.config["transformer-aan-depth"] > 1:
            hidden = self.activation(self.affine(mean, name, "1"), "transformer-aan-activation")
            mean = self.affine(hidden, name, "2")
        if not self.config["transformer-aan-nogate"]:
            of_input = torch.sigmoid(self.affine(x, name, "i"))
            of_mean = torch.sigmoid(self.affine(mean, name, "f"))
            mean = of_input * x + of_mean * mean
        return self.after(mean, x, name + "_ffn")

    def simple_recurrence(self, name, x):
        inputs = self.before(x, name)
        forget = torch.sigmoid(inputs @ self[name + "_Wf"] + self.vector(name + "_bf"))
        candidate = (1 - forget) * (inputs @ self[name + "_W"])
        cell, states = torch.zeros_like(x[:, 0]), []
        for time in range(x.shape[1]):
            cell = forget[:, time] * cell + candidate[:, time]
            states.append(F.relu(cell))
        return self.after(torch.stack(states, 1), x, name + "_ffn")

    def top(self, x, side):
        is_normalised = "n" in self.config["transformer-postprocess-top"]
        return self.norm(x, side + "_top") if is_normalised else x

    def logits(self, batch):
        source_mask = batch.source_mask[:, None, None, :]
        x = self.embed(self.table("encoder")[batch.sources])
        for layer in range(1, self.config["enc-depth"] + 1):
            prefix = f"encoder_l{layer}_"
            x = self.attention(prefix + "self", x, None, source_mask)
            x = self.feed_forward(prefix + "ffn", x)
        context = self.top(x, "encoder")
        x = self.embed(self.previous_words(batch))
        causal_mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        tied_layers = self.config["transformer-tied-layers"]
        for layer in range(1, self.config["dec-depth"] + 1):
            prefix = f"decoder_l{tied_layers[layer - 1] if tied_layers else layer}_"
            match self.config["transformer-decoder-autoreg"]:
                case "rnn":
                    x = self.simple_recurrence(prefix + "rnn", x)
                case "average-attention":
                    x = self.running_mean(prefix + "aan", x)
                case "self-attention":
                    x = self.attention(prefix + "self", x, None, causal_mask)
            x = self.attention(prefix + "context", x, context, source_mask)
            x = self.feed_forward(prefix + "ffn", x)
        table = self.parameters.get("decoder_ff_logit_out_Wt")
        table = self.table("decoder") if table is None else table
        return self.top(x, "decoder") @ table.T + self.vector("decoder_ff_logit_out_b")


class Recurrent(Network):
    def __init__(self, config, parameters, dtype):
        super().__init__(config, parameters, dtype)
        self.normalises = config["layer-normalization"]
        self.is_nematus = config["type"] == "nematus"
        self.width = config["dim-rnn"]

    def norm(self, x, scale, bias=None):
        scale, bias = self.vector(scale), None if bias is None else self.vector(bias)
        return F.layer_norm(x, scale.shape, scale, bias, 1e-9)

    def nematus_norm(self, x, name, scale="_lns", bias="_lnb"):
        scale, bias = self.vector(name + scale), self.vector(name + bias)
        return F.layer_norm(x, scale.shape, scale, bias, 1e-5)

    def gates(self, name, which):
        """Returns the matrices for the gates and for the candidate, side by side."""
        return torch.cat([self[f"{name}_{which}"], self[f"{name}_{which}x"]], 1)

    def marian_gru_inputs(self, name, x, state):
        """Returns the product of the input, that of the state, and the bias, each for the two
        gates and the candidate."""
        of_state = state @ self.gates(name, "U")
        of_input = torch.zeros_like(of_state) if x is None else x @ self.gates(name, "W")
        if self.normalises:
            of_state = self.norm(of_state, name + "_gamma2")
            if x is not None:
                of_input = self.norm(of_input, name + "_gamma1")
        return of_input, of_state, self.gates(name, "b")

    def nematus_gru_inputs(self, name, x, state, place):
        """Returns the same as `marian_gru_inputs`, computed as in Nematus. Without layer norm, both
        are equal. With layer norm, the product of each matrix has its own norm, and where the
        bias is added depends on the cell's place."""
        in_encoder, is_final, is_transition = place
        if not self.normalises:
            return self.marian_gru_inputs(name, x, state)
        none = torch.zeros_like(self.gates(name, "b"))
        parts = {}
        for suffix in ("", "x"):
            bias = self.vector(f"{name}_b{suffix}")
            of_state, of_input = state @ self[f"{name}_U{suffix}"], None
            if x is not None:
                of_input = x @ self[f"{name}_W{suffix}"]
                of_input = of_input if is_final else of_input + bias
                of_input = self.nematus_norm(of_input, f"{name}_W{suffix}")
            after_norm = None
            if in_encoder:
                of_state = self.nematus_norm(of_state, f"{name}_U{suffix}")
                if is_transition:
                    after_norm = bias
            else:
                of_state = of_state + bias if is_final or is_transition else of_state
                of_state = self.nematus_norm(of_state, f"{name}_U{suffix}")
            parts[suffix] = (of_input, of_state, after_norm)
        (gates_input, gates_state, gates_bias), candidate = parts[""], parts["x"]
        of_state = torch.cat([gates_state, candidate[1]], 1)
        of_input = torch.zeros_like(of_state)
        if x is not None:
            of_input = torch.cat([gates_input, candidate[0]], 1)
        bias = none
        if gates_bias is not None:
            bias = torch.cat([gates_bias, candidate[2]])
        return of_input, of_state, bias

    def gru(self, kind, name, x, state, place):
        is_final = place[1]
        if kind == "gru-nematus":
            of_input, of_state, bias = self.nematus_gru_inputs(name, x, state, place)
        else:
            of_input, of_state, bias = self.marian_gru_inputs(name, x, state)
        of_input, of_state, bias = (part.split(self.width, -1) for part in (of_input, of_state, bias))
        reset = torch.sigmoid(of_input[0] + of_state[0] + bias[0])
        keep = torch.sigmoid(of_input[1] + of_state[1] + bias[1])
        if is_final:
            candidate = torch.tanh(of_input[2] + reset * (of_state[2] + bias[2]))
        else:
            candidate = torch.tanh(of_input[2] + reset * of_state[2] + bias[2])
        return torch.lerp(candidate, state, keep)

    def lstm(self, kind, name, x, state, cell):
        if kind == "mlstm":
            of_input = x @ self[name + "_Wm"] + self.vector(name + "_bwm")
            state = of_input * (state @ self[name + "_Um"] + self.vector(name + "_bm"))
        sums = x @ self[name + "_W"] + state @ self[name + "_U"] + self.vector(name + "_b")
        forget, add, candidate, out = sums.split(self.width, -1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(add) * torch.tanh(candidate)
        return torch.sigmoid(out) * torch.tanh(cell), cell

    def cell(self, kind, name, x, state, in_encoder=False, is_final=False, is_transition=False):
        """Returns the state after a step of a cell. A state is an output and an LSTM's memory."""
        if kind.startswith("gru"):
            place = (in_encoder, is_final, is_transition)
            return self.gru(kind, name, x, state[0], place), state[1]
        return self.lstm(kind, name, x, *state)

    def encode_in_direction(self, x, mask, prefix, begins_backward):
        config = self.config
        for layer in range(1, config["enc-depth"] + 1):
            turns = config["enc-type"] == "alternating" and layer % 2 == 0
            times = list(range(x.shape[1]))
            if begins_backward != turns:
                times.reverse()
            zeros = x.new_zeros(x.shape[0], self.width)
            state, outputs = (zeros, zeros), [None] * len(times)
            for time in times:
                new = state
                for cell in range(1, config["enc-cell-depth"] + 1):
                    name = prefix
                    if layer > 1:
                        name += f"_l{layer}"
                    if layer > 1 or cell > 1:
                        name += f"_cell{cell}"
                    new = self.cell(
                        config["enc-cell"],
                        name,
                        x[:, time] if cell == 1 else None,
                        new,
                        in_encoder=True,
                        is_transition=cell > 1,
                    )
                # Padding leaves the state as it was.
                here = mask[:, time, None]
                state = tuple(torch.where(here, n, old) for n, old in zip(new, state))
                outputs[time] = state[0]
            outputs = torch.stack(outputs, 1)
            x = outputs + x if config["skip"] and layer > 1 else outputs
        return x

    def feed_forward(self, name, inputs):
        total = 0
        for index, x in enumerate(inputs):
            which = str(index) if len(inputs) > 1 else ""
            y, bias = x @ self[f"{name}_W{which}"], f"{name}_b{which}"
            if self.normalises and self.is_nematus:
                y = self.nematus_norm(y + self.vector(bias), name, f"_ln_s{which}", f"_ln_b{which}")
            elif self.normalises:
                y = self.norm(y, f"{name}_gamma{which}", bias)
            else:
                y = y + self.vector(bias)
            total = total + y
        return torch.tanh(total)

    def attention_keys(self, context):
        keys, name = context @ self["decoder_Wc_att"], "decoder_Wc_att"
        if self.normalises and not self.is_nematus:
            return self.norm(keys, "decoder_att_gamma1", "decoder_b_att")
        keys = keys + self.vector("decoder_b_att")
        return self.nematus_norm(keys, name) if self.normalises else keys

    def attend(self, state, keys, context, mask):
        query = state @ self["decoder_W_comb_att"]
        if self.normalises and self.is_nematus:
            query = self.nematus_norm(query, "decoder_W_comb_att")
        elif self.normalises:
            query = self.norm(query, "decoder_att_gamma2")
        scores = torch.tanh(keys + query[:, None]) @ self.vector("decoder_U_att")
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return torch.einsum("bs,bsw->bw", weights, context)

    def logits(self, batch):
        config, mask = self.config, batch.source_mask
        x = self.table("encoder")[batch.sources]
        directions = [("encoder_bi", False), ("encoder_bi_r", True)]
        context = [self.encode_in_direction(x, mask, *direction) for direction in directions]
        context = torch.cat(context, -1)
        keys = self.attention_keys(context)
        count = mask.sum(1, keepdim=True)
        mean = (context * mask[:, :, None]).sum(1) / count
        start = self.feed_forward("decoder_ff_state", [mean])
        states = [(start, start)] * config["dec-depth"]
        words, kind, hidden = self.previous_words(batch), config["dec-cell"], []
        for time in range(words.shape[1]):
            word = words[:, time]
            state = self.cell(kind, "decoder_cell1", word, states[0])
            attended = self.attend(state[0], keys, context, mask)
            state = self.cell(kind, "decoder_cell2", attended, state, is_final=True)
            for cell in range(3, config["dec-cell-base-depth"] + 1):
                name = f"decoder_cell{cell}"
                state = self.cell(kind, name, None, state, is_final=True, is_transition=True)
            new, out = [state], state[0]
            for layer in range(2, config["dec-depth"] + 1):
                state = states[layer - 1]
                for cell in range(1, config["dec-cell-high-depth"] + 1):
                    name = f"decoder_l{layer}_cell{cell}"
                    state = self.cell(kind, name, out if cell == 1 else None, state)
                new.append(state)
                out = state[0] + out if config["skip"] else state[0]
            states = new
            hidden.append(self.feed_forward("decoder_ff_logit_l1", [word, out, attended]))
        hidden = torch.stack(hidden, 1)
        table = self.parameters.get("decoder_ff_logit_l2_Wt")
        table = self.table("decoder") if table is None else table
        return hidden @ table.T + self.vector("decoder_ff_logit_l2_b")


def make_network(config, parameters, dtype):
    family = Transformer if config["type"] == "transformer" else Recurrent
    return family(config, parameters, dtype)
