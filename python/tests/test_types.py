"""The type stubs of the package, checked by mypy and compared with the module by stubtest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def run_mypy(tmp_path: Path, *arguments: str) -> str:
    """Runs a module of mypy, and returns its output. It runs in an empty folder, so that it checks
    the installed package and not the sources."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", *arguments]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_these_tests_and_the_package_are_typed_strictly(tmp_path: Path) -> None:
    files = [str(path) for path in sorted(HERE.glob("*.py"))]
    cache = ["--cache-dir", str(tmp_path / "cache")]
    run_mypy(tmp_path, "mypy", "--strict", "--ignore-missing-imports", *cache, *files)
    run_mypy(tmp_path, "mypy", "--strict", *cache, "-p", "miriam")


def test_stubs_agree_with_the_module(tmp_path: Path) -> None:
    output = run_mypy(tmp_path, "mypy.stubtest", "miriam")
    assert "Success" in output
