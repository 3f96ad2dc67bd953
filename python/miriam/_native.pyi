"""The native module. Its classes are documented where they are public: ``miriam.align``,
``miriam.ct2``, ``miriam.kenlm``, ``miriam.lm``, ``miriam.phrase`` and ``miriam.text``."""

import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, SupportsIndex, final, overload

import numpy
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

__all__ = [
    "AsyncScoringResult",
    "AsyncTexts",
    "AsyncTranslationResult",
    "Bpe",
    "Config",
    "Detokenizer",
    "FullScoreReturn",
    "FullScores",
    "GenerationStepResult",
    "LanguageModel",
    "Model",
    "PhraseTranslation",
    "PhraseTranslator",
    "PunctuationNormalizer",
    "ScoringResult",
    "SentencePiece",
    "SentenceSplitter",
    "State",
    "Tokenizer",
    "TranslationResult",
    "Translator",
    "Truecaser",
    "__VERSION__",
    "align",
    "build",
    "build_system",
    "contains_model",
    "detruecase",
    "dump",
    "estimate",
    "evaluate_links",
    "filter_ngrams",
    "get_cuda_device_count",
    "get_supported_compute_types",
    "minimum_bayes_risk",
    "rerank_list",
    "score_bleu",
    "score_chrf",
    "score_ter",
    "set_random_seed",
    "symmetrize_links",
    "train_neural",
    "train_phrase",
]

__VERSION__: str

_Path = str | os.PathLike[str]
_Text = str | bytes
# A sequence of str or bytes, or a string array of pyarrow.
_Lines = Iterable[str] | Iterable[bytes] | Any
_Offsets = NDArray[numpy.int32] | NDArray[numpy.int64]
_Counts = NDArray[numpy.uint32]
# Tokens, or their UTF-8 with spaces between them.
_Tokens = Sequence[str | bytes] | bytes
# The value of an option of decoding.
_Setting = str | int | float | bool | Sequence[str | int | float] | None

@final
class TranslationResult:
    @property
    def hypotheses(self) -> list[list[str]]: ...
    @property
    def scores(self) -> list[float]: ...
    @property
    def attention(self) -> list[list[list[float]]]: ...
    @property
    def logits(self) -> list[Any]: ...
    @property
    def joined(self) -> list[str]: ...
    @property
    def _joined(self) -> list[bytes]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: SupportsIndex, /) -> dict[str, Any]: ...

@final
class ScoringResult:
    @property
    def tokens(self) -> list[str]: ...
    @property
    def log_probs(self) -> list[float]: ...

@final
class AsyncTranslationResult:
    def result(self) -> TranslationResult: ...
    def done(self) -> bool: ...
    def _cancel(self) -> None: ...
    def _when_done(self, callback: Callable[[], object]) -> None: ...

@final
class AsyncScoringResult:
    def result(self) -> ScoringResult: ...
    def done(self) -> bool: ...

@final
class AsyncTexts:
    def result(self) -> list[str]: ...
    def _cancel(self) -> None: ...
    def _when_done(self, callback: Callable[[], object]) -> None: ...

@final
class GenerationStepResult:
    @property
    def step(self) -> int: ...
    @property
    def batch_id(self) -> int: ...
    @property
    def token_id(self) -> int: ...
    @property
    def hypothesis_id(self) -> int: ...
    @property
    def token(self) -> str: ...
    @property
    def log_prob(self) -> float | None: ...
    @property
    def logits(self) -> None: ...
    @property
    def is_last(self) -> bool: ...

@disjoint_base
class Translator:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(
        self,
        model_path: _Path | bytes,
        device: str = "cpu",
        *,
        device_index: int | list[int] = 0,
        compute_type: str | dict[str, str] = "default",
        inter_threads: int = 1,
        intra_threads: int = 0,
        max_queued_batches: int = 0,
        flash_attention: bool = False,
        tensor_parallel: bool = False,
        files: dict[str, Any] | None = None,
        vocabs: _Path | bytes | Sequence[_Path | bytes] | None = None,
        lm: _Path | bytes | None = None,
        lm_weight: float | None = None,
        lm_pieces: bool = False,
    ) -> None: ...
    @property
    def device(self) -> str: ...
    @property
    def device_index(self) -> list[int]: ...
    @property
    def compute_type(self) -> str: ...
    @property
    def num_translators(self) -> int: ...
    @property
    def num_queued_batches(self) -> int: ...
    @property
    def num_active_batches(self) -> int: ...
    @property
    def tensor_parallel(self) -> bool: ...
    @property
    def model_is_loaded(self) -> bool: ...
    def unload_model(self, to_cpu: bool = False) -> None: ...
    def load_model(self, keep_cache: bool = False) -> None: ...
    @overload
    def translate_batch(
        self,
        source: Sequence[_Tokens],
        target_prefix: Sequence[_Tokens | None] | None = None,
        *,
        asynchronous: Literal[False] = False,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        beam_size: int = 2,
        patience: float = 1.0,
        num_hypotheses: int = 1,
        length_penalty: float = 1.0,
        coverage_penalty: float = 0.0,
        repetition_penalty: float = 1.0,
        no_repeat_ngram_size: int = 0,
        disable_unk: bool = False,
        suppress_sequences: Sequence[_Tokens] | None = None,
        end_token: str | bytes | Sequence[str | bytes] | Sequence[int] | None = None,
        return_end_token: bool = False,
        prefix_bias_beta: float = 0.0,
        max_input_length: int = 1024,
        max_decoding_length: int = 256,
        min_decoding_length: int = 1,
        use_vmap: bool = False,
        return_scores: bool = False,
        return_logits_vocab: bool = False,
        return_attention: bool = False,
        return_alternatives: bool = False,
        min_alternative_expansion_prob: float = 0.0,
        sampling_topk: int = 1,
        sampling_topp: float = 1.0,
        sampling_temperature: float = 1.0,
        replace_unknowns: bool = False,
        callback: Callable[[GenerationStepResult], object] | None = None,
        _may_wait: bool = True,
    ) -> list[TranslationResult]: ...
    @overload
    def translate_batch(
        self,
        source: Sequence[_Tokens],
        target_prefix: Sequence[_Tokens | None] | None = None,
        *,
        asynchronous: Literal[True],
        max_batch_size: int = 0,
        batch_type: str = "examples",
        beam_size: int = 2,
        patience: float = 1.0,
        num_hypotheses: int = 1,
        length_penalty: float = 1.0,
        coverage_penalty: float = 0.0,
        repetition_penalty: float = 1.0,
        no_repeat_ngram_size: int = 0,
        disable_unk: bool = False,
        suppress_sequences: Sequence[_Tokens] | None = None,
        end_token: str | bytes | Sequence[str | bytes] | Sequence[int] | None = None,
        return_end_token: bool = False,
        prefix_bias_beta: float = 0.0,
        max_input_length: int = 1024,
        max_decoding_length: int = 256,
        min_decoding_length: int = 1,
        use_vmap: bool = False,
        return_scores: bool = False,
        return_logits_vocab: bool = False,
        return_attention: bool = False,
        return_alternatives: bool = False,
        min_alternative_expansion_prob: float = 0.0,
        sampling_topk: int = 1,
        sampling_topp: float = 1.0,
        sampling_temperature: float = 1.0,
        replace_unknowns: bool = False,
        callback: Callable[[GenerationStepResult], object] | None = None,
        _may_wait: bool = True,
    ) -> list[AsyncTranslationResult]: ...
    @overload
    def score_batch(
        self,
        source: Sequence[_Tokens],
        target: Sequence[_Tokens],
        *,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        max_input_length: int = 1024,
        offset: int = 0,
        asynchronous: Literal[False] = False,
    ) -> list[ScoringResult]: ...
    @overload
    def score_batch(
        self,
        source: Sequence[_Tokens],
        target: Sequence[_Tokens],
        *,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        max_input_length: int = 1024,
        offset: int = 0,
        asynchronous: Literal[True],
    ) -> list[AsyncScoringResult]: ...
    def translate_texts(
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
        **decoding: _Setting,
    ) -> list[str]: ...
    def _submit_texts(
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
        _may_wait: bool = True,
        **decoding: _Setting,
    ) -> AsyncTexts: ...

@final
class Tokenizer:
    def __new__(
        cls,
        language: str = "en",
        *,
        aggressive: bool = False,
        escape: bool = True,
        skip_markup: bool = False,
        nonbreaking_prefixes: _Path | None = None,
        protected: _Path | None = None,
    ) -> Tokenizer: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    def tokenize(self, line: str) -> str: ...
    def tokenize_many(self, lines: _Lines, *, threads: SupportsIndex = 0) -> list[str]: ...

@final
class Detokenizer:
    def __new__(cls, language: str = "en", *, capitalize: bool = False) -> Detokenizer: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    def detokenize(self, line: str) -> str: ...
    def detokenize_many(self, lines: _Lines, *, threads: SupportsIndex = 0) -> list[str]: ...

@final
class PunctuationNormalizer:
    def __new__(cls, language: str = "en") -> PunctuationNormalizer: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    def normalize(self, line: str) -> str: ...
    def normalize_many(self, lines: _Lines, *, threads: SupportsIndex = 0) -> list[str]: ...

@final
class Truecaser:
    def __new__(cls, path: _Path) -> Truecaser: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    @staticmethod
    def train(lines: _Lines, model: _Path, *, use_first_token: bool = False) -> Truecaser: ...
    def truecase(self, line: str, *, caseless: bool = False) -> str: ...
    def truecase_many(
        self, lines: _Lines, *, caseless: bool = False, threads: SupportsIndex = 0
    ) -> list[str]: ...

@final
class SentenceSplitter:
    def __new__(
        cls, language: str = "en", *, nonbreaking_prefixes: _Path | None = None
    ) -> SentenceSplitter: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    def split(self, text: str) -> list[str]: ...
    def split_many(self, texts: _Lines, *, threads: SupportsIndex = 0) -> list[list[str]]: ...

@final
class Bpe:
    def __new__(cls, path: _Path, *, separator: str = "@@") -> Bpe: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    def segment(self, line: str) -> str: ...
    def segment_many(self, lines: _Lines, *, threads: SupportsIndex = 0) -> list[str]: ...
    def join(self, line: str) -> str: ...

@final
class SentencePiece:
    def __new__(cls, path: _Path) -> SentencePiece: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    def __len__(self) -> int: ...
    def encode(self, line: str) -> list[str]: ...
    def encode_many(self, lines: _Lines, *, threads: SupportsIndex = 0) -> list[list[str]]: ...
    def encode_ids(self, line: str) -> list[int]: ...
    def decode(self, pieces: Sequence[str]) -> str: ...
    def decode_ids(self, ids: Sequence[int]) -> str: ...

@final
class PhraseTranslation:
    def __new__(
        cls,
        text: str,
        source: Sequence[str],
        score: float | None,
        phrases: Sequence[tuple[int, int, str]],
        alignment: Sequence[tuple[int, int]],
        n_best: Sequence[tuple[str, float, Sequence[float]]],
        errors: Sequence[str],
    ) -> PhraseTranslation: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    @property
    def text(self) -> str: ...
    @property
    def source(self) -> list[str]: ...
    @property
    def score(self) -> float | None: ...
    @property
    def phrases(self) -> list[tuple[int, int, str]]: ...
    @property
    def alignment(self) -> list[tuple[int, int]]: ...
    @property
    def n_best(self) -> list[tuple[str, float, list[float]]]: ...
    @property
    def errors(self) -> list[str]: ...

@disjoint_base
class PhraseTranslator:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(
        self, ini: _Path, options: Sequence[str] = ..., raw: bool | None = None
    ) -> None: ...
    def translate(
        self, line: _Text, *, n_best: SupportsIndex = 0, distinct: bool = False
    ) -> PhraseTranslation: ...
    def translate_many(
        self,
        lines: _Lines,
        *,
        n_best: SupportsIndex = 0,
        distinct: bool = False,
        threads: SupportsIndex = 0,
    ) -> list[PhraseTranslation]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

_Counts5 = tuple[int, int, int, int, list[float | None]]

_RankedLists = list[list[tuple[bytes, float]]]

def minimum_bayes_risk(
    lists: Sequence[_Path | bytes],
    *,
    output: _Path | None,
    utility: str,
    metrics: dict[str, Any],
    weights: str,
    scale: float,
    list_weights: Sequence[float],
    estimate: str,
    keep: SupportsIndex,
    show_loss: bool,
    write_lists: bool,
    threads: SupportsIndex,
    progress: Callable[[str, int, int | None], object] | None,
) -> tuple[bytes | None, _RankedLists | None, tuple[int, int, int, int, int, float]]: ...
def rerank_list(
    list: _Path | bytes,
    weights: _Path | bytes,
    *,
    output: _Path | None,
    write_lists: bool,
    threads: SupportsIndex,
    progress: Callable[[str, int, int | None], object] | None,
) -> tuple[bytes | None, _RankedLists | None, tuple[int, int]]: ...
def build_system(
    ini: _Path,
    folder: _Path,
    *,
    prune: SupportsIndex | None = None,
    memory: SupportsIndex | None = None,
    threads: SupportsIndex = 0,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> tuple[pathlib.Path, list[str]]: ...
def train_neural(
    options: Sequence[tuple[str, Sequence[str]]],
    output: _Path,
    *,
    configs: Sequence[_Path],
    task: str | None,
    vocab_size: SupportsIndex | None,
    plot: _Path | None,
    threads: SupportsIndex,
    progress: Callable[[str, int, int | None], object] | None,
    log: Callable[[str], object] | None,
) -> tuple[str, pathlib.Path]: ...
def train_phrase(
    source: _Path,
    target: _Path,
    output: _Path,
    *,
    dev: tuple[_Path, _Path] | None,
    lm_text: Sequence[_Path],
    languages: tuple[str, str] | None,
    nonbreaking_prefixes: tuple[_Path | None, _Path | None],
    max_words: SupportsIndex,
    max_ratio: SupportsIndex,
    alignment_model: str,
    symmetrize: str,
    max_length: SupportsIndex,
    reordering: str | None,
    lm_order: SupportsIndex,
    lm_prune: Sequence[int],
    lm_type: str,
    tune: str | None,
    seed: SupportsIndex,
    iterations: SupportsIndex | None,
    neural: tuple[
        str | None, Sequence[_Path], SupportsIndex | None, Sequence[_Path], SupportsIndex
    ]
    | None,
    text: bool,
    keep_work: bool,
    memory: SupportsIndex | None,
    threads: SupportsIndex,
    progress: Callable[[str, int, int | None], object] | None,
) -> tuple[
    pathlib.Path,
    tuple[int, int],
    int,
    int,
    list[int],
    tuple[float, float] | None,
    tuple[float, float | None, float] | None,
]: ...
def align(
    source: _Path,
    target: _Path,
    links: _Path,
    *,
    model: str | None = None,
    symmetrize: str = "grow-diag-final-and",
    iterations: SupportsIndex | None = None,
    hmm_iterations: SupportsIndex | None = None,
    memory: int | None = None,
    temp: _Path | None = None,
    save_model: _Path | None = None,
    load_model: _Path | None = None,
    lexical_table: _Path | None = None,
    threads: SupportsIndex = 0,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> _Counts5: ...
def symmetrize_links(
    forward: _Path,
    reverse: _Path,
    links: _Path,
    *,
    symmetrize: str = "grow-diag-final-and",
    threads: SupportsIndex = 0,
) -> _Counts5: ...
def evaluate_links(links: _Path, gold: _Path) -> tuple[float, float, float]: ...
def contains_model(path: _Path | bytes) -> bool: ...
def detruecase(line: str) -> str: ...
def get_cuda_device_count() -> int: ...
def get_supported_compute_types(
    device: str, device_index: int | list[int] = 0
) -> set[str]: ...
def set_random_seed(seed: int) -> None: ...

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
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(
        self,
        path: _Path,
        *,
        load: str = "populate",
        device: str = "cpu",
        duplicates: str = "reject",
        positive: str = "reject",
        missing_markers: str = "reject",
    ) -> None: ...
    @property
    def path(self) -> pathlib.Path: ...
    @property
    def order(self) -> int: ...
    @property
    def num_words(self) -> int: ...
    def __contains__(self, word: _Text, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
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
        max_perplexity: float | None = None,
        min_perplexity: float | None = None,
        keep_percent: float | None = None,
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
    progress: Callable[[str, int, int | None], object] | None = None,
) -> tuple[int, int, list[int]]: ...
def build(
    arpa: _Path,
    out: _Path,
    *,
    type: str = "probing",
    quantize: tuple[int, int] | None = None,
    duplicates: str = "reject",
    positive: str = "reject",
    missing_markers: str = "reject",
    threads: int = 0,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> list[int]: ...
def filter_ngrams(
    model: _Path,
    vocab: _Path,
    out: _Path,
    *,
    mode: str = "single",
    format: str = "arpa",
    context: bool = False,
    phrases: bool = False,
    threads: SupportsIndex = 0,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> tuple[int, int]: ...
def dump(
    model: _Path,
    arpa: _Path,
    *,
    duplicates: str = "reject",
    positive: str = "reject",
    missing_markers: str = "reject",
    threads: int = 0,
) -> None: ...
def score_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    *,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str | None = "13a",
    use_effective_order: bool = False,
    tokenize_model: _Path | None = None,
) -> tuple[float, str]: ...
def score_chrf(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2.0,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
    lowercase: bool = False,
) -> tuple[float, str]: ...
def score_ter(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> tuple[float, str]: ...
