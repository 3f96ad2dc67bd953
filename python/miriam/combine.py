"""n-best lists of one or several systems: the translation that is most like all others (minimum
Bayes risk), and the best by weights of features, like ``miriam mbr`` and ``miriam rerank``.

A list is a file (``number ||| text ||| features ||| total``, of any program) or in memory: a
sequence of sentences, each a sequence of entries. Spaces around a translation are not kept. Ctrl-C
cancels a call.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from miriam import _native
from miriam._progress import Progress, ProgressCallback, listener

__all__ = ["Progress", "Ranking", "Risk", "mbr", "rerank"]

_Path = str | os.PathLike[str]
_Values = float | Iterable[float]
_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class Risk:
    """The result of minimum Bayes risk."""

    translations: list[str] | None
    """The best translation of each sentence; ``None`` if they were written to a file."""
    lists: list[list[tuple[str, float]]] | None
    """All translations with their expected scores, best first, if ``write_lists`` was set and they
    were not written to a file."""
    sentences: int
    entries: int
    """The number of entries of all lists."""
    candidates: int
    """The number of different translations of each sentence, added up."""
    not_first: int
    """The number of sentences whose winner is not the first entry of the first list."""
    worse: int
    """The number of sentences for which the exact estimate has a better winner, with
    ``show_loss``."""
    loss: float
    """The sum, over the sentences of ``worse``, of the difference between the exact winner and the
    chosen one, in points of the metric."""


@dataclass(frozen=True)
class Ranking:
    """The result of reranking."""

    translations: list[str] | None
    """The best translation of each sentence; ``None`` if they were written to a file."""
    lists: list[list[tuple[str, float]]] | None
    """All translations with their new totals, best first, if ``write_lists`` was set and they were
    not written to a file."""
    sentences: int
    not_first: int
    """The number of sentences whose best entry is not the first one."""


def _encode(text: str) -> bytes:
    # Bytes of a file that are not UTF-8 stay what they are, in both directions.
    return text.encode(errors="surrogateescape")


def _decode(text: bytes) -> str:
    return text.decode(errors="surrogateescape")


def _line(sentence: int, text: str, features: str, total: object) -> str:
    if not isinstance(text, str):
        found = type(text).__name__
        raise TypeError(f"sentence {sentence}: expected a str as translation, found {found}")
    if "\n" in text:
        raise ValueError(f"sentence {sentence}: {text!r} cannot be in a list: it has a line end")
    if "|||" in text:
        # With an empty field of alignments, the last field of the text is not read as alignments.
        text += " ||| "
    return f"{sentence} ||| {text} ||| {features} ||| {total}\n"


def _pair(sentence: int, entry: object, second: str) -> tuple[Any, Any]:
    """Returns a translation and its ``second``. Raises TypeError for other entries."""
    is_sequence = isinstance(entry, Iterable) and not isinstance(entry, (str, bytes, Mapping))
    pair = tuple(entry) if is_sequence else ()  # type: ignore[arg-type]
    if len(pair) != 2:
        raise TypeError(
            f"sentence {sentence}: expected pairs of a translation and its {second}, found "
            f"{entry!r:.60}"
        )
    return pair


def _total_line(sentence: int, entry: tuple[str, float] | str) -> str:
    text, total = (entry, 0.0) if isinstance(entry, str) else _pair(sentence, entry, "total")
    try:
        number = float(total)
    except (TypeError, ValueError) as error:
        message = f"sentence {sentence}: expected a number as total, found {total!r:.60}"
        raise TypeError(message) from error
    return _line(sentence, text, "F0= 0", repr(number))


def _entries(sentence: int, given: Iterable[_Entry]) -> list[_Entry]:
    """Returns the entries of a sentence as a list. Raises ValueError if there are none."""
    if isinstance(given, str):
        raise TypeError(f"sentence {sentence}: expected a sequence of entries, found a string")
    if not isinstance(given, Iterable):
        found = type(given).__name__
        raise TypeError(f"sentence {sentence}: expected a sequence of entries, found {found}")
    entries = list(given)
    if not entries:
        raise ValueError(f"sentence {sentence} has no translations")
    return entries


def _risk_lines(
    number: int, sentences: Iterable[Iterable[tuple[str, float] | str]], weights: str
) -> bytes:
    lines = []
    for sentence, given in enumerate(sentences):
        entries = _entries(sentence, given)
        if weights != "uniform" and any(isinstance(entry, str) for entry in entries):
            raise TypeError(
                f"list {number}, sentence {sentence}: expected pairs of a translation and its "
                'total; only weights="uniform" needs no totals'
            )
        lines += [_total_line(sentence, entry) for entry in entries]
    return _encode("".join(lines))


def _numbers(name: str, values: object) -> list[float]:
    expected = f"feature {name}: expected a number or a sequence of numbers, found {values!r}"
    given = [values]
    # An array without dimensions can be a number, but has no elements.
    if isinstance(values, Iterable) and getattr(values, "ndim", 1) > 0:
        given = list(values)
    if isinstance(values, (str, bytes)) or any(isinstance(one, (str, bytes)) for one in given):
        raise TypeError(expected)
    if not given:
        raise ValueError(f"feature {name} has no values")
    try:
        return [float(value) for value in given]  # type: ignore[arg-type]
    except TypeError as error:
        raise TypeError(expected) from error


def _feature(name: str, values: _Values) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is not a name of a feature, which is a string")
    # Readers would take a name that begins with one of these characters for a value or a comment,
    # and the name WordScores for scores of words.
    is_other = name[:1] in "#0123456789" or name == "WordScores"
    if is_other or any(c.isspace() or c in "=|" for c in name):
        raise ValueError(
            f"{name!r} is not a name of a feature: it must not be empty or WordScores, begin with "
            "a digit or #, or have blanks, = or |"
        )
    return f"{name}= " + " ".join(map(repr, _numbers(name, values)))


def _feature_lines(sentences: Iterable[Iterable[tuple[str, Mapping[str, _Values]]]]) -> bytes:
    lines = []
    for sentence, given in enumerate(sentences):
        for entry in _entries(sentence, given):
            text, features = _pair(sentence, entry, "features")
            if not isinstance(features, Mapping):
                found = type(features).__name__
                raise TypeError(f"sentence {sentence}: expected features by name, found {found}")
            named = " ".join(_feature(name, values) for name, values in features.items())
            lines.append(_line(sentence, text, named, 0))
    return _encode("".join(lines))


def _read(
    best: bytes | None, lists: list[list[tuple[bytes, float]]] | None
) -> tuple[list[str] | None, list[list[tuple[str, float]]] | None]:
    """Returns the best translations, and the lists."""
    if lists is not None:
        decoded = [[(_decode(text), total) for text, total in entries] for entries in lists]
        return [entries[0][0] for entries in decoded], decoded
    return (None if best is None else _decode(best).split("\n")[:-1]), None


def mbr(
    *n_best: _Path | Iterable[Iterable[tuple[str, float] | str]],
    output: _Path | None = None,
    utility: str = "chrf",
    weights: str = "posterior",
    scale: float = 1.0,
    list_weights: Sequence[float] = (),
    estimate: str = "exact",
    keep: int = 20,
    show_loss: bool = False,
    write_lists: bool = False,
    tokenize: str = "13a",
    tokenize_model: _Path | None = None,
    lowercase: bool = False,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    chrf_char_order: int = 6,
    chrf_word_order: int = 0,
    chrf_beta: int = 2,
    chrf_whitespace: bool = False,
    chrf_lowercase: bool = False,
    chrf_eps_smoothing: bool = False,
    ter_case_sensitive: bool = False,
    ter_asian_support: bool = False,
    ter_no_punct: bool = False,
    ter_normalized: bool = False,
    threads: int = 0,
    progress: ProgressCallback | None = None,
) -> Risk:
    """Chooses from lists of the same sentences the translations that are most like all others.

    A list in memory has pairs of a translation and its total, or translations alone with
    ``weights="uniform"``. The arguments are the options of ``miriam mbr``.
    """
    lists: list[_Path | bytes] = []
    for number, one in enumerate(n_best):
        is_file = isinstance(one, (str, os.PathLike))
        lists.append(one if is_file else _risk_lines(number, one, weights))  # type: ignore[arg-type]
    metrics = {
        "tokenize": tokenize,
        "tokenize_model": tokenize_model,
        "lowercase": lowercase,
        "smooth_method": smooth_method,
        "smooth_value": smooth_value,
        "chrf_char_order": chrf_char_order,
        "chrf_word_order": chrf_word_order,
        "chrf_beta": chrf_beta,
        "chrf_whitespace": chrf_whitespace,
        "chrf_lowercase": chrf_lowercase,
        "chrf_eps_smoothing": chrf_eps_smoothing,
        "ter_case_sensitive": ter_case_sensitive,
        "ter_asian_support": ter_asian_support,
        "ter_no_punct": ter_no_punct,
        "ter_normalized": ter_normalized,
    }
    best, ranked, counts = _native.minimum_bayes_risk(
        lists,
        output=output,
        utility=utility,
        metrics=metrics,
        weights=weights,
        scale=scale,
        list_weights=list(list_weights),
        estimate=estimate,
        keep=keep,
        show_loss=show_loss,
        write_lists=write_lists,
        threads=threads,
        progress=listener(progress),
    )
    translations, chosen = _read(best, ranked)
    sentences, entries, candidates, not_first, worse, loss = counts
    return Risk(
        translations=translations,
        lists=chosen,
        sentences=sentences,
        entries=entries,
        candidates=candidates,
        not_first=not_first,
        worse=worse,
        loss=loss,
    )


def rerank(
    n_best: _Path | Iterable[Iterable[tuple[str, Mapping[str, _Values]]]],
    weights: _Path | Mapping[str, _Values],
    *,
    output: _Path | None = None,
    write_lists: bool = False,
    threads: int = 0,
    progress: ProgressCallback | None = None,
) -> Ranking:
    """Chooses the translations with the largest sum of weighted features.

    A list in memory has pairs of a translation and its features; ``weights`` is a file, as
    ``miriam tune --n-best`` writes it, or has the weights by name. The arguments are the options of
    ``miriam rerank``.
    """
    entries = n_best if isinstance(n_best, (str, os.PathLike)) else _feature_lines(n_best)
    if isinstance(weights, Mapping):
        lines = [_feature(name, values) + "\n" for name, values in weights.items()]
        given: _Path | bytes = _encode("".join(lines))
    elif isinstance(weights, (str, bytes, os.PathLike)):
        given = weights
    else:
        found = type(weights).__name__
        raise TypeError(f"weights: expected a file, or weights by name, found {found}")
    best, ranked, counts = _native.rerank_list(
        entries,
        given,
        output=output,
        write_lists=write_lists,
        threads=threads,
        progress=listener(progress),
    )
    translations, lists = _read(best, ranked)
    sentences, not_first = counts
    return Ranking(translations, lists, sentences, not_first)
