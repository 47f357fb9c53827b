"""Compares lax.ragged_all_to_all on Weft devices with its meaning in NumPy: JAX's CPU device does not have it.

    WEFT_DEVICES=cpu:8 python ragged.py
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P


def draw(random, devices, rows, places):
    """Sizes and offsets of each device (row) for each other (column): no two blocks overlap at their destination."""
    sizes = random.integers(0, 3, (devices, devices))
    starts = np.concatenate([np.zeros((devices, 1), int), np.cumsum(sizes, 1)[:, :-1]], 1)
    arrive = np.concatenate([np.zeros((1, devices), int), np.cumsum(sizes, 0)[:-1]], 0)
    assert sizes.sum(1).max() <= rows and sizes.sum(0).max() <= places
    return starts, sizes, arrive, sizes.T


def meaning(operand, output, starts, sizes, arrive):
    result = output.copy()
    for source, target in np.ndindex(sizes.shape):
        count, to, start = (table[source, target] for table in (sizes, arrive, starts))
        result[target, to:to + count] = operand[source, start:start + count]
    return result


def check(shape, names, over, random):
    """Checks a ragged exchange over one axis of the mesh, and its derivative, in each group of devices."""
    mesh = Mesh(np.array(jax.devices()[:int(np.prod(shape))]).reshape(shape), names)
    devices = mesh.shape[over]
    rows = places = 3 * devices
    groups = mesh.size // devices
    drawn = [draw(random, devices, rows, places) for _ in range(groups)]
    operand = random.integers(1, 100, (groups, devices, rows, 2)).astype(np.float32)
    output = -random.integers(1, 100, (groups, devices, places, 2)).astype(np.float32)
    tables = [np.stack([one[k] for one in drawn]).astype(np.int32) for k in range(4)]
    other = [name for name in names if name != over]
    spec = P(*other or (None,), over)

    def body(*given):
        return lax.ragged_all_to_all(*(value[0, 0] for value in given), axis_name=over)[None, None]

    mapped = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec)
    found = jax.jit(mapped)(operand, output, *tables)
    expected = np.stack([meaning(operand[g], output[g], *(table[g] for table in tables[:3])) for g in range(groups)])
    np.testing.assert_array_equal(np.asarray(found), expected)
    # The result is linear in the operand: the derivative sends the blocks back.
    sent = jax.jit(jax.grad(lambda given: mapped(given, output, *tables).sum()))(operand)
    assert float(sent.sum()) == float(2 * sum(one[1].sum() for one in drawn))


random = np.random.default_rng(7)
check((8,), ("x",), "x", random)
check((2,), ("x",), "x", random)
check((2, 4), ("x", "y"), "y", random)
print("all blocks have arrived")
