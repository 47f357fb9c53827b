"""Ulysses: the sequence is sharded, and attention wants whole sequences of some heads. Queries, keys, values and the
result change places by all-to-alls, and their gradients back: 8(p-1)/p of BSD/p = 1 * 16 * 8 * 4 * 4 / 8 bytes."""

import keras
from keras.distribution import distribute_tensor

import steps

EXPECT = "all_to_all=8, bytes<=1792"
FORMULA = "8(p-1)/p BSD/p"
SHAPE = (16, 8, 4)  # sequence, heads, width of a head


class Attention(keras.layers.Layer):
    def call(self, inputs):
        heads = steps.layout(None, None, "sequence", None)
        y = keras.ops.dot_product_attention(*[distribute_tensor(x, heads) for x in inputs])
        return distribute_tensor(y, steps.layout(None, "sequence", None, None))


def step():
    steps.model_parallel({"sequence": 8}, {})
    inputs = [keras.Input(SHAPE) for _ in range(3)]
    model = keras.Model(inputs, Attention()(inputs))
    return steps.gradients(model, [steps.noise((1, *SHAPE), None, "sequence") for _ in inputs])
