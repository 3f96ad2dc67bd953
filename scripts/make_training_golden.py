#!/usr/bin/env python3
"""Writes trainer/tests/golden: losses, gradients and curves of training, computed by PyTorch.

    python3 -m venv venv && venv/bin/pip install torch numpy pyyaml
    venv/bin/python scripts/make_training_golden.py NMT_ORACLE trainer/tests/golden

NMT_ORACLE is the folder of small random models in Marian's, Amun's and Nematus' formats that tests
look for in ../shared/data/nmt-oracle. For each of them, in f64 and by automatic differentiation:

- the loss of the first eight pairs of its sentences, the sum over target tokens, without and
  with label smoothing, and the gradient of the latter;
- `curve`: the smoothed loss before each of 100 updates on two of these pairs, and after the last:
  Adam, warm-up over 20 updates, then inverse square root decay, and the whole gradient clipped to
  a norm of 1. On purpose, the weights of the models are drawn from wide ranges. They are so wide
  that a relative change of 1e-14 in weights changes a transformer's loss by a hundredth after 30
  updates. Hence training begins with half of each matrix: runs in f64 then agree to better than
  1e-9 over REPEATABLE updates.

A full gradient is a megabyte, so the file has only the norm, the sum and a few elements of each
tensor. The places of the elements are drawn here, most of them where the gradient is not 0.
`--full FOLDER` also writes whole gradients, one npz a model, to look into a difference.

The forward pass is written down once more in training_networks.py, over batches with padding and
masks, which the trainer does not have; losses, layer norm, activations and Adam are PyTorch's own.
Two numbers are rounded to f32, since the trainer keeps them so: the smoothing and the fraction of
warm-up.

`float32` has the errors of PyTorch in f32, relative to f64: `loss`; `gradient`, the root mean
square of the difference in the worst tensor; `element`, the difference in the worst element. The
last two are relative to the root mean square of the tensor's gradient, or to a tenth of that of the
whole model if this is larger. `early_curve` and `curve` are the errors of the worst loss in
REPEATABLE updates and in all. Weights so wide make small errors grow, so tests accept a few times
the errors of PyTorch from the trainer in f32: gradients are off by 1e-6 to 1e-4 of their norm
(tr-options 5e-3), losses of curves by 1e-6 to 1e-2. `--report` prints the errors and writes no
golden files.
"""

import argparse
import json
import math
import os
import zlib

import numpy as np
import torch

from training_networks import Batch, make_network, read_model

NUM_PAIRS = 8
# The indices of the shortest of these pairs.
CURVE_PAIRS = [7, 4]
CURVE_MATRIX_SCALE = 0.5
SMOOTHING = float(np.float32(0.1))
UPDATES, REPEATABLE = 100, 50
RATE, WARMUP, CLIP_NORM = 1e-3, 20, 1.0
NUM_ELEMENTS = 8


def gradient_of(network, batch):
    """Returns the smoothed loss and its gradient by tensor, without tensors that take no part."""
    loss = network.loss(batch, SMOOTHING)
    loss.backward()
    gradients = {
        name: tensor.grad.double().numpy()
        for name, tensor in network.parameters.items()
        if tensor.grad is not None
    }
    return loss.item(), gradients


def rate_after(updates):
    rate = RATE * min(1.0, float(np.float32(updates) / np.float32(WARMUP)))
    return rate * math.sqrt(WARMUP / updates) if updates > WARMUP else rate


def start_of_curve(parameters):
    scale = np.float32(CURVE_MATRIX_SCALE)
    return {name: x * scale if len(x) > 1 else x for name, x in parameters.items()}


def curve_of(network, batch):
    """Returns the losses before each update, and after the last."""
    tensors = list(network.parameters.values())
    adam = torch.optim.Adam(tensors, betas=(0.9, 0.999), eps=1e-8)
    losses = []
    for updates in range(UPDATES + 1):
        adam.zero_grad()
        loss = network.loss(batch, SMOOTHING)
        losses.append(loss.item())
        if updates == UPDATES:
            return losses
        loss.backward()
        gradients = [tensor.grad for tensor in tensors if tensor.grad is not None]
        norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
        for gradient in gradients:
            gradient.mul_(torch.clamp(CLIP_NORM / norm, max=1.0))
        adam.param_groups[0]["lr"] = rate_after(updates)
        adam.step()


def float32_errors(double, single):
    """Returns the value of `float32` in a golden file."""
    (loss, gradients, curve), (single_loss, single_gradients, single_curve) = double, single
    count = sum(gradient.size for gradient in gradients.values())
    usual = math.sqrt(sum((gradient**2).sum() for gradient in gradients.values()) / count)
    tensors, elements = [], []
    for name, gradient in gradients.items():
        difference = single_gradients[name] - gradient
        size = max(root_mean_square(gradient), 0.1 * usual)
        tensors.append(root_mean_square(difference) / size)
        elements.append(np.abs(difference).max() / size)
    curve_errors = [abs(found / loss - 1) for loss, found in zip(curve, single_curve)]
    return {
        "loss": abs(single_loss / loss - 1),
        "gradient": max(tensors),
        "element": max(elements),
        "early_curve": max(curve_errors[: REPEATABLE + 1]),
        "curve": max(curve_errors),
    }


def root_mean_square(x):
    return math.sqrt((x**2).mean())


def described(name, gradient):
    """Returns the description of a tensor's gradient in a golden file."""
    flat = gradient.flatten()
    random = np.random.default_rng(zlib.crc32(name.encode()))
    places = list(random.choice(flat.size, min(2, flat.size), replace=False))
    others = np.setdiff1d(np.flatnonzero(flat), places)
    places += list(random.choice(others, min(NUM_ELEMENTS - 2, others.size), replace=False))
    return {
        "norm": rounded(np.linalg.norm(flat)),
        "sum": rounded(flat.sum()),
        "elements": [[int(place), rounded(flat[place])] for place in sorted(places)],
    }


def rounded(number):
    """Returns a number with digits enough for comparisons to 1e-10."""
    return float(f"{number:.12g}")


def read_pairs(folder):
    """Returns the first pairs of German and English sentences. The file has a half of each."""
    with open(os.path.join(folder, "input.ids.txt")) as file:
        lines = [[int(token) for token in line.split()] for line in file]
    half = len(lines) // 2
    sides = [[line for line in side if len(line) > 1] for side in (lines[:half], lines[half:])]
    return list(zip(*(side[:NUM_PAIRS] for side in sides)))


def json_lines(golden):
    """Returns JSON with a tensor a line, so that differences can be read."""
    tensors = golden.pop("gradient")
    head = json.dumps(golden)[:-1]
    lines = [f"  {json.dumps(name)}: {json.dumps(tensor)}" for name, tensor in tensors.items()]
    return head + ', "gradient": {\n' + ",\n".join(lines) + "\n}}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("oracle", help="the folder with models and input.ids.txt")
    parser.add_argument("out", nargs="?", help="where golden files go")
    parser.add_argument("--models", nargs="*", help="these models only")
    parser.add_argument("--full", help="a folder for whole gradients")
    parser.add_argument("--report", action="store_true", help="print errors of f32 only")
    options = parser.parse_args()
    if not options.report and options.out is None:
        parser.error("a folder for golden files is needed, or --report")
    torch.set_num_threads(1)
    pairs = read_pairs(options.oracle)
    batch, curve_batch = Batch(pairs), Batch([pairs[index] for index in CURVE_PAIRS])
    folder = os.path.join(options.oracle, "models")
    found = [name[:-4] for name in sorted(os.listdir(folder)) if name.endswith(".npz")]
    for name in options.models or found:
        config, parameters = read_model(os.path.join(folder, name + ".npz"))
        results = []
        for dtype in (torch.float64, torch.float32):
            network = make_network(config, parameters, dtype)
            with torch.no_grad():
                plain_loss = network.loss(batch, 0.0).item()
            loss, gradients = gradient_of(network, batch)
            network = make_network(config, start_of_curve(parameters), dtype)
            results.append((loss, gradients, curve_of(network, curve_batch)))
            if dtype == torch.float64:
                losses = [plain_loss, loss]
        _, gradients, curve = results[0]
        errors = {kind: float(f"{error:.2e}") for kind, error in float32_errors(*results).items()}
        line = f"{name}: loss {losses[1]:.1f}, curve {curve[0]:.2f} to {curve[-1]:.2f}, f32 {errors}"
        print(line, flush=True)
        if options.full:
            os.makedirs(options.full, exist_ok=True)
            np.savez(os.path.join(options.full, name + ".npz"), **gradients)
        if options.report:
            continue
        golden = {
            "pairs": NUM_PAIRS,
            "loss": rounded(losses[0]),
            "smoothed_loss": rounded(losses[1]),
            "float32": errors,
            "curve": {
                "pairs": CURVE_PAIRS,
                "matrix_scale": CURVE_MATRIX_SCALE,
                "losses": [rounded(loss) for loss in curve],
            },
            "gradient": {name: described(name, gradients[name]) for name in sorted(gradients)},
        }
        os.makedirs(options.out, exist_ok=True)
        with open(os.path.join(options.out, name + ".json"), "w") as file:
            file.write(json_lines(golden))


if __name__ == "__main__":
    main()
