"""BLEU, chrF and TER with sacreBLEU's numbers, signatures and names of arguments.

``references`` is a sequence of references, each of which has as many lines as ``hypotheses``. ``None``
stands for a line that lacks this reference. Lines are scored on all cores, without the interpreter's
lock.
"""

from __future__ import annotations

import os
from typing import NamedTuple, Sequence

from miriam import _native

__all__ = ["Score", "corpus_bleu", "corpus_chrf", "corpus_ter"]


class Score(NamedTuple):
    """A score from 0 to 100 (TER may be higher), and the signature of its options."""

    score: float
    signature: str


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    *,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    force: bool = False,
    tokenize: str | None = "13a",
    use_effective_order: bool = False,
    tokenize_model: str | os.PathLike[str] | None = None,
) -> Score:
    """Computes BLEU of a text. The tokenisers flores101, flores200, spm and spBLEU-1K need their
    model. ``force`` has no effect, because there is no warning about tokenised text."""
    return Score(
        *_native.score_bleu(
            hypotheses,
            references,
            smooth_method=smooth_method,
            smooth_value=smooth_value,
            lowercase=lowercase,
            tokenize=tokenize,
            use_effective_order=use_effective_order,
            tokenize_model=tokenize_model,
        )
    )


def corpus_chrf(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
    lowercase: bool = False,
) -> Score:
    """Computes chrF of a text, or chrF++ with ``word_order=2``."""
    return Score(
        *_native.score_chrf(
            hypotheses,
            references,
            char_order=char_order,
            word_order=word_order,
            beta=beta,
            remove_whitespace=remove_whitespace,
            eps_smoothing=eps_smoothing,
            lowercase=lowercase,
        )
    )


def corpus_ter(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Score:
    """Computes TER of a text."""
    return Score(
        *_native.score_ter(
            hypotheses,
            references,
            normalized=normalized,
            no_punct=no_punct,
            asian_support=asian_support,
            case_sensitive=case_sensitive,
        )
    )
