"""Functions of JAX on special values: zeros of both signs, halves, ties, infinities, NaN, extremes of integers, of many types.

    JAX_PLATFORMS=cpu  special_values.py FILE.npz      writes the results
    JAX_PLATFORMS=weft special_values.py FILE.npz      compares with those of the file

Results below the least normal number are equal to 0.
"""

import functools
import math
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
from number_comparison import INTEGERS, LEAST, both_signs, difference  # noqa: E402

SINGLE = [0.0, 1, 0.5, 1.5, 2.5, 2, 3, 10, 85, 90, 1e3, 1e6, 1e10, 3e38, 1e-3, 1e-7, 1e-20, 0.9999999, 1.0000001, 7.3, 3.7]
PAIRS = [0.0, 1, 0.5, 2, 3.7, 7.3, 1e4, 3e38]
ROWS = [[1, 2, 3, 4], [0, 0, 0, 0], [math.nan, 1, 2, 3], [3, math.nan, math.inf, 1], [math.inf, 1, -math.inf, 2],
        [math.inf, math.inf, 1, 2], [-math.inf] * 4, [-0.0, 0.0, -0.0, 0.0], [-5, 5, -5, 5]]
COMPLEX = [0, 1, -1, 1j, -1j, 1 + 1j, -2 - 3j, 1e6, 1e-20j, complex(math.inf, 1), complex(math.nan, 0), complex(0, math.inf)]
UNARY = """abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cosh digamma erf erf_inv erfc exp exp2 expm1 floor
is_finite lgamma log log1p logistic neg round rsqrt sign sinh sqrt square tanh""".split()
BINARY = "add sub mul div rem max min pow atan2 nextafter eq ne lt le gt ge".split()
REDUCTIONS = """sum prod max min mean var std argmax argmin any all cumsum cumprod sort argsort median nanmax nansum nanmean
count_nonzero ptp""".split()
SCANS = "cummax cummin cumlogsumexp cumsum cumprod".split()
SLOPES = "tanh log1p sqrt abs exp logistic erf erfc sinh asinh cbrt rsqrt".split()
SLOPES_OF_TWO = "max min pow atan2 rem div".split()
ACTIVATIONS = """relu relu6 gelu silu softplus elu selu celu leaky_relu hard_tanh hard_sigmoid hard_swish log_sigmoid squareplus mish
soft_sign""".split()
OF_INTEGERS = "neg sign bitwise_not population_count clz".split()
OF_TWO_INTEGERS = """add sub mul div rem max min bitwise_and bitwise_or bitwise_xor shift_left shift_right_logical
shift_right_arithmetic eq lt""".split()
OF_COMPLEX = """abs neg sign exp log sqrt rsqrt sin cos tan tanh log1p expm1 conj real imag sinh cosh asinh acosh atanh asin acos
atan""".split()
TYPES = "float32 float16 bfloat16 int8 uint8 int16 int32 uint32 bool".split()
# Sums of terms that cancel: an absolute error of 2e-6 (of float32) is allowed.
CANCEL = ("lgamma", "var", "std", "slope", "activation", "squareplus")


def total(function, *x):
    return function(*x).astype(jnp.float32).sum()


def along(function, x):
    return function(x, axis=1)


def to(kind, x):
    return x.astype(kind)


def of_floats(kind):
    """Yields names, functions and operands."""
    x, rows = jnp.asarray(both_signs(SINGLE)).astype(kind), jnp.asarray(ROWS, kind)
    a, b = (jnp.asarray(each).astype(kind) for each in np.meshgrid(both_signs(PAIRS), both_signs(PAIRS)))
    angles = x[jnp.abs(x.astype(jnp.float32)) < 1e11]
    for name in ("sin", "cos", "tan"):
        yield name, getattr(lax, name), angles
    for name in UNARY:
        yield name, getattr(lax, name), x
    for name in BINARY:
        yield name, getattr(lax, name), a, b
    for other in TYPES:
        yield f"to {other}", functools.partial(to, other), x
    yield "clamp", lambda v: lax.clamp(jnp.asarray(-1, kind), v, jnp.asarray(2, kind)), x
    yield "reduce_precision", lambda v: lax.reduce_precision(v, 5, 6), x
    for name in REDUCTIONS:
        yield name, functools.partial(along, getattr(jnp, name)), rows
    for name in SCANS:
        yield f"lax.{name}", functools.partial(along, getattr(lax, name)), rows
    yield "top_k", lambda v: lax.top_k(v, 3)[0], rows
    yield "sort with positions", lambda v: lax.sort((v, jnp.broadcast_to(jnp.arange(4), v.shape)), dimension=1, num_keys=1), rows
    for name in SLOPES:
        yield f"slope of {name}", jax.grad(functools.partial(total, getattr(lax, name))), x
    for name in SLOPES_OF_TWO:
        yield f"slope of {name}", jax.grad(functools.partial(total, getattr(lax, name)), argnums=(0, 1)), a, b
    for name in ACTIVATIONS:
        yield f"activation {name}", getattr(jax.nn, name), x
        yield f"slope of activation {name}", jax.grad(functools.partial(total, getattr(jax.nn, name))), x


def of_integers(kind, values):
    x = jnp.asarray(np.array(values, kind))
    a, b = (jnp.asarray(each) for each in np.meshgrid(np.array(values, kind), np.array(values, kind)))
    for name in OF_INTEGERS:
        yield name, getattr(lax, name), x
    for name in OF_TWO_INTEGERS:
        yield name, getattr(lax, name), a, b
    for name in "floor_divide mod power left_shift right_shift".split():
        yield f"jnp.{name}", getattr(jnp, name), a, b
    for name in "sum prod max min mean var argmax cumsum sort".split():
        yield name, functools.partial(along, getattr(jnp, name)), a
    for other in TYPES:
        yield f"to {other}", functools.partial(to, other), x


def of_complex():
    z = np.array(COMPLEX, np.complex64)
    a, b = (jnp.asarray(each) for each in np.meshgrid(z[:7], z[:7]))
    for name in OF_COMPLEX:
        yield name, getattr(lax, name), jnp.asarray(z)
    for name in "add sub mul pow eq ne".split():
        yield name, getattr(lax, name), a, b


def results():
    """Every result by name, of 16 bits as float32."""
    out = {}
    groups = {kind: of_floats(kind) for kind in ("float32", "float16", "bfloat16")}
    groups |= {kind: of_integers(kind, values) for kind, values in INTEGERS.items()} | {"complex64": of_complex()}
    for group, cases in groups.items():
        names, functions, operands = zip(*((name, function, rest) for name, function, *rest in cases), strict=True)
        whole = jax.jit(lambda every, functions=functions: [f(*each) for f, each in zip(functions, every, strict=True)])
        for name, result in zip(names, whole(operands), strict=True):
            for i, leaf in enumerate(jax.tree.leaves(result)):
                leaf = np.asarray(leaf)
                out[f"{group}: {name}" + (f" {i}" if i else "")] = leaf.astype(np.float32) if leaf.dtype.name == "bfloat16" else leaf
    return out


def differs(name, found, wanted):
    """How a result differs from the CPU's; empty if it does not."""
    least, digits = {"float16": (6.2e-5, 2**13 * 6), "bfloat16": (LEAST, 2**16 * 6)}.get(name.split(":")[0], (LEAST, 64))
    return difference(found, wanted, digits, least, 3e-8 * digits if any(word in name for word in CANCEL) else 0.0)


def main():
    path, failures = pathlib.Path(sys.argv[1]), 0
    found = results()
    if jax.devices()[0].platform == "cpu":
        np.savez(path, **found)
        return 0
    with np.load(path) as file:
        wanted = dict(file)
    for name, want in wanted.items():
        if said := differs(name, found[name], want):
            print(f"{name} {said}")
            failures += 1
    print(f"{len(wanted)} results, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
