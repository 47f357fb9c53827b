"""The compiler's C interface, weft/compiler/capi/compiler.h, by ctypes. test/python/abi.py compares the declarations."""

import ctypes
import functools

from . import abi, libraries


class Text(ctypes.Structure):
    """struct weft_text"""

    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("size", ctypes.c_size_t)]


class Source(ctypes.Structure):
    """struct weft_source"""

    _fields_ = [("text", ctypes.c_char_p), ("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("function", ctypes.c_char_p),
                ("devices", ctypes.c_int64)]


class Options(ctypes.Structure):
    """struct weft_compile_options"""

    _fields_ = [("target", ctypes.c_char_p), ("cache_folder", ctypes.c_char_p), ("matmul_precision", ctypes.c_char_p),
                ("memory", ctypes.c_int64), ("expect", ctypes.POINTER(ctypes.c_char_p)), ("expect_count", ctypes.c_size_t),
                ("threads", ctypes.c_int)]


class Value(ctypes.Structure):
    """struct weft_value"""

    _fields_ = [("name", ctypes.c_char_p), ("made_by", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("layout", ctypes.c_char_p)]


class Diagnostic(ctypes.Structure):
    """struct weft_diagnostic"""

    _fields_ = [("severity", ctypes.c_int), ("message", ctypes.c_char_p), ("place", ctypes.c_char_p),
                ("line", ctypes.c_uint), ("column", ctypes.c_uint)]


SEVERITIES = ("note", "remark", "warning", "error")
DIAGNOSTIC_FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Diagnostic))
_POINTER, _TEXT, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_OUT, _OPTIONS, _BYTES = ctypes.POINTER(_POINTER), ctypes.POINTER(Options), ctypes.POINTER(Text)
# name: result, parameters. Those whose result is an int return other than 0 after an error.
FUNCTIONS = {
    "weft_compiler_create": (_POINTER, []),
    "weft_compiler_free": (None, [_POINTER]),
    "weft_compiler_message": (_TEXT, [_POINTER]),
    "weft_compiler_on_diagnostic": (None, [_POINTER, DIAGNOSTIC_FN, _POINTER]),
    "weft_compiler_load_plugin": (_INT, [_POINTER, _TEXT]),
    "weft_stage_name": (_TEXT, [ctypes.c_size_t]),
    "weft_known_targets": (_TEXT, []),
    "weft_text_free": (None, [_BYTES]),
    "weft_module_parse": (_INT, [_POINTER, ctypes.POINTER(Source), _OUT]),
    "weft_module_clone": (_INT, [_POINTER, _OUT]),
    "weft_module_free": (None, [_POINTER]),
    "weft_module_stage": (_TEXT, [_POINTER]),
    "weft_module_set_stage": (_INT, [_POINTER, _TEXT]),
    "weft_module_reach": (_INT, [_POINTER, _TEXT, _OPTIONS]),
    "weft_module_run_passes": (_INT, [_POINTER, _TEXT]),
    "weft_module_set_mesh": (_INT, [_POINTER, _TEXT]),
    "weft_module_set_layout": (_INT, [_POINTER, _TEXT, _TEXT]),
    "weft_module_value": (_INT, [_POINTER, ctypes.c_size_t, ctypes.POINTER(Value)]),
    "weft_module_print": (_INT, [_POINTER, _BYTES]),
    "weft_module_explain": (_INT, [_POINTER, _OPTIONS, _BYTES]),
    "weft_module_why": (_INT, [_POINTER, _TEXT, _BYTES]),
    "weft_module_compile": (_INT, [_POINTER, _OPTIONS, _BYTES]),
}


@functools.cache
def library() -> ctypes.CDLL:
    """libWeftC.so of a build or an installation, or the wheel's one library with the compiler; loaded once."""
    alone = libraries.prefix() / "lib" / "libWeftC.so.0"
    path = alone if alone.exists() else libraries.find("lib/libWeftCommands.so")
    return abi.declare(ctypes.CDLL(str(path)), FUNCTIONS)
