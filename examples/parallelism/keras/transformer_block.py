"""A block of a transformer: attention of 8 heads and a feed-forward part, each with a norm before it and a residual sum behind it.
The layers named "a" and "b" stand where tensor-parallel parts begin and end. Norms have no weights, so that nothing
but the block's own bytes is counted."""

import keras
from keras import layers

WIDTH, HEADS = 32, 8

# Megatron's layouts: heads and the inner dimension are split, first by columns, then by rows.
MEGATRON = {
    "attention/(query|key|value)/kernel": (None, "model", None),
    "attention/(query|key|value)/bias": ("model", None),
    "attention/attention_output/kernel": ("model", None, None),
    "up/kernel": (None, "model"),
    "up/bias": ("model",),
    "down/kernel": ("model", None),
}


def block():
    def norm(name):
        return layers.LayerNormalization(center=False, scale=False, name=name)

    inputs = keras.Input((16, WIDTH))
    x = norm("norm1")(inputs)
    x = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, name="attention")(x, x)
    middle = layers.Add(name="sum1")([inputs, x])
    x = norm("norm2")(middle)
    x = layers.Dense(4 * WIDTH, activation="gelu", name="up")(x)
    x = layers.Dense(WIDTH, name="down")(x)
    return keras.Model(inputs, layers.Add(name="sum2")([middle, x]))
