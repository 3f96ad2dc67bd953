"""miriam.ct2: the interface and the results of CTranslate2's Translator."""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
import inspect
import io
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import miriam.ct2 as ct2
from conftest import ROOT, shared_data

TINY = ROOT / "nmt" / "testdata" / "tiny-ct2"
SOURCES = [["w2", "w3", "w4"], ["w5"], ["w6", "w2", "w9", "w9", "w3"], ["w7", "w8"]]


@pytest.fixture(scope="module")
def tiny() -> ct2.Translator:
    return ct2.Translator(str(TINY))


@pytest.fixture(scope="module")
def aren() -> Path:
    return shared_data("ct2-aren")


def hypotheses(results: list[ct2.TranslationResult]) -> list[list[list[str]]]:
    return [result.hypotheses for result in results]


def recorded(aren: Path, name: str) -> list[list[tuple[list[str], float]]]:
    """Returns the recorded results of CTranslate2 for each line: tokens and score, best first."""
    lists: dict[int, list[tuple[list[str], float]]] = {}
    with gzip.open(aren / "out" / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
        for line in file:
            number, letters, score = line.rstrip("\n").split("\t")
            lists.setdefault(int(number), []).append((letters.split(), float(score)))
    return [lists[number] for number in sorted(lists)]


@pytest.mark.parametrize("beam", [1, 4])
def test_results_are_those_of_ctranslate2(aren: Path, beam: int) -> None:
    expected = recorded(aren, f"aren-transliteration.float32.beam{beam}")[:300]
    words = (aren / "words.ar").read_text(encoding="utf-8").splitlines()[:300]
    translator = ct2.Translator(str(aren / "models" / "v2" / "aren-transliteration"))
    results = translator.translate_batch(
        [word.split() for word in words], beam_size=beam, num_hypotheses=beam, return_scores=True
    )
    assert hypotheses(results) == [[tokens for tokens, _ in found] for found in expected]
    for result, found in zip(results, expected):
        assert result.scores == pytest.approx([score for _, score in found], abs=2e-4)


def test_a_batch_gives_what_its_sentences_give(tiny: ct2.Translator) -> None:
    alone = [tiny.translate_batch([source], return_scores=True)[0] for source in SOURCES]
    several = ct2.Translator(str(TINY), inter_threads=3)
    assert several.num_translators == 3
    for translator in (tiny, several):
        for size, kind in [(0, "examples"), (1, "examples"), (3, "examples"), (4, "tokens")]:
            results = translator.translate_batch(
                SOURCES * 9, max_batch_size=size, batch_type=kind, return_scores=True
            )
            assert hypotheses(results) == hypotheses(alone) * 9
            assert [result.scores for result in results] == [one.scores for one in alone] * 9


def test_properties_and_unloading(tiny: ct2.Translator) -> None:
    translator = ct2.Translator(str(TINY), "auto", compute_type={"cpu": "int8", "cuda": "float16"})
    assert (translator.device, translator.device_index) == ("cpu", [0])
    assert translator.compute_type == "int8_float32"
    assert not translator.tensor_parallel and translator.num_queued_batches == 0
    translator.unload_model(to_cpu=True)
    assert translator.model_is_loaded
    translator.unload_model()
    assert not translator.model_is_loaded
    for call in (translator.translate_batch, translator.translate_texts):
        with pytest.raises(RuntimeError, match="unloaded"):
            call([])
    translator.load_model()
    assert translator.model_is_loaded and len(translator.translate_batch(SOURCES)) == 4
    assert repr(tiny).startswith("Translator(")


@pytest.mark.parametrize(
    "arguments, error, part",
    [
        ({"device": "cuda", "device_index": 99}, ValueError, "GPU"),
        ({"device": "tpu"}, ValueError, "unsupported device"),
        ({"device_index": []}, ValueError, "device index"),
        ({"device_index": 1}, ValueError, "device index"),
        ({"device_index": "a"}, TypeError, "device_index"),
        ({"compute_type": "float8"}, ValueError, "invalid compute type"),
        ({"compute_type": "i8"}, ValueError, "invalid compute type"),
        ({"compute_type": "float16"}, ValueError, "not supported on CPUs"),
        ({"compute_type": "int8_float16"}, ValueError, "not supported on CPUs; give default"),
        ({"compute_type": "int8_bfloat16"}, ValueError, "not supported on CPUs"),
        ({"compute_type": ["int8"]}, TypeError, "incompatible constructor arguments"),
        ({"inter_threads": 0}, ValueError, "inter_threads"),
        ({"flash_attention": True}, ValueError, "flash_attention"),
        ({"tensor_parallel": True}, ValueError, "tensor_parallel"),
        ({"files": [b""]}, TypeError, "files"),
        ({"files": {"model.bin": 1}}, TypeError, "model.bin"),
        ({"files": {}}, RuntimeError, "model.bin"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: dict[str, Any], error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        ct2.Translator(str(TINY), **arguments)
    with pytest.raises(RuntimeError, match="open file"):
        ct2.Translator("there/is/none")
    with pytest.warns(UserWarning, match="intra_threads"):
        ct2.Translator(str(TINY), intra_threads=4)


@pytest.mark.parametrize(
    "options, error, part",
    [
        ({"beam_size": 0}, ValueError, "beam_size"),
        ({"num_hypotheses": 3}, ValueError, "is greater than"),
        ({"min_decoding_length": 9, "max_decoding_length": 5}, ValueError, "is greater than"),
        ({"repetition_penalty": 0}, ValueError, "repetition_penalty"),
        ({"sampling_topp": 2}, ValueError, "sampling_topp"),
        ({"sampling_topk": 5}, ValueError, "beam_size=1"),
        ({"callback": lambda step: False}, ValueError, "beam_size=1"),
        ({"batch_type": "words"}, ValueError, "batch type"),
        ({"prefix_bias_beta": 1}, ValueError, "less than 1"),
        ({"prefix_bias_beta": 0.5, "return_alternatives": True}, ValueError, "not compatible"),
        ({"return_logits_vocab": True}, NotImplementedError, "return_logits_vocab"),
        ({"suppress_sequences": [["w2", "zz", "yy"]]}, ValueError, "zz"),
        ({"end_token": "zz"}, ValueError, "zz"),
        ({"end_token": [999]}, ValueError, "999"),
        ({"target_prefix": [["w2"]]}, RuntimeError, "fewer examples"),
        ({"target_prefix": [None] * 5}, ValueError, "more examples"),
        ({"no_such_option": 1}, TypeError, "no_such_option"),
    ],
)
def test_wrong_options_are_named(
    tiny: ct2.Translator, options: dict[str, Any], error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        tiny.translate_batch(SOURCES, **options)


def test_wrong_tokens_are_named(tiny: ct2.Translator) -> None:
    with pytest.raises(TypeError, match=r"source\[1\]"):
        tiny.translate_batch([["w2"], "w3"])
    with pytest.raises(TypeError, match=r"source\[0\]"):
        tiny.translate_batch([["w2", 3]])  # type: ignore[list-item]
    assert tiny.translate_batch([]) == [] and tiny.translate_batch([], asynchronous=True) == []


def test_asynchronous_calls(tiny: ct2.Translator) -> None:
    expected = hypotheses(tiny.translate_batch(SOURCES))
    pending = tiny.translate_batch(SOURCES, asynchronous=True)
    assert [one.result().hypotheses for one in pending] == expected
    assert all(one.done() for one in pending)
    wrong = tiny.translate_batch(SOURCES, asynchronous=True, beam_size=1, num_hypotheses=2)
    for _ in range(2):
        with pytest.raises(ValueError, match="is greater than"):
            wrong[3].result()
        assert wrong[3].done()
    scores = tiny.score_batch(SOURCES, SOURCES, asynchronous=True)
    assert [one.result().tokens for one in scores] == [source + ["</s>"] for source in SOURCES]
    while tiny.num_active_batches:
        time.sleep(0.001)


def test_prefixes_and_lengths(tiny: ct2.Translator) -> None:
    prefix = ["w9", "w4"]
    results = tiny.translate_batch(SOURCES, [prefix, None, [], prefix], max_decoding_length=6)
    free = hypotheses(tiny.translate_batch(SOURCES, max_decoding_length=6))
    assert results[0].hypotheses[0][:2] == prefix and results[3].hypotheses[0][:2] == prefix
    assert [results[1].hypotheses, results[2].hypotheses] == free[1:3]
    for most in (1, 2, 3):
        for result in tiny.translate_batch(SOURCES, [prefix] * 4, max_decoding_length=most):
            assert result.hypotheses[0][:2] == prefix[:most] and len(result.hypotheses[0]) <= most
    for result in tiny.translate_batch(SOURCES, min_decoding_length=8, max_decoding_length=9):
        assert 8 <= len(result.hypotheses[0]) <= 9


@pytest.mark.parametrize("beam", [1, 2])
def test_prefixes_are_favoured(tiny: ct2.Translator, beam: int) -> None:
    """A bias of nearly 1 forces the prefix; a bias of nearly 0 changes nothing."""
    plain = hypotheses(tiny.translate_batch(SOURCES, beam_size=beam, max_decoding_length=8))
    prefix = ["w3", "w9", "w3"]
    assert not any(found[0][:3] == prefix for found in plain)
    for beta in (1e-7, 0.999999):
        found = tiny.translate_batch(
            SOURCES,
            target_prefix=[prefix] * len(SOURCES),
            prefix_bias_beta=beta,
            beam_size=beam,
            max_decoding_length=8,
        )
        if beta < 0.5:
            assert hypotheses(found) == plain
        else:
            translated = [result.hypotheses[0] for result in found if result.hypotheses[0]]
            assert translated and all(tokens[:3] == prefix for tokens in translated)


def test_sentences_without_words(tiny: ct2.Translator) -> None:
    results = tiny.translate_batch(
        [[], ["</s>"], ["w2"]],
        [None, ["w3", "unheard"], None],
        num_hypotheses=2,
        return_scores=True,
        return_attention=True,
    )
    assert results[0].hypotheses == [[], []] and results[0].scores == [0, 0]
    assert results[1].hypotheses == [["w3", "<unk>"]] * 2
    assert results[1].attention == [[[0.0], [0.0]]] * 2
    assert results[2].hypotheses[0] and results[2].scores[0] < 0
    long = ["w2"] * 50
    cut = tiny.translate_batch([long], max_input_length=5, return_attention=True)[0]
    assert cut.hypotheses == tiny.translate_batch([["w2"] * 4])[0].hypotheses
    assert all(row[4:] == [0.0] * 46 for row in cut.attention[0])


def test_attention_and_unknown_words(tiny: ct2.Translator) -> None:
    result = tiny.translate_batch([["w2", "w3", "zz"]], return_attention=True)[0]
    [rows], [tokens] = result.attention, result.hypotheses
    assert len(rows) == len(tokens) and all(len(row) == 3 for row in rows)
    # The rest of each row's attention is on </s>.
    assert all(0 < sum(row) <= 1 + 1e-5 for row in rows)
    plain = tiny.translate_batch([["w2", "zz"]], [["<unk>"]], return_attention=True)[0]
    replaced = tiny.translate_batch([["w2", "zz"]], [["<unk>"]], replace_unknowns=True)[0]
    row = plain.attention[0][0]
    assert plain.hypotheses[0][0] == "<unk>" and not replaced.attention
    assert replaced.hypotheses[0][0] == ["w2", "zz"][row.index(max(row))]
    assert replaced.joined == [" ".join(tokens) for tokens in replaced.hypotheses]
    for result in tiny.translate_batch(SOURCES, disable_unk=True, beam_size=4, num_hypotheses=4):
        assert not any("<unk>" in tokens for tokens in result.hypotheses)


def test_ends_and_suppressed_sequences(tiny: ct2.Translator) -> None:
    # Without no_repeat_ngram_size, the model would repeat words.
    options: dict[str, Any] = {"beam_size": 1, "max_decoding_length": 9, "no_repeat_ngram_size": 1}
    [[tokens]] = hypotheses(tiny.translate_batch(SOURCES[:1], **options))
    assert len(set(tokens[:4])) == 4
    for end in (tokens[2], [tokens[2]], [int(tokens[2][1:])]):
        [result] = tiny.translate_batch(SOURCES[:1], end_token=end, **options)
        assert result.hypotheses == [tokens[:2]]
        [result] = tiny.translate_batch(
            SOURCES[:1], end_token=end, return_end_token=True, **options
        )
        assert result.hypotheses == [tokens[:3]]
    [result] = tiny.translate_batch(SOURCES[:1], suppress_sequences=[tokens[1:3]], **options)
    assert result.hypotheses[0][:2] == tokens[:2] and result.hypotheses[0][2] != tokens[2]
    [result] = tiny.translate_batch(
        SOURCES[:1], suppress_sequences=[[tokens[0]], ["w2", "w3"]], **options
    )
    assert result.hypotheses[0] and tokens[0] not in result.hypotheses[0]


def test_alternatives_differ_in_their_next_token(tiny: ct2.Translator) -> None:
    options: dict[str, Any] = {"max_decoding_length": 8, "return_scores": True}
    [result] = tiny.translate_batch(
        SOURCES[:1], [["w3"]], return_alternatives=True, num_hypotheses=5, **options
    )
    assert len(result) == 5 and all(tokens[0] == "w3" for tokens in result.hypotheses)
    assert len({tokens[1] for tokens in result.hypotheses}) == 5
    # The first alternative begins with the most probable token, which greedy search takes.
    [greedy] = tiny.translate_batch(SOURCES[:1], [["w3"]], beam_size=1, min_decoding_length=2)
    assert result.hypotheses[0][1] == greedy.hypotheses[0][1]
    [few] = tiny.translate_batch(
        SOURCES[:1],
        [["w3"]],
        return_alternatives=True,
        num_hypotheses=5,
        min_alternative_expansion_prob=1,
        **options,
    )
    assert len(few) == 0
    [full] = tiny.translate_batch(
        SOURCES[:1], [["w3", "w4"]], return_alternatives=True, num_hypotheses=3, max_decoding_length=2
    )
    assert full.hypotheses == [["w3", "w4"]] * 3


@pytest.mark.parametrize("scores", [True, False])
def test_tokens_are_streamed(tiny: ct2.Translator, scores: bool) -> None:
    [expected] = tiny.translate_batch(
        SOURCES[:1], beam_size=1, return_scores=True, return_end_token=True
    )
    assert inspect.isgenerator(tiny.generate_tokens(SOURCES[0]))
    found = list(tiny.generate_tokens(SOURCES[0], return_log_prob=scores))
    assert [step.token for step in found] == expected.hypotheses[0]
    assert [step.step for step in found] == list(range(len(found)))
    assert [step.is_last for step in found] == [False] * (len(found) - 1) + [True]
    if scores:
        total = sum(step.log_prob or 0 for step in found)
        assert total / len(found) == pytest.approx(expected.scores[0], abs=1e-5)
    else:
        assert all(step.log_prob is None for step in found)
    assert repr(found[0]).startswith("GenerationStepResult(step=0, batch_id=0, token_id=")
    some = tiny.generate_tokens(SOURCES[0], max_decoding_length=200)
    next(some)
    some.close()
    with pytest.raises(ValueError, match="decoding length"):
        list(tiny.generate_tokens(SOURCES[0], min_decoding_length=3, max_decoding_length=2))


def test_callbacks_end_translations_and_raise(tiny: ct2.Translator) -> None:
    seen: list[tuple[int, int, str]] = []

    def two_tokens(step: ct2.GenerationStepResult) -> bool:
        seen.append((step.batch_id, step.hypothesis_id, step.token))
        return step.step == 1

    results = tiny.translate_batch(SOURCES, beam_size=1, max_batch_size=2, callback=two_tokens)
    for number, result in enumerate(results):
        tokens = [token for batch, _, token in seen if batch == number]
        assert result.hypotheses == [[token for token in tokens if token != "</s>"]]
        assert len(tokens) <= 2

    def fail(_: ct2.GenerationStepResult) -> bool:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tiny.translate_batch(SOURCES, beam_size=1, callback=fail)


def test_samples_are_drawn_again_from_the_same_seed(tiny: ct2.Translator) -> None:
    def draw() -> list[list[list[str]]]:
        return hypotheses(
            tiny.translate_batch(
                SOURCES, beam_size=1, sampling_topk=0, num_hypotheses=6, max_decoding_length=9
            )
        )

    ct2.set_random_seed(7)
    first, second = draw(), draw()
    assert first != second and all(len(samples) == 6 for samples in first)
    ct2.set_random_seed(7)
    assert [draw(), draw()] == [first, second]
    ct2.set_random_seed(8)
    assert draw() != first


def test_texts_are_sampled_by_the_seed() -> None:
    translator = ct2.Translator(str(ROOT / "examples" / "toy-neural"))
    text = "the cats sleep and the dogs run ."

    def draw(seed: int | None = None) -> list[str]:
        return translator.translate_texts(
            [text] * 3, sampling_topk=0, sampling_temperature=2.0, beam_size=1, seed=seed
        )

    ct2.set_random_seed(7)
    first, second = draw(), draw()
    assert first != second
    ct2.set_random_seed(7)
    assert [draw(), draw()] == [first, second]
    assert draw(seed=5) == draw(seed=5)

    def draw_from(pool: str | list[str | int] | tuple[str, int]) -> list[str]:
        return translator.translate_texts(
            [text] * 3, output_sampling=pool, beam_size=1, seed=5
        )

    assert draw_from("topk 3") == draw_from(["topk", 3]) == draw_from(("topk", 3))


def test_iterables_are_read_as_they_are_needed(tiny: ct2.Translator) -> None:
    expected = hypotheses(tiny.translate_batch(SOURCES))
    number_read = 0

    def sources() -> Any:
        nonlocal number_read
        for _ in range(100):
            for source in SOURCES:
                number_read += 1
                yield source

    assert inspect.isgenerator(tiny.translate_iterable([]))
    results = tiny.translate_iterable(sources(), max_batch_size=2)
    assert next(results).hypotheses == expected[0]
    assert number_read <= 3 * 32
    assert [expected[0]] + [result.hypotheses for result in results] == expected * 100
    by_tokens = tiny.translate_iterable(iter(SOURCES * 5), None, 16, "tokens")
    assert [result.hypotheses for result in by_tokens] == expected * 5
    with pytest.raises(ValueError, match="length"):
        list(tiny.translate_iterable(iter(SOURCES), iter([["w2"]])))
    with pytest.raises(ValueError, match="max_batch_size"):
        list(tiny.translate_iterable(SOURCES, max_batch_size=0))
    assert list(tiny.translate_iterable([])) == []
    scores = tiny.score_iterable(iter(SOURCES), iter(SOURCES), max_batch_size=1)
    expected_scores = [result.log_probs for result in tiny.score_batch(SOURCES, SOURCES)]
    assert [result.log_probs for result in scores] == expected_scores


def test_files(tiny: ct2.Translator, tmp_path: Path) -> None:
    source, prefix, output = (tmp_path / name for name in ("source", "prefix", "output"))
    source.write_text("".join(" ".join(tokens) + "\n" for tokens in SOURCES), encoding="utf-8")
    expected = tiny.translate_batch(SOURCES, return_scores=True)
    stats = tiny.translate_file(source, output)
    lines = [" ".join(result.hypotheses[0]) for result in expected]
    assert output.read_text(encoding="utf-8").splitlines() == lines
    assert stats.num_examples == 4 and stats.total_time_in_ms > 0
    assert stats.num_tokens == sum(len(result.hypotheses[0]) for result in expected)
    assert repr(stats).startswith(f"ExecutionStats(num_tokens={stats.num_tokens}, num_examples=4")
    functions: dict[str, Any] = {
        "source_tokenize_fn": lambda text: ["w" + part for part in text.split("-")],
        "target_detokenize_fn": lambda tokens: "-".join(tokens),
    }
    other = tmp_path / "other"
    other.write_text("2-3-4\n5\n", encoding="utf-8")
    tiny.translate_file(other, output, with_scores=True, max_batch_size=1, **functions)
    score, text = output.read_text(encoding="utf-8").splitlines()[0].split(" ||| ")
    assert text == "-".join(expected[0].hypotheses[0])
    assert float(score) == pytest.approx(expected[0].scores[0], abs=1e-4)
    with pytest.raises(ValueError, match="target_detokenize_fn"):
        tiny.translate_file(other, output, source_tokenize_fn=str.split)
    with pytest.raises(ValueError, match="target_tokenize_fn"):
        tiny.translate_file(other, output, other, **functions)
    prefix.write_text("w9\n\nw9\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="has fewer examples"):
        tiny.translate_file(source, output, prefix)
    prefix.write_text("w9\n\nw9\n\n", encoding="utf-8")
    tiny.translate_file(source, output, target_path=prefix)
    found = output.read_text(encoding="utf-8").splitlines()
    assert found[0].split()[0] == "w9" and found[1] == lines[1]


def test_scores_of_translations(tiny: ct2.Translator, tmp_path: Path) -> None:
    best = [
        result.hypotheses[0]
        for result in tiny.translate_batch(SOURCES, max_decoding_length=30)
    ]
    free = tiny.translate_batch(SOURCES, return_scores=True, length_penalty=0, beam_size=1)
    scores = tiny.score_batch(SOURCES, best)
    assert [score.tokens for score in scores] == [tokens + ["</s>"] for tokens in best]
    assert repr(scores[0]).startswith("ScoringResult(tokens=['")
    for source, result in zip(SOURCES, free):
        if len(result.hypotheses[0]) < 256:
            [scored] = tiny.score_batch([source], result.hypotheses)
            assert sum(scored.log_probs) == pytest.approx(result.scores[0], abs=1e-3)
    all_limits: list[dict[str, Any]]
    all_limits = [{"max_batch_size": 1}, {"max_batch_size": 6, "batch_type": "tokens"}]
    for limits in all_limits:
        again = tiny.score_batch(SOURCES, best, **limits)
        for one, other in zip(scores, again):
            assert one.log_probs == pytest.approx(other.log_probs, abs=1e-5)
    [later] = tiny.score_batch(SOURCES[:1], best[:1], offset=1)
    assert later.tokens == scores[0].tokens[1:]
    assert later.log_probs == pytest.approx(scores[0].log_probs[1:], abs=1e-5)
    with pytest.raises(RuntimeError, match="length"):
        tiny.score_batch(SOURCES, best[:2])
    paths = [tmp_path / name for name in ("source", "target", "scores")]
    for path, side in zip(paths, (SOURCES, best)):
        path.write_text("".join(" ".join(tokens) + "\n" for tokens in side), encoding="utf-8")
    stats = tiny.score_file(*paths, with_tokens_score=True)
    assert stats.num_examples == 4
    assert stats.num_tokens == sum(len(score.tokens) for score in scores)
    for line, score in zip(paths[2].read_text(encoding="utf-8").splitlines(), scores):
        mean, text, values = line.split(" ||| ")
        assert text.split() == score.tokens
        assert [float(value) for value in values.split()] == pytest.approx(score.log_probs, rel=1e-3)
        assert float(mean) == pytest.approx(sum(score.log_probs) / len(score.log_probs), rel=1e-3)
    paths[1].write_text("\n" * 4, encoding="utf-8")
    tiny.score_file(*paths, with_tokens_score=True, offset=1)
    assert paths[2].read_text(encoding="utf-8") == "0 |||  |||\n" * 4


def test_texts_with_the_tokenisation_of_the_model(tiny: ct2.Translator) -> None:
    texts = ["w2 w3 w4", "", "w5"]
    found = tiny.translate_texts(texts)
    tokens = tiny.translate_batch([["w2", "w3", "w4"], ["w5"]])
    assert found == [tokens[0].joined[0], "", tokens[1].joined[0]]
    package = ct2.Translator(str(ROOT / "nmt" / "testdata" / "argos.argosmodel"))
    one, two = package.translate_texts(["a b.", "c?"])
    assert package.translate_texts(["  a b. c?\n\n"], split=True)[0].startswith("  ")
    joined = package.translate_texts(["a b. c?\nc?\n"], split=True)[0]
    assert joined == f"{one} {two}\n{two}\n" or joined.count("\n") == 2
    page = package.translate_texts(["<p class=x>a <b>b</b>.</p>"], html=True)[0]
    assert page.startswith("<p class=x>") and page.endswith("</p>") and "<b>" in page
    with pytest.raises(ValueError, match="split"):
        tiny.translate_texts(["w2"], split=True, html=True)
    with pytest.raises(ValueError, match="beam_size"):
        tiny.translate_texts(["w2"], beam_size=0)
    with pytest.raises(TypeError, match="put it into a list"):
        tiny.translate_texts("w2")


def test_calls_can_be_awaited(tiny: ct2.Translator) -> None:
    expected = hypotheses(tiny.translate_batch(SOURCES))

    async def main() -> None:
        calls = [tiny.translate_async([source], return_scores=True) for source in SOURCES]
        results = await asyncio.gather(*calls)
        assert [result.hypotheses for [result] in results] == expected
        assert await tiny.translate_async([]) == []
        assert await tiny.translate_texts_async(["w2 w3 w4"]) == tiny.translate_texts(["w2 w3 w4"])
        with pytest.raises(ValueError, match="is greater than"):
            await tiny.translate_async(SOURCES, num_hypotheses=9)
        long = [["w2"] * 60] * 3000
        task = asyncio.ensure_future(
            tiny.translate_async(long, beam_size=6, min_decoding_length=200)
        )
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while tiny.num_active_batches:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_lines_that_are_not_utf_8(tiny: ct2.Translator, tmp_path: Path) -> None:
    source, output = tmp_path / "source", tmp_path / "output"
    source.write_bytes(b"w2\nw2 \xe9 w3\r\nw5\n")
    assert tiny.translate_file(source, output).num_examples == 3
    unknown = tiny.translate_batch([["w2", "<unk>", "w3"]])[0]
    assert output.read_text(encoding="utf-8").splitlines()[1] == " ".join(unknown.hypotheses[0])
    assert tiny.score_file(source, source, output).num_examples == 3
    functions: dict[str, Any] = {
        "source_tokenize_fn": str.split,
        "target_detokenize_fn": " ".join,
    }
    with pytest.raises(UnicodeDecodeError, match="source, line 2 is not UTF-8"):
        tiny.translate_file(source, output, **functions)


def test_inputs_are_not_overwritten(tiny: ct2.Translator, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for path in (source, target):
        path.write_text("w2\n", encoding="utf-8")
    with pytest.raises(OSError, match="source.*it is also the output"):
        tiny.translate_file(os.fsencode(source), str(source))
    with pytest.raises(OSError, match="target.*it is also the output"):
        tiny.translate_file(str(source), str(target), target_path=str(target))
    with pytest.raises(OSError, match="target.*it is also the output"):
        tiny.score_file(str(source), str(target), str(target))
    assert source.read_text() == target.read_text() == "w2\n"


def test_models_in_memory() -> None:
    contents = {path.name: path.read_bytes() for path in TINY.iterdir()}
    expected = hypotheses(ct2.Translator(str(TINY)).translate_batch(SOURCES))
    as_files = {name: io.BytesIO(content) for name, content in contents.items()}
    for files in (contents, as_files):
        translator = ct2.Translator("memory", files=files)
        translator.unload_model()
        translator.load_model()
        assert hypotheses(translator.translate_batch(SOURCES)) == expected
    with pytest.raises(RuntimeError, match="vmap"):
        ct2.Translator("memory", files={**contents, "vmap.txt": b"\tw2\n"})


def test_old_results_and_representations(tiny: ct2.Translator) -> None:
    [result] = tiny.translate_batch(SOURCES[:1], return_scores=True, return_attention=True)
    with pytest.warns(DeprecationWarning):
        old = result[0]
    assert old == {
        "tokens": result.hypotheses[0],
        "score": result.scores[0],
        "attention": result.attention[0],
    }
    with pytest.warns(DeprecationWarning), pytest.raises(IndexError):
        result[1]
    assert repr(result) == (
        f"TranslationResult(hypotheses={result.hypotheses}, scores={result.scores}, "
        f"attention={result.attention}, logits=[])"
    )
    # The same word is the same object: a result creates no strings.
    twice = tiny.translate_batch([["w2"]], [["w9", "w9"]])[0].hypotheses[0]
    assert twice[0] is twice[1]


def test_tokens_as_bytes(tiny: ct2.Translator) -> None:
    lines = [" ".join(source).encode() for source in SOURCES]
    assert hypotheses(tiny.translate_batch(lines)) == hypotheses(tiny.translate_batch(SOURCES))


def test_the_module_takes_the_place_of_ctranslate2(tiny: ct2.Translator) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "ctranslate2", raising=False)
        ct2.install()
        installed = sys.modules["ctranslate2"]
        assert importlib.util.find_spec("ctranslate2") is not None
        assert installed.Translator is ct2.Translator
        patch.delitem(sys.modules, "ctranslate2")
    assert ct2.contains_model(str(TINY)) and not ct2.contains_model(str(ROOT))
    assert ct2.contains_model(os.fsencode(TINY))
    assert ct2.get_supported_compute_types("cpu") == {"float32", "int16", "int8", "int8_float32"}
    assert ct2.get_cuda_device_count() == 0
    assert not math.isnan(tiny.score_batch([["w2"]], [["w3"]])[0].log_probs[0])
