"""Checks numbers that stablehlo.rng draws by bounds, moments and the distance of their distribution from the stated one.

    drawn_numbers.py WEFT FOLDER
"""

import math
import pathlib
import subprocess
import sys

import numpy as np

COUNT = 40000
# (element type, distribution, its two operands)
CASES = [(real, "UNIFORM", a, b) for real in ("f32", "f64", "f16", "bf16") for a, b in ((0, 1), (-2, 3))] + [
    ("f32", "UNIFORM", 1e30, 3e30), ("f32", "UNIFORM", 5, 5), ("f32", "UNIFORM", 16777216, 16777220)] + [
    (real, "NORMAL", a, b) for real in ("f32", "f64", "f16", "bf16") for a, b in ((0, 1), (-2, 0.5))] + [("f32", "NORMAL", 7, 0)] + [
    (f"{sign}{bits}", "UNIFORM", a, b) for bits in (8, 16, 32, 64)
    for sign, a, b in (("i", -3, 9), ("i", -(1 << (bits - 1)), (1 << (bits - 1)) - 1), ("ui", 2, 7), ("ui", 0, (1 << bits) - 1), ("i", 4, 4))]
# The distance between two numbers of the type near 1.
STEP = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}


def program():
    lines, results, types = [], [], []
    for number, (element, distribution, a, b) in enumerate(CASES):
        as_text = "{:.1f}".format if element in STEP else int
        scalar, tensor = f"tensor<{element}>", f"tensor<{COUNT}x{element}>"
        lines += [f"%a{number} = stablehlo.constant dense<{as_text(a)}> : {scalar}", f"%b{number} = stablehlo.constant dense<{as_text(b)}> : {scalar}",
                  f"%r{number} = stablehlo.rng %a{number}, %b{number}, %s, distribution = {distribution} : ({scalar}, {scalar}, tensor<1xi64>) -> {tensor}"]
        results.append(f"%r{number}")
        types.append(tensor)
    return f"""sdy.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> ({', '.join(types)}) {{
  %s = stablehlo.constant dense<{COUNT}> : tensor<1xi64>
  {chr(10).join(lines)}
  return {', '.join(results)} : {', '.join(types)}
}}
"""


def run(weft, folder, devices):
    (folder / "draws.mlir").write_text(program())
    np.savez(folder / "in.npz", **{"in/000": np.zeros(4, np.float32)})
    outputs = folder / f"out{devices}.npz"
    done = subprocess.run([weft, "run", folder / "draws.mlir", "--inputs", folder / "in.npz", "--outputs", outputs, "--devices", f"cpu:{devices}"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("draws the same numbers in every run") == len(CASES), done.stderr
    found = np.load(outputs)
    return [found[name] for name in sorted(found.files)]


def distribution_of(distribution, a, b, is_integer):
    """Mean, standard deviation, and the probability of numbers up to x."""
    if distribution == "NORMAL":
        return a, b, np.vectorize(lambda x: 0.5 * math.erfc((a - x) / (b * math.sqrt(2))))
    span = b - a
    if is_integer:  # up to x: x - a + 1 of b - a integers
        return a + (span - 1) / 2, math.sqrt((span * span - 1) / 12), lambda x: (x.astype(float) - a + 1) / span
    return (a + b) / 2, span / math.sqrt(12), lambda x: (x - a) / span


def check(drawn, element, distribution, a, b):
    assert drawn.shape == (COUNT,)
    if a == b or distribution == "NORMAL" and b == 0:
        assert (drawn == a).all()
        return
    is_integer = element not in STEP
    if is_integer:
        numbers = [int(v) for v in drawn]
        assert min(numbers) >= a and max(numbers) < b, (min(numbers), max(numbers))
        if b - a < 20:
            assert sorted(set(numbers)) == list(range(a, b))
    x = drawn.astype(np.float64)
    if not is_integer and distribution == "UNIFORM":
        assert x.min() >= a and x.max() < b, (x.min(), x.max())
    mean, deviation, below = distribution_of(distribution, a, b, is_integer)
    # What rounding to the type adds, relative to the deviation; numbers with fewer digits fall on each other.
    rounding = 0 if is_integer else STEP[element] * max(abs(a), abs(b), 1) / deviation
    assert abs(x.mean() - mean) < deviation * (5 / math.sqrt(COUNT) + rounding), (x.mean(), mean)
    assert abs(x.std() / deviation - 1) < 5 / math.sqrt(COUNT) + rounding, (x.std(), deviation)
    # Kolmogorov's distance, of which 1.95 is exceeded by chance once in a thousand.
    values, counts = np.unique(x, return_counts=True)
    distance = np.abs(np.cumsum(counts) / COUNT - below(values)).max()
    assert distance < 1.95 / math.sqrt(COUNT) + rounding, distance


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    one, four = (run(weft, folder, devices) for devices in (1, 4))
    for case, a, b in zip(CASES, one, four, strict=True):
        try:
            check(a, *case)
            assert (a == b).all(), "four devices draw other numbers"
        except AssertionError as error:
            raise SystemExit(f"{case}: {error}")
    assert (one[0] != one[1]).any(), "two ops draw the same"
    print(f"{len(CASES)} draws are as stated")


main()
