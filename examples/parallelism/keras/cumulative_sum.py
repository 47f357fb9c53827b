"""A cumulative sum of 4096 elements: all devices get the sum of each shard, (p-1) * 4 bytes."""

import jax
import keras

import steps

EXPECT = "all_gather=1, bytes<=28"
FORMULA = "(p-1) 4"


def step():
    steps.model_parallel({"model": 8}, {})
    x = steps.noise((4096,), "model")
    return jax.jit(keras.ops.cumsum, out_shardings=x.sharding), [x]
