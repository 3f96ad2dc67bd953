"""miriam.kenlm against the output of KenLM, against sums that were computed by hand, and against
PyPI's kenlm if it is installed."""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy
import pytest

import miriam.kenlm as kenlm
from conftest import TOY, parse_query

CASES = [
    f"{model}.{kind}"
    for model in ("o3-suffixless", "o5")
    for kind in ("probing", "trie", "qtrie", "atrie", "qatrie")
]


@pytest.fixture(scope="module")
def toy() -> kenlm.Model:
    return kenlm.Model(str(TOY))


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_that_kenlm_printed(case: str, kenlm_cases: Path, tmp_path: Path) -> None:
    if shutil.which("zstd") is None:
        pytest.skip("the program zstd is not installed")
    model_file = tmp_path / case
    subprocess.run(["zstd", "-dqo", model_file, kenlm_cases / f"{case}.zst"], check=True)
    model = kenlm.Model(str(model_file))
    lines = parse_query(kenlm_cases / f"{case}.query.gz")
    assert len(lines) > 100
    for words, total, unknown in lines:
        sentence = " ".join(word[0] for word in words[:-1])
        scores = list(model.full_scores(sentence))
        assert len(scores) == len(words)
        for (log10, length, oov), (text, number, expected_length, expected) in zip(scores, words):
            assert numpy.float32(log10) == numpy.float32(expected)
            assert (length, oov) == (expected_length, number == 0)
            assert (text in model) == (number != 0)
        assert numpy.float32(model.score(sentence)) == numpy.float32(total)
        assert sum(oov for _, _, oov in scores) == unknown


def test_scores_are_sums_on_paper(toy: kenlm.Model) -> None:
    f32 = numpy.float32
    assert toy.order == 3
    # <s> a, <s> a b, b </s>
    assert toy.score("a b") == f32(-0.5) + f32(-0.3) + f32(-0.7)
    assert toy.score(b"a b") == toy.score(" \ta\nb\r\v\f")
    assert toy.score("a b", eos=False) == f32(-0.5) + f32(-0.3)
    assert toy.score("a", bos=False, eos=False) == -1.5
    assert toy.score("a", False, False) == toy.score("a", bos=0, eos=[])  # type: ignore[arg-type]
    assert toy.perplexity("a b") == 10.0 ** (-toy.score("a b") / 3)
    assert toy.perplexity("") == 10.0 ** -toy.score("")
    assert list(toy.full_scores("a b")) == [
        (-0.5, 2, False),
        (float(f32(-0.3)), 3, False),
        (float(f32(-0.7)), 2, False),
    ]
    assert list(toy.full_scores("zzz", bos=False, eos=False)) == [(-1.0, 1, True)]
    assert "a" in toy and b"a" in toy and "zzz" not in toy


def test_score_of_a_long_text_is_the_sum_of_its_words(toy: kenlm.Model) -> None:
    # Long enough to be scored without the interpreter's lock.
    text = "a b zzz b a " * 500
    words = list(toy.full_scores(text))
    assert len(words) == 2501
    total = numpy.float32(0)
    for log10, _, _ in words:
        total += numpy.float32(log10)
    assert toy.score(text) == total


def test_states(toy: kenlm.Model) -> None:
    first, second = kenlm.State(), kenlm.State()
    toy.BeginSentenceWrite(first)
    total = toy.BaseScore(first, "a", second)
    total += toy.BaseScore(second, "b", first)
    assert total == toy.score("a b", eos=False)
    result = toy.BaseFullScore(first, "</s>", first)
    assert (numpy.float32(result.log_prob), result.ngram_length, result.oov) == (
        numpy.float32(-0.7),
        2,
        False,
    )
    assert repr(result) == f"FullScoreReturn({result.log_prob!r}, 2, False)"
    with pytest.raises(AttributeError):
        result.oov = True  # type: ignore[misc]
    toy.NullContextWrite(first)
    assert toy.BaseFullScore(first, "zzz", second).oov
    assert toy.BaseScore(first, "a", second) == -1.5
    with pytest.raises(TypeError):
        toy.BaseScore(first, b"a", second)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        toy.BaseScore(first, "a", None)  # type: ignore[arg-type]


def test_states_are_ordered_by_length_and_then_by_bytes(toy: kenlm.Model) -> None:
    def after(*words: str) -> kenlm.State:
        state, following = kenlm.State(), kenlm.State()
        for word in words:
            toy.BaseScore(state, word, following)
            state, following = following, state
        return state

    # Ids are 3 for a and 4 for b in the order of the file. After the text `b a` a state keeps two
    # words, newest first.
    states = [after(), after("a"), after("b"), after("b", "a")]
    for (i, left), (j, right) in itertools.product(enumerate(states), repeat=2):
        assert (left < right) == (i < j)
        assert (left <= right) == (i <= j)
        assert (left > right) == (i > j)
        assert (left >= right) == (i >= j)
        assert (left == right) == (i == j)
        assert (left != right) == (i != j)
        assert (hash(left) == hash(right)) == (i == j)
    assert states[1] != "a"
    with pytest.raises(TypeError):
        states[1] < "a"  # type: ignore[operator]
    for state in states:
        for same in (
            copy.copy(state),
            copy.deepcopy(state),
            copy.deepcopy([state])[0],
            pickle.loads(pickle.dumps(state)),
        ):
            assert same == state and same is not state and hash(same) == hash(state)
    # A copy is another state.
    same = copy.copy(states[1])
    toy.NullContextWrite(same)
    assert same != states[1]
    following = kenlm.State()
    loaded = pickle.loads(pickle.dumps(states[1]))
    assert toy.BaseScore(loaded, "b", following) == numpy.float32(-0.6)


def test_a_state_of_another_model_is_rejected(toy: kenlm.Model) -> None:
    state = kenlm.State()
    for entries in ([(10**6, -0.5)], [(3, 0.0)] * 3):
        state.__setstate__(entries)
        with pytest.raises(ValueError, match="another model"):
            toy.BaseScore(state, "a", kenlm.State())
    with pytest.raises(ValueError, match="too long"):
        state.__setstate__([(3, 0.0)] * 100)


def test_paths_and_errors(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path in (str(TOY), os.fsencode(TOY)):
        model = kenlm.LanguageModel(path)
        assert model.path == os.path.abspath(os.fsencode(path))
        assert repr(model) == "<Model from b'toy.arpa'>"
    assert "miriam lm build" in capfd.readouterr().err
    assert isinstance(model, kenlm.Model)
    with pytest.raises(TypeError, match="Cannot convert <class 'int'> to string"):
        kenlm.Model(7)  # type: ignore[arg-type]
    missing = str(tmp_path / "missing")
    with pytest.raises(OSError, match="Cannot read model '" + missing + r"' \(.+\)"):
        kenlm.Model(missing)
    for call in (model.score, model.perplexity, lambda text: list(model.full_scores(text))):
        with pytest.raises(TypeError, match="Cannot convert <class 'NoneType'> to string"):
            call(None)  # type: ignore[arg-type]
        with pytest.raises(UnicodeEncodeError):
            call("\udc80")
    with pytest.raises(TypeError):
        7 in model  # type: ignore[operator]
    # Like a generator, it reads its argument only when a value is requested.
    model.full_scores(None)  # type: ignore[arg-type]
    relative = os.path.relpath(TOY)
    assert kenlm.Model(relative).path == os.fsencode(TOY)


def test_configuration(capfd: pytest.CaptureFixture[str]) -> None:
    config = kenlm.Config()
    assert (config.load_method, config.arpa_complain, config.show_progress) == (
        kenlm.LoadMethod.POPULATE_OR_READ,
        kenlm.ARPALoadComplain.ALL,
        True,
    )
    config.show_progress = False
    assert config.show_progress is False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    for method in range(5):
        config.load_method = method
        assert kenlm.Model(str(TOY), config).score("a", eos=False) == -0.5
    assert capfd.readouterr().err == ""
    for name in ("load_method", "arpa_complain"):
        with pytest.raises(ValueError, match=name):
            setattr(config, name, 9)


class Folder(kenlm.Model):
    """A subclass with arguments of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(str(folder / name))


def test_subclasses_load_what_they_like(toy: kenlm.Model) -> None:
    assert Folder(TOY.parent, name="toy.arpa").score("a b") == toy.score("a b")

    class Forgetful(kenlm.Model):
        def __init__(self) -> None:
            pass

    with pytest.raises(ValueError, match="not loaded"):
        Forgetful().score("a")


def score_in_process(model: kenlm.Model) -> float:
    return model.score("a b")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_models_go_to_other_processes(method: str, toy: kenlm.Model) -> None:
    assert pickle.loads(pickle.dumps(toy)).score("a b") == toy.score("a b")
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(score_in_process, [toy] * 4) == [toy.score("a b")] * 4


def test_threads_share_a_model(toy: kenlm.Model) -> None:
    text = "a b zzz " * 1000
    expected, found = toy.score(text), []

    def score() -> None:
        for _ in range(20):
            found.append(toy.score(text))

    threads = [threading.Thread(target=score) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 160


def test_import_kenlm_gives_this_module_after_install(tmp_path: Path) -> None:
    program = (
        "import miriam.kenlm, importlib.util\n"
        "miriam.kenlm.install()\n"
        "import kenlm\n"
        "assert importlib.util.find_spec('kenlm').name == 'kenlm'\n"
        "assert kenlm.Model is miriam.kenlm.Model and not hasattr(kenlm, 'install')\n"
        f"assert kenlm.LanguageModel({str(TOY)!r}).order == 3\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)


def foreign_kenlm() -> Any:
    """Returns PyPI's kenlm, not the module that `install` or the shim provides."""
    module = pytest.importorskip("kenlm", reason="PyPI's kenlm is not installed")
    if module.Model is kenlm.Model:
        pytest.skip("kenlm is this package here")
    return module


@pytest.mark.parametrize("name", ["o2", "o3", "o5", "o3-prune", "o3-nounigram"])
def test_every_method_agrees_with_pypis_kenlm(name: str, kenlm_cases: Path) -> None:
    theirs_module = foreign_kenlm()
    path = str(kenlm_cases / f"{name}.arpa.gz")
    theirs, ours = theirs_module.Model(path), kenlm.Model(path)
    assert (ours.path, ours.order, repr(ours)) == (theirs.path, theirs.order, repr(theirs))
    lines = (kenlm_cases / "heldout.en").read_text(encoding="utf-8").splitlines()[:300]
    lines += ["", "  ", "<s> a </s> <unk>", "a\x0bb\x0cc\rd\te", "ä\u00a0b", "x" * 300]
    for line in lines:
        for bos, eos in itertools.product((True, False), repeat=2):
            assert ours.score(line, bos, eos) == theirs.score(line, bos, eos)
            our_scores = list(ours.full_scores(line, bos, eos))
            assert our_scores == list(theirs.full_scores(line, bos, eos))
        assert ours.perplexity(line) == theirs.perplexity(line)
        our_states = [kenlm.State(), kenlm.State()]
        their_states = [theirs_module.State(), theirs_module.State()]
        ours.BeginSentenceWrite(our_states[0])
        theirs.BeginSentenceWrite(their_states[0])
        our_past, their_past = [copy.copy(our_states[0])], [copy.copy(their_states[0])]
        for word in line.split():
            assert (word in ours) == (word in theirs)
            our_full = ours.BaseFullScore(our_states[0], word, our_states[1])
            their_full = theirs.BaseFullScore(their_states[0], word, their_states[1])
            assert repr(our_full) == repr(their_full)
            assert ours.BaseScore(our_states[0], word, our_states[1]) == our_full.log_prob
            our_states.reverse()
            their_states.reverse()
            our_past.append(copy.copy(our_states[0]))
            their_past.append(copy.copy(their_states[0]))
        for (a, x), (b, y) in itertools.combinations(list(zip(our_past, their_past))[:12], 2):
            assert (a == b, hash(a) == hash(b)) == (x == y, hash(x) == hash(y))
            assert (a < b, a <= b, a > b) == (x < y, x <= y, x > y)
