"""Writes the arrays of splat-constants.test to a folder, or checks a program's results of them.

    check_splats.py FOLDER [filled|huge]
"""

import pathlib
import struct
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"


def array(path, name):
    with zipfile.ZipFile(path) as archive:
        data = archive.read(name + ".npy")
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


if len(sys.argv) == 2:
    header = HEADER + " " * (63 - (10 + len(HEADER)) % 64) + "\n"
    with zipfile.ZipFile(folder / "in.npz", "w") as archive:
        archive.writestr("in/000.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                         + struct.pack("<4f", 1, 2, 3, 4))
elif sys.argv[2] == "filled":
    assert array(folder / "out.npz", "out/001") == b"\x03" * 67108864
else:
    assert struct.unpack("<4f", array(folder / "out.npz", "out/000")) == (3, 4, 5, 6)
