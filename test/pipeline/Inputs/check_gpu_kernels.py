"""Runs the kernels of gpu-kernels.mlir, given as PTX, and compares with Python.

    python3 check_gpu_kernels.py PTX_RUN kernels.ptx FOLDER
"""

import math
import random
import sys
from array import array

from ptx_runner import Machine

RANDOM = random.Random(7)
WHERE = array("q", [0])  # a device's coordinates


def floats(count, scale=1.0):
    return array("f", [RANDOM.gauss(0, scale) for _ in range(count)])


def nothing(kind, count):
    """A result before the kernel: values that a missing store leaves behind."""
    return array(kind, [99] * count)


def compare(name, found, wanted, tolerance):
    for i, (x, y) in enumerate(zip(found, wanted, strict=True)):
        if not abs(x - y) <= tolerance * max(1, abs(y)):
            raise SystemExit(f"{name}: element {i} is {x} instead of {y}")
    print(f"{name}: {len(found)} elements agree")


def check_update(machine, blocks):
    """Checks an update in place: both results have the memory of arguments."""
    v, g, w, lr = array("f", map(abs, floats(370))), floats(370), floats(370), array("f", [0.01])
    v2 = [0.9 * a + 0.1 * b * b for a, b in zip(v, g)]
    w2 = [a - lr[0] * b / math.sqrt(c + 1e-7) for a, b, c in zip(w, g, v2)]
    machine.launch("update", blocks, [v, g, lr, w, v, w, WHERE])
    compare("update v", v, v2, 1e-6)
    compare("update w", w, w2, 1e-6)


def check_bias_relu(machine, blocks):
    x, b, y, mask = floats(320), floats(20), nothing("f", 320), nothing("b", 320)
    machine.launch("bias_relu", blocks, [x, b, y, mask, WHERE])
    sums = array("f", [a + b[i % 20] for i, a in enumerate(x)])
    compare("bias_relu", y, [max(s, 0) for s in sums], 0)
    compare("bias_relu mask", mask, [s > 0 for s in sums], 0)


def check_next_seed(machine, blocks):
    s, t = array("I", [1337, 0xFFFFFFFF]), nothing("I", 2)
    machine.launch("next_seed", blocks, [s, t, WHERE])
    compare("next_seed", t, [1337, 0], 0)


def check_softmax(machine, blocks):
    x, y = floats(13 * 70, 4.0), nothing("f", 13 * 70)
    machine.launch("softmax", blocks, [x, y, WHERE])
    wanted = []
    for row in range(13):
        values = [math.exp(a - max(x[row * 70:row * 70 + 70])) for a in x[row * 70:row * 70 + 70]]
        wanted += [value / sum(values) for value in values]
    compare("softmax", y, wanted, 1e-6)


def check_is_right(machine, blocks):
    x, label, y = floats(120), array("i", [RANDOM.randrange(10) for _ in range(12)]), nothing("f", 12)
    best = [max(range(10), key=lambda c: x[row * 10 + c]) for row in range(12)]
    label[0:6] = array("i", best[0:6])
    machine.launch("is_right", blocks, [x, label, y, WHERE])
    compare("is_right", y, [float(a == b) for a, b in zip(label, best)], 0)


def check_any_negative(machine, blocks):
    x, y = floats(240), nothing("b", 6)
    machine.launch("any_negative", blocks, [x, y, WHERE])
    compare("any_negative", y, [any(a < -2 for a in x[row * 40:row * 40 + 40]) for row in range(6)], 0)


def check_wide_sums(machine, blocks):
    """Checks sums of bf16, which is the upper half of f32, and of 40 bytes, which need more than 8 bits."""
    wide = array("I", [n & 0xFFFF0000 for n in memoryview(floats(240)).cast("B").cast("I")])
    x, i = array("H", [n >> 16 for n in wide]), array("b", [RANDOM.randrange(-128, 128) for _ in range(240)])
    values, y, z = memoryview(wide).cast("B").cast("f"), nothing("f", 6), nothing("i", 6)
    machine.launch("wide_sums", blocks, [x, i, y, z, WHERE])
    compare("wide_sums of bf16", y, [sum(values[row * 40:row * 40 + 40]) for row in range(6)], 1e-6)
    compare("wide_sums of i8", z, [sum(i[row * 40:row * 40 + 40]) for row in range(6)], 0)


def threefry(key, high, low):
    """out0 ^ out1 of threefry-2x32 (Salmon et al., 2011), 20 rounds."""
    mask, keys = 0xFFFFFFFF, [key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA]
    x, y = (high + keys[0]) & mask, (low + keys[1]) & mask
    for group in range(5):
        for distance in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x = (x + y) & mask
            y = x ^ ((y << distance | y >> 32 - distance) & mask)
        x, y = (x + keys[(group + 1) % 3]) & mask, (y + keys[(group + 2) % 3] + group + 1) & mask
    return x ^ y


def check_bits(machine, blocks):
    key, y = array("I", [0x12345678, 0x9ABCDEF0]), nothing("I", 35)
    machine.launch("bits", blocks, [key, y, WHERE])
    compare("bits", y, [threefry(key, 0, column * 5 + row) for row in range(5) for column in range(7)], 0)


def check_mean(machine, blocks):
    x, y = floats(45), nothing("f", 1)
    machine.launch("mean", blocks, [x, y, WHERE])
    compare("mean", y, [sum(x) / 45], 1e-6)


def check_rows_of(machine, blocks):
    table, ids, y = floats(30), array("i", [3, 0, 4, -1, 9, 1, 2]), nothing("f", 42)
    machine.launch("rows_of", blocks, [table, ids, y, WHERE])
    rows = [min(max(i, 0), 4) for i in ids]
    compare("rows_of", y, [table[row * 6 + 5 - (column - 2) % 6] for row in rows for column in range(6)], 0)


def main():
    machine = Machine(*sys.argv[1:])
    for check in (check_update, check_bias_relu, check_next_seed, check_softmax, check_is_right, check_any_negative, check_wide_sums,
                  check_bits, check_mean, check_rows_of):
        for blocks in (1, 2):  # any number of blocks is right
            check(machine, blocks)


if __name__ == "__main__":
    main()
