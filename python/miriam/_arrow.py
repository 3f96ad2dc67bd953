"""Columns of pyarrow as arrays of NumPy that share their memory. pyarrow is not imported, because
callers with an array of it already did that."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray


def string_buffers(array: Any) -> tuple[NDArray[numpy.uint8], NDArray[numpy.signedinteger[Any]]]:
    """Returns the bytes of a string or binary array, and the offsets of its values."""
    kind = str(array.type)
    width: numpy.dtype[numpy.signedinteger[Any]]
    if kind in ("string", "binary"):
        width = numpy.dtype(numpy.int32)
    elif kind in ("large_string", "large_binary"):
        width = numpy.dtype(numpy.int64)
    else:
        raise TypeError(
            f"lines are a {kind} array of pyarrow; give one of strings (of a chunked array, "
            "its combine_chunks())"
        )
    if array.null_count:
        index = array.is_null().to_pylist().index(True)
        raise ValueError(f"line {index}: it is null; leave it out or fill it (fill_null)")
    _, offset_buffer, data_buffer = array.buffers()
    if len(array) == 0 or offset_buffer is None:
        return numpy.empty(0, numpy.uint8), numpy.zeros(1, width)
    offsets = numpy.frombuffer(offset_buffer, width)[array.offset : array.offset + len(array) + 1]
    if data_buffer is None:
        return numpy.empty(0, numpy.uint8), offsets
    return numpy.frombuffer(data_buffer, numpy.uint8), offsets
