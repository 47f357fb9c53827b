"""Compares programs with explicit axes whose ops have regions, and others with few values, with JAX's CPU."""

import os

os.environ["JAX_PLATFORMS"] = "weft,cpu"  # cpu to compare with

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax.lax import dce_sink
from jax.experimental import io_callback
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

CPU = jax.devices("cpu")[0]
DEVICES = jax.devices("weft")
EXPLICIT = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2, devices=DEVICES)
AUTO = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,), devices=DEVICES)
IMAGES = np.random.RandomState(0).randn(4, 8, 8, 2).astype(np.float32)
ROWS = IMAGES[:, :, 0, 0].copy()
ROWS[1, 2] = ROWS[1, 5] = np.nan
ROWS[2, 3] = -0.0
failures = 0


def compare(name, function, array, spec):
    global failures
    with jax.default_device(CPU):
        wanted = jax.tree.map(np.asarray, jax.jit(function)(jax.device_put(array, CPU)))
    with jax.set_mesh(EXPLICIT):
        found = jax.tree.map(np.asarray, jax.jit(function)(jax.device_put(array, NamedSharding(EXPLICIT, spec))))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True):
            failures += 1
            print(f"{name}: {a} is not {b}")
            return
    print(f"{name}: as on JAX's CPU")


def pooling(initial, combine, padding):
    def loss(x):
        return (lax.reduce_window(x, initial, combine, (1, 2, 2, 1), (1, 2, 2, 1), padding) ** 2).sum()
    return jax.grad(loss)


for padding in ("VALID", "SAME"):
    compare(f"gradient of max pooling {padding}", pooling(-np.inf, lax.max, padding), IMAGES, P("x", None, None, "y"))
    compare(f"gradient of min pooling {padding}", pooling(np.inf, lax.min, padding), IMAGES, P("x", None, None, "y"))
    compare(f"gradient of sum pooling {padding}", pooling(0.0, lax.add, padding), IMAGES, P("x", None, None, "y"))
compare("sort", lambda x: jnp.sort(x, axis=1), ROWS, P("x", None))
compare("argsort, descending", lambda x: jnp.argsort(x, axis=1, descending=True), ROWS, P("x", None))
compare("sort by two keys", lambda x: lax.sort((jnp.round(x), -x), dimension=1, num_keys=2), ROWS, P("x", None))
compare("argsort of complex numbers", lambda x: jnp.sort(jnp.round(x) + 1j * x, axis=1), IMAGES[:, :, 0, 0], P("x", None))
compare("argmax", lambda x: jnp.argmax(x, axis=1), IMAGES[:, :, 0, 0], P("x", None))
compare("cumulative logsumexp", lambda x: lax.cumlogsumexp(x, axis=1), IMAGES[:, :, 0, 0], P("x", None))

for shape, function in (((3, 0), jnp.fft.fft), ((0, 0), jnp.fft.fft2), ((0, 4), jnp.fft.irfft), ((0, 4), jnp.fft.rfft)):
    kind = np.float32 if function is jnp.fft.rfft else np.complex64
    with jax.default_device(CPU):
        wanted = function(np.zeros(shape, kind))
    with jax.default_device(DEVICES[0]):
        found = function(np.zeros(shape, kind))
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (shape, found, wanted)


def with_sink(x):
    dce_sink(jnp.sin(x), prevent_mlir_dce=True)
    return x + 1


for sharding in (jax.sharding.SingleDeviceSharding(DEVICES[0]), NamedSharding(AUTO, P("x"))):
    assert jax.jit(with_sink)(jax.device_put(np.ones(4, np.float32), sharding)).tolist() == [2] * 4

calls = []


def mapped(function, in_specs, out_specs, *arguments):
    before = len(calls)
    inside = jax.shard_map(function, mesh=AUTO, in_specs=in_specs, out_specs=out_specs)
    if arguments:
        result, _ = jax.jit(lambda *arguments: (inside(*arguments), arguments[0] * 2))(*arguments)
    else:
        result = jax.jit(inside)()
    jax.effects_barrier()
    return result, len(calls) - before


ROW = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(AUTO, P("x")))
for ordered in (False, True):
    def call(ordered=ordered):
        io_callback(lambda: calls.append(1), None, ordered=ordered)

    def call_with(x, ordered=ordered):
        io_callback(lambda x: calls.append(x), None, x, ordered=ordered)
        return ()

    def call_and_give(x, call=call):
        call()
        return x + 1

    # Without an argument the callback runs on one device only, as on JAX's CPU, which does not run it if it is ordered.
    assert ordered or mapped(call, (), None) == (None, 1)
    assert mapped(call_with, P("x"), (), ROW) == ((), 4), ordered
    given, count = mapped(call_and_give, P("x"), P("x"), ROW)
    assert given.tolist() == list(range(1, 9)) and count == 4, ordered
print("callbacks: all of them")
assert not failures
