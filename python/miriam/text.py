"""Text tools: Moses' tokeniser, detokeniser, truecaser and normaliser of punctuation, a splitter of
sentences, byte pair encoding, SentencePiece.

Methods take a line. Those that end in ``_many`` take a sequence of ``str`` or ``bytes`` or a string
array of pyarrow, and run without the interpreter's lock on ``threads`` threads (0: all). Results
equal the output of the corresponding commands.
"""

from __future__ import annotations

from miriam._native import (
    Bpe,
    Detokenizer,
    PunctuationNormalizer,
    SentencePiece,
    SentenceSplitter,
    Tokenizer,
    Truecaser,
    detruecase,
)

__all__ = [
    "Bpe",
    "Detokenizer",
    "PunctuationNormalizer",
    "SentencePiece",
    "SentenceSplitter",
    "Tokenizer",
    "Truecaser",
    "detruecase",
]
