"""Shardings of JAX on eight Weft devices, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.layout import Layout, with_layout_constraint
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

try:
    from jax.experimental.shard_alike import shard_alike
except ImportError:  # JAX 0.11 has no shard_alike
    shard_alike = None

devices = jax.devices()
assert len(devices) == 8, devices
mesh = Mesh(np.array(devices).reshape(2, 4), ("data", "model"))


def lay(array, *spec, on=mesh):
    return jax.device_put(array, NamedSharding(on, P(*spec)))


def check(name, found, expected, *spec, on=mesh):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-5, atol=2e-4, err_msg=name)
    wanted = NamedSharding(on, P(*spec))
    assert found.sharding.is_equivalent_to(wanted, found.ndim), (name, found.sharding, wanted)


x = np.arange(16 * 32, dtype=np.float32).reshape(16, 32) / 100
w = np.arange(32 * 24, dtype=np.float32).reshape(32, 24) / 100
xs, ws = lay(x, "data", "model"), lay(w, "model", None)
check("dot", jax.jit(jnp.dot)(xs, ws), x @ w, "data")
check("given", jax.jit(jnp.dot, out_shardings=NamedSharding(mesh, P(None, "model")))(xs, ws), x @ w, None, "model")
check("constrained", jax.jit(lambda a: jax.lax.with_sharding_constraint(
    jnp.tanh(a), NamedSharding(mesh, P("model", "data"))))(xs), np.tanh(x), "model", "data")
check("both axes", lay(x, None, ("model", "data")) * 2, x * 2, None, ("model", "data"))
check("moved", lay(xs, "model", None), x, "model", None)
donated = lay(x, "data")
check("donated", jax.jit(lambda a: a + 1, donate_argnums=0)(donated), x + 1, "data")
assert donated.is_deleted()

# Arrays over two meshes of the same devices, in one program.
flat = Mesh(np.array(devices), ("batch",))
mixed = jax.jit(lambda a, b: a + 2 * b)(xs, lay(x, None, "batch", on=flat))
np.testing.assert_allclose(np.asarray(mixed), 3 * x, rtol=1e-6)

# Some devices, in another order; one device that is not the first.
four = Mesh(np.array(devices)[[5, 3, 6, 1]].reshape(2, 2), ("a", "b"))
check("subset", jax.jit(lambda a: (a * 2).sum(0))(lay(x, "b", "a", on=four)), (x * 2).sum(0), "a", on=four)
# Copies to the same devices in other orders, over meshes of the same axes and of others.
orders = [[3, 2, 1, 0, 7, 6, 5, 4], [7, 6, 5, 4, 3, 2, 1, 0], [0, 2, 4, 6, 1, 3, 5, 7], [3, 1, 4, 0, 5, 2, 6, 7]]
for order in orders:
    for shape, names in (((2, 4), ("data", "model")), ((8,), ("data",)), ((4, 2), ("model", "data"))):
        other = Mesh(np.array(devices)[order].reshape(shape), names)
        moved = jax.device_put(xs, NamedSharding(other, P("data", None)))
        check("other order", moved, x, "data", on=other)
        for shard in moved.addressable_shards:
            np.testing.assert_array_equal(np.asarray(shard.data), x[shard.index])
        check("back", jax.device_put(moved, NamedSharding(mesh, P(None, "model"))), x, None, "model")
        check("between orders", jax.device_put(moved + 1, NamedSharding(mesh, P("model")), donate=True), x + 1, "model")
third = jax.device_put(x, devices[3])
assert (third + 1).devices() == {devices[3]}
np.testing.assert_allclose(np.asarray(jax.device_put(third + 1, devices[6])), x + 1)

# shard_alike, a layout constraint, and a function with custom partitioning.
if shard_alike:
    first, second = jax.jit(lambda a, b: shard_alike(a + 1, b + 1))(xs, x)
    np.testing.assert_allclose(np.asarray(second), x + 1)
    assert second.sharding.is_equivalent_to(first.sharding, 2) and not second.is_fully_replicated, second.sharding
    # A member that is not used has a say, too, be it an argument or a value.
    check("first unused", jax.jit(lambda a, b: shard_alike(a + 1, b + 1)[1])(xs, x), x + 1, "data", "model")
    check("second unused", jax.jit(lambda a, b: shard_alike(a + 1, b + 1)[0])(x, xs), x + 1, "data", "model")
    check("argument unused", jax.jit(lambda a, b: shard_alike(a, b)[1] * 2)(xs, x), x * 2, "data", "model")
check("order", jax.jit(lambda a: with_layout_constraint(a + 1, Layout((1, 0))) * 2)(xs), (x + 1) * 2, "data", "model")


def sine_of(partition, rule="i j -> i j"):
    sine = custom_partitioning(jnp.sin)
    sine.def_partition(partition, infer_sharding_from_operands=lambda *_: 1 / 0, sharding_rule=rule)
    return jax.jit(sine)(xs)


def by_block(mesh, operands, result):
    return mesh, jnp.sin, result.sharding, (operands[0].sharding,)


def columns(mesh, operands, result):  # gives a device's columns as the whole result
    return mesh, jnp.sin, NamedSharding(mesh, P()), (NamedSharding(mesh, P(None, "model")),)


check("partitions itself", sine_of(by_block), np.sin(x), "data", "model")
# A rule or a partition that JAX's CPU refuses.
for name, partition, rule, error in (
        ("rank", by_block, "i -> i", "Sharding rule 0th operand has rank 1, but the operation 0th operand has rank 2"),
        ("no rule", by_block, lambda *_: 3, "sharding_rule callable must produce"),
        ("blocks", columns, "i j -> i j", "Mismatch in result shapes. [ShapedArray(float32[16,8])] vs [ShapedArray(float32[16,32])]"),
        ("no sharding", lambda mesh, operands, _: (mesh, jnp.sin, "x", (operands[0].sharding,)), "i j -> i j", "must return Sharding"),
        ("raises", lambda *_: 1 / 0, "i j -> i j", "division by zero")):
    try:
        sine_of(partition, rule)
        raise AssertionError(f"{name} is accepted")
    except (ValueError, ZeroDivisionError) as refused:
        assert error in str(refused), (name, refused)
print("all shardings agree")
