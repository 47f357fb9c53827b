"""Models as people write them, with layers and functions of keras.ops. With `whole` a model has its usual size, else it is
small."""

import keras
import numpy as np
from keras import layers, ops


def unet(whole):
    """U-Net: levels down and up again; each level up takes the output of the same level down."""
    widths, size = ([64, 128, 256, 512], 128) if whole else ([4, 8], 16)
    x = inputs = keras.Input((size, size, 3), name="image")

    def block(x, width):
        for _ in range(2):
            x = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
            x = layers.BatchNormalization()(x)
            x = layers.Activation("relu")(x)
        return x

    levels = []
    for width in widths:
        x = block(x, width)
        levels.append(x)
        x = layers.MaxPooling2D()(x)
    x = block(x, 2 * widths[-1])
    for width, level in zip(reversed(widths), reversed(levels)):
        x = layers.Conv2DTranspose(width, 2, strides=2, padding="same")(x)
        x = block(layers.Concatenate()([x, level]), width)
    return keras.Model(inputs, layers.Conv2D(4, 1)(x), name="unet")


def positions(tokens):
    """0, 1, 2, ... in the shape of the tokens."""
    return ops.cumsum(ops.ones_like(tokens), axis=-1) - 1


def gpt2(whole):
    """Learned positions, normalization first, causal attention, GELU by tanh."""
    vocabulary, width, heads, depth, length = (50257, 768, 12, 12, 256) if whole else (32, 16, 2, 2, 8)
    tokens = keras.Input((length,), dtype="int32", name="tokens")
    x = layers.Embedding(vocabulary, width)(tokens) + layers.Embedding(length, width)(positions(tokens))
    x = layers.Dropout(0.1)(x)
    for _ in range(depth):
        h = layers.LayerNormalization(epsilon=1e-5)(x)
        h = layers.MultiHeadAttention(heads, width // heads, dropout=0.1)(h, h, use_causal_mask=True)
        x = x + layers.Dropout(0.1)(h)
        h = layers.LayerNormalization(epsilon=1e-5)(x)
        h = ops.gelu(layers.Dense(4 * width)(h), approximate=True)
        x = x + layers.Dropout(0.1)(layers.Dense(width)(h))
    x = layers.LayerNormalization(epsilon=1e-5)(x)
    return keras.Model(tokens, layers.Dense(vocabulary, use_bias=False)(x), name="gpt2")


def bert(whole):
    """Tokens, segments and positions, normalization last, a mask of padding, the first token classified."""
    vocabulary, width, heads, depth, length = (30522, 768, 12, 12, 128) if whole else (32, 16, 2, 2, 8)
    tokens = keras.Input((length,), dtype="int32", name="tokens")
    segments = keras.Input((length,), dtype="int32", name="segments")
    x = layers.Embedding(vocabulary, width)(tokens) + layers.Embedding(32, width)(segments)
    x = layers.LayerNormalization(epsilon=1e-12)(x + layers.Embedding(length, width)(positions(tokens)))
    present = ops.expand_dims(ops.not_equal(tokens, 0), 1)
    mask = ops.logical_or(present, ops.logical_not(ops.any(present, axis=-1, keepdims=True)))
    mask = ops.repeat(mask, length, axis=1)
    for _ in range(depth):
        h = layers.MultiHeadAttention(heads, width // heads)(x, x, attention_mask=mask)
        x = layers.LayerNormalization(epsilon=1e-12)(x + h)
        h = layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(x))
        x = layers.LayerNormalization(epsilon=1e-12)(x + h)
    pooled = layers.Dense(width, activation="tanh")(x[:, 0])
    return keras.Model([tokens, segments], layers.Dense(3)(pooled), name="bert")


def vit(whole):
    """Patches by a convolution, attention over them, their mean classified."""
    size, patch, width, heads, depth = (224, 16, 768, 12, 12) if whole else (16, 4, 16, 2, 2)
    image = keras.Input((size, size, 3), name="image")
    x = layers.Conv2D(width, patch, strides=patch)(image)
    x = ops.reshape(x, (-1, (size // patch) ** 2, width))
    zero = ops.cast(ops.zeros_like(x[:, :, 0]), "int32")
    x = x + layers.Embedding((size // patch) ** 2, width)(positions(zero))
    for _ in range(depth):
        h = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.MultiHeadAttention(heads, width // heads)(h, h)
        h = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(h))
    x = ops.mean(layers.LayerNormalization(epsilon=1e-6)(x), axis=1)
    return keras.Model(image, layers.Dense(10)(x), name="vit")


def rotary(x, length, depth):
    """(batch, time, heads, depth), turned by an angle for each time."""
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, depth, 2) / depth)
    cosine, sine = (f(angle).astype("float32")[None, :, None, :] for f in (np.cos, np.sin))
    first, second = x[..., : depth // 2], x[..., depth // 2 :]
    return ops.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1)


def llama(whole):
    """RMS normalization, rotary positions, fewer key heads than query heads, a gated MLP."""
    vocabulary, width, heads, groups, depth, length = (32000, 1024, 16, 4, 8, 256) if whole else (32, 16, 4, 2, 2, 8)
    each = width // heads
    tokens = keras.Input((length,), dtype="int32", name="tokens")
    x = layers.Embedding(vocabulary, width)(tokens)
    for _ in range(depth):
        h = layers.RMSNormalization()(x)
        query, key, value = (ops.reshape(layers.Dense(n * each, use_bias=False)(h), (-1, length, n, each))
                             for n in (heads, groups, groups))
        key, value = rotary(key, length, each), value
        h = ops.dot_product_attention(rotary(query, length, each), key, value, is_causal=True)
        x = x + layers.Dense(width, use_bias=False)(ops.reshape(h, (-1, length, width)))
        h = layers.RMSNormalization()(x)
        gate = ops.silu(layers.Dense(2 * width, use_bias=False)(h))
        x = x + layers.Dense(width, use_bias=False)(gate * layers.Dense(2 * width, use_bias=False)(h))
    return keras.Model(tokens, layers.Dense(vocabulary, use_bias=False)(layers.RMSNormalization()(x)), name="llama")


def buckets(length, count):
    """T5's buckets of distances: one for each near distance, logarithmic ones for far distances."""
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    near = count // 2
    far = near + (np.log(np.maximum(distance, 1) / near) / np.log(128 / near) * (count - near)).astype("int32")
    return np.where(distance < near, np.maximum(distance, 0), np.minimum(far, count - 1)).astype("int32")


def t5(whole):
    """Attention with a learned bias for each distance, by an embedding of buckets."""
    vocabulary, width, heads, depth, length = (32128, 512, 8, 6, 128) if whole else (32, 16, 2, 2, 8)
    each = width // heads
    tokens = keras.Input((length,), dtype="int32", name="tokens")
    x = layers.Embedding(vocabulary, width)(tokens)
    # The buckets as a tensor of the graph, so that the bias is learned.
    places = ops.zeros_like(tokens)[:1, :, None] + buckets(length, 8)[None]
    bias = ops.transpose(layers.Embedding(8, heads)(places), (0, 3, 1, 2))
    masked = np.triu(np.full((length, length), -1e9, "float32"), 1)
    for _ in range(depth):
        h = layers.RMSNormalization()(x)
        query, key, value = (ops.transpose(ops.reshape(layers.Dense(width, use_bias=False)(h), (-1, length, heads, each)), (0, 2, 1, 3))
                             for _ in range(3))
        weights = ops.softmax(ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) + bias + masked, axis=-1)
        h = ops.reshape(ops.transpose(ops.matmul(weights, value), (0, 2, 1, 3)), (-1, length, width))
        x = x + layers.Dense(width, use_bias=False)(h)
        h = layers.RMSNormalization()(x)
        x = x + layers.Dense(width, use_bias=False)(layers.Dense(2 * width, activation="relu", use_bias=False)(h))
    return keras.Model(tokens, layers.Dense(vocabulary, use_bias=False)(layers.RMSNormalization()(x)), name="t5")


MODELS = {"unet": unet, "gpt2": gpt2, "bert": bert, "vit": vit, "llama": llama, "t5": t5}
