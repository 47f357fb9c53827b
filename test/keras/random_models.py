"""Draws models of random layers with random options, trains each for two steps, and records Keras' figures for check_tests.py.

    KERAS_BACKEND=jax random_models.py OUT [--seed N] [--count N]
    python3 check_tests.py WEFT OUT -v
"""

import argparse
import json
import pathlib
import random

import keras
import numpy as np
from keras import layers, losses, metrics, ops, optimizers

ACTIVATIONS = ("relu", "tanh", "sigmoid", "gelu", "silu", "softplus", "elu", "selu", "softsign", "mish", "leaky_relu", "hard_sigmoid",
               "linear", None)
REGULARIZERS = (None, None, None, "l2", keras.regularizers.L1(0.01), keras.regularizers.L1L2(0.01, 0.02))
CONSTRAINTS = (None, None, None, None, "non_neg", keras.constraints.MaxNorm(0.8))


class Draw(random.Random):
    """A model's random numbers."""

    def one(self, *values):
        return self.choice(values)

    def seed_of_layer(self):
        return self.randrange(1, 10000)

    def weights(self, *names):
        """Options of a layer with these weights."""
        out = {"activation": self.choice(ACTIVATIONS), "use_bias": self.random() < 0.8}
        for name in names:
            out[f"{name}_regularizer"] = self.choice(REGULARIZERS)
            out[f"{name}_constraint"] = self.choice(CONSTRAINTS)
        return out

    def convolution(self, size, transposed=False):
        """Kernel, strides, dilation and padding that leave something of `size`."""
        kernel = self.randint(1, min(3, size))
        out = {"kernel_size": kernel, "padding": self.one("same", "valid")}
        if self.random() < 0.4:
            out["strides"] = self.randint(1, 2)
        elif not transposed and self.random() < 0.4 and (kernel - 1) * 2 < size:
            out["dilation_rate"] = 2
        return out


def anywhere(d, shape):
    """Layers that take any shape."""
    axis = d.randint(1, len(shape))
    yield lambda: layers.Activation(d.choice(ACTIVATIONS[:-1]))
    yield lambda: layers.Dense(d.randint(1, 6), **d.weights("kernel"))
    yield lambda: layers.BatchNormalization(axis=axis, momentum=d.one(0.99, 0.5), epsilon=d.one(1e-3, 0.1), center=d.one(True, False),
                                            scale=d.one(True, False))
    yield lambda: layers.LayerNormalization(axis=d.one(-1, axis), epsilon=d.one(1e-3, 0.1), center=d.one(True, False))
    yield lambda: layers.Dropout(0.3, seed=d.seed_of_layer())
    yield lambda: layers.GaussianNoise(0.2, seed=d.seed_of_layer())
    yield lambda: layers.LeakyReLU(d.one(0.1, 0.3))
    yield lambda: layers.ELU(d.one(1.0, 0.5))
    yield lambda: layers.PReLU(alpha_initializer=keras.initializers.Constant(0.2))
    yield lambda: layers.ReLU(max_value=d.one(None, 1.5), negative_slope=d.one(0.0, 0.2), threshold=d.one(0.0, 0.3))
    yield lambda: layers.Softmax(axis=axis)
    yield lambda: layers.UnitNormalization(axis=d.one(-1, axis))
    yield lambda: layers.RMSNormalization()
    yield lambda: layers.Rescaling(d.one(0.5, 2.0), d.one(0.0, 0.3))
    yield lambda: layers.ActivityRegularization(l1=0.01, l2=0.02)
    yield lambda: layers.SpectralNormalization(layers.Dense(d.randint(1, 5)))
    if shape[-1] % 2 == 0:
        yield lambda: layers.GroupNormalization(2, epsilon=0.01)


def of_sequences(d, shape):
    steps, features = shape
    cell = {"return_sequences": d.one(True, False), "go_backwards": d.one(True, False, False), "dropout": d.one(0.0, 0.0, 0.2),
            "seed": d.seed_of_layer()}
    yield lambda: layers.Conv1D(d.randint(1, 5), **{**d.convolution(steps), **d.weights("kernel")})
    yield lambda: layers.Conv1D(d.randint(1, 5), d.randint(1, min(3, steps)), padding="causal", dilation_rate=d.randint(1, 2))
    yield lambda: layers.Conv1D(features * 2, 1, groups=features)
    yield lambda: layers.DepthwiseConv1D(**{**d.convolution(steps), "depth_multiplier": d.randint(1, 2)})
    yield lambda: layers.SeparableConv1D(d.randint(1, 4), **d.convolution(steps))
    yield lambda: layers.Conv1DTranspose(d.randint(1, 4), **d.convolution(steps, transposed=True))
    yield lambda: d.one(layers.MaxPooling1D, layers.AveragePooling1D)(min(2, steps), strides=d.one(None, 1), padding=d.one("same", "valid"))
    yield lambda: layers.LSTM(d.randint(1, 4), unit_forget_bias=d.one(True, False), **cell)
    yield lambda: layers.GRU(d.randint(1, 4), reset_after=d.one(True, False), **cell)
    yield lambda: layers.SimpleRNN(d.randint(1, 4), activation=d.one("tanh", "relu"), **cell)
    yield lambda: layers.Bidirectional(d.one(layers.LSTM, layers.GRU)(d.randint(1, 3), return_sequences=cell["return_sequences"]),
                                       merge_mode=d.one("concat", "sum", "mul", "ave"))
    yield lambda: layers.TimeDistributed(layers.Dense(d.randint(1, 4), d.choice(ACTIVATIONS)))
    yield lambda: layers.Permute((2, 1))
    yield lambda: layers.ZeroPadding1D(d.one(1, (0, 2)))
    yield lambda: layers.UpSampling1D(2)
    yield lambda: layers.SpatialDropout1D(0.3, seed=d.seed_of_layer())
    yield lambda: d.one(layers.GlobalAveragePooling1D, layers.GlobalMaxPooling1D)(keepdims=d.one(True, False))
    yield lambda: layers.EinsumDense("abc,cd->abd", (None, d.randint(1, 4)), bias_axes=d.one(None, "d"))
    if steps > 2:
        yield lambda: layers.Cropping1D(1)


def of_volumes(d, shape):
    least, features = min(shape[1:3]), shape[-1]
    yield lambda: layers.Conv3D(d.randint(1, 3), **d.convolution(min(shape[:3])))
    yield lambda: layers.ConvLSTM2D(d.randint(1, 3), d.randint(1, min(2, least)), padding=d.one("same", "valid"), return_sequences=d.one(True, False))
    yield lambda: layers.TimeDistributed(layers.Conv2D(d.randint(1, 3), d.randint(1, min(2, least))))
    yield lambda: d.one(layers.MaxPooling3D, layers.AveragePooling3D)(min(2, *shape[:3]), padding=d.one("same", "valid"))
    yield lambda: d.one(layers.GlobalAveragePooling3D, layers.GlobalMaxPooling3D)(keepdims=d.one(True, False))
    yield lambda: layers.Reshape((shape[0] * shape[1], shape[2], features))
    yield lambda: layers.Conv3DTranspose(d.randint(1, 3), **d.convolution(min(shape[:3]), transposed=True))
    yield lambda: layers.ZeroPadding3D(1)


def of_images(d, shape):
    least, features = min(shape[:2]), shape[-1]
    yield lambda: layers.Conv2D(d.randint(1, 5), **{**d.convolution(least), **d.weights("kernel")})
    yield lambda: layers.Conv2D(features * 2, (1, min(2, least)), groups=features, padding="same")
    yield lambda: layers.DepthwiseConv2D(**{**d.convolution(least), "depth_multiplier": d.randint(1, 2)})
    yield lambda: layers.SeparableConv2D(d.randint(1, 4), **d.convolution(least))
    yield lambda: layers.Conv2DTranspose(d.randint(1, 4), **d.convolution(least, transposed=True))
    yield lambda: d.one(layers.MaxPooling2D, layers.AveragePooling2D)(min(2, least), strides=d.one(None, 1), padding=d.one("same", "valid"))
    yield lambda: layers.ZeroPadding2D(d.one(1, ((0, 1), (2, 0))))
    yield lambda: layers.UpSampling2D(d.one(2, (1, 2)), interpolation=d.one("nearest", "bilinear"))
    yield lambda: layers.SpatialDropout2D(0.3, seed=d.seed_of_layer())
    yield lambda: layers.Permute(d.one((2, 1, 3), (3, 1, 2)))
    yield lambda: d.one(layers.GlobalAveragePooling2D, layers.GlobalMaxPooling2D)(keepdims=d.one(True, False))
    yield lambda: layers.Reshape((-1, features))
    yield lambda: layers.TimeDistributed(layers.Dense(d.randint(1, 4)))
    if least > 2:
        yield lambda: layers.Cropping2D(1)


def merged(d, x):
    """The tensor and another one of its shape, merged."""
    other = layers.Dense(x.shape[-1], d.choice(ACTIVATIONS))(x)
    kind = d.one(layers.Add, layers.Subtract, layers.Multiply, layers.Average, layers.Maximum, layers.Minimum, layers.Concatenate)
    return kind()([x, other])


def operation(d, x):
    """A function of keras.ops."""
    axis = d.randint(1, len(x.shape) - 1)
    return d.choice([lambda: x * d.one(0.5, 2.0) + 0.1, lambda: ops.tanh(x) * x, lambda: ops.softmax(x, axis=axis), lambda: ops.flip(x, axis=axis),
                     lambda: ops.roll(x, 1, axis=axis), lambda: ops.cumsum(x, axis=axis), lambda: x - ops.mean(x, axis=axis, keepdims=True),
                     lambda: ops.concatenate([x, ops.square(x)], axis=axis), lambda: ops.sort(x, axis=axis), lambda: ops.clip(x, -1.0, 1.0),
                     lambda: ops.where(x > 0, x, x * 0.3), lambda: ops.maximum(x, ops.max(x, axis=axis, keepdims=True) * 0.5),
                     lambda: ops.logaddexp(x, ops.flip(x, axis=axis)), lambda: ops.sqrt(ops.square(x) + 0.1), lambda: ops.normalize(x, axis=axis)])()


def attended(d, x):
    heads = d.randint(1, 2)
    return d.choice([lambda: layers.MultiHeadAttention(heads, d.randint(1, 3), use_bias=d.one(True, False))(x, x, use_causal_mask=d.one(True, False)),
                     lambda: layers.GroupQueryAttention(2, 2, 1)(x, x), lambda: layers.Attention(use_scale=True)([x, x]),
                     lambda: layers.AdditiveAttention()([x, x])])()


def stacked(d, x):
    """Several cells in one layer, with or without states from elsewhere, or a layer's states as results."""
    units = d.randint(1, 3)
    cells = [d.one(layers.LSTMCell, layers.GRUCell, layers.SimpleRNNCell)(units) for _ in range(2)]
    state = layers.Dense(units, "tanh")(layers.GlobalAveragePooling1D()(x))
    return d.choice([lambda: layers.RNN(cells, return_sequences=d.one(True, False))(x),
                     lambda: layers.GRU(units, return_sequences=d.one(True, False))(x, initial_state=state),
                     lambda: layers.LSTM(units)(x, initial_state=[state, state]),
                     lambda: layers.Concatenate()(layers.LSTM(units, return_state=True)(x)),
                     lambda: layers.Bidirectional(layers.RNN(cells[0], return_sequences=True))(x)])()


def twice(d, x):
    """A layer that is called twice, or a model inside the model."""
    layer = layers.Dense(d.randint(1, 4), d.choice(ACTIVATIONS))
    inner = keras.Sequential([layers.Dense(d.randint(1, 4), d.choice(ACTIVATIONS)), layers.LayerNormalization(), layers.Dense(2)])
    return d.choice([lambda: layers.Add()([layer(x), layer(x * 0.5)]), lambda: inner(x), lambda: layers.Concatenate()([inner(x), inner(x + 1.0)])])()


def further(d, x):
    """The tensor behind one more layer."""
    shape = x.shape[1:]
    if d.random() < 0.08:
        return twice(d, x)
    if len(shape) == 2 and d.random() < 0.12:
        return stacked(d, x)
    if d.random() < 0.12:
        return merged(d, x)
    if d.random() < 0.12:
        return operation(d, x)
    if len(shape) == 2 and d.random() < 0.15:
        return attended(d, x)
    if len(shape) == 1 and d.random() < 0.1:
        return layers.RepeatVector(d.randint(1, 3))(x)
    kinds = list(anywhere(d, shape))
    if len(shape) > 1 and d.random() < 0.65:
        kinds = list({2: of_sequences, 3: of_images}.get(len(shape), of_volumes)(d, shape))
    return d.choice(kinds)()(x)


REGRESSION = (("mse", None), ("mae", None), (losses.Huber(), None), (losses.LogCosh(), "tanh"), (losses.CosineSimilarity(), None))
CLASSES = (("categorical_crossentropy", "softmax"), ("binary_crossentropy", "sigmoid"), (losses.KLDivergence(), "softmax"),
           (losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), None), (losses.CategoricalHinge(), None),
           (losses.BinaryFocalCrossentropy(gamma=1.5), "sigmoid"), ("hinge", "tanh"))


def measured(d, is_regression):
    """Metrics of numbers or of classes."""
    if is_regression:
        return d.sample(["mae", "mse", metrics.RootMeanSquaredError(), metrics.R2Score(), metrics.CosineSimilarity()], d.randint(0, 3))
    return d.sample(["accuracy", metrics.AUC(num_thresholds=20), metrics.Precision(), metrics.F1Score(), metrics.TopKCategoricalAccuracy(2),
                     metrics.BinaryAccuracy()], d.randint(0, 3))


def model_of(d):
    """A compiled model and its data: inputs by name, labels, weights of samples or None."""
    batch = d.randint(2, 5)
    numbers = np.random.RandomState(d.randrange(2**31))
    kind = d.one("vector", "sequence", "tokens", "image", "masked", "volume")
    if kind == "tokens":
        size = d.randint(2, 6)
        inputs, data = keras.Input((size,), dtype="int32", name="x"), numbers.randint(0, 9, (batch, size)).astype("int32")
        x = layers.Embedding(9, d.randint(2, 5), mask_zero=d.one(True, False))(inputs)
    else:
        shape = tuple(d.randint(2, 6 if kind != "volume" else 4) for _ in range({"vector": 1, "image": 3, "volume": 4}.get(kind, 2)))
        inputs, data = keras.Input(shape, name="x"), numbers.normal(size=(batch, *shape)).astype("float32")
        x = inputs
        if kind == "masked":
            data[0, -1] = 0
            x = layers.Masking()(x)
    for _ in range(d.randint(1, 6)):
        x = further(d, x)
    if len(x.shape) > 2:
        x = layers.Flatten()(x)
    inputs, data = [inputs], {"x": data}
    if d.random() < 0.2:
        inputs.append(keras.Input((3,), name="other"))
        data["other"] = numbers.normal(size=(batch, 3)).astype("float32")
        x = layers.Concatenate()([x, layers.Dense(2, d.choice(ACTIVATIONS))(inputs[-1])])
    classes, is_regression = d.randint(2, 4), d.random() < 0.5
    loss, activation = d.choice(REGRESSION if is_regression else CLASSES)
    model = keras.Model(inputs if len(inputs) > 1 else inputs[0], layers.Dense(classes, activation, name="last")(x))
    labels = numbers.normal(size=(batch, classes)) if is_regression else np.eye(classes)[numbers.randint(0, classes, batch)]
    optimizer = d.choice([lambda: optimizers.SGD(0.05, momentum=d.one(0.0, 0.9), nesterov=d.one(True, False)),
                          lambda: optimizers.Adam(0.01, epsilon=0.01), lambda: optimizers.RMSprop(0.01, epsilon=0.1),
                          lambda: optimizers.SGD(0.05, global_clipnorm=0.5, weight_decay=0.01),
                          lambda: optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5),
                          lambda: optimizers.SGD(0.1, gradient_accumulation_steps=2)])()
    model.compile(optimizer, loss, metrics=measured(d, is_regression))
    weights = numbers.uniform(0.2, 2, batch).astype("float32") if d.random() < 0.3 else None
    return model, data, labels.astype("float32"), weights


def recorded(name, origin, make):
    """A case and its figures of the model and data that make() returns; nothing for a model that Keras cannot make or run,
    or with a result that is not finite."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(1337)
    try:
        model, data, labels, weights = make()
        text = model.to_json()
        keras.backend.clear_session()
        keras.utils.set_random_seed(1337)
        model = keras.models.model_from_json(text)
        figures = {f"x/{input_}" if len(data) > 1 else "x": value for input_, value in data.items()} | {"y": labels}
        if weights is not None:
            figures["sample_weight"] = weights
        figures |= {f"initial/{v.path}": np.asarray(v.value) for v in model.variables}
        whole = list(data.values()) if len(data) > 1 else data["x"]
        figures["predict"] = model.predict(whole, batch_size=len(labels), verbose=0)
        for key, value in model.evaluate(whole, labels, sample_weight=weights, batch_size=len(labels), verbose=0, return_dict=True).items():
            figures[f"evaluate/{key}"] = np.asarray(value, "float32")
        for variable in model.variables:
            variable.assign(figures[f"initial/{variable.path}"])
        model.fit(whole, labels, sample_weight=weights, batch_size=len(labels), epochs=2, shuffle=False, verbose=0)
    except (ValueError, TypeError, ZeroDivisionError, IndexError, AttributeError) as error:
        print(f"{name}: not drawn: {str(error).splitlines()[0][:100]}")
        return None
    figures |= {f"final/{v.path}": np.asarray(v.value) for v in model.variables}
    if len({v.path for v in model.variables}) < len(model.variables) or not all(np.isfinite(value).all() for value in figures.values()):
        return None
    case = {"name": name, **origin, "batch_size": len(labels), "steps": 2, "model": json.loads(text)}
    return case, figures


def write(out, found):
    """Writes cases and their figures for check_tests.py."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "cases.json").write_text("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case, _ in found) + "\n]\n")
    np.savez_compressed(out / "cases.npz", **{f"{case['name']}/{key}": value for case, figures in found for key, value in figures.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    found = []
    for seed in range(options.seed, options.seed + options.count):
        origin = {"group": "random", "file": "random_models.py", "test": f"seed {seed}"}
        if case := recorded(f"random-{seed}", origin, lambda: model_of(Draw(seed))):
            found.append(case)
    write(options.out, found)
    print(f"{len(found)} of {options.count} models")


if __name__ == "__main__":
    main()
