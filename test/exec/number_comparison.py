"""Special numbers, and the comparison of arrays of them in units in the last place; needs NumPy."""

import math

import numpy as np

INTEGERS = {"int8": [0, 1, -1, 2, -2, 3, 7, -7, 100, 127, -128], "int16": [0, 1, -1, 3, -7, 300, 32767, -32768],
            "int32": [0, 1, -1, 2, 3, 7, -7, 100, 31, 32, 33, 2**31 - 1, -2**31], "uint8": [0, 1, 2, 7, 8, 9, 127, 128, 255],
            "uint16": [0, 1, 3, 7, 300, 40000, 65535], "uint32": [0, 1, 2, 7, 31, 32, 300, 2**31, 2**32 - 1]}
LEAST = 1.2e-38  # just above the least normal float32: XLA takes smaller numbers for 0 on CPUs


def both_signs(values):
    """The numbers, their negatives, the infinities and NaN."""
    return np.array([*values, *(-value for value in values), math.inf, -math.inf, math.nan], np.float32)


def unequal(found, wanted, digits, least, absolute):
    """Where real numbers differ by more than `digits` units in the last place of float32 and more than `absolute`."""
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.maximum(np.abs(wanted), least).astype(np.float32)).astype(np.float64)
        near = np.abs(found - wanted) <= np.maximum(digits * unit, absolute)
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        return ~(near | same | (np.maximum(np.abs(found), np.abs(wanted)) < least))


def difference(found, wanted, digits, least=LEAST, absolute=0.0):
    """How an array differs from the wanted one in type, shape or numbers; empty if it does not."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"is {found.dtype}{found.shape}, not {wanted.dtype}{wanted.shape}"
    halves = [(found.real, wanted.real), (found.imag, wanted.imag)] if found.dtype.kind == "c" else [(found, wanted)]
    wrong = np.logical_or.reduce([unequal(*half, digits, least, absolute) for half in halves])
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"is {found[at]} at {list(at)}, not {wanted[at]}; {wrong.sum()} such"
