"""Makes model.keras: python make_model.py (Keras 3, any backend)."""

import keras

keras.utils.set_random_seed(1337)
model = keras.Sequential([
    keras.Input((28, 28)),
    keras.layers.Flatten(),
    keras.layers.Dense(128, activation="relu", name="d1"),
    keras.layers.Dense(10, name="d2"),
])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.save("model.keras")
