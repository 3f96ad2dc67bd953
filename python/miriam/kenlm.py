"""KenLM's Python module, with this project's models and speed.

Use it as ``import miriam.kenlm as kenlm``, or call :func:`install` once, before anything
imports ``kenlm``, so that programs that say ``import kenlm`` get it too.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from miriam._native import Config, FullScoreReturn, Model, State

__all__ = [
    "ARPALoadComplain",
    "Config",
    "FullScoreReturn",
    "LanguageModel",
    "LoadMethod",
    "Model",
    "State",
    "install",
]


class LanguageModel(Model):
    """The old name of :class:`Model`."""


class LoadMethod:
    """How a binary file is loaded: mapped, and with any other than ``LAZY`` read at once."""

    LAZY = 0
    POPULATE_OR_LAZY = 1
    POPULATE_OR_READ = 2
    READ = 3
    PARALLEL_READ = 4


class ARPALoadComplain:
    """Whether loading ARPA text prints a line that a binary file opens faster."""

    ALL = 0
    EXPENSIVE = 1
    NONE = 2


def install() -> None:
    """Makes ``import kenlm`` give this module, in this process.

    ``importlib.util.find_spec("kenlm")`` finds it too. A ``kenlm`` that is already imported
    keeps working where it is in use.
    """
    module = ModuleType("kenlm", __doc__)
    module.__spec__ = ModuleSpec("kenlm", None, origin=__file__)
    module.__file__ = __file__
    for name in __all__:
        if name != "install":
            setattr(module, name, globals()[name])
    sys.modules["kenlm"] = module
