"""Weft as a platform of JAX: found by JAX as a plugin, chosen with JAX_PLATFORMS=weft.

WEFT_DEVICES=cpu:8 gives it eight devices (cpu:1 without it); WEFT_ALIAS=gpu makes them what
jax.devices("gpu") answers. WEFT_PJRT_LIBRARY names another library than the one that lies
beside this file.
"""

import ctypes
import os
import pathlib


def _library():
    beside = pathlib.Path(__file__).with_name("libWeftPjrt.so")
    return os.environ.get("WEFT_PJRT_LIBRARY") or str(beside)


def _load(library):
    """Before JAX does: names that other libraries have made global stay out of it. TensorFlow's are, and it has
    an MLIR of its own."""
    ctypes.CDLL(library, mode=os.RTLD_LAZY | os.RTLD_LOCAL | os.RTLD_DEEPBIND)


def initialize():
    from jax._src import xla_bridge

    from . import callbacks, known_programs, lowerings, observations, tables

    library = _library()
    if not os.path.exists(library):
        raise ImportError(f"Weft: {library} does not exist; install the wheel again, or set WEFT_PJRT_LIBRARY")
    _load(library)
    tables.alias(os.environ.get("WEFT_ALIAS", ""))
    xla_bridge.register_plugin("weft", priority=0, library_path=library, options=None)
    tables.let_donate()
    tables.let_cache()
    lowerings.register()
    callbacks.register(library)
    observations.register(library)
    known_programs.register()
