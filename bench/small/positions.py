"""Programs whose elements are found by position: sorts, gathers, scatters, donated updates, moves of elements."""

import numpy as np

from .case import Case, numbers, real


def sorts():
    import jax
    import jax.numpy as jnp
    x, line = real(128, 4096), real(1 << 18)
    return {
        "sort-rows": Case(lambda x: jnp.sort(x, 1), [x], (0,)),
        "sort-line": Case(jnp.sort, [line], None),
        "sort-int32-line": Case(jnp.sort, [numbers(1 << 30, 1 << 18)], None),
        "sort-columns": Case(lambda x: jnp.sort(x, 0), [x], (1,)),
        "argsort-rows": Case(lambda x: jnp.argsort(x, 1), [x], (0,)),
        "argsort-line": Case(jnp.argsort, [line], None),
        "top-k": Case(lambda x: jax.lax.top_k(x, 40), [real(64, 32000)], (0,)),
        "top-k-experts": Case(lambda x: jax.lax.top_k(x, 2), [real(4096, 64)], (0,)),
        "median-rows": Case(lambda x: jnp.median(x, 1), [x], (0,)),
        "searchsorted": Case(jnp.searchsorted, [np.sort(real(1 << 16)), real(1 << 14, seed=2)], None),
    }


def gathers():
    import jax
    import jax.numpy as jnp

    def looked_up(table, ids):
        return table[ids]

    def loss(table, ids):
        return jnp.sum(looked_up(table, ids) ** 2)

    table, ids = real(50000, 256), numbers(50000, 4096)
    rows, to = real(65536, 64), numbers(4096, 65536)
    return {
        "embedding": Case(looked_up, [table, ids], (None, 0)),
        "embedding-gradient": Case(jax.grad(loss), [table, ids], (None, 0)),
        "embedding-bf16": Case(looked_up, [table.astype(jnp.bfloat16), ids], (None, 0)),
        "gather-elements": Case(lambda x, i: jnp.take_along_axis(x, i, 1), [real(1024, 1024), numbers(1024, 1024, 1024)], (0, 0)),
        "gather-columns": Case(lambda x, i: x[:, i], [real(1024, 4096), numbers(4096, 1024)], (0, None)),
        "segment-sum": Case(lambda x, i: jax.ops.segment_sum(x, i, 4096), [rows, to], (0, 0)),
        "segment-max": Case(lambda x, i: jax.ops.segment_max(x, i, 4096), [rows, to], (0, 0)),
        "histogram": Case(lambda i: jnp.zeros(4096, jnp.int32).at[i].add(1), [numbers(4096, 1 << 20)], (0,)),
        "scatter-elements": Case(lambda x, i, v: x.at[i].set(v), [real(1 << 20), numbers(1 << 20, 65536), real(65536, seed=2)], None),
        "scatter-add-rows": Case(lambda x, i, v: x.at[i].add(v), [real(50000, 64), numbers(50000, 4096), real(4096, 64, seed=2)],
                                 (None, 0, 0)),
        "graph-layer": Case(lambda x, a, b: jax.nn.relu(jnp.zeros_like(x).at[b].add(x[a])),
                            [real(8192, 64), numbers(8192, 65536), numbers(8192, 65536, seed=2)], None),
    }


def updates():
    import jax
    import jax.numpy as jnp

    def adam(state, gradient):
        weights, first, second = state
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient * gradient
        return weights - 0.001 * first / (jnp.sqrt(second) + 1e-7), first, second

    def cached(cache, row, at):
        return jax.lax.dynamic_update_slice(cache, row, (np.int32(0), at, np.int32(0)))

    def momentum(state, gradient):
        weights, velocity = state
        velocity = 0.9 * velocity + gradient
        return weights - 0.01 * velocity, velocity

    table = real(50000, 128)
    weights = real(1024, 1024)
    state = (weights, weights * 0, weights * 0)
    return {
        "donated-scatter": Case(lambda x, i, v: x.at[i].set(v), [table, numbers(50000, 256), real(256, 128, seed=2)],
                                (0, None, None), donated=(0,)),
        "donated-scatter-add": Case(lambda x, i, v: x.at[i].add(v), [table, numbers(50000, 256), real(256, 128, seed=2)],
                                    (0, None, None), donated=(0,)),
        "donated-cache": Case(cached, [real(16, 1024, 256), real(16, 1, 256, seed=2), np.int32(77)], (0, 0, None), donated=(0,)),
        "donated-add": Case(lambda x: x + 1, [real(2048, 2048)], (0,), donated=(0,)),
        "donated-adam": Case(adam, [state, real(1024, 1024, seed=2)], (0, 0), donated=(0,)),
        "donated-adam-copies": Case(adam, [state, real(1024, 1024, seed=2)], (None, None), donated=(0,)),
        "donated-momentum": Case(momentum, [state[:2], real(1024, 1024, seed=2)], (0, 0), donated=(0,)),
    }


def moves():
    import jax.numpy as jnp
    x = real(2048, 2048)
    return {
        "transpose": Case(lambda x: x.T, [x], (0,)),
        "transpose-heads": Case(lambda x: jnp.transpose(x, (0, 2, 1, 3)), [real(16, 256, 8, 64)], (0,)),
        "transpose-images": Case(lambda x: jnp.transpose(x, (0, 3, 1, 2)), [real(16, 32, 32, 64)], (0,)),
        "concatenate": Case(lambda a, b: jnp.concatenate([a, b], 1), [real(1024, 1024), real(1024, 512, seed=2)], (0, 0)),
        "pad": Case(lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), [real(16, 64, 64, 32)], (0,)),
        "roll": Case(lambda x: jnp.roll(x, 3, 1), [x], (0,)),
        "reverse": Case(lambda x: x[:, ::-1], [x], (0,)),
        "strided-slice": Case(lambda x: x[:, ::2], [x], (0,)),
        "repeat": Case(lambda x: jnp.repeat(x, 4, 1), [real(1024, 512)], (0,)),
    }


def cases():
    return {**sorts(), **gathers(), **updates(), **moves()}
