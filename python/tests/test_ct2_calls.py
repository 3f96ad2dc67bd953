"""Calls of miriam.ct2 that are interrupted, run in several threads or processes, or read iterators;
and subclasses of its translator."""

from __future__ import annotations

import multiprocessing
import os
import signal
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
