"""The wheel whose distribution is named kenlm (scripts/make_kenlm_shim.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import ROOT, TOY


def test_the_shim_is_found_as_a_distribution_and_as_a_module(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "make_kenlm_shim.py"
    build = [sys.executable, str(script), "--output", str(tmp_path)]
    wheel = subprocess.run(build, check=True, capture_output=True, text=True).stdout.strip()
    target = tmp_path / "installed"
    install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(target)]
    subprocess.run([sys.executable, *install, wheel], check=True)
    program = (
        "import importlib.metadata, kenlm, miriam.kenlm\n"
        "assert importlib.metadata.version('kenlm') == '0.3.0+miriam'\n"
        "assert kenlm.Model is miriam.kenlm.Model\n"
        f"assert kenlm.LanguageModel({str(TOY)!r}).order == 3\n"
    )
    paths = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=environment)
