"""Batch and features are both sharded, and weights over both axes (GSPMD's "finalised" layout) of a 4 x 2 mesh. With
W = 32 * 128 * 4 bytes of a weight and X = 256 * 32 * 4 / 4 of the input on a row of devices: weights are gathered over
"data" and kept, 2 * 3/4 W/2; the input over "model", 1/2 X; the result is reduce-scattered, 1/2 X, its gradient
gathered, 1/2 X; and gradients of weights are reduce-scattered over "data", 2 * 3/4 W/2."""

import keras
from keras import layers

import steps

EXPECT = "all_gather=4, reduce_scatter=3, bytes<=36864"
FORMULA = "4 * 3/4 W/2 + 3 * 1/2 X"


def step():
    features = ("data", "model")
    steps.model_parallel({"data": 4, "model": 2}, {
        ".*up/kernel": features, ".*down/kernel": ("model", "data"), ".*down/output": features})
    model = keras.Sequential([
        keras.Input((32,)),
        layers.Dense(128, use_bias=False, activation="relu", name="up"),
        layers.Dense(32, use_bias=False, name="down"),
    ])
    return steps.training(model, keras.optimizers.SGD(0.01), steps.noise((256, 32), *features))
