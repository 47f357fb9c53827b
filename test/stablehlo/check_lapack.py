"""Inputs of lapack.test, and a check of its results by the formulas for matrices of two rows.

    check_lapack.py write in.npz
    check_lapack.py check out.npz

Matrix n of four is [[a, b], [b, c]]; the last is not positive definite.
"""

import array
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import npz_values  # noqa: E402

MATRICES = [(4, 2, 5), (9, -3, 2), (1, 0, 16), (1, 2, 1)]
SIDES = [[1, 2, 3], [4, 5, 6]]


def write(path):
    matrices = [x for a, b, c in MATRICES for x in (a, b, b, c)]
    sides = [x for _ in MATRICES for row in SIDES for x in row]
    npz_values.write(path, {"in/000": ((4, 2, 2), array.array("f", matrices)), "in/001": ((4, 2, 3), array.array("f", sides))})


def near(name, found, wanted):
    assert abs(found - wanted) <= 1e-5 * max(1, abs(wanted)), (name, found, wanted)


def check(path):
    arrays = npz_values.read(path)
    (_, factors), (_, codes), (_, solutions), (_, values) = (arrays[f"out/{n:03}"] for n in range(4))
    assert list(codes) == [0, 0, 0, 2], list(codes)
    for n, (a, b, c) in enumerate(MATRICES):
        middle, half = (a + c) / 2, math.hypot((a - c) / 2, b)
        near("smaller value", values[2 * n], middle - half)
        near("larger value", values[2 * n + 1], middle + half)
        if codes[n]:
            continue
        l00, l10 = math.sqrt(a), b / math.sqrt(a)
        l11 = math.sqrt(c - l10 * l10)
        for k, wanted in ((0, l00), (2, l10), (3, l11)):
            near("factor", factors[4 * n + k], wanted)
        for column in range(3):
            first = SIDES[0][column] / l00
            near("first row", solutions[6 * n + column], first)
            near("second row", solutions[6 * n + 3 + column], (SIDES[1][column] - l10 * first) / l11)


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])
