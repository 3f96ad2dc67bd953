"""Machine translation and n-gram language models.

``miriam.ct2`` has the interface of CTranslate2's ``Translator``, and ``miriam.kenlm`` that of
KenLM's Python module. ``miriam.lm`` scores many lines at once, estimates and builds models;
``miriam.metrics`` scores translations; ``miriam.text`` has the text tools, ``miriam.phrase``
phrase-based translation, ``miriam.align`` word alignment, ``miriam.train`` training.
``miriam.combine`` works on n-best lists; its functions are here too, as ``miriam.mbr`` and
``miriam.rerank``. Importing this package imports
none of them, so that programs load only the modules they use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from miriam.combine import mbr as mbr
    from miriam.combine import rerank as rerank

__version__: str


def __getattr__(name: str) -> Any:
    # Looking the version up takes longer than all other imports.
    if name == "__version__":
        from importlib.metadata import version

        return version("miriam-mt")
    if name in ("mbr", "rerank"):
        from miriam import combine

        return getattr(combine, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
