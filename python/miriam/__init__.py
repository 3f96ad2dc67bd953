"""Machine translation and n-gram language models.

``miriam.ct2`` has CTranslate2's ``Translator``; ``miriam.kenlm`` is KenLM's Python module;
``miriam.lm`` scores many lines at once, estimates and builds models; ``miriam.metrics`` scores
translations; ``miriam.text`` has the text tools, ``miriam.phrase`` phrase-based translation,
``miriam.align`` word alignment, ``miriam.train`` training. Importing this package imports none of
them, so that programs load only the modules they use.
"""

__version__: str


def __getattr__(name: str) -> str:
    # Looking the version up takes longer than all other imports.
    if name == "__version__":
        from importlib.metadata import version

        return version("miriam-mt")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
