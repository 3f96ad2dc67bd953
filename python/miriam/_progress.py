"""Progress reports of long calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a call is."""

    task: str
    """What it does now, as the command line names it."""
    done: int
    """Units of work done of the task."""
    total: int | None
    """The units of all of it, where known."""


ProgressCallback = Callable[[Progress], object]


def listener(callback: ProgressCallback | None) -> Callable[[str, int, int | None], object] | None:
    """What the native module calls."""
    if callback is None:
        return None
    wanted = callback
    return lambda task, done, total: wanted(Progress(task, done, total))
