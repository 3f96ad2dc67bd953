"""Training from parallel text: phrase-based systems like ``miriam train``, neural models like
``miriam nmt train``.

A call resumes an earlier one that was stopped by Ctrl-C, by an exception of a callback or by being
killed, and does only the missing work. The calling thread passes new reports to callbacks twenty
times per second.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from miriam import _native
from miriam._progress import Progress, ProgressCallback, listener
from miriam._values import plain

__all__ = ["NeuralModel", "PhraseSystem", "Progress", "neural", "phrase"]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class NeuralModel:
    """A trained model."""

    path: str
    """The folder that ``miriam.ct2.Translator`` and ``miriam nmt translate -m`` open."""
    outcome: str
    """The outcome of the training: ``finished`` (a limit was reached), ``early-stopped``
    (validation has not improved for too long), or ``already-finished`` (nothing was left to do)."""


@dataclass(frozen=True)
class PhraseSystem:
    """A trained system."""

    ini: str
    """The file that ``miriam.phrase.PhraseTranslator`` and ``miriam translate -f`` open."""
    pairs: tuple[int, int]
    """The numbers of used and of all sentence pairs."""
    links: int
    """The number of links between words."""
    phrase_pairs: int
    """The number of phrase pairs in the table."""
    ngrams: list[int]
    """The number of n-grams of each order in the language model."""
    dev_bleu: tuple[float, float] | None
    """BLEU of the dev text, 0 to 100, with the first weights and with the tuned ones."""
    combination: tuple[float, float | None, float] | None
    """BLEU of the dev text by the neural model, by that model after further training on
    back-translated text, and by the combination, if neural models were trained."""


def _values(name: str, value: object) -> list[str]:
    value = plain(value)
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (str, os.PathLike)):
        return [str(os.fspath(value))]
    if isinstance(value, (int, float)):
        return [repr(value)]
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _values(name, one)]
    raise TypeError(
        f"options: {name} is a {type(value).__name__}; give a bool, number, str, path, or a list of them"
    )


def _paths(value: _Path | Sequence[_Path]) -> list[_Path]:
    """Returns a list of paths, also for a single path."""
    return [value] if isinstance(value, (str, os.PathLike)) else list(value)


def neural(
    source: _Path,
    target: _Path,
    output: _Path,
    *,
    dev_source: _Path | None = None,
    dev_target: _Path | None = None,
    task: str | None = None,
    options: Mapping[str, object] | None = None,
    configs: _Path | Sequence[_Path] = (),
    vocab_size: int | None = None,
    plot: _Path | None = None,
    threads: int = 0,
    progress: ProgressCallback | None = None,
    log: Callable[[str], object] | None = None,
) -> NeuralModel:
    """Trains a neural model from the files ``source`` and ``target`` (one sentence per line, plain
    or compressed) into the folder ``output``, and validates it on the dev text, if there is one.

    ``options`` are those of ``miriam nmt train``, which are Marian's, by their long names
    (``after_epochs`` or ``"after-epochs"``). Values are bools, numbers, strings, paths, or lists of
    these. They override the files ``configs``, one or several; later files override earlier ones,
    and all override the preset ``task``. Without ``task``, a configuration can name the preset.
    ``log`` receives Marian's log line by line. Warnings are Python warnings.
    """
    if (dev_source is None) != (dev_target is None):
        raise ValueError("dev_source and dev_target: give both or none")
    given: list[tuple[str, list[str]]] = [("train-sets", [os.fspath(source), os.fspath(target)])]
    if dev_source is not None and dev_target is not None:
        given.append(("valid-sets", [os.fspath(dev_source), os.fspath(dev_target)]))
    for name, value in (options or {}).items():
        name = name.replace("_", "-")
        if name in ("train-sets", "valid-sets", "task"):
            raise ValueError(f"options: {name} is a separate argument")
        given.append((name, _values(name, value)))
    outcome, path = _native.train_neural(
        given,
        output,
        configs=_paths(configs),
        task=task,
        vocab_size=vocab_size,
        plot=plot,
        threads=threads,
        progress=listener(progress),
        log=log,
    )
    return NeuralModel(os.fspath(path), outcome)


def phrase(
    source: _Path,
    target: _Path,
    output: _Path,
    *,
    dev_source: _Path | None = None,
    dev_target: _Path | None = None,
    lm_text: _Path | Sequence[_Path] = (),
    source_language: str | None = None,
    target_language: str | None = None,
    source_nonbreaking_prefixes: _Path | None = None,
    target_nonbreaking_prefixes: _Path | None = None,
    max_words: int = 80,
    max_ratio: int = 9,
    alignment_model: str = "ibm2",
    symmetrize: str = "grow-diag-final-and",
    max_length: int = 7,
    reordering: str | None = "wbe-msd-bidirectional-fe",
    lm_order: int = 5,
    lm_prune: Sequence[int] = (),
    lm_type: str = "probing",
    tune: str | None = "mira",
    seed: int = 1,
    iterations: int | None = None,
    neural: bool = False,
    task: str | None = None,
    neural_config: _Path | Sequence[_Path] = (),
    vocab_size: int | None = None,
    back_translate: _Path | Sequence[_Path] = (),
    neural_candidates: int = 0,
    text: bool = False,
    keep_work: bool = False,
    memory: int | None = None,
    threads: int = 0,
    progress: ProgressCallback | None = None,
) -> PhraseSystem:
    """Trains a phrase-based system from the files ``source`` and ``target`` into the folder
    ``output``, and tunes its weights on the dev text, if there is one.

    With ``source_language`` and ``target_language``, the texts are raw: they are normalised,
    tokenised and truecased. ``source_nonbreaking_prefixes`` and ``target_nonbreaking_prefixes`` are
    files of words that keep their full stop, in Moses' format, in place of the built-in lists.
    ``tune`` is ``"mira"``, ``"mert"``, ``"pro"`` or ``None``; ``memory`` is in bytes. With
    ``neural``, neural models of both directions are trained too and combined with the phrase-based
    system. ``lm_text``, ``neural_config`` and ``back_translate`` are one file or several. The other
    arguments are the options of ``miriam train``.
    """
    neural_configs, back_translated = _paths(neural_config), _paths(back_translate)
    neural_only = (task, vocab_size, *neural_configs, *back_translated, neural_candidates or None)
    if not neural and any(given is not None for given in neural_only):
        names = "task, neural_config, vocab_size, back_translate and neural_candidates"
        raise ValueError(f"{names}: need neural=True")
    if (dev_source is None) != (dev_target is None):
        raise ValueError("dev_source and dev_target: give both or none")
    if (source_language is None) != (target_language is None):
        raise ValueError("source_language and target_language: give both or none")
    dev = None if dev_source is None or dev_target is None else (dev_source, dev_target)
    languages = None
    if source_language is not None and target_language is not None:
        languages = (source_language, target_language)
    _warn_of_unused_tuning(tune, seed, iterations, dev is not None, neural)
    models = (task, neural_configs, vocab_size, back_translated, neural_candidates)
    ini, pairs, links, phrase_pairs, ngrams, dev_bleu, combination = _native.train_phrase(
        source,
        target,
        output,
        dev=dev,
        lm_text=_paths(lm_text),
        languages=languages,
        nonbreaking_prefixes=(source_nonbreaking_prefixes, target_nonbreaking_prefixes),
        max_words=max_words,
        max_ratio=max_ratio,
        alignment_model=alignment_model,
        symmetrize=symmetrize,
        max_length=max_length,
        reordering=None if reordering == "none" else reordering,
        lm_order=lm_order,
        lm_prune=list(lm_prune),
        lm_type=lm_type,
        tune=tune,
        seed=seed,
        iterations=iterations,
        neural=models if neural else None,
        text=text,
        keep_work=keep_work,
        memory=memory,
        threads=threads,
        progress=listener(progress),
    )
    path = os.fspath(ini)
    return PhraseSystem(path, pairs, links, phrase_pairs, ngrams, dev_bleu, combination)


def _warn_of_unused_tuning(
    tune: str | None, seed: int, iterations: int | None, has_dev: bool, neural: bool
) -> None:
    """Warns of options of tuning that have no effect, as the command line does."""
    if has_dev and tune is not None:
        return
    if has_dev:
        reason = "tune=None keeps the initial weights"
    else:
        reason = "weights are tuned only with dev_source and dev_target"
    # The weights of a combination are always tuned, in a fixed number of rounds at most.
    uses_seed = has_dev and neural
    for name, is_unused in [
        ("seed", seed != 1 and not uses_seed),
        ("iterations", iterations is not None),
    ]:
        if is_unused:
            warnings.warn(f"{name} has no effect: {reason}", stacklevel=3)
