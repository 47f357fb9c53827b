"""Compares functions of keras.ops on special values with Keras on JAX: zeros, halves, ties, infinities, NaN, extremes of integers.

    KERAS_BACKEND=jax special_values.py WEFT FOLDER

Each group of functions is the outputs of one model, which `weft predict` runs from its JSON. Numbers below 1.2e-38 are equal to 0, for
which XLA takes them on CPUs. Bounds are in units in the last place of float32.
"""

import functools
import pathlib
import subprocess
import sys

import keras
import numpy as np
from keras import ops

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
from number_comparison import INTEGERS, both_signs, difference  # noqa: E402

SINGLE = [0.0, 1, 0.5, 1.5, 2.5, 2, 3, 10, 85, 90, 1e3, 1e6, 16777217, 1e10, 3e38, 1e-3, 1e-7, 1e-20, 0.9999999, 1.0000001]
SHORT = [0.0, 1, 0.5, 1.5, 2.5, 3, 3.7, 7.3, 10, 100, 600, 2000, 6e4, 1e-3, 1e-4]
PAIRS = [0.0, 1, 0.5, 2, 3.7, 7.3, 1e10, 3e38]
ROWS = np.array([[1, 2, 3, 4], [0, 0, 0, 0], [np.nan, 1, 2, 3], [3, np.nan, np.inf, 1], [np.inf, 1, -np.inf, 2],
                 [np.inf, np.inf, 1, 2], [-np.inf] * 4, [-5, 5, -5, 5], [3e4, 3e4, 1, 1]], np.float32)
UNARY = """absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cosh deg2rad erf erfc exp expm1 floor isfinite isinf
isnan log log10 log1p log2 negative rad2deg reciprocal round rsqrt sign sinh sqrt square tanh trunc nan_to_num relu relu6 selu
sigmoid silu softplus softsign sparse_plus sparse_sigmoid tanh_shrink hard_sigmoid hard_silu hard_tanh log_sigmoid elu celu gelu
leaky_relu soft_shrink hard_shrink squareplus""".split()
BINARY = """add subtract multiply divide divide_no_nan floor_divide mod power maximum minimum arctan2 hypot logaddexp heaviside equal
greater less_equal isclose fmax fmin fmod logical_and""".split()
REDUCTIONS = """amax amin mean std sum var prod logsumexp argmin count_nonzero median average cumsum cumprod sort softmax log_softmax
any all""".split()
OF_INTEGERS = "absolute negative sign square exp sqrt log floor round isfinite relu tanh bitwise_not logical_not cbrt".split()
OF_TWO_INTEGERS = """add subtract multiply divide floor_divide mod fmod power maximum minimum greater bitwise_and bitwise_xor left_shift
right_shift equal logaddexp""".split()
OF_ROWS_OF_INTEGERS = "sum prod max min mean std var argmax argmin cumsum cumprod sort any all average count_nonzero".split()
OF_BOOLEANS = "add multiply maximum equal greater divide floor_divide power bitwise_and left_shift right_shift logical_xor".split()


def function(name):
    """The function of keras.ops, or of the class that has no name there."""
    return getattr(ops, name, None) or getattr(keras.src.ops.numpy, "".join(part.title() for part in name.split("_")))()


def pairs(values):
    return [each.reshape(1, -1) for each in np.meshgrid(values, values)]


def of_type(kind, name, **settings):
    """The function on operands of the type, as float32."""
    def applied(*operands):
        return ops.cast(function(name)(*(ops.cast(x, kind) for x in operands), **settings), "float32")
    return applied


def groups():
    """Yields a group's name, its inputs, its functions by name, and the bound."""
    yield "unary", [both_signs(SINGLE).reshape(1, -1)], {name: function(name) for name in [*UNARY, "exp2"]}, 64
    yield "binary", pairs(both_signs(PAIRS)), {name: function(name) for name in BINARY}, 64
    yield "rows", [ROWS], {name: functools.partial(function(name), axis=-1) for name in [*REDUCTIONS, "argmax"]}, 64
    for kind, bits in (("float16", 13), ("bfloat16", 16)):
        bound = 6 * 2**bits
        yield f"unary-{kind}", [both_signs(SHORT).reshape(1, -1)], {name: of_type(kind, name) for name in UNARY}, bound
        yield f"binary-{kind}", pairs(both_signs(SHORT)), {name: of_type(kind, name) for name in BINARY}, bound
        yield f"rows-{kind}", [ROWS], {name: of_type(kind, name, axis=-1) for name in REDUCTIONS}, bound
    for kind, values in INTEGERS.items():
        values = np.array(values, kind)
        yield f"unary-{kind}", [values.reshape(1, -1)], {name: function(name) for name in OF_INTEGERS}, 4
        yield f"binary-{kind}", pairs(values), {name: function(name) for name in OF_TWO_INTEGERS}, 4
        yield (f"rows-{kind}", [np.stack([values, values[::-1]])],
               {name: functools.partial(function(name), axis=-1) for name in OF_ROWS_OF_INTEGERS}, 4)
    yield "booleans", pairs(np.array([False, True])), {name: function(name) for name in OF_BOOLEANS}, 4


def predicted(weft, model, inputs, folder):
    """The outputs that weft predicts, in their order."""
    (folder / "model.json").write_text(model.to_json())
    names = [tensor.name for tensor in model.inputs]
    np.savez(folder / "in.npz", **dict(zip(names, inputs, strict=True)))
    flags = [word for name in names for word in ("--x", f"{name}={folder}/in.npz:{name}" if len(names) > 1 else f"{folder}/in.npz:{name}")]
    subprocess.run([weft, "predict", folder / "model.json", "--seed", "1", *flags, "--out", folder / "out.npz"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with np.load(folder / "out.npz") as file:
        return [file[name] for name in file.files]


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    count, failures = 0, 0
    for group, inputs, functions, bound in groups():
        tensors = [keras.Input(x.shape[1:], dtype=x.dtype.name, name=f"input_{i}") for i, x in enumerate(inputs)]
        model = keras.Model(tensors, [each(*tensors) for each in functions.values()])
        wanted = [np.asarray(value) for value in model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)]
        found = predicted(weft, model, inputs, folder)
        for name, got, want in zip(functions, found, wanted, strict=True):
            count += 1
            if said := difference(got, want, bound):
                print(f"{group}: {name} {said}")
                failures += 1
    print(f"{count} functions of a type, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
