"""Data parallelism: the batch is split, weights are copies. Their gradients are summed in one all-reduce of
P = 2 * 32 * 128 * 4 = 32768 bytes: 2(p-1)/p P."""

import keras
from keras import layers

import steps

EXPECT = "all_reduce=1, bytes<=57344"
FORMULA = "2(p-1)/p P"


def step():
    keras.distribution.set_distribution(keras.distribution.DataParallel())
    model = keras.Sequential([
        keras.Input((32,)),
        layers.Dense(128, use_bias=False, activation="relu", name="up"),
        layers.Dense(32, use_bias=False, name="down"),
    ])
    return steps.training(model, keras.optimizers.SGD(0.01), steps.noise((64, 32), "batch"))
