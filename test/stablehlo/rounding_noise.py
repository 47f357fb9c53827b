"""Measures the changes in a program's results when its inputs change by some units in the last place.

    noise = rounding_noise.measure(run, inputs)      # run(inputs) gives {name: (shape, values)}
    difference(expected, found, tolerance, noise["out/007"])

Sums may be taken in any order, so a result is known up to the rounding of its operands. Mostly that is
far below a relative tolerance. It is not where a program magnifies: the first step of Adam divides a gradient by its
own size, so a gradient that is exactly 0 but for rounding becomes a step of any size up to the learning rate. No
tolerance relative to the result fits both this element and its neighbours.

The rule: an element may differ by the relative tolerance, or by FACTOR times as much as it moves when every float of
the inputs moves by up to UNITS units in its last place, the largest of DRAWS draws. A sum of n terms of both signs is
rounded n times, each time by half a unit of a partial sum, which is about the square root of n terms: UNITS are those
of a sum of 64, FACTOR allows for longer ones and for few draws. A result that no sum magnifies moves by less than a
hundredth of the relative tolerance.
"""

import array
import math
import random

UNITS, DRAWS, FACTOR = 8, 4, 4
# The integers whose order is that of the floats of one sign.
BITS = {"f": ("I", 1 << 23, 0xFF << 23, (1 << 31) - 1), "d": ("Q", 1 << 52, 0x7FF << 52, (1 << 63) - 1)}


def moved(values, chance):
    """The values with every normal float moved up or down; integers stay equal."""
    if values.typecode not in BITS:
        return values
    code, smallest, infinity, size = BITS[values.typecode]
    bits = array.array(code, values.tobytes())
    for i, pattern in enumerate(bits):
        if smallest <= pattern & size < infinity - UNITS:
            bits[i] = pattern + chance.randint(-UNITS, UNITS)
    return array.array(values.typecode, bits.tobytes())


def measure(run, inputs):
    """{name: FACTOR times the largest move of each element} of the float results; a NaN moves nowhere."""
    plain, chance = run(inputs), random.Random(1)
    noise = {name: [0.0] * len(values) for name, (_, values) in plain.items() if values.typecode in BITS}
    for _ in range(DRAWS):
        other = run({name: (shape, moved(values, chance)) for name, (shape, values) in inputs.items()})
        for name, largest in noise.items():
            for i, (a, b) in enumerate(zip(plain[name][1], other[name][1])):
                if math.isfinite(a) and math.isfinite(b):
                    largest[i] = max(largest[i], FACTOR * abs(a - b))
    return noise
