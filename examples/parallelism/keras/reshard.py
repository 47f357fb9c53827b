"""From [y, -, x] to [-, (x, y), -]: no device receives more than the 1792 bytes that it lacks."""

import jax
from jax.sharding import PartitionSpec
from keras.distribution import distribute_tensor

import steps

EXPECT = "exchange=1, bytes<=1792"
FORMULA = "the elements that the device lacks"


def step():
    steps.model_parallel({"x": 2, "y": 4}, {})
    x = steps.noise((16, 16, 16), "y", None, "x")
    target = jax.sharding.NamedSharding(x.sharding.mesh, PartitionSpec(None, ("x", "y"), None))

    def move(x):
        return distribute_tensor(x, target)

    return jax.jit(move, out_shardings=target), [x]
