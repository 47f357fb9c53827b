"""Programs of public_reports.py: ops on sharded arrays."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P
from public_reports import Case, mesh, normal, report

IMAGES = ("NHWC", "HWIO", "NHWC")


def constrained(value, on, spec):
    return lax.with_sharding_constraint(value, NamedSharding(on, spec))


@report("jax-ml/jax#16894")
def strided_convolution():
    f = lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=IMAGES)
    x, w = normal(8, 15, 16, 4), normal(3, 3, 4, 8)
    for out in (None, P("a", None, None, "b"), P(None, "b")):
        yield Case(f, (x, w), (P("a"), P(None, None, None, "b")), out, tolerance=1e-4)


@report("jax-ml/jax#35896")
def arange_of_64_bits():
    with jax.enable_x64(True):
        yield Case(lambda: jnp.arange(2**33, 2**33 + 4096, dtype=jnp.int64) * 3, (), (), P(("a", "b")),
                   expected=np.arange(2**33, 2**33 + 4096) * 3, silent=True)


@report("jax-ml/jax#24576")
def concatenate_on_one_axis():
    f = lambda x, y: jnp.concatenate([x, y * 2])
    for out in (P("a"), P("b"), P()):
        yield Case(f, (normal(8, 6), normal(8, 6, seed=1)), (P("a"), P("a")), out)
        yield Case(f, (normal(8, 8), normal(8, 8, seed=1)), (P("b"), P(None, "a")), out)


@report("jax-ml/jax#18434")
def shift_by_an_update():
    for spec in (P("a"), P("b"), P(("a", "b"))):
        yield Case(lambda x: x.at[:-1].set(x[1:]), (normal(16, 3),), (spec,), spec)


@report("jax-ml/jax#23052")
def scatter_of_static_rows():
    yield Case(lambda x, y: x.at[jnp.array([1, 6, 3])].set(y), (normal(8, 32), normal(3, 32)), (P(None, "b"), P(None, "b")), P(None, "b"), silent=True)


@report("jax-ml/jax#16909")
def fourier_transforms_of_sharded_rows():
    f = lambda x: jnp.fft.ifft(jnp.fft.fft(x).T * 2).T
    yield Case(f, (normal(8, 64).astype(np.complex64),), (P(None, "b"),), tolerance=1e-3)
    yield Case(jnp.fft.rfft, (normal(16, 40),), (P("a", "b"),), tolerance=1e-3)


@report("jax-ml/jax#15680", "jax-ml/jax#13081", "openxla/xla PR48845")
def fourier_transforms_of_whole_rows():
    spec = P(("a", "b"))
    yield Case(lambda x: jnp.fft.fft(x), (normal(16, 30).astype(np.complex64),), (spec,), spec, tolerance=1e-3, silent=True)


@report("openxla/xla#47945")
def grouped_convolution():
    f = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=IMAGES, feature_group_count=4)
    yield Case(f, (normal(8, 8, 8, 16), normal(3, 3, 4, 16)), (P(("a", "b")), P()), P(("a", "b")), tolerance=1e-4, silent=True)


@report("jax-ml/jax#32157", "jax-ml/jax#20710")
def gradients_of_each_sample():
    def loss(w, x):
        return (lax.conv_general_dilated(x[None], w, (1, 1), "SAME", dimension_numbers=IMAGES) ** 2).sum()
    f = jax.vmap(jax.grad(loss), in_axes=(None, 0))
    yield Case(f, (normal(3, 3, 2, 4), normal(8, 6, 6, 2)), (P(), P(("a", "b"))), P(("a", "b")), tolerance=1e-3, silent=True)


@report("tenstorrent/tt-xla#902")
def product_for_each_output_layout():
    for out in (P(), P("a"), P("b", "a"), P(("a", "b")), P(None, ("b", "a"))):
        yield Case(jnp.matmul, (normal(32, 48), normal(48, 64)), (P("a", "b"), P("b", None)), out, tolerance=1e-4)


@report("pytorch#166598")
def contraction_over_axes_in_two_orders():
    yield Case(jnp.matmul, (normal(8, 64), normal(64, 8)), (P(None, ("a", "b")), P(("b", "a"))), tolerance=1e-4)


@report("pytorch#162692", "pytorch#103306", "pytorch#115310", "pytorch#161368")
def uneven_and_empty_shards():
    on = mesh(2, 4)
    for rows in (2, 5, 10):
        def f(x):
            y = constrained(x * 1.5, on, P("b", None))
            return y.mean(0), y.mean(), jnp.cumprod(y, 0), y.max(0), y.argmin(0), constrained(y.T @ y, on, P(("a", "b"), None))
        yield Case(f, (normal(rows, 3),), (P(),), on=on, tolerance=1e-4)


@report("pytorch#168940", "pytorch PR175776")
def maxima_and_their_positions():
    x = normal(8, 16).round()
    x[2, 5] = x[3, 1] = np.nan
    yield Case(lambda x: (x.max(1), x.argmax(1), x.argmax(0), lax.top_k(jnp.nan_to_num(x), 3)), (x,), (P("a", "b"),))


@report("pytorch PR165962")
def maximum_of_a_partial_sum():
    yield Case(lambda x, w: (x @ w).max(1), (-abs(normal(8, 32)), abs(normal(32, 8))), (P(None, "b"), P("b")), tolerance=1e-4)


@report("jax-ml/jax#38885")
def gradient_of_ties_in_bfloat16():
    x = np.ones((4, 600), jnp.bfloat16)
    yield Case(jax.grad(lambda x: x.max(1).sum()), (x,), (P("a", "b"),))


@report("pytorch PR186282", "pytorch#168134", "pytorch PR178785", "pytorch PR166483")
def merged_and_split_dimensions():
    f = lambda x: (x.reshape(8, -1).sum(1), x.reshape(-1, 4) * 2, x.reshape(4, 2, 3, 4, 2).max((1, 4)), x.transpose(2, 0, 1).reshape(8, 24))
    for spec in (P("a", None, "b"), P("b"), P(None, None, ("a", "b"))):
        yield Case(f, (normal(8, 3, 8),), (spec,))


@report("pytorch#172350")
def values_at_indices():
    f = lambda x, i, v: (x.at[i].set(v), x.at[i].add(v), x.at[:, i].multiply(2))
    i = np.array([3, 0, 7, 5], np.int32)
    for spec in (P("a"), P("b"), P(None, "a")):
        yield Case(f, (normal(8, 8), i, normal(4, 8)), (spec, P("a"), P("b")))


@report("openxla/xla#13304")
def rows_at_indices():
    i = np.array([3, 0, 7, 5, 2, 2, 11, -1], np.int32)
    for table, indices in ((P("b"), P("a")), (P(None, "b"), P("a")), (P("a", "b"), P())):
        yield Case(lambda x, i: x[i], (normal(16, 8), i), (table, indices))


@report("jax-ml/jax#9083")
def updates_beyond_the_end():
    f = jax.vmap(lambda x, u, i: lax.dynamic_update_slice(x, u, (i,)))
    i = np.array([0, 3, 5, 6, 100, -4, 7, 2], np.int32)
    yield Case(f, (normal(8, 8), normal(8, 3), i), (P("a", "b"), P("a"), P("a")))


@report("jax-ml/jax#35650")
def order_and_counts():
    x = np.random.default_rng(3).integers(0, 50, (8, 64)).astype(np.int32)
    yield Case(lambda x: jnp.argsort(x, axis=1), (x,), (P("a", "b"),))
    yield Case(lambda x: jnp.bincount(x.ravel(), length=50), (x,), (P("a", "b"),))


@report("jax-ml/jax#23757", "secretflow/spu#117")
def sort_of_many_operands():
    keys = np.random.default_rng(4).integers(0, 6, (16, 8)).astype(np.int32)
    f = lambda *operands: lax.sort(operands, dimension=1, num_keys=1, is_stable=True)
    yield Case(f, (keys, *(normal(16, 8, seed=i) for i in range(16))), (P("a"),) * 17)


@report("jax-ml/jax#25844")
def gradients_keep_layouts():
    f = jax.grad(lambda w, x: jnp.tanh(x @ w).sum(), argnums=(0, 1))
    yield Case(f, (normal(16, 32), normal(8, 16)), (P(None, "b"), P("a")), (P(None, "b"), P("a")), tolerance=1e-4)


@report("jax-ml/jax#20149", "openxla/xla#10543")
def constraint_on_a_one_hot():
    on = mesh(2, 4)
    f = lambda i, w: constrained(jax.nn.one_hot(i, 12), on, P("a", "b")) @ w
    yield Case(f, (np.array([0, 11, 5, 13], np.int32), normal(12, 6)), (P("a"), P("b")), on=on)


@report("openxla/xla#3891")
def triangular_solve_of_a_singular_matrix():
    a = np.tril(normal(4, 5, 5)) + 3 * np.eye(5, dtype=np.float32)
    a[2, 3, 3] = 0
    f = lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True)
    yield Case(f, (a, normal(4, 5, 2)), (P("b"), P("b")), tolerance=1e-4)


@report("tenstorrent/tt-xla#613", "jax-ml/jax#14519", "jax-ml/jax#30531", "pytorch PR185228")
def means_exponents_and_scans():
    yield Case(lambda x: (jnp.frexp(x), x.mean(0)), (normal(8, 8) * 100,), (P("a", None),))
    def loss(w, x):
        return lax.scan(lambda h, row: (jnp.tanh(h @ w + row), h.sum()), jnp.zeros(x.shape[1:]), x)[0].sum()
    yield Case(jax.grad(loss, argnums=(0, 1)), (normal(8, 8) / 4, normal(6, 4, 8)), (P("b"), P(None, "a")), tolerance=1e-4)


@report("gradient of overlapping windows of a maximum pool")
def gradient_of_overlapping_pools():
    pool = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 1, 1), "SAME")
    yield Case(jax.grad(lambda x: (pool(x) ** 2).sum()), (normal(2, 8, 8, 3),), (P(None, "a", "b"),), tolerance=1e-4)


@report("jax-ml/jax#14190")
def associative_scan():
    f = lambda x: lax.associative_scan(lambda a, b: a * b + a + b, x, axis=0)
    yield Case(f, (normal(64, 3) / 9,), (P(("a", "b")),), tolerance=1e-4)


@report("jax-ml/jax#26365", "keras-team/keras#21190")
def products_of_16_bits():
    for dtype in (jnp.bfloat16, np.float16):
        f = lambda x, w: jax.nn.gelu(x @ w)
        yield Case(f, ((normal(512, 512) / 16).astype(dtype), (normal(512, 512) / 16).astype(dtype)), (P("a"), P(None, "b")), tolerance=2e-2)


@report("EnzymeAD/Reactant.jl#1164", "EnzymeAD/Reactant.jl#2675")
def permuted_devices():
    devices = [jax.devices("weft")[i] for i in (3, 0, 2, 1, 7, 6, 4, 5)]
    on = mesh(4, 2, devices=devices)
    yield Case(lambda x: (x @ x.T, x.sum(0)), (normal(8, 4),), (P("a", "b"),), on=on, tolerance=1e-4)
    yield Case(lambda x: constrained(x, on, P("a")) * 2 + constrained(x, on, P("a"))[::-1], (normal(126),), (P(),), on=on)


@report("jax-ml/jax#16193", "jax-ml/jax#13632", "jax-ml/jax#37445", "jax-ml/jax PR35292")
def last_device_eager_indexing_constants_and_empty_masks():
    one = mesh(1, devices=jax.devices("weft")[-1:])
    yield Case(lambda x: x * 2, (normal(4),), (P("a"),), on=one, silent=True)
    on = mesh(2, 4)
    x = jax.device_put(normal(8, 8), NamedSharding(on, P("a", "b")))
    np.testing.assert_array_equal(np.asarray(x[3:, 1]), normal(8, 8)[3:, 1])
    yield Case(lambda x: x + np.arange(8, dtype=np.float32), (normal(8, 8),), (P("a", "b"),), silent=True)
    yield Case(lambda x: (jnp.where(x > 1e9, x, 0).sum(), x[:0].sum()), (normal(8, 8),), (P("a", "b"),))
