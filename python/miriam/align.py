"""Word alignment of parallel text, like ``miriam align`` and fast_align.

Files are plain, ``.gz`` or ``.zst``, with one sentence per line; links are lines of ``i-j``. Ctrl-C
cancels a call; existing files stay unchanged.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from miriam import _native
from miriam._progress import Progress, ProgressCallback, listener

__all__ = ["Agreement", "Alignment", "Progress", "align", "evaluate", "symmetrize"]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Alignment:
    """Counts of an alignment."""

    pairs: int
    """The number of sentence pairs."""
    links: int
    """The number of links."""
    empty_pairs: int
    """The number of pairs with a side without words, which have no links."""
    too_long_pairs: int
    """The number of pairs with a side that is too long, which have no links."""
    perplexity: tuple[float | None, float | None]
    """The perplexity of the last iteration, forward and reverse; ``None`` for a direction that was
    not trained."""


@dataclass(frozen=True)
class Agreement:
    """The agreement of links with manual ones."""

    precision: float
    recall: float
    error_rate: float
    """The alignment error rate."""


def _alignment(counts: tuple[int, int, int, int, list[float | None]]) -> Alignment:
    pairs, links, empty_pairs, too_long_pairs, (forward, reverse) = counts
    return Alignment(pairs, links, empty_pairs, too_long_pairs, (forward, reverse))


def align(
    source: _Path,
    target: _Path,
    links: _Path,
    *,
    model: str | None = None,
    symmetrize: str = "grow-diag-final-and",
    iterations: int | None = None,
    hmm_iterations: int | None = None,
    memory: int | None = None,
    temp: _Path | None = None,
    save_model: _Path | None = None,
    load_model: _Path | None = None,
    lexical_table: _Path | None = None,
    threads: int = 0,
    progress: ProgressCallback | None = None,
) -> Alignment:
    """Aligns the words of two files line by line and writes the links to the file ``links``.

    ``model`` is ``ibm2`` (like fast_align, the default) or ``hmm``; ``symmetrize`` is the method that
    combines the links of both directions. By default there are 5 ``iterations`` of IBM model 2, and for
    ``hmm`` 2 ``hmm_iterations`` after them. A saved model can align other text without training;
    ``lexical_table`` is the file for the probabilities of words. ``memory`` is in bytes.
    """
    return _alignment(
        _native.align(
            source,
            target,
            links,
            model=model,
            symmetrize=symmetrize,
            iterations=iterations,
            hmm_iterations=hmm_iterations,
            memory=memory,
            temp=temp,
            save_model=save_model,
            load_model=load_model,
            lexical_table=lexical_table,
            threads=threads,
            progress=listener(progress),
        )
    )


def symmetrize(
    forward: _Path,
    reverse: _Path,
    links: _Path,
    *,
    how: str = "grow-diag-final-and",
    threads: int = 0,
) -> Alignment:
    """Symmetrizes the links of two files, one for each direction, line by line."""
    return _alignment(
        _native.symmetrize_links(forward, reverse, links, symmetrize=how, threads=threads)
    )


def evaluate(links: _Path, gold: _Path) -> Agreement:
    """Compares the links of a file with manual ones: ``i-j`` is sure, ``i?j`` possible."""
    return Agreement(*_native.evaluate_links(links, gold))
