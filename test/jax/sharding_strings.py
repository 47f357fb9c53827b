"""Shardings as JAX writes them without Shardy, on eight Weft devices."""

import jax

jax.config.update("jax_use_shardy_partitioner", False)

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b"))


def lay(*spec):
    return NamedSharding(mesh, P(*spec))


def check(found, expected, *spec):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)
    assert found.sharding.is_equivalent_to(lay(*spec), found.ndim), (found.sharding, spec)


x = np.arange(64, dtype=np.float32).reshape(8, 8) / 10
xs = jax.device_put(x, lay("a", "b"))
check(xs + 1, x + 1, "a", "b")
turned = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, lay("b")) @ x, out_shardings=lay(None, ("b", "a")))
check(turned(xs), (x * 2) @ x, None, ("b", "a"))
check(jax.jit(lambda x: x.sum(0), out_shardings=lay())(xs), x.sum(0))
print("all shardings agree")
