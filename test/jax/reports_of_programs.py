"""Programs of public_reports.py: manual regions, loops, donation, explicit axes, exports."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P
from public_reports import Case, mesh, normal, report


def per_device(function, on, ins, outs, **options):
    return jax.shard_map(function, mesh=on, in_specs=ins, out_specs=outs, **options)


@report("jax-ml/jax#36886")
def gradient_in_a_manual_region():
    on = mesh(8)
    loss = lambda w, x: (jnp.tanh(x @ w) ** 2).mean()
    inside = lambda w, x: lax.pmean(jax.grad(loss)(lax.pcast(w, "a", to="varying"), x), "a")
    yield Case(per_device(inside, on, (P(), P("a")), P()), (normal(4, 3), normal(16, 4)), (P(), P("a")), on=on,
               expected=jax.grad(loss), tolerance=1e-4)


@report("jax-ml/jax#15982", "jax-ml/jax#19663")
def all_to_all_and_its_gradient():
    on = mesh(2, 4)
    for axes in ("b", ("a", "b")):
        count = 4 if axes == "b" else 8
        moved = per_device(lambda x: lax.all_to_all(x, axes, 1, 0, tiled=True), on, P(axes), P(None, axes))
        f = lambda x: (moved(x), jax.grad(lambda x: (moved(x) ** 3).sum())(x))
        yield Case(f, (normal(2 * count, count, 3),), (P(axes),), on=on, expected=lambda x: (x, 3 * x**2), tolerance=1e-4)


@report("jax-ml/jax#19709", "jax-ml/jax#5861")
def groups_of_devices():
    on = mesh(8)
    for groups in ([[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 2, 4, 6], [1, 3, 5, 7]]):
        x = normal(8, 3)
        sums = np.zeros_like(x)
        for group in groups:
            sums[group] = x[group].sum(0)
        f = per_device(lambda x: lax.psum(x, "a", axis_index_groups=groups), on, P("a"), P("a"), check_vma=False)
        yield Case(f, (x,), (P("a"),), on=on, expected=[sums])


@report("jax-ml/jax#27673", "jax-ml/jax#18977", "jax-ml/jax#20162", "jax-ml/jax#33947")
def linear_algebra_in_manual_regions():
    on = mesh(8)
    def one(a, b):
        first, second = jnp.split(jnp.linalg.solve(a, b), 2, axis=-1)
        return first - second, jnp.linalg.slogdet(a)[1]
    a = normal(8, 4, 4) + 5 * np.eye(4, dtype=np.float32)
    yield Case(per_device(one, on, (P("a"), P("a")), P("a"), check_vma=False), (a, normal(8, 4, 2)), (P("a"), P("a")), on=on,
               expected=one, tolerance=1e-4)
    def looped(a, b):
        return lax.fori_loop(0, 3, lambda _, b: jnp.linalg.solve(a, b), b)
    yield Case(per_device(looped, on, (P("a"), P("a")), P("a"), check_vma=False), (a, normal(8, 4, 2)), (P("a"), P("a")), on=on,
               expected=looped, tolerance=1e-4)


@report("jax-ml/jax#23019", "jax-ml/jax#15996")
def manual_regions_in_a_map():
    on = mesh(2, 4)
    inside = per_device(lambda x: lax.psum(x * 2, "b"), on, P(None, "b"), P(None, None), axis_names={"b"})
    yield Case(lambda x: lax.map(inside, x), (normal(3, 6, 8),), (P(None, "a", "b"),), on=on,
               expected=lambda x: 2 * x.reshape(3, 6, 4, 2).sum(2), tolerance=1e-4)


@report("jax-ml/jax#23693", "google/flax#4217")
def branches_and_scans_in_manual_regions():
    on = mesh(8)
    def steps(x):
        def step(carry, i):
            mean = lax.pmean(x.sum(), "a")
            return lax.cond(i % 2 == 0, lambda c: c + mean, lambda c: c * 0.5, carry), carry
        return lax.scan(step, lax.pcast(jnp.float32(1), "a", to="varying"), jnp.arange(5))[1]
    def plain(x):
        mean, carry, seen = x.sum() / 8, jnp.float32(1), []
        for i in range(5):
            seen.append(carry)
            carry = carry + mean if i % 2 == 0 else carry * 0.5
        return jnp.tile(jnp.stack(seen), 8)
    yield Case(per_device(steps, on, P("a"), P("a")), (normal(16),), (P("a"),), on=on, expected=plain)


@report("openxla/xla PR20808", "jax-ml/jax#8688")
def permutations_in_partly_manual_regions():
    on = mesh(2, 4)
    ring = [(i, (i + 1) % 4) for i in range(4)]
    moved = per_device(lambda x: lax.ppermute(x, "b", ring) + lax.ppermute(jnp.ones(()), "b", ring), on, P(None, "b"), P(None, "b"), axis_names={"b"})
    yield Case(moved, (normal(6, 8),), (P("a", "b"),), on=on, expected=lambda x: jnp.roll(x, 2, 1) + 1)


def on_explicit_axes():
    return mesh(2, 4, explicit=True)


@report("jax-ml/jax#28542", "jax-ml/jax#39309", "jax-ml/jax#29859", "jax-ml/jax#29195", "jax-ml/jax#33226", "jax-ml/jax#29162", "jax-ml/jax#30095")
def explicit_axes():
    same = lambda function: (function, function)
    for function, plain in ((lambda x: x.at[jnp.array([0, 3])].get(out_sharding=P(None, "b")), lambda x: x[jnp.array([0, 3])]), same(lambda x: x[:, ::2] * 2),
                            same(lambda x: x.reshape(2, 4, 8)), (lambda x: lax.map(jnp.sin, jax.sharding.reshard(x, P(None, "b"))), jnp.sin),
                            (lambda x: jnp.repeat(x, 2, axis=0, out_sharding=P("a", "b")), lambda x: jnp.repeat(x, 2, axis=0)),
                            same(lambda x: x + jax.random.normal(jax.random.key(3), (8, 8)))):
        yield Case(function, (normal(8, 8),), (P("a", "b"),), on=on_explicit_axes(), expected=plain, tolerance=1e-4)


@report("jax-ml/jax#33029", "jax-ml/jax#31798", "jax-ml/jax#15903")
def what_jax_itself_refuses():
    on = on_explicit_axes()
    with jax.set_mesh(on):
        x = jax.device_put(normal(8, 8), P("a", "b"))
        try:
            jax.jit(lambda x: x @ x)(x)  # the contraction is sharded on one side alone
        except Exception as error:
            assert "sharding" in str(error).lower(), error
        else:
            raise AssertionError("is not refused")
    turned = mesh(8, devices=jax.devices("weft")[::-1])
    straight = jax.device_put(normal(8), NamedSharding(mesh(8), P("a")))
    try:
        jax.jit(lambda x, y: x + y)(straight, jax.device_put(normal(8), NamedSharding(turned, P("a"))))
    except ValueError as error:
        assert "device" in str(error), error
    return ()


@report("jax-ml/jax#20088", "jax-ml/jax#25346", "jax-ml/jax#39625")
def donation():
    f = lambda x, y, z: (y * 2, x + 1, z[:4], (x * y).sum())
    yield Case(f, (normal(8, 8), normal(8, 8, seed=1), normal(16, 8)), (P("a"), P("b"), P("a")), donated=(0, 1, 2))
    yield Case(lambda x, y: (y, x), (normal(8), normal(8, seed=1)), (P("a"), P("b")), (P("b"), P("a")), donated=(0, 1))


@report("jax-ml/jax#9635")
def one_buffer_donated_twice():
    x = jax.device_put(normal(8), NamedSharding(mesh(8), P("a")))
    try:
        y, z = jax.jit(lambda x, y: (x + 1, y * 2), donate_argnums=(0, 1))(x, x)
        np.testing.assert_allclose(np.asarray(y) - 1, np.asarray(z) / 2, atol=1e-6)
    except (ValueError, RuntimeError) as error:
        assert "donate" in str(error), error
    return ()


@report("jax-ml/jax#21314", "jax-ml/jax#36691")
def exported_functions():
    on = mesh(8)
    f = per_device(lambda x: lax.psum((x**2).sum(), "a"), on, P("a"), P())
    x = jax.device_put(normal(16), NamedSharding(on, P("a")))
    restored = jax.export.deserialize(jax.export.export(jax.jit(f), platforms=["weft"])(x).serialize(vjp_order=1))
    np.testing.assert_allclose(restored.call(x), (normal(16) ** 2).sum(), rtol=1e-5)
    np.testing.assert_allclose(jax.grad(lambda x: restored.call(x))(x), 2 * normal(16), rtol=1e-5)
    return ()


@report("jax-ml/jax#25671", "jax-ml/jax#23936")
def callbacks_and_inspection_in_manual_regions():
    on = mesh(8)
    seen = []
    inside = lambda x: (jax.debug.callback(lambda v: seen.append(float(v)), x.sum()), x * 2)[1]
    yield Case(per_device(inside, on, P("a"), P("a")), (normal(8),), (P("a"),), on=on, expected=[normal(8) * 2])
    jax.effects_barrier()
    np.testing.assert_allclose(sorted(seen), sorted(normal(8)), rtol=1e-6)


@report("jax-ml/jax#17982")
def random_bits_are_computed_again():
    def loss(w, x):
        layer = lambda w, x: x @ w * jax.random.bernoulli(jax.random.key(1), 0.5, (16, 32))
        return jax.checkpoint(layer)(w, x).sum()
    yield Case(jax.grad(loss), (normal(8, 32), normal(16, 8)), (P(None, "b"), P("a")), P(None, "b"), tolerance=1e-4)


@report("jax-ml/jax#20968")
def loops_until_each_row_is_small():
    f = lambda x: lax.while_loop(lambda x: jnp.max(x) > 1, lambda x: jnp.where(x > 1, x / 2, x), x)
    yield Case(f, (abs(normal(16, 64)) * 100,), (P(None, "b"),), P("a"))
    rounds = lambda x: lax.fori_loop(0, 10, lambda i, x: x * 1.01, x)
    yield Case(rounds, (normal(16, 64),), (P("a"),), P("a"), silent=True, tolerance=1e-4)


@report("jax-ml/jax#15368")
def donated_carry():
    f = lambda x: lax.fori_loop(0, 50, lambda i, x: x.at[i % 16].add(i), x)
    yield Case(f, (normal(16, 64),), (P(None, "b"),), P(None, "b"), donated=(0,), silent=True, tolerance=1e-4)


@report("openxla/xla PR19166: traffic around scans")
def weights_of_a_scan():
    f = lambda w, x: lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, w)[0]
    yield Case(f, (normal(6, 16, 16) / 4, normal(8, 16)), (P(None, None, "b"), P("a")), P("a"), tolerance=1e-4)


@report("tenstorrent/tt-xla#564", "tenstorrent/tt-mlir#3963")
def nested_calls_with_manual_regions():
    on = mesh(2, 4)
    inner = jax.jit(per_device(lambda x: lax.psum(x, "a"), on, P("a"), P()))
    yield Case(lambda x: inner(x) * 2 + inner(x + 1)[:1], (normal(4, 8),), (P("a"),), on=on,
               expected=lambda x: 2 * (x[:2] + x[2:]) + (x[:2] + x[2:] + 2)[:1])


@report("pytorch#172812")
def a_map_over_uneven_shards():
    on = mesh(2, 4)
    f = lambda x: jax.vmap(lambda row: jnp.cumsum(row)[::-1])(lax.with_sharding_constraint(x, NamedSharding(on, P("b"))))
    yield Case(f, (normal(7, 5),), (P(),), on=on)
