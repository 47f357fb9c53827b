"""Cross entropy over a vocabulary that is split: only the largest logit, the sum of the exponentials and the logit of the
label are all-reduced. Keras sums the last over batch and sequence at once, and its gradient once more over the
vocabulary: 6(p-1)/p BS of BS = 2 * 16 * 4 bytes, and 2(p-1)/p of the loss's 4."""

import jax
import keras
import numpy as np

import steps

EXPECT = "all_reduce<=3, bytes<=679"
FORMULA = "6(p-1)/p BS + 2(p-1)/p 4"


def step():
    steps.model_parallel({"data": 1, "model": 8}, {})
    entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
    labels = steps.lay(np.random.default_rng(0).integers(0, 64, (2, 16), dtype="int32"))
    logits = steps.noise((2, 16, 64), None, None, "model")

    def loss(logits, labels):
        return entropy(labels, logits)

    whole = steps.layout().backend_layout
    return jax.jit(jax.value_and_grad(loss), out_shardings=(whole, logits.sharding)), [logits, labels]
