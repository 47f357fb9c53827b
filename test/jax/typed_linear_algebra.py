"""Linear algebra of matrices whose types say more than their shape: how they vary inside shard_map, and how they
lie under an explicit mesh. Each program is run on eight devices of Weft and on eight of JAX's CPU.

    WEFT_DEVICES=cpu:8 python typed_linear_algebra.py
"""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "weft,cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

draw = np.random.default_rng(0)
matrices = draw.standard_normal((8, 4, 4)).astype(np.float32) + 4 * np.eye(4, dtype=np.float32)
symmetric = matrices @ matrices.swapaxes(-1, -2)


def factors(x):
    """The QR factors without their signs, which depend on the algorithm, and their product."""
    q, r = jnp.linalg.qr(x)
    return jnp.abs(q), jnp.abs(r), q @ r


def eigen(x):
    values, vectors = jnp.linalg.eigh(x)
    return values, vectors * values[..., None, :] @ jnp.swapaxes(vectors, -1, -2)


def singular(x):
    u, s, v = jnp.linalg.svd(x)
    return s, u * s[..., None, :] @ v


def diagonals(x):
    return lax.linalg.tridiagonal_solve(x[..., 0], x[..., 1] + 9, x[..., 2], x)


EVERYWHERE = [jnp.linalg.det, jnp.linalg.slogdet, lambda x: jnp.linalg.solve(x, x[..., :2]), eigen, singular,
              jnp.linalg.pinv, diagonals, lambda x: lax.linalg.lu(x), lambda x: lax.linalg.hessenberg(x)[0],
              lambda x: lax.approx_max_k(x, 2)[0], lambda x: jnp.linalg.norm(x, 2, axis=(-2, -1))]
# JAX itself refuses these under an explicit mesh.
INSIDE_SHARD_MAP = [jnp.linalg.inv, jnp.linalg.cholesky, factors, jax.scipy.linalg.expm,
                    lambda x: jnp.abs(jax.scipy.linalg.qr(x, pivoting=True)[1])]


def run(platform, function, kind, spec):
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(kind,) * 2, devices=jax.devices(platform)[:8])
    value = jax.device_put(symmetric, NamedSharding(mesh, spec))
    if kind == AxisType.Auto:
        return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec))(value)
    with jax.set_mesh(mesh):
        return jax.jit(function)(value)


def check(function, kind, spec):
    found, expected = (jax.tree.leaves(run(platform, function, kind, spec)) for platform in ("weft", "cpu"))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)
        if kind == AxisType.Explicit:
            assert jax.typeof(one).sharding.spec == jax.typeof(other).sharding.spec, (one, other)
            assert one.sharding.spec == other.sharding.spec, (one.sharding, other.sharding)


count = 0
for spec in (P("x"), P(("x", "y"))):
    for kind, functions in ((AxisType.Auto, EVERYWHERE + INSIDE_SHARD_MAP), (AxisType.Explicit, EVERYWHERE)):
        for function in functions:
            check(function, kind, spec)
            count += 1
print(f"{count} programs agree")
