"""Normalisations, reductions, sums along rows, attention and cross entropy."""

import numpy as np

from .case import Case, numbers, real


def rooted(x):
    import jax.numpy as jnp
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def layer_norm(x, scale, shift):
    import jax.numpy as jnp
    mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift


def batch_norm(x, scale, shift):
    import jax.numpy as jnp
    axes = tuple(range(x.ndim - 1))
    mean, variance = jnp.mean(x, axes), jnp.var(x, axes)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift


def group_norm(x, scale, shift):
    import jax.numpy as jnp
    n, h, w, c = x.shape
    parts = x.reshape(n, h, w, 8, c // 8)
    mean, variance = (f(parts, (1, 2, 4), keepdims=True) for f in (jnp.mean, jnp.var))
    return ((parts - mean) / jnp.sqrt(variance + 1e-5)).reshape(x.shape) * scale + shift


def normalizations():
    import jax
    import jax.numpy as jnp

    def with_gradient(name, function, arguments, splits):
        """A case, and one of the gradients of all its arguments weighted by constants."""
        weights = real(*arguments[0].shape, seed=7)
        gradient = jax.grad(lambda *all: jnp.sum(function(*all[:-1]) * all[-1]), tuple(range(len(arguments))))
        return {name: Case(function, arguments, splits), f"{name}-gradient": Case(gradient, [*arguments, weights], (*splits, 0))}

    x, image = real(1024, 1024), real(16, 32, 32, 64)
    return {
        **with_gradient("softmax", jax.nn.softmax, [x], (0,)),
        **with_gradient("log-softmax", jax.nn.log_softmax, [x], (0,)),
        **with_gradient("layer-norm", layer_norm, [x, real(1024), real(1024, seed=2)], (0, None, None)),
        **with_gradient("rms-norm", lambda x, scale: rooted(x) * scale, [x, real(1024)], (0, None)),
        **with_gradient("batch-norm", batch_norm, [image, real(64), real(64, seed=2)], (0, None, None)),
        **with_gradient("group-norm", group_norm, [image, real(64), real(64, seed=2)], (0, None, None)),
        "layer-norm-bf16": Case(lambda x, s: layer_norm(x.astype(jnp.float32), s, s).astype(x.dtype),
                                [x.astype(jnp.bfloat16), real(1024)], (0, None), tolerance=2e-2),
    }


def reductions():
    import jax
    import jax.numpy as jnp
    x, cube = real(2048, 2048), real(64, 256, 128)
    return {
        "sum-rows": Case(lambda x: jnp.sum(x, 1), [x], (0,)),
        "sum-columns": Case(lambda x: jnp.sum(x, 0), [x], (0,)),
        "sum-all": Case(jnp.sum, [x], (0,)),
        "sum-middle": Case(lambda x: jnp.sum(x, 1), [cube], (0,)),
        "sum-bf16": Case(lambda x: jnp.sum(x, 1), [x.astype(jnp.bfloat16)], (0,), tolerance=2e-2),
        "max-columns": Case(lambda x: jnp.max(x, 0), [x], (0,)),
        "argmax-rows": Case(lambda x: jnp.argmax(x, 1), [x], (0,)),
        "argmax-columns": Case(lambda x: jnp.argmax(x, 0), [x], (1,)),
        "mean-and-variance": Case(lambda x: (jnp.mean(x, 1), jnp.var(x, 1)), [x], (0,)),
        "logsumexp": Case(lambda x: jax.nn.logsumexp(x, 1), [x], (0,)),
        "norm-all": Case(lambda x: jnp.sqrt(jnp.sum(x * x)), [x], (0,)),
        "any-rows": Case(lambda x: jnp.any(x > 5, 1), [x], (0,)),
        "cumsum-rows": Case(lambda x: jnp.cumsum(x, 1), [x], (0,)),
        "cumsum-columns": Case(lambda x: jnp.cumsum(x, 0), [x], (1,)),
        "cumsum-line": Case(jnp.cumsum, [real(1 << 20)], None),
        "cummax-rows": Case(lambda x: jax.lax.cummax(x, 1), [x], (0,)),
        "linear-recurrence": Case(lambda a, b: jax.lax.associative_scan(
            lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (a, b), axis=1)[1], [real(64, 1024) * np.float32(0.3), real(64, 1024, seed=2)], (0, 0)),
    }


def models():
    import jax
    import jax.numpy as jnp

    def attention(q, k, v):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(8)
        mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)

    def entropy(logits, labels):
        return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, logits.shape[-1]) * jax.nn.log_softmax(logits), -1))

    def entropy_by_position(logits, labels):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

    heads = [real(8, 128, 4, 64, seed=seed) for seed in (1, 2, 3)]
    logits, labels = real(256, 32000), numbers(32000, 256)
    return {
        "attention": Case(attention, heads, (0, 0, 0)),
        "attention-gradient": Case(jax.grad(lambda *a: jnp.sum(attention(*a) ** 2), (0, 1, 2)), heads, (0, 0, 0)),
        "cross-entropy-one-hot": Case(entropy, [logits, labels], (0, 0)),
        "cross-entropy-one-hot-gradient": Case(jax.grad(entropy), [logits, labels], (0, 0)),
        "cross-entropy-positions-gradient": Case(jax.grad(entropy_by_position), [logits, labels], (0, 0)),
    }


def cases():
    return {**normalizations(), **reductions(), **models()}
