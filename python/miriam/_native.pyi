"""The native module. Its classes are documented where they are public: ``miriam.kenlm`` and
``miriam.lm``."""

import os
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, SupportsIndex, final, overload

import numpy
from numpy.typing import NDArray
from typing_extensions import disjoint_base

__all__ = [
    "Config",
    "FullScoreReturn",
    "FullScores",
    "LanguageModel",
    "Model",
    "State",
    "__VERSION__",
    "build",
    "dump",
    "estimate",
    "score_bleu",
    "score_chrf",
    "score_ter",
]

__VERSION__: str

_Path = str | os.PathLike[str]
_Text = str | bytes
# A sequence of str or bytes, or a string array of pyarrow.
_Lines = Iterable[str] | Iterable[bytes] | Any
_Offsets = NDArray[numpy.int32] | NDArray[numpy.int64]
_Counts = NDArray[numpy.uint32]

@final
class Config:
    load_method: int
    show_progress: bool
    arpa_complain: int
    def __new__(cls) -> Config: ...

@final
class FullScoreReturn:
    def __new__(cls, log_prob: float, ngram_length: int, oov: bool) -> FullScoreReturn: ...
    @property
    def log_prob(self) -> float: ...
    @property
    def ngram_length(self) -> int: ...
    @property
    def oov(self) -> bool: ...

@final
class FullScores(Iterator[tuple[float, int, bool]]):
    def __iter__(self) -> FullScores: ...
    def __next__(self) -> tuple[float, int, bool]: ...

@final
class State:
    def __new__(cls) -> State: ...
    def __lt__(self, other: State, /) -> bool: ...
    def __le__(self, other: State, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __gt__(self, other: State, /) -> bool: ...
    def __ge__(self, other: State, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> State: ...
    def __deepcopy__(self, memo: Any = None) -> State: ...
    def __getstate__(self) -> list[tuple[int, float]]: ...
    def __setstate__(self, entries: Sequence[tuple[int, float]]) -> None: ...
    def __reduce__(self) -> tuple[type[State], tuple[()], list[tuple[int, float]]]: ...

@disjoint_base
class Model:
    path: bytes
    def __new__(cls, *args: Any, **kwargs: Any) -> Model: ...
    def __init__(self, path: _Text, config: Config | None = None) -> None: ...
    @property
    def order(self) -> int: ...
    def score(self, sentence: _Text, bos: bool = True, eos: bool = True) -> float: ...
    def perplexity(self, sentence: _Text) -> float: ...
    def full_scores(self, sentence: _Text, bos: bool = True, eos: bool = True) -> FullScores: ...
    def BeginSentenceWrite(self, state: State) -> None: ...
    def NullContextWrite(self, state: State) -> None: ...
    def BaseScore(self, in_state: State, word: str, out_state: State) -> float: ...
    def BaseFullScore(self, in_state: State, word: str, out_state: State) -> FullScoreReturn: ...
    def __contains__(self, word: _Text, /) -> bool: ...
    def __reduce__(self) -> tuple[type[Model], tuple[bytes]]: ...

@disjoint_base
class LanguageModel:
    def __new__(cls, path: _Path, *, load: str = "populate", device: str = "cpu") -> LanguageModel: ...
    @property
    def path(self) -> pathlib.Path: ...
    @property
    def order(self) -> int: ...
    @property
    def num_words(self) -> int: ...
    def __contains__(self, word: _Text, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    @overload
    def score_many(
        self,
        lines: _Lines,
        *,
        bos: bool = True,
        eos: bool = True,
        documents: Literal[False] = False,
        threads: SupportsIndex = 0,
        out: NDArray[numpy.float32] | None = None,
    ) -> NDArray[numpy.float32]: ...
    @overload
    def score_many(
        self,
        lines: _Lines,
        *,
        bos: bool = True,
        eos: bool = True,
        documents: bool = False,
        threads: SupportsIndex = 0,
        out: None = None,
    ) -> NDArray[numpy.floating[Any]]: ...
    def stats_many(
        self,
        lines: _Lines,
        *,
        bos: bool = True,
        eos: bool = True,
        documents: bool = False,
        threads: SupportsIndex = 0,
    ) -> tuple[NDArray[numpy.floating[Any]], _Counts, _Counts]: ...
    def perplexity_many(
        self,
        lines: _Lines,
        *,
        bos: bool = True,
        eos: bool = True,
        documents: bool = False,
        threads: SupportsIndex = 0,
    ) -> NDArray[numpy.float64]: ...
    def filter(
        self,
        lines: _Lines,
        *,
        max_perplexity: float,
        invert: bool = False,
        bos: bool = True,
        eos: bool = True,
        documents: bool = False,
        threads: SupportsIndex = 0,
    ) -> NDArray[numpy.bool_]: ...
    def score_words(
        self, lines: _Lines, *, bos: bool = True, eos: bool = True, threads: SupportsIndex = 0
    ) -> tuple[NDArray[numpy.float32], NDArray[numpy.int64]]: ...
    def score_arrow(
        self,
        data: NDArray[numpy.uint8],
        offsets: _Offsets,
        *,
        bos: bool = True,
        eos: bool = True,
        documents: bool = False,
        threads: SupportsIndex = 0,
    ) -> tuple[NDArray[numpy.floating[Any]], _Counts, _Counts]: ...
    def next_words(
        self, context: _Text, *, top: SupportsIndex = 10, bos: bool = True
    ) -> list[tuple[str, float]]: ...

def estimate(
    text: _Path,
    *,
    order: int,
    arpa: _Path,
    prune: Sequence[int] = ...,
    limit_vocab: _Path | None = None,
    vocab_pad: int = 0,
    discount_fallback: Sequence[float] | None = None,
    interpolate_unigrams: bool = True,
    skip_symbols: bool = False,
    memory: int | None = None,
    temp: _Path | None = None,
    threads: int = 0,
) -> tuple[int, int, list[int]]: ...
def build(
    arpa: _Path,
    out: _Path,
    *,
    type: str = "probing",
    quantize: tuple[int, int] | None = None,
    duplicates: str = "refuse",
    threads: int = 0,
) -> list[int]: ...
def dump(model: _Path, arpa: _Path, *, duplicates: str = "refuse", threads: int = 0) -> None: ...
def score_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str = "13a",
    use_effective_order: bool = False,
) -> tuple[float, str]: ...
def score_chrf(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
    lowercase: bool = False,
) -> tuple[float, str]: ...
def score_ter(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> tuple[float, str]: ...
