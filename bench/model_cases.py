"""Models of a real size that bench/models.py trains: Keras' own with weights=None, and built ones.

A case is a model and its data: CASES[name] = Case(build, inputs, target, loss). `smoke` builds a small model in their place, for
a test of the driver. Data are seeded noise: neither times nor bytes depend on them.
"""

import dataclasses
import typing

import keras
import numpy as np

import keras_cases
from model_layers import Gather, GroupedAttention, Latent, SegmentSum, Spread

layers, ops = keras.layers, keras.ops


@dataclasses.dataclass
class Case:
    """`inputs` and `target` draw a batch of them; the loss is the sparse cross entropy of logits unless it is named."""

    build: typing.Callable
    inputs: list
    target: typing.Callable
    loss: typing.Any = None
    rate: float = 1e-4


def real(*shape):
    return lambda rng: rng.standard_normal(shape, "float32")


def below(limit, *shape):
    return lambda rng: rng.integers(0, limit, shape, dtype="int32")


def normed(x, layer, *others, rms=False, **options):
    """A residual branch behind a norm."""
    norm = layers.RMSNormalization() if rms else layers.LayerNormalization()
    h = norm(x)
    return x + (layer(h, *(others or (h,)), **options) if isinstance(layer, layers.MultiHeadAttention) else layer(h))


def mlp(width, inner, activation="gelu"):
    return keras.Sequential([layers.Dense(inner, activation=activation), layers.Dense(width)])


def heads_of(width, heads):
    return layers.MultiHeadAttention(heads, width // heads)


def embedded(tokens, vocabulary, width):
    positions = ops.cumsum(ops.ones_like(tokens), axis=-1) - 1
    return layers.Embedding(vocabulary, width)(tokens) + layers.Embedding(tokens.shape[1], width)(positions)


def application(name):
    return lambda: getattr(keras.applications, name)(weights=None, input_shape=(96, 96, 3), classes=10, classifier_activation=None)


def bert(depth, width, length, vocabulary):
    tokens = keras.Input((length,), dtype="int32")
    x = layers.LayerNormalization()(embedded(tokens, vocabulary, width))
    for _ in range(depth):
        x = layers.LayerNormalization()(x + heads_of(width, width // 64)(x, x))
        x = layers.LayerNormalization()(x + mlp(width, 4 * width)(x))
    return keras.Model(tokens, layers.Dense(vocabulary)(layers.LayerNormalization()(layers.Dense(width, activation="gelu")(x))))


def patches(size, patch, width):
    images = keras.Input((size, size, 3))
    return images, layers.Reshape(((size // patch) ** 2, width))(layers.Conv2D(width, patch, strides=patch)(images))


def vit(depth, width, size, patch):
    images, x = patches(size, patch, width)
    positions = layers.Embedding(x.shape[1], width)(np.arange(x.shape[1]))
    x = x + positions
    for _ in range(depth):
        x = normed(x, heads_of(width, 8))
        x = normed(x, mlp(width, 4 * width))
    return keras.Model(images, layers.Dense(10)(layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))))


def mixer(depth, width, size, patch):
    images, x = patches(size, patch, width)
    for _ in range(depth):
        x = x + layers.Permute((2, 1))(mlp(x.shape[1], 2 * width)(layers.Permute((2, 1))(layers.LayerNormalization()(x))))
        x = normed(x, mlp(width, 4 * width))
    return keras.Model(images, layers.Dense(10)(layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))))


def recurrent(width, length, vocabulary):
    words = keras.Input((length,), dtype="int32")
    x = layers.Embedding(vocabulary, width)(words)
    x = layers.Bidirectional(layers.LSTM(width, return_sequences=True))(x)
    return keras.Model(words, layers.Dense(10)(layers.GRU(width)(x)))


def unet(size, widths):
    images = keras.Input((size, size, 3))

    def block(x, width):
        for _ in range(2):
            x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same", use_bias=False)(x)))
        return x

    x, kept = images, []
    for width in widths[:-1]:
        kept.append(block(x, width))
        x = layers.MaxPooling2D()(kept[-1])
    x = block(x, widths[-1])
    for width, skip in zip(widths[-2::-1], kept[::-1], strict=True):
        x = block(layers.Concatenate()([layers.Conv2DTranspose(width, 2, strides=2)(x), skip]), width)
    return keras.Model(images, layers.Conv2D(4, 1)(x))


def t5(depth, width, length, vocabulary):
    source, target = (keras.Input((length,), dtype="int32") for _ in range(2))
    x, y = (embedded(tokens, vocabulary, width) for tokens in (source, target))
    for _ in range(depth):
        x = normed(x, heads_of(width, width // 64), rms=True)
        x = normed(x, mlp(width, 4 * width, "relu"), rms=True)
    x = layers.RMSNormalization()(x)
    for _ in range(depth):
        y = normed(y, heads_of(width, width // 64), rms=True, use_causal_mask=True)
        y = normed(y, heads_of(width, width // 64), x, rms=True)
        y = normed(y, mlp(width, 4 * width, "relu"), rms=True)
    return keras.Model([source, target], layers.Dense(vocabulary, use_bias=False)(layers.RMSNormalization()(y)))


def llama(depth, width, length, vocabulary):
    tokens = keras.Input((length,), dtype="int32")
    x = layers.Embedding(vocabulary, width)(tokens)
    for _ in range(depth):
        x = x + GroupedAttention(8, 2)(layers.RMSNormalization()(x))
        h = layers.RMSNormalization()(x)
        gate, up = (layers.Dense(width * 8 // 3 // 64 * 64, activation=name, use_bias=False)(h) for name in ("silu", None))
        x = x + layers.Dense(width, use_bias=False)(gate * up)
    return keras.Model(tokens, layers.Dense(vocabulary, use_bias=False)(layers.RMSNormalization()(x)))


def diffusion(size, widths):
    images, time = keras.Input((size, size, 3)), keras.Input(())
    clock = layers.Dense(4 * widths[0], activation="silu")(Spread(widths[0])(time))

    def block(x, width):
        h = layers.Conv2D(width, 3, padding="same")(layers.Activation("silu")(layers.GroupNormalization(8)(x)))
        h = h + layers.Reshape((1, 1, width))(layers.Dense(width)(clock))
        h = layers.Conv2D(width, 3, padding="same")(layers.Activation("silu")(layers.GroupNormalization(8)(h)))
        return h + (x if x.shape[-1] == width else layers.Conv2D(width, 1)(x))

    def attended(x):
        h = layers.Reshape((x.shape[1] * x.shape[2], x.shape[3]))(layers.GroupNormalization(8)(x))
        return x + layers.Reshape(x.shape[1:])(heads_of(x.shape[3], 4)(h, h))

    x, kept = layers.Conv2D(widths[0], 3, padding="same")(images), []
    for width in widths:
        kept.append(block(x, width))
        x = layers.Conv2D(width, 3, strides=2, padding="same")(kept[-1])
    x = block(attended(block(x, widths[-1])), widths[-1])
    for width, skip in zip(widths[::-1], kept[::-1], strict=True):
        x = block(layers.Concatenate()([layers.Conv2D(width, 3, padding="same")(layers.UpSampling2D()(x)), skip]), width)
    x = layers.Activation("silu")(layers.GroupNormalization(8)(x))
    return keras.Model([images, time], layers.Conv2D(3, 3, padding="same")(x))


def graph(depth, width, nodes, edges):
    features = keras.Input((nodes, 32))
    senders, receivers = (keras.Input((edges,), dtype="int32") for _ in range(2))
    x = layers.Dense(width)(features)
    for _ in range(depth):
        ends = layers.Concatenate()([Gather()(x, senders), Gather()(x, receivers)])
        sums = SegmentSum(nodes)(mlp(width, width, "relu")(ends), receivers)
        x = layers.LayerNormalization()(x + mlp(width, width, "relu")(layers.Concatenate()([x, sums])))
    return keras.Model([features, senders, receivers], layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def vae(latent):
    images = keras.Input((28, 28, 1))
    x = images
    for width in (32, 64):
        x = layers.Conv2D(width, 3, strides=2, padding="same", activation="relu")(x)
    z = Latent()(layers.Dense(2 * latent)(layers.Dense(256, activation="relu")(layers.Flatten()(x))))
    x = layers.Reshape((7, 7, 64))(layers.Dense(7 * 7 * 64, activation="relu")(z))
    for width in (64, 32):
        x = layers.Conv2DTranspose(width, 3, strides=2, padding="same", activation="relu")(x)
    return keras.Model(images, layers.Conv2DTranspose(1, 3, padding="same")(x))


IMAGES = [real(16, 96, 96, 3)]
CASES = {name: Case(application(function), IMAGES, below(10, 16)) for name, function in {
    "resnet50": "ResNet50", "mobilenetv2": "MobileNetV2", "efficientnetb0": "EfficientNetB0", "convnext-tiny": "ConvNeXtTiny",
    "densenet121": "DenseNet121", "vgg16": "VGG16"}.items()}
CASES |= {
    "gpt2": Case(lambda: keras_cases.gpt(12, 768, 12, 64, 8192), [below(8192, 8, 64)], below(8192, 8, 64)),
    "bert": Case(lambda: bert(6, 512, 128, 8192), [below(8192, 8, 128)], below(8192, 8, 128)),
    "vit": Case(lambda: vit(6, 256, 64, 8), [real(32, 64, 64, 3)], below(10, 32)),
    "bilstm-gru": Case(lambda: recurrent(128, 100, 8192), [below(8192, 64, 100)], below(10, 64)),
    "unet": Case(lambda: unet(64, (32, 64, 128)), [real(16, 64, 64, 3)], below(4, 16, 64, 64)),
    "t5": Case(lambda: t5(4, 512, 64, 8192), [below(8192, 8, 64), below(8192, 8, 64)], below(8192, 8, 64)),
    "llama": Case(lambda: llama(6, 512, 128, 8192), [below(8192, 8, 128)], below(8192, 8, 128)),
    "diffusion": Case(lambda: diffusion(32, (32, 64, 128)), [real(16, 32, 32, 3), real(16)], real(16, 32, 32, 3), "mse"),
    "mixer": Case(lambda: mixer(8, 256, 64, 8), [real(32, 64, 64, 3)], below(10, 32)),
    "graph": Case(lambda: graph(4, 128, 256, 1024), [real(16, 256, 32), below(256, 16, 1024), below(256, 16, 1024)], below(10, 16)),
    "vae": Case(lambda: vae(32), [real(64, 28, 28, 1)], real(64, 28, 28, 1), "mse"),
    "smoke": Case(lambda: keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dense(10)]),
                  [real(16, 8)], below(10, 16)),
}


def compiled_model(name):
    """The model of a case, ready to train; the distribution is set before."""
    case = CASES[name]
    keras.utils.set_random_seed(1234)
    model = case.build()
    model.compile(optimizer=keras.optimizers.Adam(case.rate),
                  loss=case.loss or keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.optimizer.build(model.trainable_variables)
    return model


def batches(name, count):
    """Host arrays: pairs of inputs (a list) and targets."""
    case, rng = CASES[name], np.random.default_rng(0)
    for _ in range(count):
        yield [draw(rng) for draw in case.inputs], case.target(rng)
