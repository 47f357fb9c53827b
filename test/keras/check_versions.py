"""Takes files between Weft and a version of Keras, out and in again. Larger than the tests that tools/test runs: by hand.

    check_versions.py WEFT PYTHON...        PYTHON has Keras and JAX of any version that go together

Example, of two versions in virtual environments of their own:

    python3 test/keras/check_versions.py build/bin/weft k3.3/bin/python k3.15/bin/python

Keras builds each model, trains it and saves it. Weft predicts from model.keras, and from the .weights.h5 beside it; trains on
for two epochs, whose history is Keras' own where nothing is drawn at random; and saves. The same Keras loads Weft's file
without a warning, predicts what Weft does, and trains on by a step that costs what it does in Weft. Files of one layer are
only predicted from, files of a loss or a metric evaluated. A class that the version lacks is left out, and so is a model that fails in that Keras alone.
The last lines are a table, with a line for each version; what differs, and what Weft says where it refuses a file, is above it.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import npz_values  # noqa: E402
import patience  # noqa: E402

# The largest difference beside the largest value: of predictions, and of losses and metrics.
PREDICTED, TRAINED = 1e-5, 1e-4
# Of a model whose layers compute in bfloat16, which has a step of 1/128: of both.
NARROW = 0.03
SAMPLES, BATCH = 32, 8
HEAD = "| Keras | JAX | models | passed | differences |\n|---|---|---|---|---|"


class Difference(Exception):
    """What is not as it should be."""


class Case:
    """A model and its data. `random`: it draws numbers as it trains, so that its history is its own. `brief`: only trained on."""

    def __init__(self, model, x, y, random=False, tolerance=None, brief=False):
        self.model, self.x, self.y, self.random, self.brief = model, x, y, random, brief
        self.predicted, self.trained = tolerance or PREDICTED, tolerance or TRAINED


class Models:
    """Those that are trained and saved, by name."""

    def __init__(self, keras, numpy):
        self.keras, self.layers, self.numpy = keras, keras.layers, numpy

    def reals(self, *shape):
        return self.numpy.random.default_rng(sum(shape)).normal(size=(SAMPLES, *shape)).astype("float32")

    def words(self, count, *shape):
        return self.numpy.random.default_rng(sum(shape) + 1).integers(0, count, size=(SAMPLES, *shape)).astype("int32")

    def small(self):
        return self.keras.Sequential([self.keras.Input((6,)), self.layers.Dense(8, "tanh", name="inner"), self.layers.Dense(3, name="outer")])

    def optimized(self, optimizer):
        model = self.small()
        model.compile(optimizer, "mse", metrics=["mae"])
        return Case(model, self.reals(6), self.reals(3), brief=True)

    def sequential(self):
        layers, keras = self.layers, self.keras
        model = keras.Sequential([
            keras.Input((12,)), layers.Dense(16, "relu", kernel_regularizer=keras.regularizers.L2(0.01)),
            layers.BatchNormalization(), layers.Dropout(0.25), layers.Dense(8, kernel_constraint=keras.constraints.MaxNorm(2.0)),
            layers.LeakyReLU(), layers.Dropout(0.1, seed=3), layers.Dense(4, "softmax")])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        return Case(model, self.reals(12), self.words(4), random=True)

    def sequential_without_dropout(self):
        layers, keras = self.layers, self.keras
        model = keras.Sequential([
            keras.Input((12,)), layers.Dense(16, "relu", kernel_regularizer="l2"), layers.BatchNormalization(),
            layers.Dropout(0.0), layers.Dense(4, "softmax")])
        model.compile(keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.01, 4, 0.9, staircase=True)),
                      keras.losses.SparseCategoricalCrossentropy(), metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(k=2)])
        return Case(model, self.reals(12), self.words(4))

    def activity_regularizer(self):
        model = self.keras.Sequential([self.keras.Input((6,)), self.layers.Dense(3, "tanh", activity_regularizer=self.keras.regularizers.L1L2(0.01, 0.01))])
        model.compile("sgd", "mse")
        return Case(model, self.reals(6), self.reals(3), brief=True)

    def convnet(self):
        layers, keras = self.layers, self.keras
        image = keras.Input((12, 12, 3), name="image")
        first = layers.Conv2D(8, 3, padding="same", use_bias=False, kernel_initializer="he_normal")(image)
        first = layers.Activation("relu")(layers.BatchNormalization()(first))
        second = layers.SeparableConv2D(8, 3, padding="same", activation="gelu")(first)
        second = layers.DepthwiseConv2D(3, padding="same", depth_multiplier=1)(second)
        joined = layers.MaxPooling2D()(layers.add([first, second]))
        joined = layers.concatenate([layers.GlobalAveragePooling2D()(joined), layers.GlobalMaxPooling2D()(joined)])
        model = keras.Model(image, layers.Dense(5, name="scores")(joined), name="convnet")
        rate = keras.optimizers.schedules.CosineDecay(0.0, 100, warmup_target=0.05, warmup_steps=5)
        model.compile(keras.optimizers.SGD(rate, momentum=0.9, nesterov=True, weight_decay=0.001),
                      keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), metrics=["categorical_accuracy"])
        return Case(model, self.reals(12, 12, 3), self.numpy.eye(5, dtype="float32")[self.words(5)])

    def recurrent(self, layer="LSTM", dropout=0.0):
        layers, keras = self.layers, self.keras
        words = keras.Input((9,), dtype="int32", name="words")
        hidden = layers.Embedding(20, 8, mask_zero=True)(words)
        hidden = layers.Bidirectional(getattr(layers, layer)(6, return_sequences=True, dropout=dropout))(hidden)
        hidden = layers.GRU(5, reset_after=layer == "LSTM")(hidden)
        model = keras.Model(words, layers.Dense(1, "sigmoid")(hidden))
        model.compile(keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True), keras.losses.BinaryCrossentropy(),
                      metrics=["accuracy", keras.metrics.AUC(), keras.metrics.Precision(), keras.metrics.Recall()])
        return Case(model, self.words(20, 9), self.words(2, 1).astype("float32"), random=dropout > 0)

    def recurrent_gru(self):
        return self.recurrent("GRU")

    def recurrent_dropout(self):
        return self.recurrent(dropout=0.2)

    def cells(self):
        layers, keras = self.layers, self.keras
        model = keras.Sequential([
            keras.Input((7, 4)), layers.RNN([layers.LSTMCell(5), layers.GRUCell(4)], return_sequences=True), layers.TimeDistributed(layers.Dense(3)),
            layers.LSTM(3, go_backwards=True)])
        model.compile(keras.optimizers.Adagrad(0.05), "mean_absolute_error")
        return Case(model, self.reals(7, 4), self.reals(3))

    def masked(self):
        layers, keras = self.layers, self.keras
        model = keras.Sequential([keras.Input((7, 4)), layers.Masking(0.0), layers.SimpleRNN(6, return_sequences=True), layers.LSTM(3)])
        model.compile("sgd", "mean_absolute_error")
        x = self.reals(7, 4)
        x[:, 5:] = 0
        return Case(model, x, self.reals(3))

    def attention(self, dropout=0.0):
        layers, keras = self.layers, self.keras
        words = keras.Input((10,), dtype="int32")
        hidden = layers.Embedding(30, 16, mask_zero=True)(words)
        hidden = layers.LayerNormalization(epsilon=1e-5)(hidden + layers.MultiHeadAttention(2, 8, dropout=dropout)(hidden, hidden, use_causal_mask=True))
        inner = layers.Dropout(dropout)(layers.Dense(16)(layers.Dense(32, "gelu")(hidden)))
        hidden = layers.LayerNormalization()(layers.Add()([hidden, inner]))
        model = keras.Model(words, layers.Dense(30)(hidden))
        model.compile(keras.optimizers.AdamW(0.01, clipnorm=1.0, use_ema=True, ema_momentum=0.9),
                      keras.losses.SparseCategoricalCrossentropy(from_logits=True), weighted_metrics=["accuracy"])
        # With dropout: no padding, since before Keras 3.10 a query that sees nothing sees all.
        return Case(model, self.words(30, 10) if dropout == 0 else 1 + self.words(29, 10), self.words(30, 10), random=dropout > 0)

    def attention_dropout(self):
        return self.attention(0.1)

    def nested(self):
        layers, keras = self.layers, self.keras
        image = keras.Input((4, 6), name="image")
        features = keras.Model(image, layers.Flatten()(layers.Dense(4, "swish", name="shared")(image)), name="features")
        head = keras.Sequential([keras.Input((32,)), layers.Dense(8, "relu"), layers.BatchNormalization(), layers.Dense(2)], name="head")
        left, right = keras.Input((4, 6), name="left"), keras.Input((4, 6), name="right")
        both = layers.concatenate([features(left), features(right)])
        features.get_layer("shared").trainable = True
        model = keras.Model([left, right], head(layers.Reshape((32,))(both)))
        model.compile(keras.optimizers.Nadam(0.01), keras.losses.Huber())
        return Case(model, {"left": self.reals(4, 6), "right": self.reals(6, 4).reshape(SAMPLES, 4, 6)}, self.reals(2))

    def frozen(self):
        base = self.small()
        base.layers[0].trainable = False
        model = self.keras.Sequential([self.keras.Input((6,)), base, self.layers.Dense(3)])
        model.compile("adam", "mse")
        return Case(model, self.reals(6), self.reals(3))

    def outputs(self, model_outputs):
        layers, keras = self.layers, self.keras
        entry = keras.Input((10,), name="entry")
        hidden = layers.Dense(12, "elu", name="trunk")(entry)
        price, kind = layers.Dense(1, name="price")(hidden), layers.Dense(3, "softmax", name="kind")(hidden)
        model = keras.Model(entry, model_outputs(price, kind))
        model.compile(keras.optimizers.Adam(0.01), loss={"price": "mse", "kind": "sparse_categorical_crossentropy"},
                      loss_weights={"price": 0.5, "kind": 2.0}, metrics={"price": ["mae"], "kind": ["accuracy"]})
        return Case(model, self.reals(10), {"price": self.reals(1), "kind": self.words(3)})

    def two_outputs(self):
        return self.outputs(lambda price, kind: [price, kind])

    def two_outputs_by_name(self):
        return self.outputs(lambda price, kind: {"price": price, "kind": kind})

    def functions(self):
        layers, ops = self.layers, self.keras.ops
        entry = self.keras.Input((6, 4))
        hidden = ops.transpose(entry * 2.0 + 1.0, (0, 2, 1))
        hidden = ops.concatenate([hidden[:, :, :3], ops.relu(hidden)[:, :, 3:]], axis=-1)
        hidden = ops.matmul(layers.Dense(5, name="d")(hidden), ops.ones((5, 3))) / ops.sqrt(ops.abs(ops.mean(hidden, axis=(1, 2), keepdims=True)) + 1.0)
        hidden = ops.softmax(ops.reshape(hidden, (-1, 12)), axis=-1) - ops.sum(ops.square(hidden), axis=-1)[:, :1]
        model = self.keras.Model(entry, ops.expand_dims(ops.max(hidden, axis=1), -1))
        model.compile(self.keras.optimizers.SGD(0.01), "mse")
        return Case(model, self.reals(6, 4), self.reals(1))

    def mixed_bfloat16(self):
        self.keras.config.set_dtype_policy("mixed_bfloat16")
        layers = self.layers
        model = self.keras.Sequential([self.keras.Input((6, 6, 2)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(), layers.Flatten(),
                                       layers.Dense(3, dtype="float32")])
        model.compile("sgd", "mse")
        return Case(model, self.reals(6, 6, 2), self.reals(3), tolerance=NARROW)

    def mixed_float16(self):
        self.keras.config.set_dtype_policy("mixed_float16")
        case = self.optimized("adam")
        case.predicted = case.trained = 0.01
        case.brief = False
        return case

    def preprocessing(self):
        layers, keras = self.layers, self.keras
        entry = keras.Input((5,))
        normal = layers.Normalization()
        normal.adapt(self.reals(5) * 3 + 1)
        hidden = layers.concatenate([layers.Rescaling(0.5, 0.1)(normal(entry)), entry[:, :1]])
        model = keras.Model(entry, layers.Dense(2)(hidden))
        model.compile("adam", "mse")
        return Case(model, self.reals(5), self.reals(2))

    def initializers(self):
        layers, k = self.layers, self.keras.initializers
        model = self.keras.Sequential([self.keras.Input((6,))])
        for kernel, bias in (
                (k.GlorotNormal(seed=1), k.Constant(0.1)), (k.HeUniform(), k.RandomNormal(0.0, 0.1)), (k.LecunNormal(), "ones"),
                (k.Orthogonal(0.5), k.RandomUniform(-0.1, 0.1)), (k.TruncatedNormal(stddev=0.2), "zeros"), (k.VarianceScaling(0.5, "fan_avg", "uniform"), "zeros")):
            model.add(layers.Dense(6, "tanh", kernel_initializer=kernel, bias_initializer=bias, kernel_constraint=self.keras.constraints.UnitNorm()))
        model.compile(self.keras.optimizers.Adamax(), "log_cosh")
        return Case(model, self.reals(6), self.reals(6))

    def named(self):
        """{name: what makes the case}"""
        names = ["sequential", "sequential_without_dropout", "activity_regularizer", "convnet", "recurrent", "recurrent_gru", "recurrent_dropout", "cells", "masked", "attention", "attention_dropout",
                 "nested", "frozen", "two_outputs", "two_outputs_by_name", "functions", "preprocessing", "initializers", "mixed_bfloat16", "mixed_float16"]
        cases = {name: getattr(self, name) for name in names}
        for name, options in OPTIMIZERS:
            if kind := getattr(self.keras.optimizers, name, None):
                cases[f"optimizer {name}"] = lambda kind=kind, options=options: self.optimized(kind(**options))
        for name, options in SCHEDULES:
            if kind := getattr(self.keras.optimizers.schedules, name, None):
                cases[f"schedule {name}"] = lambda kind=kind, options=options: self.optimized(self.keras.optimizers.SGD(kind(**options)))
        return cases


OPTIMIZERS = [
    ("SGD", {"clipvalue": 0.5}), ("RMSprop", {"rho": 0.8}), ("Adam", {"amsgrad": True, "global_clipnorm": 1.0}), ("AdamW", {"weight_decay": 0.01}),
    ("Adadelta", {"learning_rate": 1.0}), ("Adagrad", {}), ("Adamax", {}), ("Nadam", {"gradient_accumulation_steps": 2}), ("Ftrl", {"l1_regularization_strength": 0.01}),
    ("Lion", {}), ("Adafactor", {}), ("Lamb", {}), ("Muon", {})]
SCHEDULES = [
    ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5}),
    ("PiecewiseConstantDecay", {"boundaries": [3, 6], "values": [0.1, 0.05, 0.01]}),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 5, "power": 2.0, "cycle": True}),
    ("InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5}),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 8, "alpha": 0.1}),
    ("CosineDecayRestarts", {"initial_learning_rate": 0.1, "first_decay_steps": 3})]

# Layers alone: the class, its options, and the shape of a sample.
LAYERS = [
    ("Activation", {"activation": "softplus"}, (5,)), ("Discretization", {"bin_boundaries": [-1.0, 0.0, 1.0]}, (4,)), ("ActivityRegularization", {"l1": 0.1}, (5,)), ("ELU", {}, (5,)), ("Softmax", {}, (5,)), ("PReLU", {}, (5,)),
    ("ReLU", {"max_value": 1.0, "negative_slope": 0.1}, (5,)), ("UnitNormalization", {}, (5,)), ("RMSNormalization", {}, (6,)), ("GaussianNoise", {"stddev": 0.1}, (5,)),
    ("GaussianDropout", {"rate": 0.1}, (5,)), ("AlphaDropout", {"rate": 0.1}, (5,)), ("SpatialDropout1D", {"rate": 0.1}, (5, 3)),
    ("SpatialDropout2D", {"rate": 0.1}, (4, 4, 3)), ("EinsumDense", {"equation": "abc,cd->abd", "output_shape": (None, 7), "bias_axes": "d"}, (5, 3)),
    ("BatchNormalization", {"axis": 1, "scale": False}, (5, 3)), ("GroupNormalization", {"groups": 2}, (5, 4)), ("LayerNormalization", {"axis": [1, 2]}, (5, 4)),
    ("Conv1D", {"filters": 4, "kernel_size": 3, "padding": "causal", "dilation_rate": 2}, (8, 3)),
    ("Conv2D", {"filters": 4, "kernel_size": (3, 2), "groups": 2, "strides": 2}, (8, 8, 4)), ("Conv3D", {"filters": 3, "kernel_size": 2}, (5, 5, 5, 2)),
    ("Conv1DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2}, (6, 3)), ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"}, (5, 5, 3)),
    ("Conv3DTranspose", {"filters": 2, "kernel_size": 2, "strides": 2}, (3, 3, 3, 2)), ("DepthwiseConv1D", {"kernel_size": 3}, (8, 3)),
    ("SeparableConv1D", {"filters": 4, "kernel_size": 3}, (8, 3)), ("ConvLSTM1D", {"filters": 3, "kernel_size": 3}, (4, 6, 2)),
    ("ConvLSTM2D", {"filters": 3, "kernel_size": 3, "return_sequences": True}, (3, 6, 6, 2)), ("MaxPooling1D", {}, (8, 3)), ("AveragePooling1D", {"pool_size": 2, "padding": "same"}, (7, 3)),
    ("AveragePooling2D", {"pool_size": 3, "strides": 2, "padding": "same"}, (7, 7, 3)), ("MaxPooling3D", {}, (4, 4, 4, 2)), ("AveragePooling3D", {"pool_size": 2}, (4, 4, 4, 2)),
    ("AdaptiveAveragePooling2D", {"output_size": 3}, (7, 7, 2)), ("GlobalAveragePooling1D", {"keepdims": True}, (7, 3)), ("GlobalMaxPooling1D", {}, (7, 3)),
    ("Cropping1D", {}, (7, 3)), ("Cropping2D", {"cropping": ((1, 0), (2, 1))}, (7, 7, 3)), ("Cropping3D", {}, (4, 4, 4, 2)), ("ZeroPadding1D", {}, (7, 3)),
    ("ZeroPadding2D", {"padding": ((1, 0), (2, 1))}, (4, 4, 3)), ("ZeroPadding3D", {}, (3, 3, 3, 2)), ("UpSampling1D", {}, (5, 3)),
    ("UpSampling2D", {"interpolation": "bilinear"}, (4, 4, 3)), ("UpSampling3D", {}, (3, 3, 3, 2)), ("Flatten", {}, (4, 3)), ("Reshape", {"target_shape": (-1, 2)}, (4, 3)),
    ("Permute", {"dims": (2, 1)}, (4, 3)), ("RepeatVector", {"n": 3}, (4,)), ("Identity", {}, (4,)), ("CenterCrop", {"height": 4, "width": 4}, (6, 6, 3)),
    ("Resizing", {"height": 4, "width": 5, "interpolation": "bicubic"}, (7, 7, 3)), ("RandomFlip", {}, (6, 6, 3)), ("RandomRotation", {"factor": 0.1}, (6, 6, 3)),
    ("RandomZoom", {"height_factor": 0.1}, (6, 6, 3)), ("RandomTranslation", {"height_factor": 0.1, "width_factor": 0.1}, (6, 6, 3)),
    ("RandomContrast", {"factor": 0.1}, (6, 6, 3)), ("RandomBrightness", {"factor": 0.1}, (6, 6, 3)), ("RandomCrop", {"height": 4, "width": 4}, (6, 6, 3)),
    ("LSTM", {"units": 4, "recurrent_dropout": 0.2, "unroll": True}, (5, 3)), ("GRU", {"units": 4, "dropout": 0.2, "recurrent_dropout": 0.2}, (5, 3)),
    ("SimpleRNN", {"units": 4, "return_sequences": True}, (5, 3))]
WRAPPERS = {
    "SpectralNormalization": (lambda keras: keras.layers.SpectralNormalization(keras.layers.Dense(4)), (5,)),
    "TimeDistributed": (lambda keras: keras.layers.TimeDistributed(keras.layers.Conv1D(3, 2)), (4, 5, 2)),
    "Bidirectional": (lambda keras: keras.layers.Bidirectional(keras.layers.GRU(3), merge_mode="sum", backward_layer=keras.layers.LSTM(3, go_backwards=True)), (5, 2)),
    "StackedRNNCells": (lambda keras: keras.layers.RNN(keras.layers.StackedRNNCells([keras.layers.SimpleRNNCell(3), keras.layers.LSTMCell(3)])), (5, 2)),
    "Dense of LeakyReLU": (lambda keras: keras.layers.Dense(3, activation=keras.layers.LeakyReLU()), (5,))}
# Layers of two inputs.
PAIRS = [("Add", {}), ("Average", {}), ("Concatenate", {"axis": 1}), ("Dot", {"axes": 2}), ("Maximum", {}), ("Minimum", {}), ("Multiply", {}), ("Subtract", {}),
         ("Attention", {"use_scale": True}), ("AdditiveAttention", {}), ("MultiHeadAttention", {"num_heads": 2, "key_dim": 3}),
         ("GroupQueryAttention", {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}), ("GroupedQueryAttention", {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2})]

# Losses by what the labels are: probabilities beside class numbers, one probability, any numbers.
LOSSES = {
    "classes": ["CategoricalCrossentropy", "CategoricalFocalCrossentropy", "CategoricalHinge", "KLDivergence"],
    "binary": ["BinaryCrossentropy", "BinaryFocalCrossentropy", "Dice", "Hinge", "SquaredHinge", "Tversky"],
    "reals": ["CosineSimilarity", "Huber", "LogCosh", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson"]}
METRICS = {
    "classes": [("CategoricalAccuracy", {}), ("TopKCategoricalAccuracy", {"k": 2}), ("F1Score", {"average": "macro"}), ("FBetaScore", {}), ("CategoricalCrossentropy", {}),
                ("OneHotIoU", {"num_classes": 3, "target_class_ids": [0, 2]}), ("OneHotMeanIoU", {"num_classes": 3}), ("KLDivergence", {})],
    "binary": [("AUC", {"curve": "PR", "num_thresholds": 50}), ("BinaryAccuracy", {"threshold": 0.4}), ("BinaryCrossentropy", {}), ("FalsePositives", {}), ("TrueNegatives", {}),
               ("Precision", {"thresholds": [0.3, 0.6]}), ("BinaryIoU", {})],
    "binary, at": [("PrecisionAtRecall", {"recall": 0.5}), ("SensitivityAtSpecificity", {"specificity": 0.5})],
    "reals": [("MeanSquaredError", {}), ("RootMeanSquaredError", {}), ("R2Score", {}), ("LogCoshError", {}), ("CosineSimilarity", {}), ("PearsonCorrelation", {})]}


class Run:
    """All cases with the Keras of this Python."""

    def __init__(self, weft, only, verbose):
        os.environ["KERAS_BACKEND"], os.environ["JAX_PLATFORMS"] = "jax", "cpu"
        os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # compiles faster
        warnings.simplefilter("ignore")  # but of what `load` loads
        import jax
        import keras
        import numpy

        self.keras, self.numpy, self.versions = keras, numpy, (keras.__version__, jax.__version__)
        self.weft_path, self.only, self.verbose = weft, re.compile(only), verbose
        self.models = Models(keras, numpy)
        self.count = self.passed = self.differences = self.refused = 0

    def weft(self, command, *words):
        words = [str(word) for word in (self.weft_path, command, *words, "--data", "data.npz", "--batch-size", BATCH, "--seed", 1)]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=patience.HANG)
        if done.returncode:
            raise Difference(f"weft {command}: {done.stderr.strip() or f'exit status {done.returncode}'}")
        return done.stdout

    def compare(self, what, found, wanted, limit):
        flat = [self.numpy.ravel(self.numpy.asarray(values, "float64")).tolist() for values in (found, wanted)]
        if len(flat[0]) != len(flat[1]):
            raise Difference(f"{what}: {len(flat[0])} numbers, Keras has {len(flat[1])}")
        worst = npz_values.worst_difference(*flat, least=1e-3)
        if self.verbose:
            print(f"    {what}: {worst:.2g} of {limit:.2g}")
        if not worst <= limit:
            raise Difference(f"{what}: off by {worst:.2g} of the largest value, allowed are {limit:.2g}" +
                             (f" ({flat[0]}, Keras has {flat[1]})" if len(flat[0]) <= 4 else ""))

    @contextlib.contextmanager
    def part(self, name):
        """What differs inside is counted and shown, and the next part goes on."""
        try:
            yield
        except Difference as difference:
            self.failed(name, str(difference))
        except Exception as error:  # what Keras says of a file, or of its own model
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = f"Keras: {type(error).__name__}: {str(error).strip()[:600]} ({pathlib.Path(where.filename).name}:{where.lineno})"
            if name == "model":
                self.refused += 1
                print(f"Keras {self.versions[0]} cannot do {self.name} itself: {said}")
            else:
                self.failed(name, said)

    def failed(self, name, what):
        self.differences += 1
        print(f"FAIL Keras {self.versions[0]}: {self.name}: {name}: {what}")

    def predicted(self, what, file):
        """Weft's predictions, of all outputs in a row."""
        self.weft("predict", file, *what, "--verbose", 0, "--out", "p.npz")
        with self.numpy.load(self.folder / "p.npz") as arrays:
            names = [f"y/{name}" for name in self.outputs] if len(arrays) > 1 else list(arrays)
            return self.numpy.concatenate([self.numpy.ravel(arrays[name]) for name in names])

    def predicted_by(self, model, x):
        found = model.predict(x, batch_size=BATCH, verbose=0)
        if isinstance(found, dict):
            found = [found[name] for name in self.outputs]
        return self.numpy.concatenate([self.numpy.ravel(part) for part in (found if isinstance(found, list) else [found])])

    def history(self):
        return json.loads((self.folder / "h.json").read_text())["history"]

    def write_data(self, x, y):
        arrays = {}
        for kind, value in (("x", x), ("y", y)):
            arrays.update({f"{kind}/{name}": part for name, part in value.items()} if isinstance(value, dict) else {kind: value})
        self.numpy.savez(self.folder / "data.npz", **arrays)

    def load(self, file, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            return self.keras.saving.load_model(self.folder / file, **options)

    def trained(self, make):
        """A model of `Models`, out and in again."""
        case = make()
        model, folder = case.model, self.folder
        self.outputs = list(model.output_names) if hasattr(model, "output_names") else ["y"]
        self.write_data(case.x, case.y)
        options = {"batch_size": BATCH, "shuffle": False, "verbose": 0}
        model.save(folder / "fresh.keras")
        model.fit(case.x, case.y, **options)
        model.save(folder / "model.keras")
        model.save_weights(folder / "model.weights.h5")
        if not case.brief:
            expected = self.predicted_by(model, case.x)
            with self.part("predict"):
                self.compare("predictions", self.predicted([], "model.keras"), expected, case.predicted)
            with self.part("predict --weights"):
                self.compare("predictions", self.predicted(["--weights", "model.weights.h5"], "fresh.keras"), expected, case.predicted)
        # Another object: with use_ema, Keras on JAX does not train on with the same one.
        again = self.load("model.keras")
        history = again.fit(case.x, case.y, epochs=2, **options).history
        with self.part("fit"):
            self.weft("fit", "model.keras", "--epochs", 2, "--no-shuffle", "--verbose", 0, "--history", "h.json", "--save", "out.keras", "--save-weights", "out.weights.h5")
            if not case.random:
                self.same_history(self.history(), history, case.trained)
        if not (folder / "out.keras").exists():
            return
        found = self.predicted([], "out.keras")
        with self.part("Keras loads .keras"):
            loaded = self.load("out.keras")
            self.compare("predictions", found, self.predicted_by(loaded, case.x), case.predicted)
            steps = int(loaded.optimizer.iterations.numpy())
            if steps != int(again.optimizer.iterations.numpy()):
                raise Difference(f"{steps} iterations of the optimizer, Keras has {int(again.optimizer.iterations.numpy())}")
            step = loaded.fit(*({name: part[:BATCH] for name, part in value.items()} if isinstance(value, dict) else value[:BATCH] for value in (case.x, case.y)), **options)
            self.weft("fit", "out.keras", "--max-steps", 1, "--no-shuffle", "--verbose", 0, "--history", "h.json")
            if not case.random:
                self.same_history(self.history(), step.history, case.trained)
        if case.brief:
            return
        with self.part("Keras loads .weights.h5"):
            other = self.load("fresh.keras", compile=False)
            other.load_weights(folder / "out.weights.h5")
            self.compare("predictions", found, self.predicted_by(other, case.x), case.predicted)

    def same_history(self, found, wanted, limit):
        if list(found) != list(wanted):
            raise Difference(f"the history has {', '.join(found)}; Keras' has {', '.join(wanted)}")
        for name in wanted:
            self.compare(f"history of {name}", found[name], wanted[name], limit)

    def layer(self, layer, *shapes):
        inputs = [self.keras.Input(shape, name=f"x{number}") for number, shape in enumerate(shapes)]
        x = [self.models.reals(*shape) for shape in shapes]
        together = isinstance(layer, (self.keras.layers.Add, *[kind for name in ("Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract", "Attention",
                                      "AdditiveAttention") if (kind := getattr(self.keras.layers, name, None))]))
        model = self.keras.Model(inputs if len(inputs) > 1 else inputs[0], layer(inputs) if together else layer(*inputs))
        self.outputs = ["y"]
        self.write_data({f"x{number}": part for number, part in enumerate(x)} if len(x) > 1 else x[0], self.numpy.zeros((SAMPLES, 1)))
        model.save(self.folder / "model.keras")
        with self.part("predict"):
            self.compare("predictions", self.predicted([], "model.keras"), self.predicted_by(model, x if len(x) > 1 else x[0]), PREDICTED)

    def evaluated(self, kind, loss, metrics):
        keras, numpy = self.keras, self.numpy
        model = keras.Sequential([keras.Input((6,)), keras.layers.Dense({"classes": 3, "binary": 1, "reals": 2}[kind],
                                                                       {"classes": "softmax", "binary": "sigmoid", "reals": "softplus"}[kind])])
        model.compile("sgd", loss, metrics=metrics)
        x = self.models.reals(6)
        y = {"classes": lambda: numpy.eye(3, dtype="float32")[self.models.words(3)], "binary": lambda: self.models.words(2, 1).astype("float32"),
             "reals": lambda: numpy.abs(self.models.reals(2))}[kind]()
        self.write_data(x, y)
        wanted = model.evaluate(x, y, batch_size=BATCH, verbose=0, return_dict=True)
        model.save(self.folder / "model.keras")
        with self.part("evaluate"):
            found = json.loads(self.weft("evaluate", "model.keras", "--json"))
            found = {name: value for name, value in found.items() if name in wanted}
            if set(found) != set(wanted):
                raise Difference(f"weft evaluates {', '.join(found)}; Keras {', '.join(wanted)}")
            for name in wanted:
                self.compare(name, found[name], wanted[name], TRAINED)

    def cases(self):
        keras = self.keras
        yield from ((name, lambda make=make: self.trained(make)) for name, make in self.models.named().items())
        for name, options, shape in LAYERS:
            if kind := getattr(keras.layers, name, None):
                yield f"layer {name}", lambda kind=kind, options=options, shape=shape: self.layer(kind(**options), shape)
        for name, (make, shape) in WRAPPERS.items():
            yield f"layer {name}", lambda make=make, shape=shape: self.layer(make(keras), shape)
        for name, options in PAIRS:
            if kind := getattr(keras.layers, name, None):
                yield f"layer {name}", lambda kind=kind, options=options: self.layer(kind(**options), (5, 4), (5, 4))
        for kind, names in LOSSES.items():
            for name in names:
                if loss := getattr(keras.losses, name, None):
                    yield f"loss {name}", lambda kind=kind, loss=loss: self.evaluated(kind, loss(), [])
        for kind, entries in METRICS.items():
            yield f"metrics of {kind}", lambda kind=kind, entries=entries: self.evaluated(
                kind.partition(",")[0], "mse", [getattr(keras.metrics, name)(**options) for name, options in entries if hasattr(keras.metrics, name)])

    def run(self):
        for name, check in self.cases():
            if not self.only.search(name):
                continue
            if self.verbose:
                print(f"  {name}", flush=True)
            self.name, before, refused = name, self.differences, self.refused
            self.keras.utils.clear_session(free_memory=False)
            self.keras.utils.set_random_seed(1)
            self.keras.config.set_dtype_policy("float32")
            with tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                with self.part("model"):
                    check()
            if self.refused == refused:
                self.count += 1
                self.passed += self.differences == before
        return f"| {self.versions[0]} | {self.versions[1]} | {self.count} | {self.passed} | {self.differences} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", type=pathlib.Path, help="build/bin/weft")
    parser.add_argument("python", nargs="*", help="interpreters that have Keras; without any, the one that runs this")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names have it")
    parser.add_argument("-v", "--verbose", action="store_true", help="show each case and what it measures")
    args = parser.parse_args()
    if not args.python:
        row = Run(args.weft.resolve(), args.only, args.verbose).run()
        print(row)
        return 0 if row.endswith("| 0 |") else 1
    rows, status = [], 0
    for python in args.python:
        words = [python, __file__, str(args.weft), "--only", args.only, *(["-v"] if args.verbose else [])]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
        lines = done.stdout.splitlines()
        rows += [line for line in lines if line.startswith("| ")] or [f"| {python} | did not run | | | |"]
        print("\n".join(line for line in lines if not line.startswith("| ")), flush=True)
        status = status or done.returncode
    print("\n".join([HEAD, *rows]))
    return status


if __name__ == "__main__":
    sys.exit(main())
