"""The interface of CTranslate2's ``Translator``.

Names, arguments, defaults and results are those of CTranslate2's module; ``install`` replaces it
by this module. Models are folders of CTranslate2 and all others that ``miriam nmt`` reads. In
addition to CTranslate2's functions, plain text can be translated (``translate_texts``), and calls
can be awaited (``translate_async``, ``translate_texts_async``).
"""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Generator as _Generator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from itertools import zip_longest
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from miriam import _native
from miriam._native import (
    AsyncScoringResult,
    AsyncTranslationResult,
    GenerationStepResult,
    ScoringResult,
    TranslationResult,
    contains_model,
    get_cuda_device_count,
    get_supported_compute_types,
    set_random_seed,
)
from miriam._native import __VERSION__ as __version__

__all__ = [
    "AsyncScoringResult",
    "AsyncTranslationResult",
    "ExecutionStats",
    "GenerationStepResult",
    "ScoringResult",
    "TranslationResult",
    "Translator",
    "contains_model",
    "get_cuda_device_count",
    "get_log_level",
    "get_supported_compute_types",
    "install",
    "set_log_level",
    "set_random_seed",
]

# Tokens, or their UTF-8 separated by spaces.
_Tokens = Sequence[str | bytes] | bytes
_Path = str | bytes | os.PathLike[str]
_Tokenize = Callable[[str], Sequence[str]]
_Detokenize = Callable[[list[str]], str | bytes]
_Result = TypeVar("_Result", covariant=True)
_Other = TypeVar("_Other")

# The levels of Python's module ``logging``, from NOTSET to CRITICAL.
_LOG_LEVELS = range(logging.NOTSET, logging.CRITICAL + 1, 10)
# The parts of CTranslate2's module that are not here.
_ABSENT = ("Encoder", "Generator", "StorageView", "converters", "models", "specs")
# The number of batches that are read ahead and sorted by length together.
_READ_AHEAD = 16


@dataclass(frozen=True, repr=False)
class ExecutionStats:
    """Statistics of a call on files."""

    num_tokens: int
    """The number of written or scored tokens."""
    num_examples: int
    """The number of lines."""
    total_time_in_ms: float
    """The elapsed time in milliseconds."""

    def __repr__(self) -> str:
        return (
            f"ExecutionStats(num_tokens={self.num_tokens}, num_examples={self.num_examples}, "
            f"total_time_in_ms={self.total_time_in_ms})"
        )


class _Pending(Protocol[_Result]):
    def result(self) -> _Result: ...
    def done(self) -> bool: ...


class Translator(_native.Translator):
    """A model that translates and scores tokenised sentences.

    ``inter_threads`` threads translate the batches of all calls. ``device`` is ``cpu``, ``cuda`` or
    ``auto``; ``compute_type`` is ``default`` (on CPUs the type of the stored weights, on GPUs
    ``float32``), ``auto``, or a type that the device supports (``get_supported_compute_types``).
    ``files`` contains the files of a folder of CTranslate2, by name. ``vocabs`` names the
    vocabularies of a model that has none beside it, such as Marian's: one for both sides, or two.
    """

    def translate_iterable(
        self,
        source: Iterable[_Tokens],
        target_prefix: Iterable[_Tokens | None] | None = None,
        max_batch_size: int = 32,
        batch_type: str = "examples",
        **options: Any,
    ) -> _Generator[TranslationResult, None, None]:
        """Translates a stream of sentences: reads ahead, and yields results in order.

        ``options`` are those of ``translate_batch``; ``asynchronous`` has no effect.
        """
        options["asynchronous"] = True

        def submit(columns: list[list[Any]]) -> Iterable[_Pending[TranslationResult]]:
            return self.translate_batch(
                *columns, max_batch_size=max_batch_size, batch_type=batch_type, **options
            )

        inputs = [source] if target_prefix is None else [source, target_prefix]
        size = _portion_size(max_batch_size)
        yield from _in_order(submit, _portions(inputs, size, batch_type))

    def score_iterable(
        self,
        source: Iterable[_Tokens],
        target: Iterable[_Tokens],
        max_batch_size: int = 64,
        batch_type: str = "examples",
        **options: Any,
    ) -> _Generator[ScoringResult, None, None]:
        """Scores a stream of translations; ``options`` are those of ``score_batch``, of which
        ``asynchronous`` has no effect."""
        options["asynchronous"] = True

        def submit(columns: list[list[Any]]) -> Iterable[_Pending[ScoringResult]]:
            return self.score_batch(
                *columns, max_batch_size=max_batch_size, batch_type=batch_type, **options
            )

        size = _portion_size(max_batch_size)
        yield from _in_order(submit, _portions([source, target], size, batch_type))

    def generate_tokens(
        self,
        source: _Tokens,
        target_prefix: _Tokens | None = None,
        *,
        max_decoding_length: int = 256,
        min_decoding_length: int = 1,
        sampling_topk: int = 1,
        sampling_topp: float = 1,
        sampling_temperature: float = 1,
        return_log_prob: bool = False,
        repetition_penalty: float = 1,
        no_repeat_ngram_size: int = 0,
        disable_unk: bool = False,
        suppress_sequences: Sequence[_Tokens] | None = None,
        end_token: str | bytes | Sequence[str | bytes] | Sequence[int] | None = None,
        max_input_length: int = 1024,
        use_vmap: bool = False,
    ) -> _Generator[GenerationStepResult, None, None]:
        """Yields the tokens of a translation as they are generated, by greedy search or sampling.
        Closing the generator cancels the translation."""
        from queue import SimpleQueue

        steps: SimpleQueue[GenerationStepResult | None] = SimpleQueue()
        stopped = False

        def take(step: GenerationStepResult) -> bool:
            steps.put(step)
            return stopped

        [pending] = self.translate_batch(
            [source],
            None if target_prefix is None else [target_prefix],
            asynchronous=True,
            beam_size=1,
            max_decoding_length=max_decoding_length,
            min_decoding_length=min_decoding_length,
            sampling_topk=sampling_topk,
            sampling_topp=sampling_topp,
            sampling_temperature=sampling_temperature,
            return_scores=return_log_prob,
            repetition_penalty=repetition_penalty,
            no_repeat_ngram_size=no_repeat_ngram_size,
            disable_unk=disable_unk,
            suppress_sequences=suppress_sequences,
            end_token=end_token,
            max_input_length=max_input_length,
            use_vmap=use_vmap,
            callback=take,
        )
        try:
            pending._when_done(lambda: steps.put(None))
            while (step := steps.get()) is not None:
                yield step
            pending.result()
        finally:
            stopped = True
            pending._cancel()

    def translate_file(
        self,
        source_path: _Path,
        output_path: _Path,
        target_path: _Path | None = None,
        *,
        max_batch_size: int = 32,
        read_batch_size: int = 0,
        batch_type: str = "examples",
        beam_size: int = 2,
        patience: float = 1,
        num_hypotheses: int = 1,
        length_penalty: float = 1,
        coverage_penalty: float = 0,
        repetition_penalty: float = 1,
        no_repeat_ngram_size: int = 0,
        disable_unk: bool = False,
        suppress_sequences: Sequence[_Tokens] | None = None,
        end_token: str | bytes | Sequence[str | bytes] | Sequence[int] | None = None,
        prefix_bias_beta: float = 0,
        max_input_length: int = 1024,
        max_decoding_length: int = 256,
        min_decoding_length: int = 1,
        use_vmap: bool = False,
        with_scores: bool = False,
        sampling_topk: int = 1,
        sampling_topp: float = 1,
        sampling_temperature: float = 1,
        replace_unknowns: bool = False,
        source_tokenize_fn: _Tokenize | None = None,
        target_tokenize_fn: _Tokenize | None = None,
        target_detokenize_fn: _Detokenize | None = None,
    ) -> ExecutionStats:
        """Translates a file, one sentence per line, to the file ``output_path``; ``target_path``
        contains prefixes of the translations. Without functions for tokenisation, tokens are
        separated by spaces."""
        if (source_tokenize_fn is None) != (target_detokenize_fn is None):
            raise ValueError("give both source_tokenize_fn and target_detokenize_fn, or neither")
        if target_path is not None and source_tokenize_fn and target_tokenize_fn is None:
            raise ValueError("target_path and source_tokenize_fn require target_tokenize_fn")
        _check_output(output_path, source_path, target_path)
        started = time.perf_counter()
        num_tokens = num_examples = 0
        with ExitStack() as files:
            source = files.enter_context(_Lines(source_path))
            columns: list[Iterable[Any]] = [source.tokens(source_tokenize_fn)]
            if target_path is not None:
                prefixes = files.enter_context(_Lines(target_path))
                columns.append(prefixes.tokens(target_tokenize_fn if source_tokenize_fn else None))
            output = files.enter_context(open(os.fspath(output_path), "wb"))

            def submit(batch: list[list[Any]]) -> Iterable[_Pending[TranslationResult]]:
                return self.translate_batch(
                    *batch,
                    max_batch_size=max_batch_size,
                    batch_type=batch_type,
                    asynchronous=True,
                    beam_size=beam_size,
                    patience=patience,
                    num_hypotheses=num_hypotheses,
                    length_penalty=length_penalty,
                    coverage_penalty=coverage_penalty,
                    repetition_penalty=repetition_penalty,
                    no_repeat_ngram_size=no_repeat_ngram_size,
                    disable_unk=disable_unk,
                    suppress_sequences=suppress_sequences,
                    end_token=end_token,
                    prefix_bias_beta=prefix_bias_beta,
                    max_input_length=max_input_length,
                    max_decoding_length=max_decoding_length,
                    min_decoding_length=min_decoding_length,
                    use_vmap=use_vmap,
                    return_scores=with_scores,
                    sampling_topk=sampling_topk,
                    sampling_topp=sampling_topp,
                    sampling_temperature=sampling_temperature,
                    replace_unknowns=replace_unknowns,
                )

            results = _file_results(submit, columns, max_batch_size, read_batch_size, batch_type)
            for result in results:
                if target_detokenize_fn is None:
                    # The bytes of tokens, of which unknown source tokens may not be UTF-8.
                    texts = result._joined
                else:
                    texts = [_text(target_detokenize_fn(tokens)) for tokens in result.hypotheses]
                for number, text in enumerate(texts):
                    score = f"{result.scores[number]:g} ||| " if with_scores else ""
                    output.write(b"%b%b\n" % (score.encode(), text))
                num_examples += 1
                num_tokens += len(result.hypotheses[0])
        return ExecutionStats(num_tokens, num_examples, 1e3 * (time.perf_counter() - started))

    def score_file(
        self,
        source_path: _Path,
        target_path: _Path,
        output_path: _Path,
        *,
        max_batch_size: int = 32,
        read_batch_size: int = 0,
        batch_type: str = "examples",
        max_input_length: int = 1024,
        offset: int = 0,
        with_tokens_score: bool = False,
        source_tokenize_fn: _Tokenize | None = None,
        target_tokenize_fn: _Tokenize | None = None,
        target_detokenize_fn: _Detokenize | None = None,
    ) -> ExecutionStats:
        """Scores the translations in the file ``target_path`` of the sentences in ``source_path``,
        and writes ``score ||| translation`` to ``output_path``, with ``with_tokens_score`` also
        ``||| scores of tokens``. The score is the mean over the tokens."""
        functions = [source_tokenize_fn, target_tokenize_fn, target_detokenize_fn]
        if any(functions) and not all(functions):
            raise ValueError(
                "give source_tokenize_fn, target_tokenize_fn and target_detokenize_fn, or none"
            )
        _check_output(output_path, source_path, target_path)
        started = time.perf_counter()
        num_tokens = num_examples = 0

        def submit(batch: list[list[Any]]) -> Iterable[_Pending[ScoringResult]]:
            return self.score_batch(
                *batch,
                max_batch_size=max_batch_size,
                batch_type=batch_type,
                max_input_length=max_input_length,
                offset=offset,
                asynchronous=True,
            )

        detokenize = target_detokenize_fn or " ".join
        with (
            _Lines(source_path) as source,
            _Lines(target_path) as target,
            open(os.fspath(output_path), "wb") as output,
        ):
            columns = [source.tokens(source_tokenize_fn), target.tokens(target_tokenize_fn)]
            results = _file_results(submit, columns, max_batch_size, read_batch_size, batch_type)
            for result in results:
                scores = result.log_probs
                mean = sum(scores) / len(scores) if scores else 0.0
                tail = " |||" + "".join(f" {score:g}" for score in scores)
                text = _text(detokenize(result.tokens))
                end = tail if with_tokens_score else ""
                output.write(b"%g ||| %b%b\n" % (mean, text, end.encode()))
                num_examples += 1
                num_tokens += len(scores)
        return ExecutionStats(num_tokens, num_examples, 1e3 * (time.perf_counter() - started))

    async def translate_async(
        self,
        source: Sequence[_Tokens],
        target_prefix: Sequence[_Tokens | None] | None = None,
        **options: Any,
    ) -> list[TranslationResult]:
        """Awaitable ``translate_batch``: other tasks run meanwhile, and sentences of several calls
        are translated together. Cancelling the task cancels the call."""
        results = self.translate_batch(
            source, target_prefix, asynchronous=True, _may_wait=False, **options
        )
        if results:
            await _when_done(results[0])
        return [result.result() for result in results]

    async def translate_texts_async(
        self,
        texts: Sequence[str],
        *,
        split: bool = False,
        html: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
        beam_size: int | None = None,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        **decoding: Any,
    ) -> list[str]:
        """Awaitable ``translate_texts``."""
        pending = self._submit_texts(
            texts,
            split=split,
            html=html,
            source_language=source_language,
            target_language=target_language,
            beam_size=beam_size,
            max_batch_size=max_batch_size,
            batch_type=batch_type,
            _may_wait=False,
            **decoding,
        )
        await _when_done(pending)
        return pending.result()


async def _when_done(pending: AsyncTranslationResult | _native.AsyncTexts) -> None:
    """Waits until all examples of the call of ``pending`` are done; cancels it if the task is
    cancelled."""
    import asyncio

    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def tell() -> None:
        try:
            loop.call_soon_threadsafe(done.set)
        except RuntimeError:
            # The loop is closed, so no task waits.
            pass

    pending._when_done(tell)
    try:
        await done.wait()
    except asyncio.CancelledError:
        pending._cancel()
        raise


def _text(detokenized: object) -> bytes:
    """Returns what ``target_detokenize_fn`` has returned, encoded if it is a string."""
    if isinstance(detokenized, bytes):
        return detokenized
    if not isinstance(detokenized, str):
        found = type(detokenized).__name__
        raise TypeError(f"target_detokenize_fn: expected a str as its result, found {found}")
    return detokenized.encode()


def _check_output(output: _Path, *inputs: _Path | None) -> None:
    """Checks that writing to ``output`` would not overwrite an input."""
    if not os.path.isfile(os.fspath(output)):
        return
    for path in inputs:
        path = None if path is None else os.fspath(path)
        if path is not None and os.path.isfile(path) and os.path.samefile(path, output):
            raise OSError(
                f"{os.fsdecode(path)}: cannot read: it is also the output; write to another file"
            )


class _Lines:
    """The lines of a file as token sequences."""

    def __init__(self, path: _Path) -> None:
        self._path = path
        self._file = open(os.fspath(path), "rb")

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def tokens(self, tokenize: _Tokenize | None) -> Iterator[_Tokens]:
        for number, line in enumerate(self._file, 1):
            line = line.rstrip(b"\r\n")
            if tokenize is None:
                # Bytes that are not UTF-8 make an unknown token, as in CTranslate2.
                yield line
                continue
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                path = os.fsdecode(self._path)
                error.reason = f"{error.reason}; {path}, line {number} is not UTF-8"
                raise
            yield tokenize(text)


def _file_results(
    submit: Callable[[list[list[Any]]], Iterable[_Pending[_Other]]],
    columns: Sequence[Iterable[Any]],
    max_batch_size: int,
    read_batch_size: int,
    batch_type: str,
) -> Iterator[_Other]:
    """Yields the results for the lines of parallel files, as ``_in_order``. As in CTranslate2,
    fewer targets than sources are a ``RuntimeError``, and further targets are ignored, here with a
    warning."""
    portions = _portions(columns, _portion_size(max_batch_size, read_batch_size), batch_type, True)
    try:
        yield from _in_order(submit, portions)
    except _LengthError as error:
        raise RuntimeError(f"the target has fewer examples than the source: {error}") from None


class _LengthError(ValueError):
    """Inputs of different lengths."""


def _portion_size(max_batch_size: int, read_batch_size: int = 0) -> int:
    """Returns the number of examples or tokens to submit at once."""
    if max_batch_size < 1:
        raise ValueError("max_batch_size must be at least 1")
    if read_batch_size < 0:
        raise ValueError("read_batch_size must be at least 0")
    return read_batch_size or (max_batch_size * _READ_AHEAD if max_batch_size > 1 else 1)


def _in_order(
    submit: Callable[[list[list[Any]]], Iterable[_Pending[_Other]]],
    portions: Iterable[list[list[Any]]],
) -> Iterator[_Other]:
    """Submits portions of examples, and yields their results in order. At most two portions are in
    progress, so memory does not grow with the input."""
    waiting: deque[_Pending[_Other]] = deque()
    for columns in portions:
        before = len(waiting)
        waiting.extend(submit(columns))
        for _ in range(before):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _portions(
    inputs: Sequence[Iterable[Any]], size: int, batch_type: str, may_end_early: bool = False
) -> Iterator[list[list[Any]]]:
    """Yields portions, each as one list per input. A portion has at most ``size`` examples or
    tokens of the first input; an example with more tokens is a portion by itself. If
    ``may_end_early``, the first input may end before the others."""
    if batch_type not in ("examples", "tokens"):
        raise ValueError(f'invalid batch type {batch_type!r}; give "examples" or "tokens"')
    end = object()
    rows: list[tuple[Any, ...]] = []
    num_tokens = 0
    for number, row in enumerate(zip_longest(*inputs, fillvalue=end)):
        if may_end_early and row[0] is end:
            warnings.warn(
                f"the target has more examples than the source: those after {number} are ignored",
                stacklevel=5,
            )
            break
        if any(value is end for value in row):
            raise _LengthError(f"the inputs differ in length: one ends after {number}")
        weight = _num_tokens(row[0]) if batch_type == "tokens" else 1
        if rows and num_tokens + weight > size:
            yield [list(column) for column in zip(*rows)]
            rows, num_tokens = [], 0
        rows.append(row)
        num_tokens += weight
    if rows:
        yield [list(column) for column in zip(*rows)]


def _num_tokens(example: Any) -> int:
    """Returns the number of tokens of an example, which may be a line of a file."""
    return len(example.split() if isinstance(example, bytes) else example)


_log_level = logging.WARNING


def set_log_level(level: int) -> None:
    """Keeps the level for ``get_log_level``; nothing is logged. ``level`` is one of ``logging``."""
    global _log_level
    if level not in _LOG_LEVELS:
        names = ", ".join(logging.getLevelName(known) for known in _LOG_LEVELS)
        raise ValueError(f"invalid logging level {level!r}; give one of logging: {names}")
    _log_level = level


def get_log_level() -> int:
    """Returns the level that ``set_log_level`` has kept, at first that of warnings."""
    return _log_level


if not TYPE_CHECKING:  # For type checkers, the module would have every attribute.

    def __getattr__(name: str) -> Any:
        hint = ""
        if name in _ABSENT:
            hint = "; for it, use CTranslate2 itself, without miriam.ct2.install()"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def install() -> None:
    """Makes ``import ctranslate2`` return this module, in this process, for programs that use
    ``Translator``.

    ``importlib.util.find_spec("ctranslate2")`` finds it too. An already imported ``ctranslate2``
    stays in use where it was imported.
    """
    module = ModuleType("ctranslate2", __doc__)
    module.__spec__ = ModuleSpec("ctranslate2", None, origin=__file__)
    module.__file__ = __file__
    for name in ("__version__", *__all__):
        if name != "install":
            setattr(module, name, globals()[name])
    setattr(module, "__getattr__", globals()["__getattr__"])
    sys.modules["ctranslate2"] = module
