"""Compares shard_map on Weft with the same programs on JAX's own CPU devices.

    WEFT_DEVICES=cpu:8 python shard_map.py

Each function is run on eight devices of Weft and on eight of JAX; both give
the same array, to the bit, as all values are small integers.

    python shard_map.py --write ../fixtures/shard_map

writes the programs' texts, inputs and JAX's outputs for tests without JAX.
"""

import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu" if "--write" in sys.argv else "weft,cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

PROGRAMS = []


def program(*specs, out, mesh=((2, 4), ("x", "y")), shape=(8, 16), derive=True, place=None, **more):
    """Registers the body of a shard_map over arrays of small integers. `derive`: whether JAX has a derivative of it. The arrays
    lie as `specs` say, or as `place` does."""

    def register(body):
        PROGRAMS.append((body.__name__, shape, body, specs, out, mesh, derive, place or specs, more))
        return body

    return register


@program(P("x", "y"), out=P(None, "y"))
def all_reduce(v):
    return lax.psum(v * 2, "x")


@program(P("x", "y"), out=P(), derive=False)
def all_reduce_max_over_both(v):
    return lax.pmax(v, ("x", "y"))


@program(P("x", "y"), out=P(), derive=False)
def all_reduce_in_other_order(v):
    return lax.pmean(v, ("y", "x")) + lax.pmin(v, ("y", "x"))


@program(P("x", "y"), out=P("x", None), check_vma=False)
def all_gather_tiled(v):
    return lax.all_gather(v, "y", axis=1, tiled=True)


@program(P("x", "y"), out=P(None, "x", None), check_vma=False)
def all_gather_new_dimension(v):
    return lax.all_gather(v, "y", axis=0)


@program(P("x", None), out=P("x", "y"))
def reduce_scatter(v):
    return lax.psum_scatter(v, "y", scatter_dimension=1, tiled=True)


@program(P("x", None), out=P(("x", "y"), None), check_vma=False)
def all_to_all(v):
    return lax.all_to_all(v, "y", split_axis=1, concat_axis=0, tiled=True)


@program(P("x", ("y",)), out=P("x", "y"))
def all_to_all_same_dimension(v):
    return lax.all_to_all(v, "y", split_axis=1, concat_axis=1, tiled=True)


@program(P(None, "y"), out=P(None, "y"), derive=False)
def all_to_all_new_dimension(v):
    return lax.all_to_all(v.reshape(4, 2, 4), "y", split_axis=0, concat_axis=1).reshape(8, 4)


@program(P("x", "y"), out=P("x", "y"))
def ring(v):
    return lax.ppermute(v, "y", [(i, (i + 1) % 4) for i in range(4)])


@program(P("x", "y"), out=P("x", "y"))
def shift_with_zeros(v):
    return lax.ppermute(v, "y", [(i, i + 1) for i in range(3)])


@program(P("x", "y"), out=P("x", "y"))
def permute_over_both(v):
    return lax.ppermute(v, ("x", "y"), [(0, 5), (5, 3), (3, 0), (1, 7)])


@program(P("x", "y"), out=P("x", "y"))
def own_number(v):
    return v * 0 + 10 * lax.axis_index("x") + lax.axis_index("y")


@program(P("x", None), P(None, "y"), out=P("x", "y"))
def product(a, b):
    return a[:, :8] @ b[:8]


@program(P("x", "y"), out=P("x", None), check_vma=False)
def ring_all_gather(v):
    """A collective matmul: the blocks are passed around the ring."""
    here = lax.axis_index("y")

    def step(i, state):
        held, whole = state
        whole = lax.dynamic_update_slice(whole, held, (0, ((here - i) % 4) * 4))
        return lax.ppermute(held, "y", [(k, (k + 1) % 4) for k in range(4)]), whole

    return lax.fori_loop(0, 4, step, (v, jnp.zeros((4, 16), v.dtype)))[1]


@program(P("x", None), out=P(), axis_names={"x"})
def one_axis_manual(v):
    return lax.psum(v @ v.T, "x")


@program(P("x", None), out=P("x", None), axis_names={"x"})
def nested(v):
    inner = jax.shard_map(lambda w: lax.psum(w, "y"), in_specs=P(None, "y"), out_specs=P(None, None), axis_names={"y"})
    return inner(v)


@program(P("d", None), out=P("d", None), mesh=((8,), ("d",)), check_vma=False)
def groups_of_an_axis(v):
    return lax.psum(v, "d", axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]])


@program(P("d"), out=P("d"), mesh=((8,), ("d",)), shape=(8,))
def one_element_each(v):
    return lax.all_to_all(jnp.tile(v, 8), "d", 0, 0, tiled=True).sum(keepdims=True) + lax.psum(v, "d")


FREE = {"axis_names": {"x"}}  # the compiler shards over the other axes


@program(P("x", None), P(None, None), out=P("x", None), place=(P("x", None), P("y", None)), **FREE)
def free_product(v, w):
    return jnp.maximum(v @ w.T, 0)


@program(P("x", None), P(), P(), out=P("x", None), place=(P("x", None), P("y", None), P("y", None)), **FREE)
def free_layers(v, first, second):
    """Columns, then rows over "y": one all-reduce along it."""
    return jnp.maximum(v @ first.T, 0) @ second


@program(P("x", None), P(), out=P(), place=(P("x", None), P(None, "y")), **FREE)
def free_gradient_sum(v, w):
    """Data parallelism by hand around tensor parallelism by the compiler."""
    return lax.psum((v * 2).T @ (v + w[:4]), "x")


@program(P("x", None), out=P("x", None), **FREE)
def free_constraint(v):
    rows = lax.with_sharding_constraint(v * 2, P("y", None))
    return lax.with_sharding_constraint(rows + 1, P(None, "y")) * rows


@program(P("x", None), out=P("x", None), place=(P("x", "y"),), **FREE)
def free_all_reduce(v):
    return v * lax.psum(v, "x")


@program(P("x", None), out=P(None, None), place=(P("x", "y"),), check_vma=False, **FREE)
def free_all_gather(v):
    return lax.all_gather(v, "x", axis=0, tiled=True) * 2


@program(P("x", None), out=P(None, None), place=(P("x", "y"),), check_vma=False, derive=False, **FREE)
def free_all_gather_along_the_free_axis(v):
    return lax.all_gather(v, "x", axis=1, tiled=True) * 2


@program(P(None, None), out=P("x", None), place=(P(None, "y"),), **FREE)
def free_reduce_scatter(v):
    return lax.psum_scatter(v * 3, "x", scatter_dimension=0, tiled=True)


@program(P("x", None), out=P("x", None), place=(P("x", "y"),), **FREE)
def free_permute(v):
    return lax.ppermute(v, "x", [(0, 1), (1, 0)]) - v


@program(P("x", None, None), out=P(None, "x", None), shape=(4, 6, 8), place=(P("x", None, "y"),), **FREE)
def free_all_to_all(v):
    return lax.all_to_all(v, "x", split_axis=1, concat_axis=0, tiled=True)


@program(P("x", None), P(), out=P("x", None), shape=(8, 8), place=(P("x", None), P(None, "y")), **FREE)
def free_loop(v, w):
    return lax.fori_loop(0, 3, lambda i, a: jnp.clip(a @ w, -3, 3) + lax.psum(a, "x"), v)


@program(P("x", None), P(), out=P("x", None), shape=(8, 8), place=(P("x", None), P(None, "y")), **FREE)
def free_scan(v, w):
    return lax.scan(lambda a, b: (jnp.clip(a @ w, -2, 2), a * b), v, v[:3])[1].sum(0)


@program(P("x", None), out=P("x", None), place=(P("x", "y"),), **FREE)
def free_number(v):
    return v * 2 + lax.axis_index("x")


@program(P("x", None), P(), out=P("x", None), shape=(6, 10), place=(P("x", None), P()), **FREE)
def free_uneven(v, w):
    """Three rows and ten columns over four devices."""
    rows = lax.with_sharding_constraint(v, P("y", None))
    return lax.with_sharding_constraint(rows @ w.T @ w, P(None, "y")) + lax.psum(rows, "x")


@program(P("x", None), out=P("x", None), derive=False, **FREE)
def free_around_another(v):

    def body(w):
        return lax.psum(w * lax.axis_index("y"), "y") + lax.psum(w, "x")

    inner = jax.shard_map(body, in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"}, check_vma=False)
    return inner(lax.with_sharding_constraint(v + 1, P("y", None))) * 2


THREE = ((2, 2, 2), ("x", "y", "z"))


@program(P("x", None), P(), out=P("x", None), mesh=THREE, place=(P("x", "z"), P("z", "y")), **FREE)
def free_two_axes(v, w):
    return v @ w.T @ w + lax.psum(v, "x")


@program(P("x", None), P(), out=P("x", None), mesh=THREE, place=(P("x", "z"), P("z", "y")), derive=False, **FREE)
def free_around_another_with_an_axis(v, w):
    inner = jax.shard_map(lambda a, b: lax.psum(a @ b.T, "y"), in_specs=(P(None, "y"), P(None, "y")), out_specs=P(None, None), axis_names={"y"})
    return inner(v, w) @ w


@program(P("z", None), P(), out=P("z", None), mesh=THREE, place=(P(("z", "y"), None), P("x", "y")), axis_names={"z"})
def free_major_axes(v, w):
    """The compiler's axis is minor in the layout and major in the mesh."""
    return lax.with_sharding_constraint(v, P("y", "x")) @ w.T @ w


@program(P("x", None), out=P("x", None), mesh=THREE, **FREE)
def free_exchange(v):
    """A reshard over free axes exchanges data among devices with one coordinate of x."""
    a = lax.with_sharding_constraint(v * 2, P(("y", "z"), None))
    b = lax.with_sharding_constraint(a + v, P("z", "y"))
    return lax.with_sharding_constraint(b * a, P(("z", "y"), None)) + b


def inputs(specs, shape):
    return [np.random.RandomState(7 + i).randint(-4, 5, shape).astype(np.float32) for i in range(len(specs))]


def mapped(devices, body, specs, out, mesh, place, more):
    shape, names = mesh
    grid = jax.sharding.Mesh(np.array(devices).reshape(shape), names, axis_types=(AxisType.Auto,) * len(names))
    function = jax.shard_map(body, mesh=grid, in_specs=specs, out_specs=out, **more)
    return function, [NamedSharding(grid, spec) for spec in place]


def functions(devices, body, specs, out, mesh, derive, place, more):
    """Yields (name, function of the arrays, shardings): the shard_map between other ops, and the gradient of its sum of
    squares."""
    function, shardings = mapped(devices, body, specs, out, mesh, place, more)
    yield "", lambda *a: function(*[x + 1 for x in a]) * 2, shardings
    if derive:
        yield "-gradient", jax.grad(lambda *a: (function(*a) ** 2).sum()), shardings


def run(devices, program, arrays):
    for what, function, shardings in functions(devices, *program):
        placed = [jax.device_put(a, s) for a, s in zip(arrays, shardings)]
        yield what, np.asarray(jax.jit(function)(*placed))


def on_two_meshes(devices):
    """The result of a shard_map over one mesh for an array on another, whose axis the first one splits."""
    row = jax.sharding.Mesh(np.array(devices), ("d",))
    grid = jax.sharding.Mesh(np.array(devices).reshape(4, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    array = jax.device_put(np.arange(128, dtype=np.float32).reshape(8, 16), NamedSharding(row, P("d")))
    inner = jax.shard_map(
        lambda v: lax.psum(v, "b") + lax.axis_index("a"), mesh=grid, in_specs=P("a", "b"), out_specs=P("a"), axis_names={"a", "b"})
    return np.asarray(jax.jit(inner)(array))


def compare():
    weft, cpu = jax.devices("weft"), jax.devices("cpu")
    for name, shape, *program in PROGRAMS:
        if not jax.config.jax_use_shardy_partitioner and "axis_names" in program[-1]:
            continue  # GSPMD's shardings cannot say that only some axes are manual
        arrays = inputs(program[1], shape)
        for (what, ours), (_, theirs) in zip(run(weft, program, arrays), run(cpu, program, arrays)):
            np.testing.assert_array_equal(ours, theirs, err_msg=name + what)
        print(f"{name}: equal, sum {ours.sum():g}")
    np.testing.assert_array_equal(on_two_meshes(weft), on_two_meshes(cpu))
    print("two meshes: equal")


def write(folder):
    """Writes each program's text, its inputs and JAX's outputs."""
    cpu = jax.devices("cpu")
    for name, shape, *program in PROGRAMS:
        arrays = inputs(program[1], shape)
        for what, function, shardings in functions(cpu, *program):
            placed = [jax.device_put(a, s) for a, s in zip(arrays, shardings)]
            lowered = jax.jit(function).lower(*placed)
            path = pathlib.Path(folder) / (name + what)
            path.with_suffix(".mlir").write_text(lowered.as_text())
            ports = {f"in/{i:03}": a for i, a in enumerate(arrays)} | {"out/000": np.asarray(lowered.compile()(*placed))}
            np.savez_compressed(path.with_suffix(".npz"), **ports)


if __name__ == "__main__":
    write(sys.argv[2]) if sys.argv[1:2] == ["--write"] else compare()
