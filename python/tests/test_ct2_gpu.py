"""miriam.ct2 on an emulated GPU: a library in place of the driver interprets the kernels.

The system finds a driver when a process starts, so each test runs a process of its own. The
variable MIRIAM_EMULATED_DRIVER, set by tests/python.rs, names the folder of the library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import miriam.ct2 as ct2
from conftest import ROOT

TINY = ROOT / "nmt" / "testdata" / "tiny-ct2"
SOURCES = [["w2", "w3", "w4"], ["w5"], ["w6", "w2", "w9", "w9", "w3"]]
TARGETS = [["w3", "w4"], ["w7", "w2", "w5"], ["w8"]]

SCRIPT = """
import json, sys
import miriam.ct2 as ct2
model, kind, sources, targets = json.loads(sys.argv[1])
translator = ct2.Translator(model, device="cuda", compute_type=kind)
found = translator.translate_batch(sources, beam_size=2, return_scores=True)
scored = translator.score_batch(sources, targets)
print(json.dumps({
    "count": ct2.get_cuda_device_count(),
    "device": translator.device,
    "kind": translator.compute_type,
    "hypotheses": [result.hypotheses for result in found],
    "scores": [result.scores for result in found],
    "log_probs": [result.log_probs for result in scored],
}))
"""


@pytest.mark.parametrize(
    "kind, tolerance",
    [("float32", 1e-4), ("float16", 2e-2), ("bfloat16", 2e-1), ("int8_float16", 2e-2)],
)
def test_a_gpu_gives_what_the_cpu_gives(kind: str, tolerance: float) -> None:
    folder = os.environ.get("MIRIAM_EMULATED_DRIVER")
    if folder is None:
        pytest.skip("MIRIAM_EMULATED_DRIVER names no driver")
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "MIRIAM_EMULATED_GPU": "seed=3"}
    arguments = json.dumps([str(TINY), kind, SOURCES, TARGETS])
    outcome = subprocess.run(
        [sys.executable, "-c", SCRIPT, arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert "CPU" not in outcome.stderr
    assert ("GPUs do not multiply integers" in outcome.stderr) == kind.startswith("int8")
    gpu = json.loads(outcome.stdout)
    assert (gpu["count"], gpu["device"]) == (1, "cuda")
    assert gpu["kind"] == kind.removeprefix("int8_")
    cpu = ct2.Translator(str(TINY), compute_type="float32")
    log_probs = [result.log_probs for result in cpu.score_batch(SOURCES, TARGETS)]
    assert [len(found) for found in gpu["log_probs"]] == [len(expected) for expected in log_probs]
    for found, expected in zip(gpu["log_probs"], log_probs):
        assert found == pytest.approx(expected, abs=tolerance)
    if kind == "float32":
        results = cpu.translate_batch(SOURCES, beam_size=2, return_scores=True)
        assert gpu["hypotheses"] == [result.hypotheses for result in results]
        assert len(gpu["scores"]) == len(results)
        for scores, result in zip(gpu["scores"], results):
            assert scores == pytest.approx(result.scores, abs=tolerance)
