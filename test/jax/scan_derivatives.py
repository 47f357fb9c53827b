"""Compares first and second derivatives of a scan, compiled and op by op, with float64.

Numeric differences in float32 cannot judge them: f(x + 1e-4) - f(x - 1e-4) has the rounding of f,
some 1e-7, divided by 2e-4. `jax.test_util.check_grads` allows 1e-3 and fails for some draws on
JAX's CPU as well as on Weft. Here the derivatives are compared with those of the same script in
float64 on JAX's CPU, and their error with that of JAX's CPU in float32.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SEEDS = range(12)


def derivatives(seed, jit):
    """The gradient of a projection of the scan's results, and that of a projection of the gradient."""
    import jax
    import jax.numpy as jnp
    state = np.random.RandomState(seed)

    def draw(*shape):
        return state.randn(*shape).astype(np.float32).astype(np.float64)

    d, c, a = draw(2), draw(4), draw(5, 3)
    along = [draw(4), draw(5), draw(4), draw(5, 3)]

    def body(carry, x):
        b = jnp.cos(jnp.sum(jnp.sin(x)) + jnp.sum(jnp.cos(carry)) + jnp.sum(jnp.tan(d)))
        return jnp.sin(carry * b), b

    def projected(carry, xs):
        last, all_ = jax.lax.scan(body, carry, xs)
        return jnp.sum(last * along[0]) + jnp.sum(all_ * along[1])

    def projected_gradient(carry, xs):
        first, second = jax.grad(projected, (0, 1))(carry, xs)
        return jnp.sum(first * along[2]) + jnp.sum(second * along[3])

    found = []
    for function in (projected, projected_gradient):
        gradient = jax.grad(function, (0, 1))
        with jax.disable_jit(not jit):
            found += [np.asarray(g, np.float64).ravel() for g in (jax.jit(gradient) if jit else gradient)(c, a)]
    return np.concatenate(found[:2]), np.concatenate(found[2:])


def collect(file):
    np.savez(file, **{f"{seed}/{jit:d}/{order}": value for seed in SEEDS for jit in (True, False)
                      for order, value in enumerate(derivatives(seed, jit), 1)})


def elsewhere(file, **environment):
    subprocess.run([sys.executable, __file__, file], check=True, env={**os.environ, "JAX_PLATFORMS": "cpu", **environment})
    return np.load(file)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        exact = elsewhere(folder / "exact.npz", JAX_ENABLE_X64="1")
        cpu = elsewhere(folder / "cpu.npz")
        collect(folder / "weft.npz")
        weft = np.load(folder / "weft.npz")

    def error(of, name):
        return np.abs(of[name] - exact[name]).max() / np.abs(exact[name]).max()

    for order in (1, 2):
        names = [name for name in exact if name.endswith(f"/{order}")]
        ours, theirs = max(error(weft, n) for n in names), max(error(cpu, n) for n in names)
        print(f"order {order}: {len(names)} derivatives, relative error at most {ours:.1e}, JAX's CPU {theirs:.1e}")
        assert len(names) == 2 * len(SEEDS) and theirs < 1e-4 and ours <= 4 * theirs, (ours, theirs)
    print("derivatives agree")


if __name__ == "__main__":
    collect(sys.argv[1]) if len(sys.argv) > 1 else main()
