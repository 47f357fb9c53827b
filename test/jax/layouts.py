"""jax.experimental.layout: arrays whose dimensions lie in another order, against NumPy's values and the order asked for.

    WEFT_DEVICES=cpu:8 python layouts.py
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

devices = np.array(jax.devices())
mesh = Mesh(devices.reshape(2, 4), ("a", "b"))
count = 0


def check(found, expected, order):
    global count
    count += 1
    assert found.format.layout.major_to_minor == tuple(order), (found.format, order)
    np.testing.assert_array_equal(np.asarray(found), expected)
    for shard in found.addressable_shards:
        np.testing.assert_array_equal(np.asarray(shard.data), expected[shard.index])
        assert shard.data.format.layout.major_to_minor == tuple(order), shard.data.format


for sharding in (NamedSharding(mesh, P("a", "b")), NamedSharding(mesh, P(None, "a")), SingleDeviceSharding(devices[3])):
    for dtype in (np.float32, np.int8, np.complex64, np.bool_, jnp.bfloat16):
        x = np.arange(4 * 8 * 6).reshape(4, 8, 6).astype(dtype)
        for order in itertools.permutations(range(3)):
            wanted = Format(Layout(order), sharding)
            y = jax.device_put(x, wanted)
            check(y, x, order)
            # A program takes arrays in any order and returns them in any other; a result without a stated order is row-major.
            check(jax.jit(lambda v: v)(y), x, jax.jit(lambda v: v)(y).format.layout.major_to_minor)
            back = jax.jit(lambda v: jnp.flip(v, 0), out_shardings=Format(Layout((2, 0, 1)), sharding))(y)
            check(back, np.flip(x, 0), (2, 0, 1))
x = np.arange(48, dtype=np.float32).reshape(8, 6)
sharding = NamedSharding(mesh, P("a", None))
columns = Format(Layout((1, 0)), sharding)
y = jax.device_put(x, columns)
# Compiled programs state the order of arguments and results, which dispatch checks.
compiled = jax.jit(lambda v: v * 2, in_shardings=columns, out_shardings=columns).lower(y).compile()
assert compiled.input_formats[0][0].layout.major_to_minor == (1, 0), compiled.input_formats
assert compiled.output_formats.layout.major_to_minor == (1, 0), compiled.output_formats
check(compiled(y), x * 2, (1, 0))
check(jax.jit(lambda v: v * 2, in_shardings=columns, out_shardings=columns)(y), x * 2, (1, 0))
automatic = jax.jit(lambda v: v + 1, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO))
compiled = automatic.lower(jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding)).compile()
check(compiled(jax.device_put(x, compiled.input_formats[0][0])), x + 1, compiled.output_formats.layout.major_to_minor)
# Donated arrays: the memory is reused, or copied, and the values are right.
step = jax.jit(lambda v: v + 1, in_shardings=columns, out_shardings=columns, donate_argnums=0)
z = step(step(y))
check(z, x + 2, (1, 0))
assert y.is_deleted()
rows = jax.jit(lambda v: v + 1, out_shardings=Format(Layout((0, 1)), sharding), donate_argnums=0)
check(rows(z), x + 3, (0, 1))
# Copies keep the order, programs of several arrays mix them, and the devices may be in another order, too.
y = jax.device_put(x, columns)
check(jax.device_put(y, devices[0]), x, jax.device_put(y, devices[0]).format.layout.major_to_minor)
np.testing.assert_array_equal(np.asarray(jax.jit(jnp.dot)(y, jax.device_put(x.T, Format(Layout((1, 0)), sharding)))),
                              x @ x.T)
other = Mesh(devices[::-1].reshape(2, 4), ("a", "b"))
moved = jax.device_put(y, NamedSharding(other, P("b", "a")))
check(moved, x, moved.format.layout.major_to_minor)
try:
    jax.device_put(x, Format(Layout((1, 0), ((8, 128),)), sharding))
    raise AssertionError("tiles were taken")
except jax.errors.JaxRuntimeError as error:
    assert "is not supported; give an order of the 2 dimensions" in str(error), error
print(f"{count} arrays lie as asked")
