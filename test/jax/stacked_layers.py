"""Gradients of layers whose weights are stacked: each round changes its layer's block, with the numbers of JAX's CPU or NumPy's.

    python stacked_layers.py
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

LAYERS, WIDTH = 6, 32


def in_loop(w, x):
    return lax.fori_loop(0, LAYERS, lambda i, x: jnp.tanh(x @ w[i]), x)


def unrolled(w, x):
    for i in range(LAYERS):
        x = jnp.tanh(x @ w[i])
    return x


def some(w, x):
    """Layers 1 and 4 alone: the gradients of the others are zeros, as is that of an element -0 times 0."""
    return jnp.tanh(x @ w[4]) * x[0] + w[1, 0] * -0.0


def zeros_only(w, x):
    return jnp.sum(x) * w[2, 0] * -0.0 + w[5, 0] * 0.0


def loss(layers, w, x):
    return jnp.sum(layers(w, x) ** 2)


@functools.partial(jax.jit, static_argnums=2)
def carried(start, at, add):
    def body(i, total):
        block = lax.dynamic_update_slice(jnp.zeros_like(total), jnp.full((1, WIDTH), add), (at, 0))
        return total + block
    return lax.fori_loop(0, 3, body, start)


def compare(name, mine, wanted):
    np.testing.assert_allclose(mine, wanted, rtol=2e-5, atol=1e-6, err_msg=name)
    zeros = (mine == 0) & (wanted == 0)
    assert np.array_equal(np.signbit(mine[zeros]), np.signbit(wanted[zeros])), f"{name}: a zero of the other sign"


def compare_with_cpu(name, function, *arguments):
    weft = jax.tree.leaves(function(*arguments))
    with jax.default_device(jax.devices("cpu")[0]):
        host = jax.tree.leaves(function(*jax.tree.map(np.asarray, arguments)))
    for mine, theirs in zip(weft, host, strict=True):
        compare(name, np.asarray(mine), np.asarray(theirs))
    print(name, "ok")


def compare_with_numpy(start, add):
    """-0 + 0 is 0, also where no round adds to an element; XLA's CPU leaves -0 there."""
    total = np.full((LAYERS, WIDTH), start, np.float32)
    block = np.zeros_like(total)
    block[2] = add
    compare(f"carried {start} {add}", np.asarray(carried(total, 2, add)), total + block + block + block)
    print("carried", start, add, "ok")


def main():
    chance = np.random.default_rng(1)
    w = (chance.standard_normal((LAYERS, WIDTH, WIDTH)) * 0.2).astype(np.float32)
    x = chance.standard_normal((8, WIDTH)).astype(np.float32)
    for layers in (in_loop, unrolled, some, zeros_only):
        compare_with_cpu(layers.__name__, jax.jit(jax.grad(functools.partial(loss, layers), argnums=(0, 1))), w, x)
    for start in (0.0, -0.0):
        for add in (1.0, -0.0):
            compare_with_numpy(start, add)


if __name__ == "__main__":
    main()
