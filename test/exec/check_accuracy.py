"""Compares functions of f32 with the C library's of f64, in units in the last place.

    check_accuracy.py WEFT FOLDER

Arguments are spread over the sizes that a function is used with: positions of a sequence go into sines, sums of squares
into roots. Powers have the special cases of C, too: zeros, infinities, NaN, odd exponents.
"""

import array
import math
import pathlib
import struct
import subprocess
import sys

import npz_values


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def spread(least, most, count=600):
    """Numbers from `least` to `most`: half evenly spread over magnitudes, half equally apart."""
    ratio = (most / least) ** (1 / count)
    return [single(least * ratio**i) for i in range(count)] + [single(least + (most - least) * i / count) for i in range(count)]


def both_signs(values):
    return values + [-value for value in values]


def power(x, y):
    """x to the power y, as C's pow; Python raises for some."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.copysign(math.inf, x if y % 2 == 1 else 1)
    except ValueError:  # a root of a negative number, or 1 / 0
        return math.nan if x else math.copysign(math.inf, x if y % 2 == 1 else 1)


def of_angle(function):
    """The function of x; of 0 from 2^51 on, and NaN for infinities and NaN."""
    def value(x):
        return math.nan if not math.isfinite(x) else function(x if abs(x) < 2.0**51 else 0.0)
    return value


ANGLES = (both_signs(spread(1e-30, 100)) + both_signs(spread(1, 1e6))
          + both_signs([0.0, 1e9, 2.0**40, 2.0**49, 2.0**50, 1.75 * 2.0**50, 2.0**51, 1e20, 2.0**127, math.inf, math.nan]))
SPECIAL = both_signs([0.0, single(1e-45), 0.5, 1.0, single(1 + 2**-23), 1.5, 2.0, 3.0, 2.0**24 - 1, 2.0**24, 2.0**127, math.inf, math.nan])
POWERS = ([(x, y) for x in SPECIAL for y in SPECIAL]
          + [(x, single(y)) for x in spread(1e-30, 1e30, 60) for y in both_signs(spread(1e-6, 1.4, 40))]
          + [(x, single(y / math.log2(x))) for x in spread(1.0001, 1e4, 40) for y in range(-150, 130, 3)]
          + [(-x, float(y)) for x in spread(0.1, 10, 20) for y in range(-30, 30)])
CHLO = {"erf", "erfc"}  # the others are functions of stablehlo
UNITS = {  # function: its value in f64, arguments (pairs of two operands), units in the last place
    "sine": (of_angle(math.sin), ANGLES, 1.5),
    "cosine": (of_angle(math.cos), ANGLES, 1.5),
    "tan": (of_angle(math.tan), ANGLES, 1.5),
    "exponential": (math.exp, both_signs(spread(1e-20, 85)), 2),
    "exponential_minus_one": (math.expm1, both_signs(spread(1e-20, 85)), 3),
    "log": (math.log, spread(1e-30, 1e30), 2),
    "log_plus_one": (math.log1p, spread(1e-20, 1e30), 3),
    "logistic": (lambda x: 1 / (1 + math.exp(-x)), both_signs(spread(1e-10, 80)), 3),
    "tanh": (math.tanh, both_signs(spread(1e-20, 20)), 5),
    "erf": (math.erf, both_signs(spread(1e-20, 5)) + [0.0, math.inf, -math.inf, math.nan], 4),
    "erfc": (math.erfc, both_signs(spread(1e-20, 9.1)) + [0.0, 20.0, math.inf, -math.inf, math.nan], 4),
    "sqrt": (math.sqrt, spread(1e-30, 1e30), 0.51),
    "rsqrt": (lambda x: x**-0.5, spread(1e-30, 1e30), 1.6),
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), both_signs(spread(1e-37, 1e37)) + [0.0], 0.6),
    "atan2": (math.atan2, [(y, -0.75) for y in both_signs(spread(1e-20, 1e20))], 1.5),
    "power": (power, POWERS, 0.51),
    "ceil": (lambda x: math.copysign(math.ceil(x), x), both_signs(spread(1e-20, 1e9)), 0),
    "floor": (math.floor, both_signs(spread(1e-20, 1e9)), 0),
    "round_nearest_even": (lambda x: math.copysign(round(x), x), both_signs(spread(0.25, 1000)) + [0.5, 1.5, 2.5, -0.5, -1.5], 0),
    "round_nearest_afz": (lambda x: math.copysign(math.floor(abs(x) + 0.5), x), both_signs(spread(0.25, 1000)) + [0.5, 2.5, -0.5], 0),
}


def unit(value):
    """The distance of neighbouring f32 numbers at this value."""
    return 2.0 ** max(math.frexp(value)[1] - 24, -149)


def error(found, exact):
    """The error in units in the last place; 0 or infinite for NaN, 0 and infinities."""
    if math.isnan(exact):
        return 0 if math.isnan(found) else math.inf
    if exact == 0 or abs(exact) >= 2.0**128 - 2.0**103:  # rounds to infinity
        exact = math.copysign(math.inf, exact) if exact else exact
        return 0 if found == exact and math.copysign(1, found) == math.copysign(1, exact) else math.inf
    return abs(found - exact) / unit(exact)


def operands(name):
    """The list of each operand."""
    arguments = UNITS[name][1]
    return list(zip(*arguments, strict=True)) if isinstance(arguments[0], tuple) else [arguments]


def program(name):
    columns = operands(name)
    type_, names = f"tensor<{len(columns[0])}xf32>", [f"%x{i}" for i in range(len(columns))]
    return f"""func.func public @main({", ".join(f"{x}: {type_}" for x in names)}) -> ({type_} {{jax.result_info = ""}}) {{
      %y = {"chlo" if name in CHLO else "stablehlo"}.{name} {", ".join(names)} : {type_}
      return %y : {type_}
    }}"""


def check(name, found):
    """Prints the largest error of a function's values; it must be allowed."""
    function, _, allowed = UNITS[name]
    arguments = list(zip(*operands(name), strict=True))
    errors = [error(value, function(*x)) for x, value in zip(arguments, found, strict=True)]
    worst = max(range(len(errors)), key=errors.__getitem__)
    at = ", ".join(f"{x:.9g}" for x in arguments[worst])
    print(f"{name}: {errors[worst]:.2f} units in the last place, at {at}")
    assert errors[worst] <= allowed, f"{name}({at}) = {found[worst]:.9g}, not {function(*arguments[worst]):.9g}"


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in UNITS:
        source, inputs, out = folder / f"{name}.mlir", folder / f"{name}-in.npz", folder / f"{name}.npz"
        source.write_text(program(name))
        npz_values.write(inputs, {f"in/{i:03}": ([len(column)], array.array("f", column)) for i, column in enumerate(operands(name))})
        subprocess.run([weft, "run", source, "--inputs", inputs, "--outputs", out], check=True)
        check(name, npz_values.read(out)["out/000"][1])


if __name__ == "__main__":
    main()
