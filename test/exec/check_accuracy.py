"""Functions of f32 against the C library's of f64, in units in the last place.

    check_accuracy.py WEFT FOLDER

Arguments are spread over the sizes that a function is used with: positions of a sequence go into sines, sums of squares
into roots.
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
    """Sizes from the least to the most, equally many of each magnitude, and as many equally apart."""
    ratio = (most / least) ** (1 / count)
    return [single(least * ratio**i) for i in range(count)] + [single(least + (most - least) * i / count) for i in range(count)]


def both_signs(values):
    return values + [-value for value in values]


ANGLES = both_signs(spread(1e-30, 100)) + both_signs(spread(1, 1e6)) + [0.0, 1e9, -1e9]
UNITS = {  # function: its value in f64, arguments, units in the last place
    "sine": (math.sin, ANGLES, 1.5),
    "cosine": (math.cos, ANGLES, 1.5),
    "tan": (math.tan, ANGLES, 1.5),
    "exponential": (math.exp, both_signs(spread(1e-20, 85)), 2),
    "exponential_minus_one": (math.expm1, both_signs(spread(1e-20, 85)), 3),
    "log": (math.log, spread(1e-30, 1e30), 2),
    "log_plus_one": (math.log1p, spread(1e-20, 1e30), 3),
    "logistic": (lambda x: 1 / (1 + math.exp(-x)), both_signs(spread(1e-10, 80)), 3),
    "tanh": (math.tanh, both_signs(spread(1e-20, 20)), 5),
    "sqrt": (math.sqrt, spread(1e-30, 1e30), 0.51),
    "rsqrt": (lambda x: x**-0.5, spread(1e-30, 1e30), 1.6),
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), both_signs(spread(1e-37, 1e37)) + [0.0], 0.6),
    "atan2": (lambda y: math.atan2(y, -0.75), both_signs(spread(1e-20, 1e20)), 1.5),
    "ceil": (math.ceil, both_signs(spread(1e-20, 1e9)), 0),
    "floor": (math.floor, both_signs(spread(1e-20, 1e9)), 0),
    "round_nearest_even": (round, both_signs(spread(0.25, 1000)) + [0.5, 1.5, 2.5, -0.5, -1.5], 0),
    "round_nearest_afz": (lambda x: math.copysign(math.floor(abs(x) + 0.5), x), both_signs(spread(0.25, 1000)) + [0.5, 2.5, -0.5], 0),
}


def unit(value):
    """The distance of f32 numbers there."""
    return 2.0 ** max(math.frexp(value)[1] - 24, -149)


def program(name, count):
    type_, second = f"tensor<{count}xf32>", ", %side" if name == "atan2" else ""
    return f"""func.func public @main(%x: {type_}) -> ({type_} {{jax.result_info = ""}}) {{
      %side = stablehlo.constant dense<-7.500000e-01> : {type_}
      %y = stablehlo.{name} %x{second} : {type_}
      return %y : {type_}
    }}"""


def check(name, found):
    """Prints the largest error of a function's values; it must be allowed."""
    function, arguments, allowed = UNITS[name]
    errors = [abs(value - function(x)) / unit(function(x)) for x, value in zip(arguments, found, strict=True)]
    worst = max(range(len(errors)), key=errors.__getitem__)
    print(f"{name}: {errors[worst]:.2f} units in the last place, at {arguments[worst]:.9g}")
    assert errors[worst] <= allowed, f"{name}({arguments[worst]:.9g}) = {found[worst]:.9g}, not {function(arguments[worst]):.9g}"


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (_, arguments, _) in UNITS.items():
        source, inputs, out = folder / f"{name}.mlir", folder / f"{name}-in.npz", folder / f"{name}.npz"
        source.write_text(program(name, len(arguments)))
        npz_values.write(inputs, {"in/000": ([len(arguments)], array.array("f", arguments))})
        subprocess.run([weft, "run", source, "--inputs", inputs, "--outputs", out], check=True)
        check(name, npz_values.read(out)["out/000"][1])


if __name__ == "__main__":
    main()
