"""Arrays of int2, int4 and of JAX's floats of at most eight bits, exhaustively, against JAX's own CPU device.

    narrow_types.py [NAME...]     those types alone

Every bit pattern of a type is converted to every other type of the table; every bfloat16, every float16,
every bound between two of its values and the floats beside them are converted to it. Arithmetic is done on all pairs of patterns.
"""

import os
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "weft,cpu"  # cpu to compare with

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

warnings.filterwarnings("ignore")
jax.config.update("jax_enable_x64", True)
INTS = ["int2", "uint2", "int4", "uint4"]
FLOATS = ["float8_e4m3", "float8_e3m4", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz",
          "float8_e8m0fnu", "float4_e2m1fn"]
OTHERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64", "complex64"]
WEFT, CPU = jax.devices("weft")[0], jax.devices("cpu")[0]


def width(name):
    return 2 if name in ("int2", "uint2") else 4 if "int4" in name or name.startswith("float4") else 8


def patterns(name):
    """All bit patterns of a type: each value once, and each NaN."""
    return np.arange(2 ** width(name), dtype=np.uint8).view(np.dtype(getattr(ml_dtypes, name)))


def on(device, function, *args):
    """The result of a function on a device."""
    with jax.default_device(device):
        return np.asarray(jax.jit(function)(*args))


def same(a, b):
    """Whether elements are equal bit for bit; all NaNs are equal."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return np.zeros(max(a.size, 1), bool)
    equal = (a.reshape(-1, 1).view(np.uint8) == b.reshape(-1, 1).view(np.uint8)).all(-1)
    if a.dtype.kind == "c" or "float" in a.dtype.name:
        wide = [x.astype(np.complex128 if x.dtype.kind == "c" else np.float64).ravel() for x in (a, b)]
        equal |= np.isnan(wide[0]) & np.isnan(wide[1])
    return equal


def bounds(name):
    """The middle of each two neighbouring values, and the nearest floats on both sides of it."""
    values = patterns(name).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    middle = ((values[1:] + values[:-1]) / 2).astype(np.float32)
    return np.concatenate([middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf))])


def sources(name):
    half = np.arange(65536, dtype=np.uint16)
    yield half.view(np.float16)
    yield half.view(ml_dtypes.bfloat16)
    yield half.view(ml_dtypes.bfloat16).astype(np.float32)
    yield bounds(name)
    if name != "float8_e8m0fnu":  # JAX's CPU converts doubles below 2^-126 to NaN
        yield half.view(ml_dtypes.bfloat16).astype(np.float64)
    for integer in ("int8", "uint8", "int16", "int32", "uint64"):
        yield np.arange(256).astype(np.uint8).view(np.int8).astype(integer)


def conversions(name):
    target = np.dtype(getattr(ml_dtypes, name))
    for other in INTS + FLOATS + OTHERS:
        values = patterns(name)
        if name == "float4_e2m1fn" and "int" in other:  # JAX's CPU converts 6 to the largest integer
            values = values[np.abs(values.astype(np.float32)) < 6]
        if other != name:
            yield f"{name}-to-{other}", lambda x, t=other: x.astype(t), [values]
    for source in sources(name):
        yield f"{source.dtype}-{source.size}-to-{name}", lambda x: x.astype(target), [source]


def arithmetic(name):
    all_of = patterns(name)
    a, b = np.repeat(all_of, all_of.size), np.tile(all_of, all_of.size)
    if name in FLOATS:
        if name == "float8_e8m0fnu":  # JAX's CPU takes 2^-127 for 0
            keep = (a.view(np.uint8) > 64) & (a.view(np.uint8) < 190) & (b.view(np.uint8) > 64) & (b.view(np.uint8) < 190)
            a, b = a[keep], b[keep]
        binary, unary = ["add", "mul", "sub", "div", "lt", "eq", "ge"], ["neg", "abs", "is_finite"]
    else:
        binary = ["add", "mul", "sub", "div", "rem", "max", "min", "lt", "eq", "ge", "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left",
                  "shift_right_logical", "shift_right_arithmetic"]
        unary = ["neg", "sign", "bitwise_not", "clz"]  # JAX's CPU counts the bits of the byte
    for op in binary:
        x, y = (a, b) if op not in ("div", "rem") or name in FLOATS else (a[b != 0], b[b != 0])
        yield f"{name}-{op}", getattr(lax, op), [x, y]
    for op in unary:
        yield f"{name}-{op}", getattr(lax, op), [all_of]


def structure(name):
    all_of = patterns(name)
    rows = np.tile(all_of, 3).reshape(3, -1)
    yield f"{name}-transpose", lambda x: x.T, [rows]
    yield f"{name}-concatenate", lambda x: jnp.concatenate([x, x[:, ::-1]], 1), [rows]
    yield f"{name}-constant", lambda x: jnp.asarray(all_of)[x], [np.arange(all_of.size, dtype=np.int32)[::-1].copy()]
    yield f"{name}-gather", lambda x, i: x[i], [all_of, np.array([1, 3, 0, 2])]
    yield f"{name}-select", lambda x: jnp.where(jnp.arange(x.size) % 2 == 0, x, x[::-1]), [all_of]
    yield f"{name}-bits", lambda x: lax.bitcast_convert_type(x, f"uint{width(name)}"), [all_of]
    yield f"{name}-argsort", lambda x: jnp.sort(x.astype(np.float32)), [all_of]
    yield f"{name}-loop", lambda x: lax.fori_loop(0, 3, lambda i, y: y[::-1], x), [all_of]
    if width(name) < 8:
        yield f"{name}-unpack", lambda x: lax.bitcast_convert_type(x, name), [np.arange(256, dtype=np.uint8)]
        yield f"{name}-pack", lambda x: lax.bitcast_convert_type(x, np.uint8), [np.resize(all_of, (16, 8 // width(name)))]
    if name in INTS:
        yield f"{name}-sum", lambda x: lax.reduce(x, np.zeros((), x.dtype), lax.add, (1,)), [rows]
        yield f"{name}-max", lambda x: lax.reduce_max(x, (0,)), [rows]
        yield f"{name}-dot", lambda x: lax.dot(x, x.T, preferred_element_type=np.int32), [rows]
        yield f"{name}-cumsum", lambda x: lax.cumsum(x, 1), [rows]
    if width(name) == 4 and name in INTS:  # JAX's CPU sorts int2 in another order
        yield f"{name}-sort", lambda x: lax.sort(x[:, ::-1], dimension=1), [rows]
    if name in INTS:
        yield f"{name}-argmax", lambda x: lax.argmax(x, 1, np.int32), [rows]
        yield f"{name}-iota", lambda: lax.iota(name, 2), []


def sharded(name):
    """Checks functions of an array sharded over all devices; "largest" is an all-reduce."""
    mesh = jax.sharding.Mesh(np.array(jax.devices("weft")), ("x",))
    rows = np.resize(patterns(name)[:4], (3 * mesh.size, 5))
    given = jax.device_put(rows, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
    for case, function in {"transpose": lambda x: x.T, "reverse": lambda x: x[::-1], "max": lambda x: lax.reduce_max(x.astype(np.float32), (0,)).astype(x.dtype),
                           "largest": lambda x: lax.reduce_max(x, (0,))}.items():
        if name != "float8_e8m0fnu" or case != "largest":  # JAX's maximum begins with NaN
            with jax.default_device(CPU):
                expected = np.asarray(jax.jit(function)(rows))
            yield case, same(np.asarray(jax.jit(function)(given)), expected).all()


def main():
    names = sys.argv[1:] or INTS + FLOATS
    total = skipped = 0
    failures = []
    for name in names:
        for case, function, args in [*conversions(name), *arithmetic(name), *structure(name)]:
            total += 1
            try:
                expected = on(CPU, function, *args)
            except Exception as why:
                skipped += 1
                if "-v" in sys.argv:
                    print("no figures:", case, str(why).splitlines()[0][:150])
                continue
            try:
                equal = same(on(WEFT, function, *args), expected)
                if not equal.all():
                    at = np.flatnonzero(~equal)
                    failures.append(f"{case}: {at.size} of {equal.size} differ, first at {at[0]}")
            except Exception as why:
                failures.append(f"{case}: {str(why).splitlines()[0][:200]}")
        for case, equal in sharded(name):
            total += 1
            if not equal:
                failures.append(f"{name}-{case} on {len(jax.devices('weft'))} devices")
    for failure in failures:
        print(failure)
    print(f"{total} programs, {skipped} without figures of JAX's CPU, {len(failures)} differ")
    sys.exit(bool(failures))


main()
