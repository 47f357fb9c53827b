"""Checks that an import of the package loads little, and its errors if it finds no libraries.

    imports.py WEFT
"""

import os
import subprocess
import sys

import weft

assert "numpy" not in sys.modules and "ctypes" not in sys.modules, "import loads more than the package"
assert sorted(weft.__all__) == dir(weft)
said = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True, check=True).stdout
assert said.startswith(f"weft {weft.__version__} (MLIR 22."), said
assert "program ABI 6" in said, said
for name in weft.__all__:
    assert getattr(weft, name) is not None
try:
    weft.nothing
except AttributeError as error:
    assert "'nothing'" in str(error)


def in_another_process(prefix, code):
    """The stderr of a process with another WEFT_PREFIX that fails."""
    result = subprocess.run([sys.executable, *code], env=os.environ | {"WEFT_PREFIX": prefix}, capture_output=True, text=True)
    assert result.returncode == 1, result
    return result.stderr


assert "/nowhere/lib/libWeftRuntime.so.0 does not exist; name a build folder" in in_another_process(
    "/nowhere", ["-c", "import weft; weft.load(__file__ if '__file__' in globals() else '/dev/null')"])
assert "install the wheel of weft again, or set WEFT_PREFIX to a build folder" in in_another_process("", ["-m", "weft.command"])
print("the package imports")
