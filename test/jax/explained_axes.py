"""Sums over all axes of meshes of three and of four axes, for WEFT_EXPLAIN."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

for names in ("abc", "abcd"):
    devices = np.array(jax.devices()[: 2 ** len(names)]).reshape([2] * len(names))
    mesh = Mesh(devices, tuple(names))
    x = jax.device_put(np.arange(32, dtype=np.float32), NamedSharding(mesh, P(tuple(names))))
    print(len(names), "axes:", jax.jit(jnp.sum)(x))
