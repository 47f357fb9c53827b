"""Compares functions of f64 in GPU kernels, and remainders of both widths, with the C library's, in units in the last place.

    PYTHONPATH=test/exec check_gpu_doubles.py WEFT_OPT PTX_RUN FOLDER

The kernels are PTX, which ptx-run runs.
"""

import math
import pathlib
import subprocess
import sys
from array import array

from check_accuracy import both_signs, of_angle, power, single
from ptx_runner import Machine


def spread(least, most, count):
    """Numbers from `least` to `most`: half evenly spread over magnitudes, half equally apart."""
    low, step = math.log(least), (math.log(most) - math.log(least)) / count
    return [math.exp(low + step * i) for i in range(count)] + [least + most / count * i for i in range(count)]


WIDE = both_signs(spread(1e-300, 1e300, 300)) + [0.0, -0.0, 5e-324, -5e-324, 1e-310]
SPECIAL = both_signs([0.0, 5e-324, 0.5, 1.0, 1 + 2**-52, 1.5, 2.0, 3.0, 2.0**53 - 1, 2.0**53, 2.0**1000, math.inf, math.nan])
POWERS = ([(x, y) for x in SPECIAL for y in SPECIAL]
          + [(x, y / math.log2(x)) for x in spread(1.0001, 1e4, 20) for y in range(-1000, 1000, 23)]
          + [(-x, float(y)) for x in spread(0.1, 10, 10) for y in range(-30, 30)])
PARTS = ([(x, y) for x in SPECIAL for y in SPECIAL] + [(x, y) for x in spread(1e-3, 1e30, 30) for y in both_signs(spread(1e-20, 1e20, 10))])
ANGLES = both_signs(spread(1e-30, 100, 300)) + both_signs(spread(1, 1e9, 300)) + [0.0, -0.0, math.pi, math.pi / 2, 1e6 * math.pi, 2.0**40, 2.0**50, -1.75 * 2.0**50, 2.0**51, -1e300, math.inf]
FINITE = both_signs([0.0, 1.0, 2.5, 1e300])


def limit(function, low, high):
    """The function; `low` and `high` are its values where Python raises."""
    def value(*x):
        try:
            return function(*x)
        except OverflowError:
            return high
        except ValueError:
            return low
    return value


def remainder(x, y):
    return math.nan if y == 0 or math.isinf(x) else math.fmod(x, y)


CASES = {  # kernel: op, its value, arguments, bytes of a number, units in the last place
    "exp": ("exp", limit(math.exp, 0.0, math.inf), both_signs(spread(1e-20, 760, 300)) + SPECIAL, 8, 1.5),
    "expm1": ("expm1", limit(math.expm1, 0.0, math.inf), both_signs(spread(1e-20, 720, 300)) + SPECIAL, 8, 3),
    "log": ("log", lambda x: math.log(x) if x > 0 else math.nan if x < 0 else -math.inf if x == 0 else x, [abs(x) for x in WIDE] + SPECIAL, 8, 1.5),
    "log1p": ("log1p", lambda x: math.nan if x < -1 else -math.inf if x == -1 else math.log1p(x), spread(1e-20, 1e300, 300) + [-0.3, -0.999] + SPECIAL, 8, 3),
    "logistic": ("logistic", lambda x: 1 / (1 + math.exp(-x)), both_signs(spread(1e-10, 700, 300)), 8, 3),
    "tanh": ("tanh", math.tanh, both_signs(spread(1e-20, 30, 300)) + SPECIAL, 8, 4),
    "erf": ("erf", math.erf, both_signs(spread(1e-20, 7, 300)) + SPECIAL, 8, 8),
    "erfc": ("erfc", math.erfc, both_signs(spread(1e-20, 27.5, 400)) + SPECIAL, 8, 8),
    "cbrt": ("cbrt", lambda x: math.cbrt(x), WIDE + SPECIAL, 8, 2),
    "sin": ("sin", of_angle(math.sin), ANGLES, 8, 1.5),
    "cos": ("cos", of_angle(math.cos), ANGLES, 8, 1.5),
    "tan": ("tan", of_angle(math.tan), ANGLES, 8, 4),
    "atan2": ("atan2", math.atan2, [(y, x) for x in SPECIAL for y in SPECIAL] + [(y, -0.75) for y in both_signs(spread(1e-20, 1e20, 300))], 8, 3),
    "pow": ("pow", power, POWERS, 8, 8),
    "rem": ("rem", remainder, PARTS, 8, 0),
    "rem_single": ("rem", remainder, [(single(x) if abs(x) < 1e38 else x, single(y) if abs(y) < 1e38 else y) for x, y in PARTS
                                      if all(abs(v) < 1e38 or not math.isfinite(v) for v in (x, y))], 4, 0),
}


def operands(name):
    arguments = CASES[name][2]
    columns = list(zip(*arguments, strict=True)) if isinstance(arguments[0], tuple) else [arguments]
    return [array("d" if CASES[name][3] == 8 else "f", column) for column in columns]


def kernel(name):
    columns = operands(name)
    type_, names = f"tensor<{len(columns[0])}xf{8 * CASES[name][3]}>", [f"%x{i}" for i in range(len(columns))]
    arguments = ", ".join(f"{x}: {type_}" for x in names)
    return f"""func.func private @{name}({arguments}) -> {type_} attributes {{weft.kernel = #weft.kernel<elementwise>}} {{
      %y = weft.{CASES[name][0]} {", ".join(names)} : {type_}
      return %y : {type_}
    }}
"""


def error(found, exact):
    if math.isnan(exact):
        return 0 if math.isnan(found) else math.inf
    if exact == 0 or math.isinf(exact):
        return 0 if found == exact and math.copysign(1, found) == math.copysign(1, exact) else math.inf
    return abs(found - exact) / math.ulp(exact)


def main():
    weft_opt, ptx_run, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "doubles.mlir").write_text("".join(kernel(name) for name in CASES))
    ptx = subprocess.run([weft_opt, folder / "doubles.mlir", "--weft-choose-nests=target=cuda:sm_80",
                          "--weft-print-assembly=target=cuda:sm_80", "-o", "/dev/null"], check=True,
                         capture_output=True, text=True).stdout
    (folder / "doubles.ptx").write_text(ptx)
    machine = Machine(ptx_run, folder / "doubles.ptx", folder)
    for name, (_, function, _, width, allowed) in CASES.items():
        columns = operands(name)
        found = array("d" if width == 8 else "f", [99]) * len(columns[0])
        machine.launch(name, 1, [*columns, found, array("q", [0])])
        errors = [error(value, function(*x)) for x, value in zip(zip(*columns, strict=True), found, strict=True)]
        worst = max(range(len(errors)), key=errors.__getitem__)
        at = ", ".join(f"{column[worst]:.17g}" for column in columns)
        print(f"{name}: {errors[worst]:.2f} units in the last place, at {at}")
        assert errors[worst] <= allowed, f"{name}({at}) = {found[worst]:.17g}, not {function(*(c[worst] for c in columns)):.17g}"


if __name__ == "__main__":
    main()
