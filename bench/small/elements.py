"""Elementwise chains, random numbers, Fourier transforms, decompositions, and train steps of few layers."""

import numpy as np

from .case import Case, numbers, real


def chains():
    import jax
    import jax.numpy as jnp
    x = real(1024, 1024)

    def chain(x):
        return jnp.exp(jnp.tanh(x) * 0.5) + jnp.log1p(jnp.abs(x)) - jax.nn.sigmoid(x)

    return {
        "elements-add": Case(lambda x, y: x * y + 1, [x, x.T.copy()], (0, 0)),
        "elements-chain": Case(chain, [x], (0,)),
        "elements-gelu-erf": Case(lambda x: jax.nn.gelu(x, approximate=False), [x], (0,)),
        "elements-sine": Case(lambda x: jnp.sin(x) * jnp.cos(x), [x], (0,)),
        "elements-power": Case(lambda x: jnp.abs(x) ** 1.7, [x], (0,)),
        "elements-bf16": Case(chain, [x.astype(jnp.bfloat16)], (0,), tolerance=3e-2),
        "elements-f64": Case(lambda x: jnp.exp(x) + jnp.log(jnp.abs(x)), [x.astype(np.float64)], (0,), wide=True),
        "elements-int32": Case(lambda x: (x * 7 + 3) // 5 % 11, [numbers(1 << 20, 1024, 1024)], (0,)),
        "elements-small": Case(lambda x: jnp.tanh(x) + 1, [real(64)], None),
        "complex-product": Case(lambda x: x * jnp.conj(x) + x, [(x + 1j * x.T).astype(np.complex64)], (0,)),
    }


def random_numbers():
    import jax
    key = np.asarray([0, 42], np.uint32)
    return {
        "random-uniform": Case(lambda k: jax.random.uniform(k, (1024, 1024)), [key], None),
        "random-normal": Case(lambda k: jax.random.normal(k, (1024, 1024)), [key], None),
        "random-dropout": Case(lambda k, x: jax.numpy.where(jax.random.bernoulli(k, 0.9, x.shape), x / 0.9, 0), [key, real(1024, 1024)], (None, 0)),
        "random-permutation": Case(lambda k: jax.random.permutation(k, 1 << 16), [key], None),
        "random-categorical": Case(lambda k, x: jax.random.categorical(k, x), [key, real(64, 8192)], (None, 0)),
    }


def transforms():
    import jax
    import jax.numpy as jnp
    square = real(256, 256)
    definite = square @ square.T + 256 * np.eye(256, dtype=np.float32)
    return {
        "fft-rows": Case(lambda x: jnp.fft.fft(x), [(real(256, 4096) + 1j * real(256, 4096, seed=2)).astype(np.complex64)], (0,)),
        "fft-1000": Case(lambda x: jnp.fft.fft(x), [(real(256, 1000) + 1j * real(256, 1000, seed=2)).astype(np.complex64)], (0,)),
        "fft-real": Case(lambda x: jnp.fft.rfft(x), [real(256, 4096)], (0,)),
        "fft-images": Case(lambda x: jnp.fft.fft2(x), [real(16, 256, 256).astype(np.complex64)], (0,)),
        "fft-inverse-real": Case(lambda x: jnp.fft.irfft(x), [(real(256, 2049) + 1j * real(256, 2049, seed=2)).astype(np.complex64)], (0,)),
        "cholesky": Case(jnp.linalg.cholesky, [definite], None),
        "solve": Case(jnp.linalg.solve, [definite, real(256, 8)], None),
        "inverse": Case(jnp.linalg.inv, [definite], None),
        "solve-triangular": Case(lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), [definite, real(256, 256, seed=3)], None),
        "qr": Case(lambda a: jnp.abs(jnp.linalg.qr(a)[1]), [square], None),
        "eigh": Case(lambda a: jnp.linalg.eigh(a)[0], [definite[:128, :128]], None),
        "svd": Case(lambda a: jnp.linalg.svd(a, full_matrices=False)[1], [square[:128, :128]], None),
        "lu-batch": Case(jnp.linalg.det, [real(64, 32, 32) / np.float32(4)], None),
        "cholesky-batch": Case(jnp.linalg.cholesky, [np.broadcast_to(definite[:32, :32], (64, 32, 32)).copy()], (0,)),
    }


def steps():
    """Train steps of an MLP of 784, 128 and 10, whole batches of 128."""
    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        (w, b), (v, c) = weights
        logits = jax.nn.relu(x @ w + b) @ v + c
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))

    def descent(weights, x, y):
        value, gradient = jax.value_and_grad(loss)(weights, x, y)
        return jax.tree.map(lambda w, g: w - 0.05 * g, weights, gradient), value

    def adam(state, x, y):
        weights, first, second = state
        value, gradient = jax.value_and_grad(loss)(weights, x, y)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
        weights = jax.tree.map(lambda w, m, v: w - 0.01 * m / (jnp.sqrt(v) + 1e-7), weights, first, second)
        return (weights, first, second), value

    def deep(weights, x):
        def layer(x, w):
            return jnp.tanh(x @ w), None
        return jax.lax.scan(layer, x, weights)[0]

    weights = ((real(784, 128) * 0.03, real(128) * 0), (real(128, 10) * 0.1, real(10) * 0))
    weights = tuple((w.astype(np.float32), b.astype(np.float32)) for w, b in weights)
    zeros = jax.tree.map(np.zeros_like, weights)
    x, y = np.abs(real(128, 784)), numbers(10, 128)
    layers = real(16, 128, 128) * np.float32(0.1)
    return {
        "mlp-descent": Case(descent, [weights, x, y], (None, 0, 0), donated=(0,)),
        "mlp-adam": Case(adam, [(weights, zeros, zeros), x, y], (None, 0, 0), donated=(0,), tolerance=1e-2),
        "mlp-forward": Case(lambda w, x: jax.nn.relu(x @ w[0][0] + w[0][1]) @ w[1][0] + w[1][1], [weights, x], (None, 0)),
        "scanned-layers": Case(deep, [layers, real(256, 128)], (None, 0)),
        "scanned-layers-gradient": Case(jax.grad(lambda w, x: jnp.sum(deep(w, x) ** 2)), [layers, real(256, 128)], (None, 0)),
    }


def cases():
    return {**chains(), **random_numbers(), **transforms(), **steps()}
