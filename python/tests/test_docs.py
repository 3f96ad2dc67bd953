"""docs/python.md: its examples run and print what the page says."""

from __future__ import annotations

import doctest
import shutil
import sys

import pytest

from conftest import ROOT, TOY


def test_the_page_does_what_it_says(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("docs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # The page installs a module of this name for the rest of the process.
        patch.setitem(sys.modules, "kenlm", sys)
        patch.setitem(sys.modules, "ctranslate2", sys)
        shutil.copytree(ROOT / "nmt" / "testdata" / "tiny-ct2", folder / "model")
        shutil.copytree(ROOT / "examples" / "toy", folder / "toy")
        shutil.copytree(ROOT / "examples" / "toy-neural", folder / "toy-neural")
        (folder / "toy.arpa").write_bytes(TOY.read_bytes())
        (folder / "text.en").write_text("a b c\nb c a\na b\n" * 20, encoding="utf-8")
        failed, attempted = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert attempted > 10 and failed == 0
