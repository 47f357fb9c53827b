"""The 64 largest of 4096 elements: all devices gather the 64 candidates of each, (p-1) k values and positions of 4 bytes."""

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
