"""Models that check_versions.py lets Keras train and save, and the options of their optimizers and schedules."""

# The largest differences, relative to the largest value: of predictions, and of losses and metrics.
PREDICTED, TRAINED = 1e-5, 1e-4
# Both limits for a model whose layers compute in bfloat16, which has a step of 1/128.
NARROW = 0.03
SAMPLES = 32

OPTIMIZERS = [
    ("SGD", {"clipvalue": 0.5}),
    ("RMSprop", {"rho": 0.8}),
    ("Adam", {"amsgrad": True, "global_clipnorm": 1.0}),
    ("AdamW", {"weight_decay": 0.01}),
    ("Adadelta", {"learning_rate": 1.0}),
    ("Adagrad", {}),
    ("Adamax", {}),
    ("Nadam", {"gradient_accumulation_steps": 2}),
    ("Ftrl", {"l1_regularization_strength": 0.01}),
    ("Lion", {}),
    ("Adafactor", {}),
    ("Lamb", {}),
    ("Muon", {}),
]
SCHEDULES = [
    ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5}),
    ("PiecewiseConstantDecay", {"boundaries": [3, 6], "values": [0.1, 0.05, 0.01]}),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 5, "power": 2.0, "cycle": True}),
    ("InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5}),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 8, "alpha": 0.1}),
    ("CosineDecayRestarts", {"initial_learning_rate": 0.1, "first_decay_steps": 3}),
]


class Case:
    """A model and its data. `random`: training draws random numbers, so histories differ. `brief`: the model is only trained
    on."""

    def __init__(self, model, x, y, random=False, tolerance=None, brief=False):
        self.model, self.x, self.y, self.random, self.brief = model, x, y, random, brief
        self.predicted, self.trained = tolerance or PREDICTED, tolerance or TRAINED


class Models:
    """The models that are trained and saved, by name."""

    def __init__(self, keras, numpy):
        self.keras, self.layers, self.numpy = keras, keras.layers, numpy

    def reals(self, *shape):
        return self.numpy.random.default_rng(sum(shape)).normal(size=(SAMPLES, *shape)).astype("float32")

    def words(self, count, *shape):
        return self.numpy.random.default_rng(sum(shape) + 1).integers(0, count, size=(SAMPLES, *shape)).astype("int32")

    def small(self):
        return self.keras.Sequential(
            [self.keras.Input((6,)), self.layers.Dense(8, "tanh", name="inner"), self.layers.Dense(3, name="outer")]
        )

    def optimized(self, optimizer):
        model = self.small()
        model.compile(optimizer, "mse", metrics=["mae"])
        return Case(model, self.reals(6), self.reals(3), brief=True)

    def sequential(self):
        layers, keras = self.layers, self.keras
        model = keras.Sequential(
            [
                keras.Input((12,)),
                layers.Dense(16, "relu", kernel_regularizer=keras.regularizers.L2(0.01)),
                layers.BatchNormalization(),
                layers.Dropout(0.25),
                layers.Dense(8, kernel_constraint=keras.constraints.MaxNorm(2.0)),
                layers.LeakyReLU(),
                layers.Dropout(0.1, seed=3),
                layers.Dense(4, "softmax"),
            ]
        )
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        return Case(model, self.reals(12), self.words(4), random=True)

    def sequential_without_dropout(self):
        layers, keras = self.layers, self.keras
        model = keras.Sequential(
            [
                keras.Input((12,)),
                layers.Dense(16, "relu", kernel_regularizer="l2"),
                layers.BatchNormalization(),
                layers.Dropout(0.0),
                layers.Dense(4, "softmax"),
            ]
        )
        model.compile(
            keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.01, 4, 0.9, staircase=True)),
            keras.losses.SparseCategoricalCrossentropy(),
            metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(k=2)],
        )
        return Case(model, self.reals(12), self.words(4))

    def activity_regularizer(self):
        model = self.keras.Sequential(
            [self.keras.Input((6,)), self.layers.Dense(3, "tanh", activity_regularizer=self.keras.regularizers.L1L2(0.01, 0.01))]
        )
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
        model.compile(
            keras.optimizers.SGD(rate, momentum=0.9, nesterov=True, weight_decay=0.001),
            keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
            metrics=["categorical_accuracy"],
        )
        return Case(model, self.reals(12, 12, 3), self.numpy.eye(5, dtype="float32")[self.words(5)])

    def recurrent(self, layer="LSTM", dropout=0.0):
        layers, keras = self.layers, self.keras
        words = keras.Input((9,), dtype="int32", name="words")
        hidden = layers.Embedding(20, 8, mask_zero=True)(words)
        hidden = layers.Bidirectional(getattr(layers, layer)(6, return_sequences=True, dropout=dropout))(hidden)
        hidden = layers.GRU(5, reset_after=layer == "LSTM")(hidden)
        model = keras.Model(words, layers.Dense(1, "sigmoid")(hidden))
        model.compile(
            keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True),
            keras.losses.BinaryCrossentropy(),
            metrics=["accuracy", keras.metrics.AUC(), keras.metrics.Precision(), keras.metrics.Recall()],
        )
        return Case(model, self.words(20, 9), self.words(2, 1).astype("float32"), random=dropout > 0)

    def recurrent_gru(self):
        return self.recurrent("GRU")

    def recurrent_dropout(self):
        return self.recurrent(dropout=0.2)

    def cells(self):
        layers, keras = self.layers, self.keras
        model = keras.Sequential(
            [
                keras.Input((7, 4)),
                layers.RNN([layers.LSTMCell(5), layers.GRUCell(4)], return_sequences=True),
                layers.TimeDistributed(layers.Dense(3)),
                layers.LSTM(3, go_backwards=True),
            ]
        )
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
        hidden = layers.LayerNormalization(epsilon=1e-5)(
            hidden + layers.MultiHeadAttention(2, 8, dropout=dropout)(hidden, hidden, use_causal_mask=True)
        )
        inner = layers.Dropout(dropout)(layers.Dense(16)(layers.Dense(32, "gelu")(hidden)))
        hidden = layers.LayerNormalization()(layers.Add()([hidden, inner]))
        model = keras.Model(words, layers.Dense(30)(hidden))
        model.compile(
            keras.optimizers.AdamW(0.01, clipnorm=1.0, use_ema=True, ema_momentum=0.9),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            weighted_metrics=["accuracy"],
        )
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
        model.compile(
            keras.optimizers.Adam(0.01),
            loss={"price": "mse", "kind": "sparse_categorical_crossentropy"},
            loss_weights={"price": 0.5, "kind": 2.0},
            metrics={"price": ["mae"], "kind": ["accuracy"]},
        )
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
        hidden = ops.matmul(layers.Dense(5, name="d")(hidden), ops.ones((5, 3))) / ops.sqrt(
            ops.abs(ops.mean(hidden, axis=(1, 2), keepdims=True)) + 1.0
        )
        hidden = ops.softmax(ops.reshape(hidden, (-1, 12)), axis=-1) - ops.sum(ops.square(hidden), axis=-1)[:, :1]
        model = self.keras.Model(entry, ops.expand_dims(ops.max(hidden, axis=1), -1))
        model.compile(self.keras.optimizers.SGD(0.01), "mse")
        return Case(model, self.reals(6, 4), self.reals(1))

    def mixed_bfloat16(self):
        self.keras.config.set_dtype_policy("mixed_bfloat16")
        layers = self.layers
        model = self.keras.Sequential(
            [
                self.keras.Input((6, 6, 2)),
                layers.Conv2D(4, 3),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.Flatten(),
                layers.Dense(3, dtype="float32"),
            ]
        )
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
            (k.GlorotNormal(seed=1), k.Constant(0.1)),
            (k.HeUniform(), k.RandomNormal(0.0, 0.1)),
            (k.LecunNormal(), "ones"),
            (k.Orthogonal(0.5), k.RandomUniform(-0.1, 0.1)),
            (k.TruncatedNormal(stddev=0.2), "zeros"),
            (k.VarianceScaling(0.5, "fan_avg", "uniform"), "zeros"),
        ):
            model.add(
                layers.Dense(
                    6, "tanh", kernel_initializer=kernel, bias_initializer=bias, kernel_constraint=self.keras.constraints.UnitNorm()
                )
            )
        model.compile(self.keras.optimizers.Adamax(), "log_cosh")
        return Case(model, self.reals(6), self.reals(6))

    def named(self):
        """{name: function that makes the case}"""
        names = [
            "sequential",
            "sequential_without_dropout",
            "activity_regularizer",
            "convnet",
            "recurrent",
            "recurrent_gru",
            "recurrent_dropout",
            "cells",
            "masked",
            "attention",
            "attention_dropout",
            "nested",
            "frozen",
            "two_outputs",
            "two_outputs_by_name",
            "functions",
            "preprocessing",
            "initializers",
            "mixed_bfloat16",
            "mixed_float16",
        ]
        cases = {name: getattr(self, name) for name in names}
        for name, options in OPTIMIZERS:
            if kind := getattr(self.keras.optimizers, name, None):
                cases[f"optimizer {name}"] = lambda kind=kind, options=options: self.optimized(kind(**options))
        for name, options in SCHEDULES:
            if kind := getattr(self.keras.optimizers.schedules, name, None):
                cases[f"schedule {name}"] = lambda kind=kind, options=options: self.optimized(self.keras.optimizers.SGD(kind(**options)))
        return cases
