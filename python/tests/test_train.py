"""miriam.train on parts of the toy corpus."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy
import pytest

import miriam.align as align
import miriam.ct2 as ct2
import miriam.phrase as phrase
import miriam.train as train
from conftest import ROOT

TINY = {
    "type": "s2s",
    "dim_emb": 8,
    "dim_rnn": 8,
    "tied_embeddings_all": True,
    "mini_batch": 16,
    "valid_metrics": ["ce-mean-words"],
}


def corpus(folder: Path, train_lines: int, dev_lines: int) -> list[Path]:
    paths = []
    for name, count in [("train", train_lines), ("dev", dev_lines)]:
        for side in ["es", "en"]:
            lines = (ROOT / f"examples/toy/{name}.{side}").read_text("utf-8").splitlines(True)
            paths.append(folder / f"{name}.{side}")
            paths[-1].write_text("".join(lines[:count]), "utf-8")
    return paths


def test_training_of_a_neural_model_is_resumed(tmp_path: Path) -> None:
    source, target, dev_source, dev_target = corpus(tmp_path, 200, 20)
    lines: list[str] = []
    seen: list[train.Progress] = []

    def run(**more: object) -> train.NeuralModel:
        options = {**TINY, "valid-freq": "10u", **more}
        return train.neural(
            source,
            target,
            tmp_path / "model",
            dev_source=dev_source,
            dev_target=dev_target,
            options=options,
            vocab_size=150,
            threads=1,
            progress=seen.append,
            log=lines.append,
        )

    first = run(after="20u")
    assert (first.outcome, first.path) == ("finished", str(tmp_path / "model"))
    assert any("ce-mean-words" in line for line in lines), lines
    assert seen and seen[-1].task == "training" and seen[-1].total == 20, seen
    assert run(after="20u").outcome == "already-finished"
    assert run(after="30u").outcome == "finished"
    translator = ct2.Translator(str(tmp_path / "model"))
    assert len(translator.translate_texts(["la casa es blanca ."], beam_size=1)) == 1


@pytest.mark.skipif(os.name == "nt", reason="fork of POSIX")
def test_a_forked_process_trains_a_vocabulary_and_validates(tmp_path: Path) -> None:
    source, target, dev_source, dev_target = corpus(tmp_path, 100, 5)

    def run(name: str) -> None:
        train.neural(
            source,
            target,
            tmp_path / name,
            dev_source=dev_source,
            dev_target=dev_target,
            options={**TINY, "after": "2u", "valid-freq": "2u", "valid_metrics": ["bleu"]},
            vocab_size=100,
            threads=1,
        )

    run("parent")
    child = multiprocessing.get_context("fork").Process(target=run, args=("child",))
    child.start()
    child.join(120)
    if child.is_alive():
        child.kill()
    child.join()
    assert child.exitcode == 0
    vocabularies = [(tmp_path / name / "vocab.spm").read_bytes() for name in ("parent", "child")]
    assert vocabularies[0] == vocabularies[1]


def test_scalars_of_numpy_are_numbers(tmp_path: Path) -> None:
    source, target, *_ = corpus(tmp_path, 100, 5)
    scalars = {
        "dim_emb": numpy.int64(8),
        "learn_rate": numpy.logspace(-4, -3, 2)[0],
        "label_smoothing": numpy.float32(0.125),
        "tied_embeddings_all": numpy.bool_(True),
        "mini_batch": numpy.array(16),
    }
    plain = {
        "dim_emb": 8,
        "learn_rate": 0.0001,
        "label_smoothing": 0.125,
        "tied_embeddings_all": True,
        "mini_batch": 16,
    }

    def run(options: Mapping[str, object]) -> str:
        options = {**TINY, **options, "after": "1u"}
        model = train.neural(
            source, target, tmp_path / "m", options=options, vocab_size=100, threads=1
        )
        return model.outcome

    # With different options, the second call would be refused.
    assert [run(scalars), run(plain)] == ["finished", "already-finished"]


class Enough(Exception):
    pass


def test_an_exception_of_a_callback_stops_training_which_can_be_resumed(tmp_path: Path) -> None:
    source, target, *_ = corpus(tmp_path, 200, 20)
    options = {**TINY, "disp_freq": "1u", "after": "100000u"}

    def stop(line: str) -> None:
        if "Up. 5 " in line:
            raise Enough

    with pytest.raises(Enough):
        train.neural(
            source, target, tmp_path / "m", options=options, vocab_size=150, threads=1, log=stop
        )
    assert (tmp_path / "m/model.npz").exists(), "the state of training is saved"
    lines: list[str] = []
    # These are more updates than the first run made until it noticed that it should stop.
    options["after"] = "400u"
    model = train.neural(
        source, target, tmp_path / "m", options=options, vocab_size=150, log=lines.append
    )
    assert model.outcome == "finished"
    updates = [line for line in lines if "Up. " in line]
    assert updates and "Up. 1 " not in updates[0], "training continues where it stopped"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_training(tmp_path: Path) -> None:
    source, target, *_ = corpus(tmp_path, 200, 20)
    options = {**TINY, "after": "1000000u"}
    timer = threading.Timer(2.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        train.neural(source, target, tmp_path / "m", options=options, vocab_size=150, threads=1)
    timer.cancel()


def test_an_exception_of_a_callback_stops_alignment_and_phrase_training(tmp_path: Path) -> None:
    source, target, *_ = corpus(tmp_path, 5000, 20)

    def stop(now: train.Progress) -> None:
        raise Enough

    with pytest.raises(Enough):
        align.align(source, target, tmp_path / "links", iterations=50, progress=stop)
    assert not (tmp_path / "links").exists()
    with pytest.raises(Enough):
        train.phrase(source, target, tmp_path / "system", progress=stop)
    assert not (tmp_path / "system/moses.ini").exists()
    missing = tmp_path / "missing"
    with pytest.raises(OSError, match="missing"):
        train.phrase(missing, target, tmp_path / "system")
    with pytest.raises(OSError, match="missing"):
        train.neural(missing, target, tmp_path / "m", options=dict(TINY), vocab_size=150)
    with pytest.raises(OSError, match="missing"):
        train.neural(source, target, tmp_path / "m", configs=[missing])
    with pytest.raises(ValueError, match="threads"):
        train.neural(source, target, tmp_path / "m", options={"workers": 2}, threads=2)
    with pytest.raises(ValueError, match="threads"):
        train.phrase(source, target, tmp_path / "system", threads=10**6)


def test_wrong_options_are_named(tmp_path: Path) -> None:
    source, target, *_ = corpus(tmp_path, 20, 5)
    wrong: list[tuple[dict[str, object], str]] = [
        ({"no-such-option": 1}, "no-such-option"),
        ({"dim_emb": "many"}, "dim-emb"),
        ({"train_sets": ["a", "b"]}, "separate argument"),
    ]
    for options, expected in wrong:
        with pytest.raises(ValueError, match=expected):
            train.neural(source, target, tmp_path / "m", options=options)
    with pytest.raises(TypeError, match="dim-emb is a dict"):
        train.neural(source, target, tmp_path / "m", options={"dim_emb": {}})
    with pytest.raises(ValueError, match="dev_target"):
        train.neural(source, target, tmp_path / "m", dev_source=source)
    with pytest.raises(ValueError, match='unknown preset "no-task"'):
        train.neural(source, target, tmp_path / "m", task="no-task")


def test_a_phrase_system_is_trained(tmp_path: Path) -> None:
    source, target, dev_source, dev_target = corpus(tmp_path, 500, 20)
    seen: list[train.Progress] = []
    system = train.phrase(
        source,
        target,
        tmp_path / "system",
        dev_source=dev_source,
        dev_target=dev_target,
        lm_order=3,
        iterations=1,
        threads=1,
        progress=seen.append,
    )
    assert system.pairs == (500, 500) and system.phrase_pairs > 500 and len(system.ngrams) == 3
    assert system.dev_bleu is not None and 0 < system.dev_bleu[1] <= 100
    assert seen and all(one.total is None or one.done <= one.total for one in seen)
    translation = phrase.PhraseTranslator(system.ini).translate("la casa es blanca .")
    assert translation.text
    with pytest.raises(ValueError, match="tune"):
        train.phrase(source, target, tmp_path / "other", tune="luck")
    with pytest.raises(ValueError, match="the order is 0"):
        train.phrase(source, target, tmp_path / "other", lm_order=0)
    with pytest.raises(ValueError, match="must not decrease"):
        train.phrase(source, target, tmp_path / "other", lm_prune=(1, 0))
    with pytest.raises(ValueError, match="is not a reordering model"):
        train.phrase(source, target, tmp_path / "other", reordering="some")
    with pytest.warns(UserWarning, match="iterations has no effect: weights are tuned only with"):
        plain = train.phrase(
            source, target, tmp_path / "plain", lm_order=2, reordering="none", iterations=2
        )
    assert "LexicalReordering" not in Path(plain.ini).read_text("utf-8")
    with pytest.raises(ValueError, match="nonbreaking prefixes are for raw texts"):
        train.phrase(source, target, tmp_path / "other", source_nonbreaking_prefixes=source)
    with pytest.raises(ValueError, match="source_language"):
        train.phrase(source, target, tmp_path / "other", target_language="en")


def test_a_single_file_is_accepted_where_several_may_be_given(tmp_path: Path) -> None:
    source, target, dev_source, _ = corpus(tmp_path, 50, 5)
    missing = tmp_path / "missing"
    for one in (missing, str(missing)):
        with pytest.raises(OSError, match=f"^{missing}: cannot"):
            train.neural(source, target, tmp_path / "m", configs=one)
        with pytest.raises(OSError, match=f"^{missing}: cannot"):
            train.phrase(source, target, tmp_path / "s", lm_text=one)
    for options in ({"neural_config": missing}, {"back_translate": missing}):
        with pytest.raises(ValueError, match="need neural=True"):
            train.phrase(source, target, tmp_path / "s", **options)  # type: ignore[arg-type]
    assert train.phrase(source, target, tmp_path / "s", lm_text=dev_source, lm_order=2).ini


def test_neural_models_are_combined_with_a_phrase_system(tmp_path: Path) -> None:
    source, target, dev_source, dev_target = corpus(tmp_path, 300, 10)
    config = tmp_path / "config.yml"
    config.write_text(
        "type: transformer\ndim-emb: 8\nenc-depth: 1\ndec-depth: 1\ntransformer-heads: 2\n"
        "transformer-dim-ffn: 8\nmini-batch: 50\nafter: 2u\nvalid-freq: 2u\n"
        "valid-metrics: [ce-mean-words]\nbeam-size: 1\n",
        encoding="utf-8",
    )
    system = train.phrase(
        source,
        target,
        tmp_path / "system",
        dev_source=dev_source,
        dev_target=dev_target,
        neural=True,
        neural_config=[config],
        vocab_size=60,
        lm_order=2,
        iterations=1,
        threads=1,
    )
    assert system.combination is not None and system.dev_bleu is not None
    neural, augmented, combined = system.combination
    assert neural < combined and augmented is None
    translation = phrase.PhraseTranslator(system.ini).translate("la casa es blanca .")
    assert translation.text
    with pytest.raises(ValueError, match="need neural=True"):
        train.phrase(source, target, tmp_path / "other", task="toy")
    with pytest.raises(ValueError, match="dev-source"):
        train.phrase(source, target, tmp_path / "other", neural=True)


def test_raw_text_is_tokenized_with_a_given_list_of_prefixes(tmp_path: Path) -> None:
    source, target, _, _ = corpus(tmp_path, 200, 1)
    (tmp_path / "list").write_text("Zork\n", encoding="utf-8")
    with source.open("a", encoding="utf-8") as file:
        file.write("Zork. Casa\n")
    with target.open("a", encoding="utf-8") as file:
        file.write("Zork. House\n")
    system = train.phrase(
        source,
        target,
        tmp_path / "system",
        source_language="es",
        target_language="en",
        source_nonbreaking_prefixes=tmp_path / "list",
        lm_order=2,
        text=True,
        threads=1,
    )
    kept = tmp_path / "system" / "nonbreaking-prefixes.source"
    assert kept.read_text(encoding="utf-8") == "Zork\n"
    translator = phrase.PhraseTranslator(system.ini)
    assert translator.translate("Zork. Casa").source[0].lower() == "zork."
