"""Progress reports of long calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The progress of a call."""

    task: str
    """The current task, named as on the command line."""
    done: int
    """Finished units of work of the task."""
    total: int | None
    """The total units, if known."""


ProgressCallback = Callable[[Progress], object]


def listener(callback: ProgressCallback | None) -> Callable[[str, int, int | None], object] | None:
    """Returns the function that the native module calls."""
    if callback is None:
        return None
    wanted = callback
    return lambda task, done, total: wanted(Progress(task, done, total))
