"""Program files (.weft) put together from parts, as runtime/abi/ProgramImage.h does.

    program_files.py PROGRAM CODE OUT        the program with the shared object CODE as its kernels
"""

import pathlib
import struct
import sys

TRAILER = "<QQQQII8s"  # code bytes, plan bytes, features, hash, ABI version, reserved, magic
ABI_VERSION = 6  # WEFT_ABI_VERSION of runtime/abi/weft.h
WORD = (1 << 64) - 1


def fnv(data):
    """FNV-1a over little-endian words of 8 bytes, the tail by bytes."""
    value = 0xCBF29CE484222325
    for (word,) in struct.iter_unpack("<Q", data[:len(data) // 8 * 8]):
        value = (value ^ word) * 0x100000001B3 & WORD
        value ^= value >> 32
    for byte in data[len(data) // 8 * 8:]:
        value = (value ^ byte) * 0x100000001B3 & WORD
    return value


def assemble(code, plan, features=0):
    """The bytes of a program file; the code may be anything."""
    body = code + bytes(-len(code) % 8) + plan

    def trailer(hash_value):
        return struct.pack(TRAILER, len(body) - len(plan), len(plan), features, hash_value, ABI_VERSION, 0, b"WEFTPROG")
    return body + trailer(fnv(trailer(fnv(body))))


def plan_of(image):
    code_bytes, plan_bytes = struct.unpack("<QQ", image[-48:-32])
    return image[code_bytes:code_bytes + plan_bytes]


if __name__ == "__main__":
    program, code, out = map(pathlib.Path, sys.argv[1:])
    out.write_bytes(assemble(code.read_bytes(), plan_of(program.read_bytes())))
