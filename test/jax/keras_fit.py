"""Keras' fit, on any platform of JAX: prints losses and predictions as JSON.

    keras_fit.py none|dp|mp
"""

import json
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
import numpy as np  # noqa: E402


def distribute(kind):
    devices = keras.distribution.list_devices()
    if kind == "dp":
        return keras.distribution.DataParallel(devices=devices)
    mesh = keras.distribution.DeviceMesh((2, 4), ("batch", "model"), devices)
    layouts = keras.distribution.LayoutMap(mesh)
    layouts["d1/kernel"] = (None, "model")
    layouts["d1/bias"] = ("model",)
    layouts["d2/kernel"] = ("model", None)
    return keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")


keras.utils.set_random_seed(1)
if sys.argv[1] != "none":
    keras.distribution.set_distribution(distribute(sys.argv[1]))
x = np.random.default_rng(0).normal(size=(128, 20)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(32, activation="relu", name="d1"),
                          keras.layers.Dropout(0.1), keras.layers.Dense(2, name="d2")])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(x, y, batch_size=32, epochs=2, verbose=0)
print(json.dumps({"loss": history.history["loss"], "accuracy": history.history["accuracy"],
                  "outputs": model.predict(x[:8], batch_size=8, verbose=0).ravel().tolist()}))
