"""Compares programs over meshes with explicit axes on Weft with the same programs on JAX's own CPU devices.

    WEFT_DEVICES=cpu:8 python explicit.py

With explicit axes JAX states the sharding of every value, also of scalars in regions; and sums may stay unreduced
along an axis: each device holds a summand. Unreduced results are reduced before they are compared.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "weft,cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P, reshard

PROGRAMS = []
LINE, SQUARE, GRID = ((2,), ("x",)), ((2, 2), ("x", "y")), ((4, 2), ("x", "y"))
ROWS = np.arange(16, dtype=np.float32).reshape(8, 2)
TABLE = np.arange(32, dtype=np.float32).reshape(16, 2)


def program(*meshes):
    """Registers a function that places its arrays itself, under each of these meshes."""

    def register(function):
        PROGRAMS.extend((function, mesh) for mesh in meshes)
        return function

    return register


def lay(array, *spec, **more):
    return jax.device_put(array, P(*spec, **more))


def equal(array):
    """The sharding and the values of an array; an unreduced one is reduced first."""
    spec = array.sharding.spec
    if not spec.unreduced:
        return array.sharding.spec, np.asarray(array)
    reduced = reshard(array, P(*spec.partitions))
    return spec, np.asarray(reduced)


# Ops whose regions compute on scalars: scatter, reduce, reduce_window.


@program(LINE)
def scatter_add_of_whole():
    return jnp.zeros((2, 10)).at[:, jnp.array([1, 3, 7, 10])].add(5.0)


@program(LINE)
def scatter_add_of_rows():
    return lay(np.zeros((2, 10), np.float32), "x").at[:, jnp.array([1, 3, 7, 10])].add(5.0)


@program(LINE)
def scatter_add_by_sharded_indices():
    x, places = lay(np.zeros((2, 10), np.float32), "x"), lay(np.array([1, 3, 7, 10]), "x")
    return jax.jit(lambda x, i: x.at[:, i].add(5.0, out_sharding=P("x", None)))(x, places)


@program(LINE)
def scatter_of_gathered():
    x, i, j = (lay(value, "x") for value in (TABLE[:4] @ np.ones((2, 3), np.float32), np.array([0, 2, 1, 2]), np.array([2, 2, 0, 1])))

    @jax.jit
    def whole(x, i, j):
        taken = x.at[:, j].get(out_sharding=jax.typeof(i).sharding)
        return x.at[:, i].set(taken, out_sharding=jax.typeof(x).sharding)

    @jax.jit
    @jax.vmap
    def each(x, i, j):
        taken = x.at[j].get(out_sharding=jax.typeof(x).sharding)
        return x.at[i].set(taken, out_sharding=jax.typeof(x).sharding)

    return whole(x, i, j), each(x, i, j)


@program(LINE)
def scatter_of_other_bodies():
    x = lay(ROWS, "x")
    found = [getattr(x.at[:, jnp.array([1, 0])], name)(jnp.array([3.0, 5.0])) for name in ("mul", "max", "min")]
    return found


@program(LINE)
def conjugate_gradient():
    matrix, right = lay(np.diag(np.arange(1, 9, dtype=np.float32)), "x", None), lay(np.ones(8, np.float32))
    return jax.jit(lambda a, b: jax.scipy.sparse.linalg.cg(lambda v: reshard(a @ v, P(None)), b)[0])(matrix, right)


@program(LINE, GRID)
def reductions_and_orders():
    x = lay(np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8), "x", None)

    @jax.jit
    def f(x):
        pair = lax.reduce((x, x), (np.float32(1), np.float32(0)), lambda a, b: (a[0] * b[0], jnp.logaddexp(a[1], b[1])), (1,))
        pooled = lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2), "VALID")
        return [x.max(1), x.argmax(1), jnp.sort(x, 1), jnp.argsort(x, 1), jnp.cumsum(x, 1), *pair, pooled, x.all(1), jnp.median(x, 1)]

    return f(x)


@program(LINE)
def gradients_of_regions():
    x = lay(np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8), "x", None)
    pool = lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2), "VALID")
    return [jax.jit(jax.grad(lambda x: (f(x) ** 2).sum()))(x) for f in (pool, lambda x: x.max(1))]


@program(GRID)
def lookups():
    table, places = lay(TABLE), lay(np.arange(8), "x")
    look = lambda w, i: w.at[i].get(out_sharding=P("x"))
    return jax.jit(look)(table, places), jax.jit(jax.grad(lambda w, i: (look(w, i) ** 2).sum()))(table, places)


# Sums that stay unreduced.


def product(x, y):
    return jnp.einsum("xy,yz->xz", x, y, out_sharding=P("x", unreduced={"y"}))


def factors():
    return lay(ROWS, "x", "y"), lay(ROWS.T, "y", None)


@program(SQUARE, GRID)
def sum_of_unreduced():
    f = jax.jit(lambda x, y, a, b: reshard(product(x, y) + product(a, b), P("x")))
    return f(*factors(), *factors()), jax.jit(jax.grad(lambda *all: f(*all).sum(), argnums=(0, 1, 2, 3)))(*factors(), *factors())


@program(SQUARE, GRID)
def unreduced_results_and_arguments():
    result = jax.jit(product)(*factors())
    return result, jax.jit(lambda u: reshard(u + u, P("x", "y")))(result), reshard(product(*factors()), P())


@program(SQUARE, GRID)
def donated_sum():
    result = jax.jit(product)(*factors())
    return jax.jit(lambda u, x, y: u + product(x, y), donate_argnums=0)(result, *factors())


@program(SQUARE, GRID)
def times_reduced():
    return jax.jit(lambda x, y: reshard(product(x, y) * reshard(jnp.full((8, 8), 2.0), P("x", reduced={"y"})), P("x")))(*factors())


@program(SQUARE, GRID)
def moved_unreduced():
    f = jax.jit(lambda x, y: reshard(product(x, y).T, P(None, "x")))
    return f(*factors()), jax.jit(lambda x, y: jnp.concatenate([product(x, y), product(y.T, x.T)], axis=1))(*factors())


@program(SQUARE, GRID)
def copies_and_shards_become_summands():
    placed = lay(ROWS, "x", unreduced={"y"})
    return placed, reshard(lay(ROWS), P(unreduced={"x"})), reshard(lay(ROWS, "x"), P(None, unreduced={"x"})), jax.jit(lambda u: reshard(u, P(None, "y")))(placed)


@program(SQUARE, GRID)
def scatter_into_unreduced():
    table = reshard(jnp.zeros((16, 2)), P(unreduced={"x"}))
    f = jax.jit(lambda w, i, v: w.at[i].add(v, out_sharding=P(None, unreduced={"x"})))
    return f(table, lay(np.arange(8), "x"), lay(ROWS, "x"))


@program(SQUARE, GRID)
def gradient_of_reduced_table():
    look = lambda w, i: (w.at[i].get(out_sharding=P("x")) ** 2).sum()
    return jax.jit(jax.grad(look))(lay(TABLE, reduced={"x"}), lay(np.arange(8), "x"))


@program(SQUARE, GRID)
def gradients_accumulate_unreduced():
    weight, batches = lay(np.ones((2, 4), np.float32)), lay(np.arange(48, dtype=np.float32).reshape(3, 8, 2), None, "x", None)

    @jax.jit
    def f(weight, batches):
        reduced = reshard(weight, P(reduced={"x"}))
        step = lambda total, x: (total + jax.grad(lambda w: (jnp.dot(x, w) ** 2).sum())(reduced), None)
        total, _ = lax.scan(step, reshard(jnp.zeros((2, 4)), P(unreduced={"x"})), batches)
        return reshard(total, P())

    return f(weight, batches)


@program(LINE)
def shard_map_gives_unreduced():
    f = jax.jit(jax.shard_map(lambda x: lax.pcast(x.sum(0), "x", to="unreduced"), in_specs=P("x"), out_specs=P(unreduced={"x"})))
    return f(lay(ROWS, "x"))


@program(LINE)
def shard_map_takes_unreduced():
    given = jax.jit(lambda x: reshard(x, P(None, unreduced={"x"})))(lay(ROWS, "x"))
    f = jax.jit(jax.shard_map(lambda u: lax.psum_scatter(u, "x", tiled=True), in_specs=P(unreduced={"x"}), out_specs=P("x"), check_vma=False))
    whole = jax.jit(jax.shard_map(lambda u: lax.psum(u, "x"), in_specs=P(unreduced={"x"}), out_specs=P(), check_vma=False))
    return f(given), whole(given)


def on(platform, function, sizes, names):
    devices = np.array(jax.devices(platform))[: np.prod(sizes)].reshape(sizes)
    with jax.set_mesh(jax.sharding.Mesh(devices, names, axis_types=(AxisType.Explicit,) * len(names))):
        return [equal(leaf) for leaf in jax.tree.leaves(function())]


wrong = 0
for function, (sizes, names) in PROGRAMS:
    if sys.argv[1:] and function.__name__ not in sys.argv[1:]:
        continue
    try:
        expected = on("cpu", function, sizes, names)
    except NotImplementedError as error:  # 0.11 has no device_put of unreduced arrays
        if jax.__version_info__ < (0, 11):
            raise
        print(f"{function.__name__} on {sizes}: not in JAX {jax.__version__}: {error}")
        continue
    try:
        found = on("weft", function, sizes, names)
        for (spec, array), (other, value) in zip(expected, found, strict=True):
            assert spec == other, (spec, other)
            np.testing.assert_allclose(value, array, rtol=2e-6, atol=1e-6)
        print(f"{function.__name__} on {sizes}: equal")
    except Exception as error:
        wrong += 1
        print(f"{function.__name__} on {sizes}: {type(error).__name__} {str(error)[:1000]}")
sys.exit(wrong > 0)
