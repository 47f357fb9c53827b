"""The runtime's C interface, weft/runtime/abi/weft.h, by ctypes. test/python/abi.py compares the declarations."""

import ctypes
import functools

from . import libraries

VERSION = 6  # WEFT_ABI_VERSION


class Error(Exception):
    """A refusal or failure of Weft: the message names the file or value and how to fix it."""


class Port(ctypes.Structure):
    """struct weft_port"""

    _fields_ = [("name", ctypes.c_char_p), ("role", ctypes.c_int), ("dtype", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_uint64), ("device_bytes", ctypes.c_uint64),
                ("layout", ctypes.c_char_p), ("donated", ctypes.c_int64)]


class ProgramInfo(ctypes.Structure):
    """struct weft_program_info"""

    _fields_ = [("name", ctypes.c_char_p), ("target", ctypes.c_char_p), ("mesh", ctypes.c_char_p),
                ("device_count", ctypes.c_int64), ("arena_bytes", ctypes.c_uint64), ("input_bytes", ctypes.c_uint64),
                ("output_bytes", ctypes.c_uint64), ("constant_bytes", ctypes.c_uint64), ("code_bytes", ctypes.c_uint64),
                ("kernel_count", ctypes.c_size_t), ("launch_count", ctypes.c_size_t), ("collective_count", ctypes.c_size_t)]


_POINTER, _SIZE, _TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
_POINTERS = ctypes.POINTER(ctypes.c_void_p)
# name: result, parameters. Functions whose result is an error are called by check().
_FUNCTIONS = {
    "weft_version": (_TEXT, []),
    "weft_error_message": (_TEXT, [_POINTER]),
    "weft_error_free": (None, [_POINTER]),
    "weft_dtype_name": (_TEXT, [ctypes.c_int]),
    "weft_dtype_numpy_name": (_TEXT, [ctypes.c_int]),
    "weft_role_name": (_TEXT, [ctypes.c_int]),
    "weft_program_load": (_POINTER, [_TEXT, _POINTERS]),
    "weft_program_load_memory": (_POINTER, [_TEXT, _SIZE, _POINTERS]),
    "weft_program_free": (None, [_POINTER]),
    "weft_program_prepare": (_POINTER, [_POINTER]),
    "weft_program_input_count": (_SIZE, [_POINTER]),
    "weft_program_output_count": (_SIZE, [_POINTER]),
    "weft_program_input": (_POINTER, [_POINTER, _SIZE, ctypes.POINTER(Port)]),
    "weft_program_output": (_POINTER, [_POINTER, _SIZE, ctypes.POINTER(Port)]),
    "weft_program_describe": (_POINTER, [_POINTER, ctypes.POINTER(ProgramInfo)]),
    "weft_runtime_create": (_POINTER, [_TEXT, ctypes.c_int, _POINTERS]),
    "weft_runtime_free": (None, [_POINTER]),
    "weft_input_create": (_POINTER, [_POINTER, _POINTER, _SIZE, _POINTERS]),
    "weft_output_create": (_POINTER, [_POINTER, _POINTER, _SIZE, _POINTERS]),
    "weft_buffer_free": (None, [_POINTER]),
    "weft_buffer_write": (_POINTER, [_POINTER, _POINTER, _SIZE]),
    "weft_buffer_read": (_POINTER, [_POINTER, _POINTER, _SIZE]),
    "weft_execute": (_POINTER, [_POINTER, _POINTER, _POINTERS, _POINTERS]),
    "weft_execute_local": (_POINTER, [_POINTER, _POINTER, _POINTERS, _POINTERS]),
}


def declare(library: ctypes.CDLL, functions: dict) -> ctypes.CDLL:
    """The library with the types of these functions."""
    for name, (result, parameters) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library


@functools.cache
def runtime() -> ctypes.CDLL:
    """libWeftRuntime.so, loaded once."""
    return declare(ctypes.CDLL(str(libraries.find("lib/libWeftRuntime.so.0"))), _FUNCTIONS)


def version() -> str:
    """The version of the libraries: "0.1.0"."""
    return runtime().weft_version().decode()


def check(error) -> None:
    """Raises the error that a function of the C interface has returned, if there is one."""
    if error:
        message = runtime().weft_error_message(error).decode(errors="replace")
        runtime().weft_error_free(error)
        raise Error(message)


def handle(function, *arguments) -> ctypes.c_void_p:
    """The object that a function of the C interface returns by its last parameter."""
    out = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    return out
