"""Records Keras' figures of models after reports about Keras' distribution and training, for check_tests.py.

    KERAS_BACKEND=jax reported_models.py test/fixtures/keras-reports

test/keras/reports.test trains them on 8 devices. docs/known-failures.md names the cases.
"""

import pathlib
import sys

import keras
import numpy as np
import random_models
from keras import layers, losses, metrics, optimizers

CASES = {}


def case(*reports):
    return lambda make: CASES.setdefault(make.__name__.replace("_", "-"), (reports, make))[1]


def numbers(*shape, seed=1):
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


def one_hot(count, classes):
    return np.eye(classes, dtype="float32")[np.random.RandomState(2).randint(0, classes, count)]


def tokens(count, length, words=12):
    ids = np.random.RandomState(3).randint(1, words, (count, length)).astype("int32")
    for row in range(count):
        ids[row, length - row % length:] = 0
    return ids


@case("keras-team/keras#21167")
def batch_that_does_not_divide():
    model = keras.Sequential([keras.Input((5,)), layers.Dense(7, "relu"), layers.BatchNormalization(), layers.Dense(3, "softmax")])
    model.compile(optimizers.Adam(0.01, epsilon=0.01), "categorical_crossentropy", metrics=["accuracy"])
    return model, {"x": numbers(11, 5)}, one_hot(11, 3), None


@case("keras-team/keras#19290")
def top_k_metric():
    model = keras.Sequential([keras.Input((6,)), layers.Dense(9, "softmax")])
    model.compile("sgd", "categorical_crossentropy", metrics=[metrics.TopKCategoricalAccuracy(3)])
    return model, {"x": numbers(16, 6)}, one_hot(16, 9), None


@case("keras-team/keras#19891")
def loss_of_any_number_of_replicas():
    model = keras.Sequential([keras.Input((6,)), layers.Dense(4, kernel_regularizer="l2", activity_regularizer="l1")])
    model.compile(optimizers.SGD(0.1), "mse", metrics=["mae"])
    return model, {"x": numbers(16, 6)}, numbers(16, 4, seed=5), np.linspace(0.1, 2, 16).astype("float32")


@case("keras-team/keras-hub#1613")
def one_key_value_head():
    x = inputs = keras.Input((6, 8))
    x = layers.GroupQueryAttention(4, 4, 1)(x, x, use_causal_mask=True)
    model = keras.Model(inputs, layers.Dense(2)(layers.Flatten()(x)))
    model.compile("sgd", "mse")
    return model, {"x": numbers(8, 6, 8)}, numbers(8, 2, seed=5), None


@case("keras-team/keras#18861", "keras-team/keras#4192")
def masks_of_bidirectional_layers():
    x = inputs = keras.Input((7,), dtype="int32")
    x = layers.Embedding(12, 6, mask_zero=True)(x)
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    x = layers.Bidirectional(layers.GRU(2))(x)
    model = keras.Model(inputs, layers.Dense(2)(x))
    model.compile("sgd", "mse")
    return model, {"x": tokens(8, 7)}, numbers(8, 2, seed=5), None


@case("keras-team/keras#6481", "keras-team/keras#4160")
def a_layer_that_is_called_several_times():
    x = inputs = keras.Input((6,))
    shared, norm = layers.Dense(6, "tanh"), layers.BatchNormalization()
    x = norm(shared(norm(shared(x))))
    inner = keras.Sequential([layers.Dense(3, "relu"), layers.Dense(3)])
    model = keras.Model(inputs, layers.Add()([inner(x), inner(shared(x))]))
    model.compile("sgd", "mse")
    return model, {"x": numbers(8, 6)}, numbers(8, 3, seed=5), None


def embedded(optimizer):
    model = keras.Sequential([keras.Input((5,), dtype="int32"), layers.Embedding(12, 4), layers.Flatten(), layers.Dense(2)])
    model.compile(optimizer, "mse")
    return model, {"x": tokens(8, 5)}, numbers(8, 2, seed=5), None


@case("keras-team/keras#18985", "keras-team/keras#17278")
def clipping_with_embeddings():
    return embedded(optimizers.Adam(0.01, epsilon=0.01, global_clipnorm=0.1))


@case("keras-team/keras#18949")
def moving_averages():
    return embedded(optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=1))


@case("keras-team/keras PR18951")
def accumulated_gradients():
    return embedded(optimizers.SGD(0.1, gradient_accumulation_steps=2, clipnorm=0.2))


@case("keras-team/keras PR21908", "keras-team/keras#15323", "keras-team/keras#19740", "tensorflow/tensorflow#34158")
def losses_of_masked_outputs():
    x = inputs = keras.Input((6,), dtype="int32")
    x = layers.Embedding(12, 5, mask_zero=True)(x)
    model = keras.Model(inputs, layers.Dense(4, "softmax")(layers.LSTM(5, return_sequences=True)(x)))
    model.compile("sgd", losses.CategoricalCrossentropy(label_smoothing=0.1), metrics=["categorical_accuracy"],
                  weighted_metrics=[metrics.MeanSquaredError()])
    ids = tokens(8, 6)
    ids[3] = 0
    return model, {"x": ids}, one_hot(48, 4).reshape(8, 6, 4), np.linspace(0, 2, 48).astype("float32").reshape(8, 6)


@case("keras-team/keras PR18795")
def variance_of_large_values():
    model = keras.Sequential([keras.Input((4,)), layers.BatchNormalization(epsilon=1e-5), layers.Dense(2)])
    model.compile(optimizers.SGD(0.001), "mse")
    return model, {"x": (100 + numbers(16, 4) / 10).astype("float32")}, numbers(16, 2, seed=5), None


def main():
    found = []
    for name, (reports, make) in CASES.items():
        recorded = random_models.recorded(name, {"group": "reports", "file": "reported_models.py", "test": ", ".join(reports)}, make)
        assert recorded, name
        found.append(recorded)
    random_models.write(pathlib.Path(sys.argv[1]), found)


if __name__ == "__main__":
    main()
