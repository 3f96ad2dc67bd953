"""NumPy views of pyarrow string arrays, without a copy. pyarrow is not imported: whoever passes
such an array has imported it."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray


def string_buffers(array: Any) -> tuple[NDArray[numpy.uint8], NDArray[numpy.signedinteger[Any]]]:
    """Returns the whole data buffer of a string or binary array, and the offsets of its values in
    it, one more than there are values."""
    if hasattr(array, "combine_chunks"):
        raise TypeError("lines: found a chunked array of pyarrow; pass its combine_chunks()")
    type_name = str(array.type)
    offset_type: numpy.dtype[numpy.signedinteger[Any]]
    if type_name in ("string", "binary"):
        offset_type = numpy.dtype(numpy.int32)
    elif type_name in ("large_string", "large_binary"):
        offset_type = numpy.dtype(numpy.int64)
    else:
        raise TypeError(
            f"lines: expected a pyarrow array of strings, found {type_name}; cast it with "
            ".cast('string')"
        )
    if array.null_count:
        index = array.is_null().to_pylist().index(True)
        raise ValueError(f"line {index} is null; drop it (drop_null) or fill it (fill_null)")
    _, offset_buffer, data_buffer = array.buffers()
    if len(array) == 0 or offset_buffer is None:
        return numpy.empty(0, numpy.uint8), numpy.zeros(1, offset_type)
    offsets = numpy.frombuffer(offset_buffer, offset_type)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    if data_buffer is None:
        return numpy.empty(0, numpy.uint8), offsets
    return numpy.frombuffer(data_buffer, numpy.uint8), offsets
