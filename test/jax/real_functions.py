"""Compares functions that JAX prints by name (chlo), through `weft run` of the printed text, with JAX's CPU device.

    real_functions.py WEFT
"""

import subprocess
import sys
import tempfile

import jax
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e-30, -1e-30, 1e30, -1e30, np.inf, -np.inf, np.nan]
UNIT = np.concatenate([np.linspace(-1.2, 1.2, 97), 1 - np.logspace(-7, -1, 20), np.logspace(-7, -1, 20) - 1])
WIDE = np.concatenate([np.linspace(-12, 12, 193), np.logspace(-6, 4, 41), -np.logspace(-6, 1.7, 41)])
ABOVE = np.concatenate([np.linspace(0.5, 30, 119), 1 + np.logspace(-7, 6, 40)])
# Arguments of lgamma and digamma; below -20 lgamma is a small difference of large numbers.
GAMMA = np.concatenate([np.linspace(-4.75, 30, 140), np.logspace(-6, 6, 40)])
OF_ONE = {lax.acos: UNIT, lax.asin: UNIT, lax.atanh: UNIT, lax.erf_inv: UNIT, lax.acosh: ABOVE, lax.asinh: WIDE, lax.atan: WIDE,
          lax.sinh: WIDE, lax.cosh: WIDE, lax.bessel_i1e: WIDE, lax.lgamma: GAMMA, lax.digamma: GAMMA}
ORDERS, PLACES = (grid.ravel() for grid in np.meshgrid(np.linspace(0.5, 9.5, 19), np.linspace(0.25, 12, 40)))
WHOLE = np.floor(ORDERS)
OF_TWO = {lax.zeta: (ORDERS, PLACES), lax.polygamma: (WHOLE, PLACES), lax.nextafter: (WIDE, WIDE[::-1])}
TOLERANCE = {"float16": 2e-3, "float32": 2e-5, "float64": 2e-12}


def check(weft, folder, function, arguments):
    lowered = jax.jit(function).lower(*arguments)
    with open(f"{folder}/program.mlir", "w") as out:
        out.write(lowered.as_text())
    np.savez(f"{folder}/in.npz", **{f"in/{i:03}": argument for i, argument in enumerate(arguments)})
    done = subprocess.run([weft, "run", f"{folder}/program.mlir", "--inputs", f"{folder}/in.npz", "--outputs", f"{folder}/out.npz"],
                          capture_output=True, text=True, check=False)
    name, dtype = function.__name__, arguments[0].dtype
    assert done.returncode == 0, (name, dtype, done.stderr)
    found = np.load(f"{folder}/out.npz")["out/000"]
    expected = np.asarray(lowered.compile()(*arguments))
    if function is lax.digamma:  # its pole at 0 is NaN in JAX 0.10 and in Weft, -inf in 0.11
        expected = np.where(arguments[0] == 0, np.nan, expected).astype(expected.dtype)
    if function is lax.nextafter:
        np.testing.assert_array_equal(found, expected, str(dtype))
    else:
        tolerance = TOLERANCE[str(dtype)]
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=f"{name} {dtype}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for dtype in ("float16", "float32", "float64"):
            for function, values in OF_ONE.items():
                with np.errstate(over="ignore"):
                    arguments = np.concatenate([values, SPECIAL]).astype(dtype)
                check(sys.argv[1], folder, function, [arguments])
            for function, pair in OF_TWO.items():
                check(sys.argv[1], folder, function, [values.astype(dtype) for values in pair])
            print(f"{dtype}: {len(OF_ONE) + len(OF_TWO)} functions agree")


if __name__ == "__main__":
    main()
