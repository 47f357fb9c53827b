"""The folder of Weft's binaries: in the package, as the wheel installs them, or in the folder that WEFT_PREFIX names.

A prefix has bin/weft and lib/libWeftRuntime.so.0: a build folder, or a prefix of `cmake --install`.
"""

import os
import pathlib


def prefix() -> pathlib.Path:
    """The folder with bin/ and lib/."""
    named = os.environ.get("WEFT_PREFIX")
    return pathlib.Path(named) if named else pathlib.Path(__file__).parent


def find(place: str) -> pathlib.Path:
    """The file at `place` in the prefix, "bin/weft". Raises FileNotFoundError, with a fix."""
    path = prefix() / place
    if not path.exists():
        how = ("name a build folder or an installation" if os.environ.get("WEFT_PREFIX")
               else "install the wheel of weft again, or set WEFT_PREFIX to a build folder")
        raise FileNotFoundError(f"weft: {path} does not exist; {how}")
    return path


def plugin() -> pathlib.Path:
    """The library that JAX loads: libWeftPjrt.so, which in the standalone wheel is one library with the compiler."""
    alone = prefix() / "lib" / "libWeftPjrt.so"
    return alone if alone.exists() else find("lib/libWeftCommands.so")
