"""Checks the rule of rounding_noise.py: rounding that a program magnifies is allowed, a mistake beside it is not.

A step of Adam from zero moments, as Keras takes it, for a weight whose gradient is a sum that cancels and for one whose gradient does not.
"""

import array
import random
import struct

import check_programs
import rounding_noise


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def total(values):
    result = 0.0
    for value in values:
        result = single(result + value)
    return result


def step(weight, gradient):
    return single(weight - 1e-3 * gradient / (abs(gradient) + 1e-7))


def run(inputs, order=list):
    """Two weights after a step."""
    x, y = (order(inputs[name][1]) for name in "xy")
    cancelled, plain = total(x + y), total(map(abs, x))
    return {"out": ([2], array.array("f", [step(0.0, cancelled), step(0.5, plain)]))}


chance = random.Random(5)
terms = array.array("f", (chance.gauss(0, 1) for _ in range(64)))
inputs = {"x": ([64], terms), "y": ([64], array.array("f", (-term for term in terms)))}
noise = rounding_noise.measure(run, inputs)
plain, other = run(inputs), run(inputs, lambda x: list(reversed(x)))
print(plain["out"][1].tolist(), other["out"][1].tolist(), noise["out"])
# Another order of the sums: without the rule a difference, with it none.
assert check_programs.compare(plain, other, {}), "the orders do not differ"
assert not check_programs.compare(plain, other, noise)
# The other weight is held to the relative tolerance.
wrong = {"out": ([2], array.array("f", [plain["out"][1][0], 0.501]))}
assert "out: element 1" in check_programs.compare(plain, wrong, noise)
# The magnified one is bounded, too: no step is longer than the learning rate.
wrong = {"out": ([2], array.array("f", [0.05, plain["out"][1][1]]))}
assert "out: element 0" in check_programs.compare(plain, wrong, noise)
print("rounding is allowed, mistakes are not")
