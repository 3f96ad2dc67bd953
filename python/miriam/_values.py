"""Conversion of NumPy's scalars to Python's values."""

from __future__ import annotations

from typing import Any


def plain(value: Any) -> Any:
    """Returns the Python value of a scalar of NumPy or of a tensor without dimensions, and other
    values as they are."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value
