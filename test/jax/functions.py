"""Small functions of JAX on one Weft device, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np

CLOSE = {"rtol": 2e-5, "atol": 2e-5}


def check(name, found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, err_msg=name, **CLOSE)


x = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
assert jax.devices()[0].platform == "weft", jax.devices()
before = jax.devices()[0].memory_stats()["bytes_in_use"]
thousand = jax.device_put(np.zeros(1000, np.float32))
after = jax.devices()[0].memory_stats()["bytes_in_use"]
assert after == before + 4000, (before, after)
check("add", jnp.asarray(x) + 1, x + 1)
check("dot", jax.jit(lambda a: jnp.tanh(a @ a.T).sum(0))(x), np.tanh(x @ x.T).sum(0))
check("grad", jax.grad(lambda a: (jnp.sin(a) ** 2).sum())(x), np.sin(2 * x))
long = np.random.default_rng(0).uniform(1, 9, (64, 28, 28, 12)).astype(np.float32)
for name, array, axes in (("rows", long, (0, 1, 2)), ("all", long, None), ("line", long.reshape(-1), 0),
                          ("column", long.reshape(-1, 3), 0), ("odd", long.reshape(-1)[:50023, None], 0)):
    np.testing.assert_allclose(jnp.sum(array, axes), np.sum(array, axes, dtype=np.float64), rtol=1e-6, err_msg=f"sum of {name}")
check("sort", jnp.sort(-x, axis=1), np.sort(-x, axis=1))
check("argmax", jnp.argmax(x, axis=1), x.argmax(1))
check("cumsum", jnp.cumsum(x, axis=0), np.cumsum(x, axis=0))
check("take", jnp.asarray(x)[np.array([3, 0])], x[[3, 0]])
check("set", jnp.asarray(x).at[1].add(5.0), x + 5 * np.eye(4)[1][:, None])
check("cond", jax.jit(lambda a: jax.lax.cond(a.sum() > 9, jnp.sin, jnp.cos, a))(x), np.cos(x))
check("loop", jax.lax.fori_loop(0, 5, lambda i, a: a * 0.5, x), x / 32)
check("bool", jnp.asarray(x) > 0, x > 0)
check("int", jnp.asarray(x).astype(jnp.int32) // 2, x.astype(np.int32) // 2)
check("uint8", jnp.arange(7, dtype=jnp.uint8) * 40, np.arange(7, dtype=np.uint8) * 40)
check("strided", jnp.asarray(np.asfortranarray(x)[:, ::2]), x[:, ::2])
check("empty", jnp.zeros((0, 3)).sum(0), np.zeros(3))
check("scalar", jax.jit(lambda a: a)(np.float32(3)), 3)
with jax.enable_x64(True):
    check("float64", jnp.asarray(x.astype(np.float64)) / 3, x.astype(np.float64) / 3)
    check("complex128", jnp.asarray(x + 1j * x) ** 2, (x + 1j * x) ** 2)
z = (x + 1j * x[::-1]).astype(np.complex64)
check("complex", jnp.exp(z) * jnp.conj(z) + jnp.abs(z), np.exp(z) * np.conj(z) + np.abs(z))
check("parts", jnp.real(z) + jnp.imag(z), z.real + z.imag)
check("fft", jnp.fft.fft(z), np.fft.fft(z))
check("irfft2", jnp.fft.irfft2(jnp.fft.rfft2(x), s=x.shape), x)
for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2):
    short = jnp.asarray(x, dtype)
    check(f"{dtype.__name__}", short.astype(jnp.float32) * 2, np.asarray(x.astype(dtype), np.float32) * 2)
    check(f"sum of {dtype.__name__}", (short + short).astype(jnp.float32), np.asarray(x.astype(dtype), np.float32) * 2)
key = jax.random.key(0)
check("normal", jax.random.normal(key, (4,)), [1.6226422, 2.0252647, -0.43359444, -0.07861735])
check("bits", jax.random.bits(key, (2,), dtype="uint32"), np.array([4070199207, 4202968722], dtype=np.uint32))

# A donated array is deleted; beside another argument that is the same array it is refused, as on XLA.
step = jax.jit(lambda a, b: (a + 1, b * 2), donate_argnums=0)
first = jnp.asarray(x)
try:
    step(first, first)
except jax.errors.JaxRuntimeError as error:
    assert "donate a copy" in str(error), error
else:
    raise AssertionError("one array is donated and used")
first = jnp.asarray(x)
second, doubled = step(first, jnp.asarray(x.copy()))
check("donated", second, x + 1)
check("kept", doubled, x * 2)
assert first.is_deleted()
for _ in range(50):
    second, _ = step(second, x)
check("steps", second, x + 51)

# Errors of the compiler are exceptions with the user's line; the next program runs.
try:
    jnp.zeros((2,), dtype=jnp.float6_e2m3fn) + 1
    raise AssertionError("float6_e2m3fn ran")
except jax.errors.JaxRuntimeError as error:
    assert "Weft: " in str(error), error
check("after an error", jnp.asarray(x) * 3, x * 3)
print("all functions agree")
