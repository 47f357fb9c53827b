"""Contractions by type, size and form."""

import numpy as np

from .case import Case, numbers, real


def product(a, b):
    return a @ b


def of_types():
    import jax.numpy as jnp
    from jax import lax

    def to_int32(a, b):
        return lax.dot(a, b, preferred_element_type=jnp.int32)

    def quantized(a, b, scale):
        return to_int32(a, b).astype(jnp.float32) * scale

    small = numbers(200, 512, 512) - 100
    cases = {f"dot-f32-{n}": Case(product, [real(n, n), real(n, n, seed=2)], (0, None)) for n in (64, 128, 256, 512, 1024, 2048)}
    for name, dtype, tolerance in (("bf16", jnp.bfloat16, 2e-2), ("f16", np.float16, 1e-2)):
        cases[f"dot-{name}-512"] = Case(product, [real(512, 512, dtype=dtype), real(512, 512, seed=2, dtype=dtype)], (0, None),
                                        tolerance=tolerance)
    cases["dot-f64-512"] = Case(product, [real(512, 512, dtype=np.float64), real(512, 512, seed=2, dtype=np.float64)], (0, None),
                                wide=True)
    cases["dot-i8-512"] = Case(to_int32, [small.astype(np.int8), small.T.astype(np.int8)], (0, None))
    cases["dot-i8-scaled"] = Case(quantized, [small[:64].astype(np.int8), small.astype(np.int8), real(512)], (0, None, None))
    cases["dot-i32-256"] = Case(product, [small[:256, :256], small[256:, 256:]], (0, None))
    cases["dot-bf16-1024"] = Case(product, [real(1024, 1024, dtype=jnp.bfloat16), real(1024, 1024, seed=2, dtype=jnp.bfloat16)],
                                  (0, None), tolerance=2e-2)
    return cases


def of_forms():
    import jax
    import jax.numpy as jnp

    def dense(x, w, b):
        return jax.nn.gelu(x @ w + b)

    def dense_loss(x, w, b):
        return jnp.sum(dense(x, w, b) ** 2)

    def heads(q, k):
        return jnp.einsum("bqhd,bkhd->bhqk", q, k)

    return {
        "dot-thin-inner": Case(product, [real(2048, 16), real(16, 2048, seed=2)], (0, None)),
        "dot-thin-columns": Case(product, [real(8192, 512), real(512, 4, seed=2)], (0, None)),
        "dot-few-rows": Case(product, [real(8, 1024), real(1024, 1024, seed=2)], (0, None)),
        "dot-batched-64": Case(product, [real(64, 64, 64), real(64, 64, 64, seed=2)], (0, 0)),
        "dot-batched-4": Case(product, [real(4096, 4, 4), real(4096, 4, 4, seed=2)], (0, 0)),
        "dot-heads": Case(heads, [real(16, 128, 8, 32), real(16, 128, 8, 32, seed=2)], (0, 0)),
        "dot-left-transposed": Case(lambda a, b: a.T @ b, [real(4096, 256), real(4096, 256, seed=2)], (0, 0)),
        "dot-right-transposed": Case(lambda a, b: a @ b.T, [real(1024, 512), real(512, 512, seed=2)], (0, None)),
        "matrix-vector": Case(product, [real(2048, 2048), real(2048, seed=2)], (0, None)),
        "vector-matrix": Case(product, [real(2048), real(2048, 2048, seed=2)], (None, 1)),
        "vector-vector": Case(lambda a, b: jnp.dot(a, b), [real(1 << 20), real(1 << 20, seed=2)], (0, 0)),
        "outer-product": Case(jnp.outer, [real(2048), real(2048, seed=2)], (0, None)),
        "dense-gelu": Case(dense, [real(512, 512), real(512, 1024, seed=2), real(1024)], (0, None, None)),
        "dense-gelu-gradient": Case(jax.grad(dense_loss, (0, 1, 2)), [real(512, 512), real(512, 1024, seed=2), real(1024)],
                                    (0, None, None)),
    }


def cases():
    return {**of_types(), **of_forms()}
