"""A loss and its gradient on a mesh, for WEFT_EXPLAIN."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P("data", "model")))
w = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P("model")))


@jax.jit
def loss(w, x):
    h = jnp.tanh(x @ w)
    return (h**2).mean()


for _ in range(3):
    jax.block_until_ready(loss(w, x))
