"""Checks which products have rounded operands: those of StableHLO's precisions DEFAULT and HIGHEST, and of an algorithm of tf32.

    check_precision.py write program.mlir inputs.npz
    check_precision.py check inputs.npz outputs.npz full full rounded
"""

import array
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "exec"))
import npz_values

ROWS, DEPTH, COLUMNS = 64, 128, 64
PLAIN = "precision = [DEFAULT, DEFAULT]"
ASKED = [
    PLAIN, "precision = [HIGHEST, HIGHEST]",
    PLAIN + ", algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, "
    "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>"
]


def write(program, inputs):
    lhs, rhs, result = (f"tensor<{a}x{b}xf32>" for a, b in [(ROWS, DEPTH), (DEPTH, COLUMNS), (ROWS, COLUMNS)])
    lines = [f"  %{i} = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], {asked} : ({lhs}, {rhs}) -> {result}"
             for i, asked in enumerate(ASKED)]
    results = ", ".join([result] * len(ASKED))
    names = ", ".join(f"%{i}" for i in range(len(ASKED)))
    pathlib.Path(program).write_text("\n".join([
        "module @dots {", f"func.func public @main(%a: {lhs}, %b: {rhs}) -> ({results}) {{", *lines,
        f"  return {names} : {results}", "}", "}", ""]))
    draw = random.Random(3)
    numbers = lambda count: array.array("f", [draw.uniform(-1, 1) for _ in range(count)])
    npz_values.write(inputs, {"in/000": ((ROWS, DEPTH), numbers(ROWS * DEPTH)),
                              "in/001": ((DEPTH, COLUMNS), numbers(DEPTH * COLUMNS))})


def rounded(value):
    """Rounds to ten bits of mantissa, as tf32 has."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x1000) & 0xFFFFE000))[0]


def product(a, b):
    columns = [b[j::COLUMNS] for j in range(COLUMNS)]
    return [sum(x * y for x, y in zip(a[i * DEPTH:(i + 1) * DEPTH], column)) for i in range(ROWS) for column in columns]


def check(inputs, outputs, wanted):
    given, found = npz_values.read(inputs), npz_values.read(outputs)
    a, b = given["in/000"][1], given["in/001"][1]
    figures = {"full": product(a, b), "rounded": product([rounded(x) for x in a], [rounded(x) for x in b])}
    # Sums of 128 products of f32 are off by some 128 * 2^-24 at most; operands of ten bits change them by 2^-12.
    assert npz_values.worst_difference(figures["full"], figures["rounded"]) > 1e-4
    for i, kind in enumerate(wanted):
        off = npz_values.worst_difference(found[f"out/{i:03}"][1], figures[kind])
        if off > 4e-6:
            sys.exit(f"result {i} is off by {off:.2g} from the product with operands that are {kind}")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(*sys.argv[2:])
    else:
        check(sys.argv[2], sys.argv[3], sys.argv[4:])
