"""Weft as a platform of JAX: found by JAX as a plugin, chosen with JAX_PLATFORMS=weft.

WEFT_DEVICES=cpu:8 gives it eight devices (cpu:1 without it). WEFT_PJRT_LIBRARY names
another library than the one that lies beside this file.
"""

import os
import pathlib
import warnings


def _library():
    beside = pathlib.Path(__file__).with_name("libWeftPjrt.so")
    return os.environ.get("WEFT_PJRT_LIBRARY") or str(beside)


def _let_donate():
    """JAX keeps a private list of the platforms to which arrays may be donated."""
    from jax._src.interpreters import mlir

    platforms = getattr(mlir, "_platforms_with_donation", None)
    if not isinstance(platforms, list):
        warnings.warn("Weft: this JAX has no list of platforms with donation; donated arrays are copied. "
                      "Weft is tested with JAX 0.10")
    elif "weft" not in platforms:
        platforms.append("weft")


def initialize():
    from jax._src import xla_bridge

    library = _library()
    if not os.path.exists(library):
        raise ImportError(f"Weft: {library} does not exist; install the wheel again, or set WEFT_PJRT_LIBRARY")
    xla_bridge.register_plugin("weft", priority=0, library_path=library, options=None)
    _let_donate()
