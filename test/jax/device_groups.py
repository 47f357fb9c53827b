"""Collectives over axis_index_groups of any partition give the values of JAX's CPU devices.

    JAX_PLATFORMS=weft WEFT_DEVICES=cpu:8 python device_groups.py

psum, pmax and pmin also over groups of different sizes; pbroadcast, which JAX's CPU does not run, is compared with its definition.
"""

import os

os.environ["JAX_PLATFORMS"] = "weft,cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from jax import lax
from jax._src.lax import parallel
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

R = np.random.RandomState(4)
ROW, GRID, TURNED = ((8,), ("d",)), ((2, 4), ("x", "d")), ((4, 2), ("d", "x"))


def drawn(count, *sizes):
    """A partition of `count` devices into groups of these sizes."""
    order = R.permutation(count).tolist()
    return [[order.pop() for _ in range(size)] for size in sizes]


EQUAL = [(ROW, [[0, 1], [2, 3], [4, 5], [6, 7]]), (ROW, drawn(8, 2, 2, 2, 2)), (ROW, drawn(8, 4, 4)), (ROW, drawn(8, 8)),
         (GRID, [[0, 3], [1, 2]]), (TURNED, drawn(4, 2, 2))]
UNEVEN = [(ROW, drawn(8, 5, 3)), (ROW, drawn(8, 1, 3, 4)), (ROW, drawn(8, 1, 1, 2, 4)), (ROW, [[0], [1, 2], [3, 4, 5, 6, 7]]),
          (GRID, drawn(4, 1, 3)), (TURNED, drawn(4, 3, 1))]


def reductions(groups):
    def function(x, small, whole, flags):
        both = lax.psum((x, whole), "d", axis_index_groups=groups)
        return *both, lax.psum(small, "d", axis_index_groups=groups), lax.pmax(x, "d", axis_index_groups=groups), lax.pmin(
            whole, "d", axis_index_groups=groups), lax.pmax(flags, "d", axis_index_groups=groups), lax.fori_loop(
                0, 3, lambda i, v: lax.psum(v * 0.5, "d", axis_index_groups=groups) + i, x)

    return function


def exchanges(groups):
    size, more = len(groups[0]), {"axis_index_groups": groups}

    def function(x, small, whole, flags):
        wide = np.ones((1, size), x.dtype)
        return lax.all_gather(x, "d", **more), lax.all_gather(whole, "d", axis=1, tiled=True, **more), lax.psum_scatter(
            x[..., None] * wide, "d", scatter_dimension=2, tiled=True, **more), lax.psum_scatter(
                wide.T * small, "d", **more), lax.all_to_all(
                    x[..., None] * np.arange(size, dtype=x.dtype), "d", 2, 0, **more), lax.all_to_all(
                        flags[:, None] & (wide > 0), "d", 1, 0, tiled=True, **more)

    return function


def arrays(devices):
    """Blocks whose elements no group divides, one element, integers, and booleans."""
    return [R.randint(-9, 9, (devices, 5, 7)).astype(np.float32), R.randint(-9, 9, (devices, 1)).astype(np.float32),
            R.randint(-99, 99, (devices, 3, 11)).astype(np.int32), R.rand(devices, 6) < 0.5]


def run(platform, mesh, body, operands):
    shape, names = mesh
    grid = Mesh(np.array(jax.devices(platform)).reshape(shape), names, axis_types=(AxisType.Auto,) * len(names))
    blocks = P(names)

    def one(*values):
        return jax.tree.map(lambda v: v[None], body(*(v[0] for v in values)))

    mapped = jax.jit(jax.shard_map(one, mesh=grid, in_specs=blocks, out_specs=blocks, check_vma=False))
    return [np.asarray(v) for v in jax.tree.leaves(mapped(*(jax.device_put(a, NamedSharding(grid, blocks)) for a in operands)))]


def compare(mesh, groups, body, what):
    operands = arrays(8)
    ours, theirs = (run(platform, mesh, body(groups), operands) for platform in ("weft", "cpu"))
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        np.testing.assert_array_equal(a, b, err_msg=f"{what} {number} over {groups} of {mesh}")


def broadcasts():
    x = np.arange(48, dtype=np.float32).reshape(8, 6)
    for mesh, source in ((ROW, 5), (GRID, 2), (TURNED, 1)):
        along = mesh[1].index("d")
        expected = np.broadcast_to(np.take(x.reshape(*mesh[0], 6), [source], along), (*mesh[0], 6)).reshape(8, 6)
        for function in (lambda v: lax.pbroadcast(v, "d", source), lambda v: parallel.pbroadcast_start(v, "d", source).done()):
            np.testing.assert_array_equal(run("weft", mesh, function, [x])[0], expected)


for mesh, groups in EQUAL:
    compare(mesh, groups, exchanges, "exchange")
for mesh, groups in EQUAL[1:3] + UNEVEN:
    compare(mesh, groups, reductions, "reduction")
broadcasts()
print(f"{len(EQUAL) + len(UNEVEN)} partitions agree")
