"""miriam.lm scores batches with the values of `miriam.kenlm`, which are KenLM's."""

from __future__ import annotations

import gzip
import math
import os
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy
import pytest

import miriam.kenlm as kenlm
from conftest import ROOT, TOY
from miriam.lm import Estimate, LanguageModel

LINES = ["a b", "", "zzz a", "b\na", " a\t\tb ", "ä b"]


@pytest.fixture(scope="module")
def toy() -> LanguageModel:
    return LanguageModel(TOY)


@pytest.fixture(scope="module")
def single() -> kenlm.Model:
    return kenlm.Model(str(TOY))


def test_values_are_those_of_single_calls(toy: LanguageModel, single: kenlm.Model) -> None:
    assert (toy.order, toy.num_words, "a" in toy, b"zzz" in toy) == (3, 5, True, False)
    assert repr(toy).endswith('toy.arpa">')
    lines = LINES * 20_000  # Several blocks.
    for threads in (1, 2, 3):
        scores = toy.score_many(lines, threads=threads)
        assert scores.dtype == numpy.float32
        assert scores.tolist() == [single.score(line) for line in LINES] * 20_000
    for bos in (True, False):
        for eos in (True, False):
            found = toy.score_many(LINES, bos=bos, eos=eos).tolist()
            assert found == [single.score(line, bos, eos) for line in LINES]
    log10, tokens, oovs = toy.stats_many(LINES)
    assert [array.dtype.name for array in (log10, tokens, oovs)] == ["float32", "uint32", "uint32"]
    assert tokens.tolist() == [len(line.split()) + 1 for line in LINES]
    assert oovs.tolist() == [0, 0, 1, 0, 0, 1]
    perplexities = toy.perplexity_many(LINES)
    assert perplexities.dtype == numpy.float64
    assert perplexities.tolist() == [single.perplexity(line) for line in LINES]
    values, offsets = toy.score_words(LINES)
    assert (values.dtype.name, offsets.dtype.name) == ("float32", "int64")
    for i, line in enumerate(LINES):
        words = values[offsets[i] : offsets[i + 1]].tolist()
        assert words == [log10 for log10, _, _ in single.full_scores(line)]
    assert offsets[-1] == len(values)
    assert toy.score_many([]).shape == (0,)


def test_documents_have_the_sums_of_their_lines(toy: LanguageModel, single: kenlm.Model) -> None:
    documents = ["a b\nb\n", "", "a\n\nzzz", "a"]
    log10, tokens, oovs = toy.stats_many(documents, documents=True)
    assert log10.dtype == numpy.float64
    parts = [["a b", "b"], [""], ["a", "", "zzz"], ["a"]]
    assert log10.tolist() == [math.fsum(map(single.score, lines)) for lines in parts]
    assert tokens.tolist() == [5, 1, 5, 2] and oovs.tolist() == [0, 0, 1, 0]


def test_filter(toy: LanguageModel) -> None:
    perplexities = toy.perplexity_many(LINES)
    limit = float(numpy.median(perplexities))
    kept = toy.filter(LINES, max_perplexity=limit)
    assert kept.dtype == numpy.bool_ and kept.tolist() == (perplexities <= limit).tolist()
    assert (toy.filter(LINES, max_perplexity=limit, invert=True) == ~kept).all()
    # A line without tokens has no perplexity.
    assert not toy.filter([""], max_perplexity=math.inf, bos=False, eos=False)[0]
    with pytest.raises(ValueError, match="max_perplexity"):
        toy.filter(LINES, max_perplexity=-1)
    above = toy.filter(LINES, min_perplexity=limit)
    assert above.tolist() == (perplexities >= limit).tolist()
    best = toy.filter(LINES, keep_percent=50)
    assert best.sum() == math.ceil(len(LINES) / 2)
    assert perplexities[best].max() <= perplexities[~best].min()
    thirds = [toy.filter(LINES, keep_percent=percent) for percent in (100 / 3, 33.333333)]
    assert thirds[0].tolist() == thirds[1].tolist()
    for wrong in ({}, {"keep_percent": 101}, {"min_perplexity": math.nan}, {"keep_percent": -1}):
        with pytest.raises(ValueError):
            toy.filter(LINES, **wrong)


def test_lines_are_any_sequence_of_str_or_bytes(toy: LanguageModel) -> None:
    expected = toy.score_many(LINES).tolist()
    forms: list[Any] = [
        tuple(LINES),
        iter(LINES),
        [line.encode() for line in LINES],
        numpy.array(LINES, dtype=object),
    ]
    for lines in forms:
        assert toy.score_many(lines).tolist() == expected
    out = numpy.zeros(len(LINES), numpy.float32)
    assert toy.score_many(LINES, out=out) is out and out.tolist() == expected
    with pytest.raises(ValueError, match="out has 6 elements for 1 lines"):
        toy.score_many(["a"], out=out)
    with pytest.raises(TypeError, match="float32"):
        toy.score_many(["a"], out=numpy.zeros(1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="line 2: Cannot convert <class 'int'> to string"):
        toy.score_many(["a", "b", 3])
    with pytest.raises(ValueError, match="line 1: .*surrogates"):
        toy.score_many(["a", "\udc80"])
    with pytest.raises(TypeError, match="put it into a list"):
        toy.score_many("a b")
    with pytest.raises(ValueError, match="threads"):
        toy.score_many(["a"], threads=5000)


def test_columns_of_arrow(toy: LanguageModel) -> None:
    expected = toy.score_many(LINES).tolist()
    data = "".join(LINES).encode()
    ends = numpy.cumsum([0] + [len(line.encode()) for line in LINES])
    for offsets in (ends.astype(numpy.int32), ends.astype(numpy.int64)):
        log10, tokens, _ = toy.score_arrow(numpy.frombuffer(data, numpy.uint8), offsets)
        assert log10.tolist() == expected and tokens[0] == 3
    bad: Any
    for bad, line in ((ends[::-1], 0), (ends - 1, 0), (ends + 1, len(LINES) - 1)):
        with pytest.raises(ValueError, match=f"line {line}: "):
            toy.score_arrow(numpy.frombuffer(data, numpy.uint8), numpy.ascontiguousarray(bad))
    with pytest.raises(TypeError, match="uint8"):
        toy.score_arrow(numpy.zeros(3), ends)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="int32 or int64"):
        toy.score_arrow(numpy.frombuffer(data, numpy.uint8), ends.astype(float))
    plain, nested = numpy.zeros(3, numpy.uint8), numpy.zeros((1, 3), numpy.uint8)
    wrong: list[tuple[Any, Any, str]] = [
        (nested, ends, "data: .*found a 2-dimensional uint8 array"),
        (plain, plain, "offsets: .*found a 1-dimensional uint8 array"),
    ]
    for column, positions, message in wrong:
        with pytest.raises(TypeError, match=message):
            toy.score_arrow(column, positions)
    pyarrow = pytest.importorskip("pyarrow")
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.binary()):
        array = pyarrow.array(LINES, kind)
        assert toy.score_many(array).tolist() == expected
        assert toy.score_many(array[2:5]).tolist() == expected[2:5]
        assert toy.score_many(array[:0]).tolist() == []
    with pytest.raises(ValueError, match="lines: line 1 is null"):
        toy.score_many(pyarrow.array(["a", None]))
    with pytest.raises(TypeError, match="found int64"):
        toy.score_many(pyarrow.array([1]))
    with pytest.raises(TypeError, match="combine_chunks"):
        toy.score_many(pyarrow.chunked_array([["a"], ["b"]]))


def test_next_words(toy: LanguageModel, single: kenlm.Model) -> None:
    words = toy.next_words("a", top=100)
    assert len(words) == toy.num_words - 1
    assert [log10 for _, log10 in words] == sorted((log10 for _, log10 in words), reverse=True)
    assert words[0] == ("b", float(numpy.float32(-0.3)))
    state, following = kenlm.State(), kenlm.State()
    single.BaseScore(state, "a", following)
    for word, log10 in toy.next_words("a", bos=False):
        assert log10 == single.BaseScore(following, word, state)


def test_next_words_need_a_file_with_words() -> None:
    wordless = LanguageModel(ROOT / "lmcpu" / "testdata" / "toy-wordless.kenlm")
    with pytest.raises(ValueError, match="does not hold its words"):
        wordless.next_words("a")


def test_estimating_building_and_dumping(kenlm_cases: Path, tmp_path: Path) -> None:
    arpa = tmp_path / "o3.arpa"
    counted = LanguageModel.estimate(
        kenlm_cases / "text.en", order=3, arpa=arpa, discount_fallback=True
    )
    # The file is equal to that of lmplz.
    assert arpa.read_bytes() == gzip.open(kenlm_cases / "o3.arpa.gz").read()
    assert isinstance(counted, Estimate) and len(counted.counts) == 3
    assert counted.counts[0] == counted.types
    lines = (kenlm_cases / "heldout.en").read_text(encoding="utf-8").splitlines()
    expected = LanguageModel(arpa).score_many(lines)
    for kind in ("probing", "trie", "glm", "kenlm-probing", "kenlm-trie"):
        built = tmp_path / f"o3.{kind}"
        assert LanguageModel.build(arpa, built, type=kind) == counted.counts
        for load in ("lazy", "populate", "huge"):
            assert (LanguageModel(built, load=load).score_many(lines) == expected).all()
    dumped = tmp_path / "dumped.arpa"
    LanguageModel.dump(tmp_path / "o3.probing", dumped)
    assert (LanguageModel(dumped).score_many(lines) == expected).all()
    LanguageModel.build(arpa, tmp_path / "quantized", type="trie", quantize=8)
    for bits in (numpy.int64(8), (numpy.int64(8), 8)):
        LanguageModel.build(arpa, tmp_path / "same", type="trie", quantize=bits)
        assert (tmp_path / "same").read_bytes() == (tmp_path / "quantized").read_bytes()
    quantized = LanguageModel(tmp_path / "quantized").score_many(lines)
    assert numpy.abs(quantized - expected).max() < 1 and (quantized != expected).any()


def test_errors_name_the_file_and_what_to_do(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(OSError, match="missing"):
        LanguageModel(missing)
    with pytest.raises(ValueError, match="lazy, populate or huge"):
        LanguageModel(TOY, load="eager")
    with pytest.raises(ValueError, match="expected cpu"):
        LanguageModel(TOY, device="gpu")
    with pytest.raises(ValueError, match="the order is 0"):
        LanguageModel.estimate(TOY, order=0, arpa=tmp_path / "x")
    with pytest.raises(OSError, match="also the output"):
        LanguageModel.build(TOY, TOY)
    with pytest.raises(ValueError, match="expected probing, trie"):
        LanguageModel.build(TOY, tmp_path / "x", type="hash")
    with pytest.raises(ValueError, match="requires type"):
        LanguageModel.build(TOY, tmp_path / "x", quantize=8)
    with pytest.raises(ValueError, match="expected bits from 1"):
        LanguageModel.build(TOY, tmp_path / "x", type="trie", quantize=77)
    with pytest.raises(ValueError, match="keep-first"):
        LanguageModel.dump(TOY, tmp_path / "x", duplicates="last")


def test_defects_of_arpa_text_are_read_by_options(tmp_path: Path) -> None:
    arpa = tmp_path / "bare.arpa"
    arpa.write_text(
        "\\data\\\nngram 1=2\nngram 2=2\n\n\\1-grams:\n-1\t<unk>\n0.5\ta\t-0.25\n\n"
        "\\2-grams:\n-0.125\ta a\n-0.5\ta a\n\n\\end\\\n"
    )
    options = {"duplicates": "keep-first", "positive": "zero", "missing_markers": "unknown"}
    for left_out in options:
        some = {name: value for name, value in options.items() if name != left_out}
        with pytest.raises(OSError, match="--" + left_out.replace("_", "-")):
            LanguageModel(arpa, **some)
    model = LanguageModel(arpa, **options)
    # The sum of a after <unk>, a after a, and <unk> after a.
    assert model.score_many(["a a"]).tolist() == [-1.375]
    assert pickle.loads(pickle.dumps(model)).score_many(["a a"]).tolist() == [-1.375]
    LanguageModel.build(
        arpa,
        tmp_path / "built",
        duplicates="keep-first",
        positive="zero",
        missing_markers="unknown",
    )
    assert LanguageModel(tmp_path / "built").score_many(["a a"]).tolist() == [-1.375]


def test_pickles_hold_the_path(tmp_path: Path) -> None:
    model = LanguageModel(TOY, load="lazy")
    pickled = pickle.dumps(model)
    assert len(pickled) < 500
    same = pickle.loads(pickled)
    assert type(same) is LanguageModel
    assert same.score_many(LINES).tolist() == model.score_many(LINES).tolist()


class Named(LanguageModel):
    def __init__(self, name: str) -> None:
        super().__init__(TOY, load="lazy")
        self.name = name


class Unloaded(LanguageModel):
    def __init__(self) -> None:
        pass


def test_subclasses_have_arguments_of_their_own(toy: LanguageModel) -> None:
    named = Named("x")
    for model in (named, pickle.loads(pickle.dumps(named))):
        assert type(model) is Named and model.name == "x"
        assert model.score_many(LINES).tolist() == toy.score_many(LINES).tolist()
    for use in (lambda: Unloaded().order, lambda: Unloaded().score_many(LINES)):
        with pytest.raises(ValueError, match="must call LanguageModel.__init__"):
            use()


def test_the_list_of_words_is_not_overwritten(tmp_path: Path) -> None:
    text, words = tmp_path / "text", tmp_path / "words"
    text.write_text("a b\n", encoding="utf-8")
    words.write_text("a b\n", encoding="utf-8")
    with pytest.raises(OSError, match="words.*it is also the output"):
        LanguageModel.estimate(text, order=2, arpa=words, limit_vocab=words)
    assert words.read_text() == "a b\n"


def test_pickles_of_relative_paths_are_loaded_in_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy.arpa").write_bytes(TOY.read_bytes())
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    model = LanguageModel("toy.arpa")
    pickled = pickle.dumps(model)
    monkeypatch.chdir(tmp_path / "other")
    assert model.path == Path("toy.arpa")
    assert pickle.loads(pickled).path == tmp_path / "toy.arpa"


def test_threads_of_python_run_at_once(toy: LanguageModel) -> None:
    """While a batch is scored, the interpreter continues."""
    lines = ["a b zzz b a " * 100] * 20_000
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    began = time.monotonic()
    toy.score_many(lines, threads=1)
    ended = time.monotonic()
    done.set()
    ticker.join()
    assert sum(began < at < ended for at in ticks) >= 2


def test_control_c_ends_a_batch(toy: LanguageModel) -> None:
    # The batch would take many seconds.
    line = "a b zzz b a " * 10_000
    lines = [line] * 5_000
    # A process in the background may have been started to ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    try:
        threading.Timer(0.3, interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            toy.score_many(lines, threads=1)
        # It takes a tenth of a second on an idle machine.
        assert time.monotonic() - sent[0] < 2
    finally:
        signal.signal(signal.SIGINT, before)


def test_models_of_order_24(tmp_path: Path) -> None:
    words = [f"w{i * i % 37}" for i in range(400)]
    text, arpa = tmp_path / "text", tmp_path / "arpa"
    text.write_text("".join(" ".join(words[i : i + 30]) + "\n" for i in range(0, 400, 30)))
    counted = LanguageModel.estimate(text, order=24, arpa=arpa, discount_fallback=True)
    assert len(counted.counts) == 24 and counted.counts[-1] > 0
    lines = [" ".join(words[i : i + 28]) for i in range(0, 300, 7)]
    expected = LanguageModel(arpa).score_many(lines)
    for kind in ("probing", "trie", "glm", "kenlm-probing", "kenlm-trie"):
        built = tmp_path / kind
        assert LanguageModel.build(arpa, built, type=kind) == counted.counts
        assert (LanguageModel(built).score_many(lines) == expected).all()
        model = kenlm.Model(str(built))
        lengths = [length for _, length, _ in model.full_scores(" ".join(words[:30]))]
        # The whole sentence is in the text, so each word matches with all words before it, up to
        # the order of the model.
        assert lengths == [min(i + 2, 24) for i in range(31)]
        # Word by word, through states of up to 23 words.
        states = [kenlm.State(), kenlm.State()]
        model.BeginSentenceWrite(states[0])
        total = numpy.float32(0)
        for word in [*words[:30], "</s>"]:
            total += numpy.float32(model.BaseScore(states[0], word, states[1]))
            states.reverse()
        assert total == model.score(" ".join(words[:30]))
    with pytest.raises(ValueError, match="from 1 to 24"):
        LanguageModel.estimate(text, order=25, arpa=arpa)


def test_filtering_ngrams(tmp_path: Path) -> None:
    arpa = ROOT / "examples" / "toy" / "lm.arpa"
    vocab, out = tmp_path / "vocab", tmp_path / "out.arpa"
    vocab.write_text("la casa es blanca .\nel perro .\n", encoding="utf-8")
    read, kept = LanguageModel.filter_ngrams(arpa, vocab, out)
    assert 0 < kept < read
    small, whole = LanguageModel(out), LanguageModel(arpa)
    line = ["la casa es blanca ."]
    assert small.score_many(line).tolist() == whole.score_many(line).tolist()
    assert small.num_words == len({"la", "casa", "es", "blanca", ".", "el", "perro"}) + 3
    _, union = LanguageModel.filter_ngrams(arpa, vocab, out, mode="union")
    assert union < kept
    LanguageModel.filter_ngrams(arpa, vocab, tmp_path / "part.", mode="multiple")
    assert {path.name for path in tmp_path.glob("part.*")} == {"part.0", "part.1"}
    with pytest.raises(ValueError, match="single, multiple or union"):
        LanguageModel.filter_ngrams(arpa, vocab, out, mode="any")
    with pytest.raises(ValueError, match="phrases need"):
        LanguageModel.filter_ngrams(arpa, vocab, out, phrases=True)
    with pytest.raises(OSError, match="it is also the output"):
        LanguageModel.filter_ngrams(arpa, vocab, vocab)
    binary = tmp_path / "binary"
    LanguageModel.build(arpa, binary)
    with pytest.raises(ValueError, match="dump"):
        LanguageModel.filter_ngrams(binary, vocab, out)
