"""Arrays of an .npz as flat lists, with the standard library alone."""

import array
import ast
import math
import struct
import zipfile

CODES = {"f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "b1": "B"}


def read(path):
    """{name: (shape, flat values)} of little-endian, C-ordered arrays."""
    result = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            size = struct.unpack("<H", data[8:10])[0] if data[6] == 1 else struct.unpack("<I", data[8:12])[0]
            start = 10 if data[6] == 1 else 12
            header = ast.literal_eval(data[start:start + size].decode())
            if header["descr"] == "<f2":
                values = array.array("f", (value for value, in struct.iter_unpack("<e", data[start + size:])))
            else:
                values = array.array(CODES[header["descr"][1:]])
                values.frombytes(data[start + size:])
            result[name.removesuffix(".npy")] = (header["shape"], values)
    return result


def write(path, arrays):
    """Stores {name: (shape, array.array)} as numpy.savez does."""
    codes = {kind: code for code, kind in reversed(CODES.items())}
    with zipfile.ZipFile(path, "w") as archive:
        for name, (shape, values) in arrays.items():
            header = repr({"descr": "<" + codes[values.typecode], "fortran_order": False, "shape": tuple(shape)})
            header = header.encode().ljust(-(-(len(header) + 11) // 64) * 64 - 11) + b"\n"
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
                             + values.tobytes())


def worst_difference(found, wanted, least=0):
    """The largest difference between two flat lists, divided by the largest value (by `least` if that is larger); infinite if
    only one of a pair is NaN."""
    pairs = [(a, b) for a, b in zip(found, wanted, strict=True) if not (math.isnan(a) and math.isnan(b))]
    if any(math.isnan(a) or math.isnan(b) for a, b in pairs):
        return math.inf
    return max((abs(a - b) for a, b in pairs), default=0) / (max([least, *(abs(b) for _, b in pairs)]) or 1)
