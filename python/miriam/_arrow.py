"""NumPy views of pyarrow string arrays, without a copy. pyarrow is not imported: whoever passes
such an array has imported it."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray


def string_buffers(array: Any) -> tuple[NDArray[numpy.uint8], NDArray[numpy.signedinteger[Any]]]:
    """Returns the data of a pyarrow array of strings or bytes, and the offsets of its values.

    Value ``i`` is ``data[offsets[i] : offsets[i + 1]]``; the data may be longer than the values of
    a slice. ``data`` is uint8; ``offsets``, one more than there are values, is int32, or int64 for
    large types.

    Raises TypeError for a chunked array or another type, ValueError if a value is null.
    """
    if hasattr(array, "combine_chunks"):
        raise TypeError("lines: found a chunked pyarrow array; pass array.combine_chunks()")
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
        raise ValueError(f"lines: line {index} is null; drop it (drop_null) or fill it (fill_null)")
    # An empty array may lack the offsets, and an array of empty strings the data.
    _, offset_buffer, data_buffer = array.buffers()
    if len(array) == 0 or offset_buffer is None:
        return numpy.empty(0, numpy.uint8), numpy.zeros(1, offset_type)
    offsets = numpy.frombuffer(offset_buffer, offset_type)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    if data_buffer is None:
        return numpy.empty(0, numpy.uint8), offsets
    return numpy.frombuffer(data_buffer, numpy.uint8), offsets
