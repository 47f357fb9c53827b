"""Compares tools/pjrt/Arguments.h with a published header of the PJRT C interface.

    python3 tools/pjrt/check_abi.py pjrt_c_api.h

Prints each struct whose size or field offsets differ, by compiling both. The header is in
OpenXLA's repository (xla/pjrt/c) and in the source package jax-mlx-plugin of PyPI.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def fields(text, name):
    """Names of the fields of a struct, in order."""
    body = re.search(r"struct " + name + r"\s*\{(.*?)\n\};", re.sub(r"//[^\n]*", "", text), re.S)
    if not body:
        return None
    plain = re.sub(r"\(\*\s*(\w+)\)\s*\([^)]*\)", r"\1", body.group(1))
    return [re.search(r"(\w+)\s*(\[\w*\])?$", part.strip()).group(1) for part in plain.split(";") if part.strip()]


def main():
    header = pathlib.Path(sys.argv[1]).read_text()
    ours = (HERE / "Arguments.h").read_text()
    slots = re.findall(r"^WEFT_PJRT_SLOT\((\w+)\)", (HERE / "Slots.def").read_text(), re.M)
    theirs = re.findall(r"_PJRT_API_STRUCT_FIELD\(PJRT_(\w+)\);", header)
    if slots != theirs[:len(slots)]:
        sys.exit("Slots.def differs from the header's table")
    checks = []
    for name in re.findall(r"^WEFT_PJRT_ARGS\((\w+),", ours, re.M):
        published = fields(header, f"PJRT_{name}_Args")
        mine = re.search(r"WEFT_PJRT_ARGS\(" + name + r",(.*?)\)\n(?=WEFT|\n)", ours, re.S).group(1)
        mine = re.sub(r"\(\*\s*(\w+)\)\s*\([^)]*\)", r"\1", mine)
        names = [re.search(r"(\w+)$", part.strip()).group(1) for part in mine.split(";") if part.strip()]
        for ours_name, their_name in zip(names, published[2:]):
            checks.append(f"static_assert(offsetof(weft::pjrt::{name}_Args, {ours_name}) == "
                          f"offsetof(PJRT_{name}_Args, {their_name}));")
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "abi.cpp"
        source.write_text(f'#include "{pathlib.Path(sys.argv[1]).resolve()}"\n#include "weft/tools/pjrt/Arguments.h"\n'
                          + "\n".join(checks) + "\n")
        done = subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{ROOT}/build/include", source])
    print(f"{len(slots)} slots, {len(checks)} fields: {'agree' if done.returncode == 0 else 'differ'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
