"""N-gram language models: scoring of many lines, estimation, building.

Every call on lines takes a sequence of ``str`` or ``bytes`` or a string array of pyarrow, and runs
without the interpreter's lock on ``threads`` threads (0: all). Values equal those of ``miriam lm
perplexity`` to the bit.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from operator import index
from typing import Sequence, SupportsIndex

from miriam import _native
from miriam._progress import Progress, ProgressCallback, listener
from miriam._values import plain

__all__ = ["Estimate", "LanguageModel", "Progress"]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Estimate:
    """Counts of :meth:`LanguageModel.estimate`."""

    tokens: int
    """The number of words of the text."""
    types: int
    """The number of different words, including ``<unk>``, ``<s>`` and ``</s>``."""
    counts: list[int]
    """The number of n-grams of each order, from 1."""


class LanguageModel(_native.LanguageModel):
    """A model file of any kind, opened for scoring.

    ``load`` is the method of loading a binary file: ``lazy`` (mapped), ``populate`` (mapped and
    read at once) or ``huge`` (read into private memory in huge pages). Processes that map the same
    file share its memory. Pickles contain the path, not the model.
    """

    @staticmethod
    def estimate(
        text: _Path,
        *,
        order: int,
        arpa: _Path,
        prune: Sequence[int] = (),
        limit_vocab: _Path | None = None,
        vocab_pad: int = 0,
        discount_fallback: Sequence[float] | bool | None = None,
        interpolate_unigrams: bool = True,
        skip_symbols: bool = False,
        memory: int | None = None,
        temp: _Path | None = None,
        threads: int = 0,
        progress: ProgressCallback | None = None,
    ) -> Estimate:
        """Estimates a model from the file ``text``, one sentence per line, like KenLM's lmplz, and
        writes it to the file ``arpa``.

        ``discount_fallback`` contains the discounts for counts of 1, 2, and 3 or more, for orders
        whose discounts cannot be estimated; ``True`` means 0.5, 1 and 1.5. ``memory`` is in bytes.
        """
        fallback = plain(discount_fallback)
        discounts: Sequence[float] | None
        if fallback is True:
            discounts = (0.5, 1.0, 1.5)
        elif fallback is False or fallback is None:
            discounts = None
        else:
            discounts = fallback
        tokens, types, counts = _native.estimate(
            text,
            order=order,
            arpa=arpa,
            prune=list(prune),
            limit_vocab=limit_vocab,
            vocab_pad=vocab_pad,
            discount_fallback=discounts,
            interpolate_unigrams=interpolate_unigrams,
            skip_symbols=skip_symbols,
            memory=memory,
            temp=temp,
            threads=threads,
            progress=listener(progress),
        )
        return Estimate(tokens, types, counts)

    @staticmethod
    def build(
        arpa: _Path,
        out: _Path,
        *,
        type: str = "probing",
        quantize: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
        duplicates: str = "reject",
        positive: str = "reject",
        missing_markers: str = "reject",
        threads: int = 0,
        progress: ProgressCallback | None = None,
    ) -> list[int]:
        """Builds the model file ``out`` from ARPA text or another model file and returns the
        number of n-grams of each order.

        ``type`` is ``probing``, ``trie``, ``glm`` or, for programs that use KenLM,
        ``kenlm-probing`` or ``kenlm-trie``. ``quantize`` is the number of bits of probabilities and
        backoffs of a trie: one number for both, or two. ``duplicates`` (``reject`` or
        ``keep-first``), ``positive`` (``reject`` or ``zero``) and ``missing_markers`` (``reject``
        or ``unknown``) control the treatment of defects in ARPA text.
        """
        bits: tuple[int, int] | None
        if quantize is None:
            bits = None
        elif isinstance(quantize, SupportsIndex):
            bits = (index(quantize), index(quantize))
        else:
            probability_bits, backoff_bits = quantize
            bits = (index(probability_bits), index(backoff_bits))
        return _native.build(
            arpa,
            out,
            type=type,
            quantize=bits,
            duplicates=duplicates,
            positive=positive,
            missing_markers=missing_markers,
            threads=threads,
            progress=listener(progress),
        )

    @staticmethod
    def filter_ngrams(
        model: _Path,
        vocab: _Path,
        out: _Path,
        *,
        mode: str = "single",
        format: str = "arpa",
        context: bool = False,
        phrases: bool = False,
        threads: int = 0,
        progress: ProgressCallback | None = None,
    ) -> tuple[int, int]:
        """Writes to the file ``out`` the n-grams of ``model`` that the sentences in the file
        ``vocab`` may need, like ``miriam lm filter``. Returns the numbers of n-grams read and kept.

        ``mode`` is ``single`` (n-grams whose words are all in the file), ``union`` (all in one
        sentence of it) or ``multiple`` (one output file per sentence, named ``out`` with its
        number, from 0). ``model`` is ARPA text or, with ``format="raw"``, one n-gram per line. With
        ``context``, only the words before the last one must occur; with ``phrases``, sentences
        consist of phrases separated by tabs.
        """
        return _native.filter_ngrams(
            model,
            vocab,
            out,
            mode=mode,
            format=format,
            context=context,
            phrases=phrases,
            threads=threads,
            progress=listener(progress),
        )

    @staticmethod
    def dump(
        model: _Path,
        arpa: _Path,
        *,
        duplicates: str = "reject",
        positive: str = "reject",
        missing_markers: str = "reject",
        threads: int = 0,
    ) -> None:
        """Writes the model file ``model`` to the file ``arpa`` as ARPA text."""
        _native.dump(
            model,
            arpa,
            duplicates=duplicates,
            positive=positive,
            missing_markers=missing_markers,
            threads=threads,
        )


def _open(
    cls: type[LanguageModel], positional: tuple[_Path], options: dict[str, str]
) -> LanguageModel:
    """Opens the model of a pickle."""
    model = cls.__new__(cls)
    _native.LanguageModel.__init__(model, *positional, **options)
    return model
