"""Writes small files of weights with PyTorch, for tests of nmt.

    python3 -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python scripts/make_pytorch_golden.py nmt/testdata

`tiny-pytorch/archive.bin` and `tiny-pytorch/plain.bin` have the tensors of `tiny-hf/model.safetensors`,
as a zip archive and as the files of PyTorch before 1.6: the same table under all of its names in one
storage, parameters beside tensors, a matrix that lies transposed. `tiny-pytorch/kinds.bin` has a tensor
of each kind of element. Made with PyTorch 1.13.
"""

import json
import struct
import sys
from collections import OrderedDict
from pathlib import Path

import torch


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        assert info["dtype"] == "F32", info
        start, end = (8 + length + offset for offset in info["data_offsets"])
        values = torch.frombuffer(bytearray(data[start:end]), dtype=torch.float32)
        tensors[name] = values.reshape(info["shape"]).clone()
    return tensors


def state_dict(tensors: dict[str, torch.Tensor]) -> OrderedDict[str, torch.Tensor]:
    """Returns the tensors as a model of transformers has them."""
    state: OrderedDict[str, torch.Tensor] = OrderedDict()
    for number, (name, tensor) in enumerate(tensors.items()):
        if name.endswith("fc1.weight"):
            # The same numbers, stored column by column.
            tensor = tensor.t().contiguous().t()
        elif number % 7 == 3:
            tensor = torch.nn.Parameter(tensor, requires_grad=False)
        state[name] = tensor
    shared = state["model.shared.weight"]
    for name in ["model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"]:
        state[name] = shared
    state._metadata = OrderedDict([("", {"version": 1})])
    return state


def main() -> None:
    folder = Path(sys.argv[1])
    state = state_dict(read_safetensors(folder / "tiny-hf" / "model.safetensors"))
    target = folder / "tiny-pytorch"
    target.mkdir(exist_ok=True)
    torch.save(state, target / "archive.bin")
    torch.save(state, target / "plain.bin", _use_new_zipfile_serialization=False)
    values = [0.5, -2.0, 3.0, 7.0, -1.0, 100.0]
    kinds = OrderedDict(
        (str(dtype).split(".")[-1], torch.tensor(values).to(dtype).reshape(2, 3))
        for dtype in [
            torch.float32, torch.float16, torch.bfloat16, torch.float64,
            torch.int64, torch.int32, torch.int16, torch.int8, torch.bool,
        ]
    )
    whole = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    kinds["rows"] = whole[1:3]
    kinds["columns"] = whole[:, 2:4]
    kinds["scalar"] = torch.tensor(4.0)
    kinds["empty"] = torch.zeros(0, 3)
    torch.save(kinds, target / "kinds.bin")


main()
