"""ZeRO-3, FSDP: weights and slots are sharded over the axis of the batch. Each weight is gathered before its use and
kept for the backward pass, and its gradient reduce-scattered: 2(p-1)/p P of P = 2 * 32 * 128 * 4 bytes. (Where
memory is short it is gathered again: 3(p-1)/p P.)"""

import keras
from keras import layers

import steps

EXPECT = "all_gather=2, reduce_scatter=2, bytes<=57344"
FORMULA = "2(p-1)/p P, gathered weights kept"


def step():
    steps.model_parallel({"data": 8}, {".*kernel": ("data", None)})
    model = keras.Sequential([
        keras.Input((32,)),
        layers.Dense(128, use_bias=False, activation="relu", name="up"),
        layers.Dense(32, use_bias=False, name="down"),
    ])
    return steps.training(model, keras.optimizers.Adam(0.01), steps.noise((512, 32), "data"))
