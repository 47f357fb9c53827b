"""pure_callback, io_callback, debug.callback and debug.print on Weft devices, one and eight.

    callbacks.py [PLATFORM]      PLATFORM beside Weft: functions get arrays on its devices
"""

import os
import sys

os.environ["JAX_PLATFORMS"] = ",".join(["weft", *sys.argv[1:]])

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

x = np.arange(16, dtype=np.float32).reshape(8, 2)
like = jax.ShapeDtypeStruct(x.shape, x.dtype)


def check(name, found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, err_msg=name)


def programs(x):
    """Runs each program on `x`, which lies on one device or on a mesh."""
    check("pure", jax.jit(lambda a: jax.pure_callback(lambda b: np.asarray(b) * 2, like, a) + 1)(x), np.asarray(x) * 2 + 1)
    pair = (like, jax.ShapeDtypeStruct((), np.int32))
    tripled, count = jax.jit(lambda a: jax.pure_callback(lambda b: (np.asarray(b) * 3, np.int32(7)), pair, a))(x)
    check("pair", tripled, np.asarray(x) * 3)
    check("scalar", count, 7)

    seen = []
    note = jax.jit(lambda a: io_callback(lambda b: seen.append(float(np.sum(b))), None, a) or a + 1)
    check("io", note(x), np.asarray(x) + 1)
    jax.effects_barrier()
    assert seen == [float(np.asarray(x).sum())], seen

    told = []
    jax.jit(lambda a: (jax.debug.callback(lambda s: told.append(int(s)), a.sum()), a * 2)[1])(x).block_until_ready()
    jax.effects_barrier()
    assert told == [int(np.asarray(x).sum())], told

    steps = []

    def body(i, a):
        jax.debug.callback(lambda i: steps.append(int(i)), i)
        return a * 0.5

    jax.block_until_ready(jax.jit(lambda a: jax.lax.fori_loop(0, 40, body, a))(x))
    jax.effects_barrier()
    assert steps == list(range(40)), steps

    order = []

    @jax.jit
    def ordered(a):
        io_callback(lambda b: order.append("first"), None, a, ordered=True)
        io_callback(lambda b: order.append("second"), None, a, ordered=True)
        return a

    jax.block_until_ready(ordered(x))
    jax.effects_barrier()
    assert order == ["first", "second"], order
    jax.block_until_ready(jax.jit(lambda a: (jax.debug.print("the sum is {s}", s=a.sum()), a)[1])(x))


mesh = Mesh(np.array(jax.devices()).reshape(2, -1), ("a", "b"))
programs(x)
programs(jax.device_put(x, NamedSharding(mesh, P("a"))))
check("vmap", jax.vmap(lambda a: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((2,), np.float32), a,
                                                   vmap_method="expand_dims"))(x), np.sin(x))

rows, places = [], P("a", None)


def doubled_rows(a):
    rows.append(np.asarray(a).shape)
    return np.asarray(a) * 2


def on_each(a):
    own = jax.pure_callback(doubled_rows, jax.ShapeDtypeStruct(a.shape, a.dtype), a)
    return own + jax.lax.psum(own.sum(), "a")


check("shard_map", jax.jit(jax.shard_map(on_each, mesh=mesh, in_specs=places, out_specs=places))(x), 2 * x + 2 * x.sum())
assert rows == [(4, 2)] * mesh.size, rows


def fail(a):
    raise ValueError("not this one")


try:
    jax.block_until_ready(jax.jit(lambda a: jax.pure_callback(fail, like, a))(x))
    raise AssertionError("a failing callback was not noticed")
except jax.errors.JaxRuntimeError as error:
    assert "ValueError: not this one" in str(error), error
check("after it", jax.jit(lambda a: a + 1)(x), x + 1)
print("all callbacks agree")
