"""Translation with a phrase-based system: a ``moses.ini`` and its models."""

from __future__ import annotations

import os
from typing import Sequence

from miriam import _native
from miriam._native import PhraseTranslation

__all__ = ["PhraseTranslation", "PhraseTranslator"]

_Value = str | float | bool | Sequence[str | float]

# Options of a text, which have no effect on lines.
_OF_TEXTS = frozenset(
    "config f h help i input-file n-best-list quiet server show-weights threads th".split()
)

# Options of raw text.
_OF_RAW_TEXT = frozenset("raw normalize tokenize truecase detokenize recase split html".split())


def _tokens(options: dict[str, _Value]) -> list[str]:
    """Options as the command line has them."""
    tokens = []
    for name, value in options.items():
        name = name.replace("_", "-")
        if name in _OF_TEXTS or name.startswith(("output-", "server-", "print-")):
            raise ValueError(
                f"{name} is about a text or its output; lines are translated here, and results "
                "have scores, phrases, alignments and lists"
            )
        if name in _OF_RAW_TEXT:
            raise ValueError(
                f"{name} is about raw text; lines of tokens are translated here, which miriam.text "
                "makes of it"
            )
        values = [value] if isinstance(value, (str, int, float)) else value
        tokens.append(f"-{name}")
        tokens.extend(str(item).lower() if isinstance(item, bool) else str(item) for item in values)
    return tokens


class PhraseTranslator(_native.PhraseTranslator):
    """The system of the file ``ini``.

    ``options`` are those of ``miriam translate``, with underscores: ``stack=200``,
    ``distortion_limit=4``, ``search_algorithm=1``, ``drop_unknown=True``. A pickle the
    path: processes open the models again and share their memory.
    """

    def __new__(cls, ini: str | os.PathLike[str], **options: _Value) -> PhraseTranslator:
        return super().__new__(cls, ini, _tokens(options))


def _open(ini: str, options: Sequence[str]) -> PhraseTranslator:
    """The system of a pickle."""
    return _native.PhraseTranslator.__new__(PhraseTranslator, ini, options)
