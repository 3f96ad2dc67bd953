"""The interface of KenLM's Python module, with Miriam's models and speed.

Use it as ``import miriam.kenlm as kenlm``, or call :func:`install` once before ``kenlm`` is
imported, so that ``import kenlm`` returns this module.
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
    """The loading of a binary file: it is mapped and, except with ``LAZY``, read at once."""

    LAZY = 0
    POPULATE_OR_LAZY = 1
    POPULATE_OR_READ = 2
    READ = 3
    PARALLEL_READ = 4


class ARPALoadComplain:
    """When to print, on loading ARPA text, that a binary file opens faster."""

    ALL = 0
    EXPENSIVE = 1
    NONE = 2


def install() -> None:
    """Makes ``import kenlm`` return this module, in this process.

    ``importlib.util.find_spec("kenlm")`` finds it too. An already imported ``kenlm`` stays in use
    where it was imported.
    """
    module = ModuleType("kenlm", __doc__)
    module.__spec__ = ModuleSpec("kenlm", None, origin=__file__)
    module.__file__ = __file__
    for name in __all__:
        if name != "install":
            setattr(module, name, globals()[name])
    sys.modules["kenlm"] = module
