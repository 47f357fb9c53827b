"""A 3x3 convolution of 64 rows, eight on each device: a device needs one row of either neighbour, forward of the input and
backward of the result's gradient, (k-1) WC = 2 * 32 * 4 * 4 bytes each; the kernel's gradient of K = 3 * 3 * 4 * 4 * 4
bytes is summed: 2(k-1) WC + 2(p-1)/p K."""

import keras

import steps

EXPECT = "fetch=2, all_reduce=1, bytes<=3056"
FORMULA = "2(k-1) WC + 2(p-1)/p K"


def step():
    rows = (None, "height", None, None)
    steps.model_parallel({"data": 1, "height": 8}, {".*convolution/output": rows})
    model = keras.Sequential([
        keras.Input((64, 32, 4)),
        keras.layers.Conv2D(4, 3, padding="same", use_bias=False, activation="relu", name="convolution"),
    ])
    return steps.gradients(model, steps.noise((1, 64, 32, 4), *rows))
