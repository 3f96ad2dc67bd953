"""Machine translation and n-gram language models.

``miriam.kenlm`` is KenLM's Python module; ``miriam.lm`` scores many lines at once, estimates
and builds models. Importing this package imports neither: each costs its own time only.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__: str = version("miriam-mt")
except PackageNotFoundError:  # The source tree without an installed distribution.
    __version__ = "0"

del PackageNotFoundError, version
