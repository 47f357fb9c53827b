"""Runs hundreds of small programs of JAX on a Weft device, and compares each with JAX's own CPU device.

    conformance.py [NAME...]      a table of failures; exit status 1 if one is new
    conformance.py --every 8      one program of eight

Programs are made from the tables below: each function over some dtypes and shapes.
"""

import functools
import os
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "weft,cpu"  # cpu to compare with

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import windowed_reductions

warnings.filterwarnings("ignore")
# Known failures: a name, and a part of the reason that Weft gives.
KNOWN = {}

FLOATS = ["float32", "bfloat16", "float16"]
INTS = ["int32", "uint32", "int8", "uint8", "int16"]
UNARY_FLOAT = ["abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "digamma", "erf",
               "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "is_finite", "lgamma", "log", "log1p", "logistic", "neg",
               "round", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "bessel_i0e", "bessel_i1e"]
UNARY_INT = ["abs", "neg", "sign", "bitwise_not", "population_count", "clz", "square"]
BINARY_FLOAT = ["add", "sub", "mul", "div", "max", "min", "pow", "rem", "atan2", "eq", "ne", "lt", "le", "gt", "ge", "nextafter"]
BINARY_INT = ["add", "sub", "mul", "div", "max", "min", "rem", "eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or",
              "bitwise_xor", "shift_left", "shift_right_logical", "shift_right_arithmetic"]
DOMAIN = {"acosh": (1, 4), "log": (0.1, 4), "log1p": (-0.9, 4), "sqrt": (0, 4), "rsqrt": (0.1, 4), "acos": (-1, 1),
          "asin": (-1, 1), "atanh": (-0.9, 0.9), "erf_inv": (-0.9, 0.9), "digamma": (0.5, 4), "lgamma": (0.5, 4), "pow": (0.1, 3)}


def numbers(shape, dtype, low=-3, high=3, seed=0):
    """Floats in a range; integers that fit the type."""
    draw = np.random.default_rng(seed)
    kind = jnp.dtype(dtype)
    if dtype == "bool":
        return draw.integers(0, 2, shape).astype(bool)
    if jnp.issubdtype(kind, jnp.integer):
        return draw.integers(1 if jnp.issubdtype(kind, jnp.unsignedinteger) else -9, 10, shape).astype(kind)
    return draw.uniform(low, high, shape).astype(np.float32).astype(kind)


def elementwise():
    for names, dtypes in ((UNARY_FLOAT, FLOATS), (UNARY_INT, INTS)):
        for name in names:
            for dtype in dtypes:
                yield f"{name}-{dtype}", getattr(lax, name), [numbers((3, 5), dtype, *DOMAIN.get(name, (-3, 3)))]
    for names, dtypes in ((BINARY_FLOAT, FLOATS), (BINARY_INT, INTS)):
        for name in names:
            for dtype in dtypes:
                a = numbers((3, 5), dtype, *DOMAIN.get(name, (-3, 3)))
                b = numbers((3, 5), dtype, *DOMAIN.get(name, (-3, 3)), seed=1)
                if dtype in INTS and (name in ("div", "rem") or name.startswith("shift")):
                    b = np.maximum(np.abs(b), 1).astype(b.dtype)
                yield f"{name}-{dtype}", getattr(lax, name), [a, b]
    for source in FLOATS + INTS + ["bool"]:
        for target in FLOATS + INTS + ["bool"]:
            if source != target:
                yield f"convert-{source}-{target}", functools.partial(lax.convert_element_type, new_dtype=target), [
                    np.abs(numbers((3, 5), source))]


x, y = numbers((4, 6), "float32"), numbers((4, 6), "float32", seed=1)
image, kernel = numbers((2, 9, 8, 3), "float32"), numbers((3, 3, 3, 4), "float32", seed=1)
ids = np.array([3, 0, 2, 7, -1], np.int32)
square = numbers((5, 5), "float32")
positive = square @ square.T + 5 * np.eye(5, dtype=np.float32)


def moves():
    yield "reshape", lambda a: a.reshape(3, 8), [x]
    yield "transpose", jnp.transpose, [x]
    yield "broadcast", lambda a: jnp.broadcast_to(a, (2, 4, 6)), [x]
    yield "broadcast-ones", lambda a: jnp.broadcast_to(a[:, :1], (4, 6)), [x]
    yield "slice", lambda a: a[1:4:2, ::-1], [x]
    yield "pad", lambda a: lax.pad(a, 1.5, [(1, -1, 2), (-1, 2, 0)]), [x]
    yield "concatenate", lambda a, b: jnp.concatenate([a, b], 1), [x, y]
    yield "stack", lambda a, b: jnp.stack([a, b], 1), [x, y]
    yield "roll", lambda a: jnp.roll(a, 2, 1), [x]
    yield "tile", lambda a: jnp.tile(a, (2, 3)), [x]
    yield "repeat", lambda a: jnp.repeat(a, 3, 0), [x]
    yield "flip", jnp.flip, [x]
    yield "rot90", jnp.rot90, [x]
    yield "tril", jnp.tril, [x]
    yield "diag", jnp.diag, [square]
    yield "where", lambda a, b: jnp.where(a > b, a, b), [x, y]
    yield "clip", lambda a: jnp.clip(a, -1, 1), [x]
    yield "select_n", lambda a, b: lax.select_n(np.int32(1), a, b), [x, y]
    yield "iota", lambda a: a + jnp.arange(6), [x]
    yield "linspace", lambda a: jnp.linspace(a[0, 0], 2, 7), [x]
    yield "eye", lambda a: a @ jnp.eye(6), [x]
    yield "dynamic_slice", lambda a, i: lax.dynamic_slice(a, (i, i), (2, 3)), [x, np.int32(3)]
    yield "dynamic_update", lambda a, b, i: lax.dynamic_update_slice(a, b[:2, :2], (i, 1)), [x, y, np.int32(3)]
    yield "bitcast", lambda a: lax.bitcast_convert_type(a, jnp.int32), [x]
    yield "bitcast-narrow", lambda a: lax.bitcast_convert_type(a, jnp.uint8), [x]
    yield "reduce_precision", lambda a: lax.reduce_precision(a, 5, 10), [x]
    yield "squeeze", lambda a: jnp.squeeze(a[:, None]), [x]
    yield "split", lambda a: jnp.split(a, 3, 1), [x]
    yield "unstack", lambda a: list(a), [x]


def reductions():
    for name in ["sum", "max", "min", "prod", "mean", "var", "std", "any", "all", "argmax", "argmin", "cumsum", "cumprod",
                 "median", "ptp"]:
        for axis in (0, 1):
            yield f"{name}-{axis}", functools.partial(getattr(jnp, name), axis=axis), [x]
    yield "sum-all", jnp.sum, [x]
    for dtype in INTS + ["bool", "bfloat16"]:
        yield f"sum-{dtype}", jnp.sum, [numbers((4, 6), dtype)]
        yield f"max-{dtype}", jnp.max, [numbers((4, 6), dtype)]
    yield "cummax", lambda a: lax.cummax(a, 1), [x]
    yield "cummax-complex", lambda a: lax.cummax(a, 1), [(np.round(x) + 1j * y).astype(np.complex64)]
    yield "cummin-complex-reverse", lambda a: lax.cummin(a, 0, reverse=True), [(np.round(x) + 1j * y).astype(np.complex64)]
    yield "window-by-a-function", lambda a: lax.reduce_window(a, np.float32(1), lambda p, q: p * q + p * 0, (2, 3), (1, 2), ((1, 0), (0, 2)), (2, 1), (1, 2)), [x]
    yield "select-and-scatter-bool", lambda a, b: windowed_reductions._select_and_scatter_add(b, a, lax.ge_p, (2, 2), (1, 1), ((0, 0), (0, 0))), [
        x > 0, y[1:, 1:] > 0]
    yield "top_k-nan", lambda a: lax.top_k(a, 6), [np.array([[np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]], np.float32)]
    yield "cummin-reverse", lambda a: lax.cummin(a, 0, reverse=True), [x]
    yield "cumlogsumexp", lambda a: lax.cumlogsumexp(a, 1), [x]
    yield "logsumexp", lambda a: jax.nn.logsumexp(a, 1), [x]
    yield "norm", jnp.linalg.norm, [x]
    yield "reduce_xor", lambda a: lax.reduce(a, np.int32(0), lax.bitwise_xor, (0,)), [numbers((4, 6), "int32")]
    yield "reduce-init", lambda a: lax.reduce(a, np.float32(2), lax.add, (0,)), [x]
    yield "associative_scan", lambda a: lax.associative_scan(jnp.add, a), [x]
    yield "bincount", lambda i: jnp.bincount(i, length=8), [np.abs(ids)]
    yield "nansum", jnp.nansum, [np.where(x > 1, np.nan, x)]


def contractions():
    yield "dot", jnp.dot, [x, y.T.copy()]
    yield "vdot", jnp.vdot, [x, y]
    yield "outer", jnp.outer, [x[0], y[1]]
    yield "einsum", lambda a, b: jnp.einsum("bij,bkj->bik", a[None], b[None]), [x, y]
    yield "batched", jnp.matmul, [numbers((2, 3, 4), "float32"), numbers((2, 4, 5), "float32")]
    yield "mixed", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.float32), [
        numbers((3, 4), "bfloat16"), numbers((4, 5), "bfloat16")]
    for dtype in ("bfloat16", "float16"):  # long sums, which 16-bit floats cannot hold
        yield f"long-dot-{dtype}", jnp.matmul, [numbers((3, 2048), dtype, 0, 1), numbers((2048, 5), dtype, 0, 1)]
        yield f"long-conv-{dtype}", lambda a, b: lax.conv(a, b, (1, 1), "SAME"), [
            numbers((1, 64, 5, 5), dtype, 0, 1), numbers((4, 64, 3, 3), dtype, 0, 1)]
    yield "bool-dot", jnp.dot, [x > 0, y.T > 0]
    yield "int-dot", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), [numbers((3, 4), "int8"), numbers((4, 5), "int8")]
    yield "kron", jnp.kron, [x[:2, :2], y[:2, :2]]
    yield "tensordot", lambda a, b: jnp.tensordot(a, b, axes=((0, 1), (0, 1))), [x, y]
    yield "cross", jnp.cross, [x[:, :3], y[:, :3]]
    yield "cholesky", jnp.linalg.cholesky, [positive]
    yield "solve_triangular", lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), [np.tril(positive), square]
    yield "cho_solve", lambda a, b: jax.scipy.linalg.cho_solve((a, True), b), [np.tril(positive), square]


def windows():
    conv = functools.partial(lax.conv_general_dilated, dimension_numbers=("NHWC", "HWIO", "NHWC"))
    for name, more in {"valid": {}, "strides": {"window_strides": (2, 2)}, "padded": {"padding": ((1, 2), (0, 1))},
                       "dilated": {"rhs_dilation": (2, 2)}, "transposed": {"lhs_dilation": (2, 2), "padding": ((1, 2), (2, 1))}}.items():
        yield f"conv-{name}", functools.partial(conv, **{"window_strides": (1, 1), "padding": "VALID", **more}), [image, kernel]
    yield "conv-groups", functools.partial(conv, window_strides=(1, 1), padding="SAME", feature_group_count=3), [
        image, numbers((3, 3, 1, 6), "float32")]
    yield "conv-1d", lambda a, b: jnp.convolve(a, b, "same"), [x[0], y[0, :3]]
    yield "conv-gradient", jax.grad(lambda a, b: (conv(a, b, (1, 1), "SAME") ** 2).sum(), (0, 1)), [image, kernel]
    pool = functools.partial(lax.reduce_window, window_dimensions=(1, 2, 2, 1), window_strides=(1, 2, 2, 1), padding="SAME")
    yield "max_pool", lambda a: pool(a, -np.inf, lax.max), [image]
    yield "avg_pool", lambda a: pool(a, 0.0, lax.add), [image]
    yield "max_pool-tangent", lambda a: jax.jvp(lambda b: pool(b, -np.inf, lax.max), (a,), (a * 2 + 1,))[1], [image]
    yield "eigh-empty", jnp.linalg.eigh, [np.zeros((2, 0, 0), np.float32)]
    yield "max_pool-gradient", jax.grad(lambda a: (pool(a, -np.inf, lax.max) ** 2).sum()), [image]
    yield "resize", lambda a: jax.image.resize(a, (2, 5, 6, 3), "bilinear"), [image]
    yield "conv_transpose", lambda a, b: lax.conv_transpose(a, b, (2, 2), "SAME"), [image, kernel]


def indexing():
    yield "take", lambda a, i: jnp.take(a, i, axis=0, mode="clip"), [x, ids]
    yield "take-fill", lambda a, i: jnp.take(a, i, axis=0, mode="fill"), [x, ids]
    yield "index", lambda a, i: a[i], [x, ids[:3]]
    yield "index-pairs", lambda a, i: a[i, i + 1], [x, ids[:3]]
    yield "take_along", lambda a, i: jnp.take_along_axis(a, i, 1), [x, np.argsort(x, 1).astype(np.int32)]
    yield "boolean", lambda a: jnp.where(a > 0, size=5)[0], [x[0]]
    for name in ("add", "set", "multiply", "max", "min"):
        yield f"at-{name}", lambda a, i, name=name: getattr(a.at[i], name)(2.0), [x, ids[:3]]
    yield "segment_sum", lambda a, i: jax.ops.segment_sum(a, i, 4), [x, np.array([0, 1, 1, 3])]
    yield "one_hot", lambda i: jax.nn.one_hot(i, 5), [ids]
    yield "searchsorted", lambda a, b: jnp.searchsorted(a, b), [np.sort(x[0]), y[0]]
    yield "gather-gradient", jax.grad(lambda a, i: (a[i] ** 2).sum()), [x, ids[:3]]


def orders():
    yield "sort", functools.partial(jnp.sort, axis=1), [x]
    yield "sort-int", functools.partial(jnp.sort, axis=0), [numbers((6, 3), "int32")]
    yield "sort-nan", jnp.sort, [np.where(x > 2, np.nan, x)]
    yield "argsort", functools.partial(jnp.argsort, axis=1), [x]
    yield "argsort-descending", functools.partial(jnp.argsort, axis=1, descending=True), [x]
    yield "lexsort", lambda a, b: jnp.lexsort((a, b)), [numbers((9,), "int32"), numbers((9,), "int32", seed=1)]
    yield "sort-pairs", lambda a, b: lax.sort((a, b), num_keys=2), [numbers((9,), "int32"), numbers((9,), "float32")]
    pairs = (np.array([1, 1, -2, 1, 0, 0, np.nan, 3, 1, -0.0]) + 1j * np.array([2, -3, 5, 2, 5, -0.0, 1, np.nan, -3, 0])).astype(np.complex64)
    yield "sort-complex", jnp.sort, [pairs]
    yield "argsort-complex", functools.partial(jnp.argsort, stable=True), [pairs]
    yield "sort-complex-and-more", lambda a, b: lax.sort((a, b), num_keys=2), [pairs, numbers((10,), "int32")]
    meet = np.array([[0], [3], [3], [11], [0]], np.int32)
    for name in "max", "min":
        yield f"at-{name}-complex", lambda a, i, u, name=name: getattr(a.at[i[:, 0]], name)(u), [pairs, meet, pairs[5:]]
        yield f"at-{name}-complex-batch", jax.vmap(lambda a, u, name=name: getattr(a.at[meet[:, 0]], name)(u)), [
            np.stack([pairs, pairs[::-1]]), np.stack([pairs[:5], pairs[5:]])]
    yield "at-apply", lambda a, i: a.at[i].apply(lambda v: v * v + 1), [x, ids[:3]]
    yield "at-apply-twice", lambda a: a.at[jnp.array([1, 1, 2])].apply(jnp.sin), [x]
    yield "at-apply-unique", lambda a: a.at[:, jnp.array([2, 0])].apply(jnp.sin, unique_indices=True), [x]
    yield "top_k", lambda a: lax.top_k(a, 3), [x]
    yield "unique", lambda a: jnp.unique(a, size=6), [numbers((9,), "int32")]
    yield "percentile", lambda a: jnp.percentile(a, 30, axis=1), [x]


def control():
    yield "cond", lambda a: lax.cond(a.sum() > 0, jnp.sin, jnp.cos, a), [x]
    yield "switch", lambda i, a: lax.switch(i, [jnp.sin, jnp.cos, jnp.abs], a), [np.int32(2), x]
    yield "fori", lambda a: lax.fori_loop(0, 7, lambda i, b: b * 0.9 + i, a), [x]
    yield "while", lambda a: lax.while_loop(lambda b: b.sum() < 50, lambda b: b * 1.5 + 1, a), [x]
    yield "scan", lambda a: lax.scan(lambda c, v: (c * 0.5 + v, c.sum()), jnp.zeros(6), a), [x]
    yield "map", lambda a: lax.map(lambda v: jnp.sort(v), a), [x]
    yield "vmap", jax.vmap(lambda a, b: a @ b), [x, y]
    yield "scan-gradient", jax.grad(lambda a: lax.scan(lambda c, v: (jnp.tanh(c + v), None), jnp.zeros(6), a)[0].sum()), [x]
    yield "remat", jax.grad(lambda a: jax.checkpoint(lambda b: jnp.sin(jnp.sin(b)))(a).sum()), [x]
    yield "custom_jvp", jax.nn.relu, [x]


def networks():
    for name in ("relu", "gelu", "silu", "softplus", "elu", "selu", "softmax", "log_softmax", "sigmoid", "tanh", "leaky_relu",
                 "hard_swish", "glu", "celu", "mish", "soft_sign"):
        yield f"nn-{name}", getattr(jax.nn, name), [x]
        yield f"nn-{name}-gradient", jax.grad(lambda a, f=getattr(jax.nn, name): (f(a) ** 2).sum()), [x]
    yield "standardize", jax.nn.standardize, [x]
    yield "attention", jax.nn.dot_product_attention, [numbers((2, 5, 2, 4), "float32", seed=s) for s in range(3)]
    yield "hessian", jax.hessian(lambda a: (jnp.sin(a) ** 2).sum()), [x[0]]


def draws():
    key = jax.random.key_data(jax.random.key(3))
    wrap = jax.random.wrap_key_data
    yield "split", lambda k: jax.random.key_data(jax.random.split(wrap(k), 3)), [key]
    yield "fold_in", lambda k: jax.random.key_data(jax.random.fold_in(wrap(k), 7)), [key]
    for name, more in {"uniform": [(5, 3)], "normal": [(5, 3)], "bernoulli": [0.3, (5, 3)], "randint": [(5, 3), 0, 9],
                       "truncated_normal": [-2, 2, (5,)], "permutation": [9], "gumbel": [(5,)], "exponential": [(5,)],
                       "categorical": [x], "gamma": [2.0, (3,)], "choice": [9, (4,)], "bits": [(5,)]}.items():
        yield f"random-{name}", lambda k, name=name, more=more: getattr(jax.random, name)(wrap(k), *more), [key]


def bits():
    """Yields programs of XLA's random generators, whose words and states are compared."""
    state = np.array([1, 2, 0xFFFFFFFF, 0xFFFFFFFF], np.uint32)
    for algorithm in (lax.RandomAlgorithm.RNG_DEFAULT, lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_THREE_FRY):
        for dtype, shape in (("uint32", (7,)), ("uint32", (3, 3)), ("uint32", ()), ("uint16", (2, 4)), ("uint8", (5, 2))):
            name = f"bits-{algorithm.name}-{dtype}-{'x'.join(map(str, shape))}"
            yield name, functools.partial(lax.rng_bit_generator, shape=shape, dtype=dtype, algorithm=algorithm), [state]
    for name in ("rbg", "unsafe_rbg"):
        wrap = functools.partial(jax.random.wrap_key_data, impl=name)
        yield f"{name}-normal", lambda k, wrap=wrap: jax.random.normal(wrap(k), (3, 4)), [state]
        yield f"{name}-split", lambda k, wrap=wrap: jax.random.key_data(jax.random.split(wrap(k), 3)), [state]


def programs():
    for family in (elementwise, moves, reductions, contractions, windows, indexing, orders, control, networks, draws, bits):
        yield from family()


def difference(expected, found):
    """The reason why two trees of arrays differ, or nothing."""
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{b.dtype}{b.shape} is not {a.dtype}{a.shape}"
        loose = {"bfloat16": 2e-2, "float16": 3e-3}.get(a.dtype.name, 5e-5)
        if a.dtype.kind in "fcV":
            wide = np.complex128 if a.dtype.kind == "c" else np.float64
            a, b = a.astype(wide), b.astype(wide)
            if not np.allclose(a, b, rtol=loose, atol=loose, equal_nan=True):
                return f"differs by {np.nanmax(np.abs(a - b)):.3g}"
        elif not np.array_equal(a, b):
            return f"differs in {np.sum(a != b)} of {a.size}"
    return ""


def run(function, arguments):
    """The error on Weft or the difference from JAX's CPU, or nothing."""
    try:
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.tree.map(np.asarray, jax.jit(function)(*arguments))
    except (TypeError, ValueError):  # not a program of JAX: lax.abs of unsigned integers
        return None
    try:
        with jax.default_device(jax.devices("weft")[0]):
            return difference(expected, jax.tree.map(np.asarray, jax.jit(function)(*arguments)))
    except Exception as error:  # JAX raises errors of the plugin as several types
        return (str(error) or type(error).__name__).splitlines()[0]


def main():
    count, failed, new = 0, {}, 0
    every = int(sys.argv[2]) if sys.argv[1:2] == ["--every"] else 1
    names = [] if every > 1 else sys.argv[1:]
    for index, (name, function, arguments) in enumerate(programs()):
        if index % every or names and name not in names:
            continue
        why = run(function, arguments)
        count += why is not None
        if not why:
            continue
        failed[name] = why
        known = KNOWN.get(name)
        new += not (known and known in why)
        print(f"{'known' if known and known in why else 'NEW'}  {name}: {why}", flush=True)
    print(f"{count} programs, {count - len(failed)} agree, {len(failed)} do not, {new} of them not known")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
