"""shard_map over a mesh of one device, for which JAX writes no manual computation: collectives stand in the program.

    WEFT_DEVICES=cpu:1 python one_device_mesh.py
"""

import os

os.environ["JAX_PLATFORMS"] = "weft,cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

x = np.arange(16, dtype=np.float32) / 16


def everything(v):
    """Each collective that JAX has, and the device's number."""
    v = jnp.sin(v) + lax.axis_index("x")
    v = v + lax.psum(v, "x") + lax.pmax(v, "x") + lax.pmean(v, "x")
    v = v + lax.all_gather(v, "x", tiled=True) + lax.psum_scatter(v, "x", tiled=True)
    return v + lax.all_to_all(v, "x", 0, 0, tiled=True) + lax.ppermute(v, "x", [(0, 0)]) + lax.ppermute(v, "x", [])


def noisy(v):
    jax.debug.callback(lambda _: None, v)
    return lax.psum(v, "x")


def summed(v):
    return lax.psum(jnp.sin(v).sum(), "x")


def values(platform):
    mesh = Mesh(np.array(jax.devices(platform)[:1]), ("x",))

    def over(body, out):
        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=out, check_vma=False)

    with jax.default_device(jax.devices(platform)[0]):
        for function in (over(everything, P("x")), over(noisy, P())):
            yield function(x)
            yield jax.jit(function)(x)
        total = over(summed, P())
        for gradient in (jax.grad(jax.remat(total)), jax.jit(jax.grad(jax.remat(total))), jax.grad(total)):
            yield gradient(x)
        yield jax.grad(over(jax.remat(summed), P()))(x)


count = 0
for found, expected in zip(values("weft"), values("cpu"), strict=True):
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    count += 1
print(f"{count} values agree")
