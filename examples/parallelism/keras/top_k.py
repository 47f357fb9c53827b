"""The 64 largest of 4096: each device has 64 candidates, which all get: (p-1) k of values and of positions, 4 bytes each."""

import jax
import keras

import steps

EXPECT = "all_gather=2, bytes<=3584"
FORMULA = "(p-1) k of values and positions"


def step():
    steps.model_parallel({"model": 8}, {})

    def largest(x):
        return keras.ops.top_k(x, 64)

    return jax.jit(largest, out_shardings=steps.layout(None).backend_layout), [steps.noise((4096,), "model")]
