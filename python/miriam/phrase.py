"""Translation with a phrase-based system: a ``moses.ini`` and its models."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Iterable, Sequence, SupportsFloat

from miriam import _native
from miriam._native import PhraseTranslation
from miriam._progress import ProgressCallback, listener
from miriam._values import plain

__all__ = ["BinarySystem", "PhraseTranslation", "PhraseTranslator", "build"]

_Value = str | SupportsFloat | Sequence[str | SupportsFloat]

# Options of whole texts, which have no effect on lines.
_TEXT_OPTIONS = frozenset(
    "config f h help i input-file n-best-list quiet server show-weights threads th".split()
)

# Options of raw-text processing.
_RAW_TEXT_OPTIONS = frozenset(
    "no-raw normalize tokenize nonbreaking-prefixes truecase detokenize recase split html "
    "source-language".split()
)


def _tokens(options: dict[str, _Value]) -> list[str]:
    """Converts options to arguments of the command line."""
    tokens = []
    for name, value in options.items():
        name = name.replace("_", "-")
        if name in _TEXT_OPTIONS or name.startswith(("output-", "server-", "print-")):
            raise ValueError(
                f"{name} is about a text or its output; lines are translated here, and results "
                "have scores, phrases, alignments and lists"
            )
        if name in _RAW_TEXT_OPTIONS:
            raise ValueError(
                f"{name} is about raw text; here raw=True or raw=False says whether lines are "
                "prepared by the file preparation beside the ini, and miriam.text has other steps"
            )
        one = plain(value)
        is_list = isinstance(one, Iterable) and not isinstance(one, str)
        values = map(plain, one) if is_list else [one]
        tokens.append(f"-{name}")
        tokens.extend(str(item).lower() if isinstance(item, bool) else str(item) for item in values)
    return tokens


class PhraseTranslator(_native.PhraseTranslator):
    """The system of the file ``ini``, or of the ini in the folder ``ini``.

    If the file ``preparation`` is beside the ini, as after ``miriam train --raw``, lines are raw
    text and translations plain text; with ``raw=False``, both are tokens. ``options`` are those of
    ``miriam translate``, with underscores: ``stack=200``, ``distortion_limit=4``,
    ``search_algorithm=1``, ``drop_unknown=True``. A pickle contains the path; processes that load
    it open the models again and share their memory.
    """

    def __init__(
        self, ini: str | os.PathLike[str], *, raw: bool | None = None, **options: _Value
    ) -> None:
        super().__init__(ini, _tokens(options), raw)


@dataclass(frozen=True)
class BinarySystem:
    """The output of :func:`build`."""

    ini: str
    """The ini that names the binary tables."""
    text_reordering: list[str]
    """The reordering models that stay text files: at most one is stored in the phrase tables."""


def build(
    ini: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    prune: int | None = None,
    memory: int | None = None,
    threads: int = 0,
    progress: ProgressCallback | None = None,
) -> BinarySystem:
    """Builds a binary table in ``folder`` for each text phrase table of ``ini``, and writes
    ``folder/moses.ini``, which refers to them. A table includes the scores of the first reordering
    model if possible.

    ``prune`` is the maximum number of translations per phrase. ``memory`` is in bytes; more data
    goes to temporary files.
    """
    built, text_reordering = _native.build_system(
        ini, folder, prune=prune, memory=memory, threads=threads, progress=listener(progress)
    )
    return BinarySystem(os.fspath(built), text_reordering)


def _open(
    cls: type[PhraseTranslator], ini: os.PathLike[str], options: Sequence[str], raw: bool | None
) -> PhraseTranslator:
    """Opens the system of a pickle."""
    translator = cls.__new__(cls)
    _native.PhraseTranslator.__init__(translator, ini, options, raw)
    return translator
