"""NumPy arrays as a program's memory.

A program reads and writes dense, row-major memory that begins at a multiple of 64 bytes. `empty` makes such arrays.
"""

import numpy as np

from . import abi
from .abi import Error

ALIGNMENT = 64


def numpy_dtype(number: int) -> np.dtype:
    """The NumPy type of an element type's number in the C interface (weft_dtype). Types that NumPy lacks are those of the
    package ml_dtypes."""
    name = abi.runtime().weft_dtype_numpy_name(number).decode()
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise Error(f"arrays of {name} need the package ml_dtypes; pip install ml_dtypes") from None
    return np.dtype(getattr(ml_dtypes, name))


def empty(shape, dtype="float32") -> np.ndarray:
    """An array whose memory a program can use without a copy: dense, row-major, aligned to 64 bytes. Its values are
    undefined."""
    dtype = np.dtype(dtype)
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    room = np.empty(size + ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % ALIGNMENT
    return room[begin:begin + size].view(dtype).reshape(shape)


def obstacle(array: np.ndarray) -> str:
    """The reason why a program cannot use the array's memory; empty if it can."""
    if not array.flags.c_contiguous:
        return "is not dense and row-major"
    if array.ctypes.data % ALIGNMENT:
        return f"begins {array.ctypes.data % ALIGNMENT} bytes behind a multiple of {ALIGNMENT}"
    return ""


def checked(value, name: str, shape: tuple, dtype: np.dtype) -> np.ndarray:
    """The value as an array, which must have the port's shape and dtype. Raises Error, which has both."""
    array = np.asarray(value)
    if array.shape != shape:
        raise Error(f"{name}: the array has shape {array.shape}, the program takes {shape}; reshape it, or compile the "
                    "program for this shape")
    if array.dtype != dtype:
        raise Error(f"{name}: the array is {array.dtype}, the program takes {dtype}; convert it with .astype({str(dtype)!r})")
    return array


def as_memory(value, name: str, shape: tuple, dtype: np.dtype, copy, written: bool) -> np.ndarray:
    """An array with the value that a program can use: `value` itself, or a copy as `copy` allows.

    copy: None copies where it must, and arrays that the program writes to (`written`); False never; True always.
    """
    array = checked(value, name, shape, dtype)
    why = obstacle(array)
    if not why and written and not array.flags.writeable:
        why = "is read-only, and the program writes to it"
    if copy is False:
        if why:
            raise Error(f"{name}: the array {why}; make it with weft.empty, or allow a copy with copy=None")
        return array
    if not why and not copy and not written:
        return array
    out = empty(shape, dtype)
    out[...] = array
    return out


def check_apart(named) -> None:
    """Raises Error if an array that the program writes shares memory with another one.

    named: (name, array, whether the program writes to it) of dense arrays; one that is only read may be given twice.
    """
    ranges = sorted((array.ctypes.data, array.ctypes.data + array.nbytes, name, written)
                    for name, array, written in named if array.nbytes)
    furthest = furthest_written = (0, 0, "", False)
    for one in ranges:
        begin, end, name, written = one
        other = furthest if written else furthest_written
        if begin < other[1]:
            raise Error(f"{name}: the array shares memory with that of {other[2]}, and the program writes to one of them; "
                        "give each an array of its own")
        furthest = max(furthest, one, key=lambda each: each[1])
        if written:
            furthest_written = max(furthest_written, one, key=lambda each: each[1])
