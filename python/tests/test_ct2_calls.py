"""Calls of miriam.ct2 that are interrupted, run in several threads or processes, or read iterators;
subclasses of its translator, and what else programs written for CTranslate2 do."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import miriam.ct2 as ct2
from conftest import ROOT
from test_ct2 import SOURCES, TINY, hypotheses


@pytest.fixture(scope="module")
def tiny() -> ct2.Translator:
    return ct2.Translator(str(TINY))


def test_ctrl_c_ends_a_call() -> None:
    translator = ct2.Translator(str(TINY), max_queued_batches=2)
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        translator.translate_batch([["w2"] * 60] * 100_000, beam_size=6, min_decoding_length=200)
    timer.join()
    assert time.monotonic() - started < 20
    while translator.num_active_batches:
        time.sleep(0.01)
    assert len(translator.translate_batch(SOURCES)) == 4


def test_threads_share_a_translator(tiny: ct2.Translator) -> None:
    expected = hypotheses(tiny.translate_batch(SOURCES, return_scores=True))
    failures: list[object] = []

    def work() -> None:
        for _ in range(10):
            found = hypotheses(tiny.translate_batch(SOURCES))
            if found != expected:
                failures.append(found)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]  # type: ignore[func-returns-value]
    [thread.join() for thread in threads]  # type: ignore[func-returns-value]
    assert not failures


TRANSLATOR: ct2.Translator | None = None


def in_child(_: int) -> list[list[list[str]]]:
    assert TRANSLATOR is not None
    return hypotheses(TRANSLATOR.translate_batch(SOURCES))


def test_a_forked_process_has_workers_of_its_own(tiny: ct2.Translator) -> None:
    global TRANSLATOR
    TRANSLATOR = tiny
    expected = in_child(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(in_child, range(4)).get(60) == [expected] * 4


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_calls_of_many_short_texts() -> None:
    translator = ct2.Translator(str(ROOT / "examples" / "toy-neural"))
    calls: list[Callable[[], object]] = [
        lambda: translator.translate_batch([["\u2581the", "\u2581cats"]] * 100_000),
        lambda: translator.translate_texts(["the cats sleep and the dogs run ."] * 100_000),
    ]
    for call in calls:
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            call()
        timer.join()
        assert time.monotonic() - started < 10


class Tagged(ct2.Translator):
    def __init__(self, path: Path, *, tag: str, **options: Any) -> None:
        super().__init__(str(path), **options)
        self.tag = tag


class Tiny(ct2.Translator):
    def __init__(self) -> None:
        super().__init__(str(TINY))


class Unloaded(ct2.Translator):
    def __init__(self) -> None:
        pass


def test_subclasses_have_arguments_of_their_own(tiny: ct2.Translator) -> None:
    expected = hypotheses(tiny.translate_batch(SOURCES))
    tagged = Tagged(TINY, tag="x", inter_threads=2)
    assert (tagged.tag, tagged.num_translators) == ("x", 2)
    for translator in (tagged, Tiny()):
        assert hypotheses(translator.translate_batch(SOURCES)) == expected
    with pytest.raises(RuntimeError, match="must call Translator.__init__"):
        Unloaded().translate_batch(SOURCES)
    with pytest.raises(TypeError, match="model_path"):
        ct2.Translator()  # type: ignore[call-arg]


def test_sources_may_be_iterators(tiny: ct2.Translator) -> None:
    sources = [["zzz"], ["w2", "zzz"]]
    options: dict[str, Any] = {
        "replace_unknowns": True,
        "target_prefix": [["zzz"], None],
        "max_decoding_length": 10,
    }
    expected = hypotheses(tiny.translate_batch(sources, **options))
    assert expected[0][0][0] == "zzz"
    read: Any = (iter(source) for source in sources)
    assert hypotheses(tiny.translate_batch(read, **options)) == expected


def test_iterables_are_always_read_ahead(tiny: ct2.Translator) -> None:
    expected = hypotheses(tiny.translate_batch(SOURCES))
    for value in (False, True):
        options: dict[str, Any] = {"asynchronous": value}
        assert hypotheses(list(tiny.translate_iterable(SOURCES, **options))) == expected
        scored = list(tiny.score_iterable(SOURCES, SOURCES, **options))
        assert [one.tokens[:-1] for one in scored] == SOURCES


def test_each_index_of_the_cpu_is_a_replica() -> None:
    translator = ct2.Translator(str(TINY), device_index=[0, 0, 0], inter_threads=2)
    assert translator.device_index == [0, 0, 0] and translator.num_translators == 6
    assert len(translator.translate_batch(SOURCES)) == len(SOURCES)
    with pytest.raises(ValueError, match="expected 0"):
        ct2.Translator(str(TINY), device_index=[0, 1])
    assert ct2.get_supported_compute_types("cpu", 1) == ct2.get_supported_compute_types("cpu")


def test_files_of_a_model_may_be_open_as_text(tiny: ct2.Translator) -> None:
    names = ["config.json", "shared_vocabulary.json"]
    texts = [open(TINY / name, encoding="utf-8") for name in names]
    files: dict[str, Any] = {"model.bin": (TINY / "model.bin").read_bytes()}
    translator = ct2.Translator("memory", files={**files, **dict(zip(names, texts))})
    for text in texts:
        text.close()
    expected = hypotheses(tiny.translate_batch(SOURCES))
    assert hypotheses(translator.translate_batch(SOURCES)) == expected
    with pytest.raises(TypeError, match="neither bytes nor a file-like object"):
        ct2.Translator("memory", files={**files, "config.json": "{}"})


@pytest.mark.parametrize("name, value", [("end_token", "zz"), ("suppress_sequences", [["zz"]])])
def test_results_have_the_errors_of_unknown_tokens(
    tiny: ct2.Translator, name: str, value: object
) -> None:
    options: dict[str, Any] = {name: value}
    pending: Any = tiny.translate_batch(SOURCES, asynchronous=True, **options)
    for one in pending:
        with pytest.raises(ValueError, match=f'{name}: token "zz"'):
            one.result()
    with pytest.raises(ValueError, match=f'{name}: token "zz"'):
        tiny.translate_batch(SOURCES, **options)
    wrong: dict[str, Any] = {name: 5}
    with pytest.raises(TypeError):
        tiny.translate_batch(SOURCES, asynchronous=True, **wrong)


@pytest.mark.parametrize("value", [-1, 2**64, 1.5, "1", None])
def test_numbers_out_of_range_are_type_errors(tiny: ct2.Translator, value: object) -> None:
    for name in ("beam_size", "max_batch_size", "max_decoding_length", "sampling_topk"):
        options: dict[str, Any] = {name: value}
        with pytest.raises(TypeError):
            tiny.translate_batch(SOURCES, **options)
    scored: dict[str, Any] = {"offset": value}
    with pytest.raises(TypeError):
        tiny.score_batch(SOURCES, SOURCES, **scored)
    if isinstance(value, int):
        with pytest.raises(TypeError, match="expected an int from 0"):
            ct2.Translator(str(TINY), inter_threads=value)


def test_callbacks_see_the_tokens_after_alternatives(tiny: ct2.Translator) -> None:
    """As in CTranslate2, steps begin at 0 after the alternative."""
    options: dict[str, Any] = {
        "target_prefix": [["w9"], None, None, ["w3", "w4"]],
        "beam_size": 1,
        "num_hypotheses": 2,
        "return_alternatives": True,
        "max_decoding_length": 6,
    }
    expected = hypotheses(tiny.translate_batch(SOURCES, **options))
    assert all(len(tokens) == 6 for found in expected for tokens in found)
    for last_step in (9, 1):
        seen: dict[tuple[int, int], list[str]] = {}

        def take(step: ct2.GenerationStepResult) -> bool:
            tokens = seen.setdefault((step.batch_id, step.hypothesis_id), [])
            assert step.step == len(tokens)
            tokens.append(step.token)
            return step.step == last_step

        found = hypotheses(tiny.translate_batch(SOURCES, callback=take, **options))
        for index, alternatives in enumerate(found):
            prefix = options["target_prefix"][index] or []
            for number, tokens in enumerate(alternatives):
                length = min(6, len(prefix) + 1 + last_step + 1)
                assert tokens == expected[index][number][:length]
                assert seen[index, number] == tokens[len(prefix) + 1 :]
        assert len(seen) == 2 * len(SOURCES)


def test_logging_has_levels() -> None:
    assert ct2.get_log_level() == logging.WARNING
    ct2.set_log_level(logging.ERROR)
    assert ct2.get_log_level() == logging.ERROR
    ct2.set_log_level(logging.WARNING)
    with pytest.raises(ValueError, match="invalid logging level 15; .* NOTSET, DEBUG"):
        ct2.set_log_level(15)


def test_absent_parts_of_ctranslate2_are_named() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "ctranslate2", raising=False)
        ct2.install()
        installed: Any = sys.modules["ctranslate2"]
        for module in (ct2, installed):
            assert not hasattr(module, "Generator") and not hasattr(module, "anything")
            with pytest.raises(AttributeError, match="'Generator'; for it, use CTranslate2"):
                getattr(module, "Generator")
        assert installed.get_log_level() == logging.WARNING
        patch.delitem(sys.modules, "ctranslate2")


def test_numbers_are_not_files(tiny: ct2.Translator, tmp_path: Path) -> None:
    """To Python's `open`, a number is an open file, which would be closed."""
    source, output = tmp_path / "source", tmp_path / "output"
    source.write_text("w2\n")
    with open(source, "rb") as other:
        number: Any = other.fileno()
        with pytest.raises(TypeError, match="not int"):
            tiny.translate_file(number, output)
        with pytest.raises(TypeError, match="not int"):
            tiny.translate_file(source, number)
        with pytest.raises(TypeError, match="not int"):
            tiny.score_file(source, number, output)
        assert other.read() == b"w2\n"
    with pytest.raises(ValueError, match="read_batch_size"):
        tiny.translate_file(source, output, read_batch_size=-1)
