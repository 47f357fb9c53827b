"""Parts of the models of bench/model_cases.py that Keras has no layer for."""

import keras
import numpy as np

layers, ops = keras.layers, keras.ops


def rotated(x):
    """Rotary positions of (batch, length, heads, size): pairs (i, i + size / 2) are turned by angles that grow with the position."""
    length, size = x.shape[1], x.shape[-1]
    angles = np.arange(length)[:, None] * 10000.0 ** (-np.arange(0, size, 2) / size)
    cos, sin = (f(angles).astype("float32")[None, :, None, :] for f in (np.cos, np.sin))
    a, b = ops.split(x, 2, axis=-1)
    return ops.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


class GroupedAttention(layers.Layer):
    """Causal attention with rotary positions; a group of heads shares keys and values."""

    def __init__(self, heads, groups, **options):
        super().__init__(**options)
        self.heads, self.groups = heads, groups

    def build(self, shape):
        width = shape[-1]
        size = width // self.heads
        for name, count in (("query", self.heads), ("key", self.groups), ("value", self.groups)):
            setattr(self, name, layers.EinsumDense("abc,cde->abde", (None, count, size), name=name))
            getattr(self, name).build(shape)
        self.merge = layers.EinsumDense("abde,dec->abc", (None, width), name="merge")
        self.merge.build((*shape[:-1], self.heads, size))

    def call(self, x):
        queries, keys = rotated(self.query(x)), rotated(self.key(x))
        keys, values = (ops.repeat(part, self.heads // self.groups, axis=2) for part in (keys, self.value(x)))
        scores = ops.einsum("bqhe,bkhe->bhqk", queries, keys) * queries.shape[-1] ** -0.5
        hidden = np.triu(np.full((x.shape[1], x.shape[1]), -1e9, "float32"), 1)
        return self.merge(ops.einsum("bhqk,bkhe->bqhe", ops.softmax(scores + hidden), values))


class Gather(layers.Layer):
    """Rows of each graph's nodes (graphs, nodes, width) by the indices of its edges (graphs, edges)."""

    def call(self, nodes, indices):
        return ops.vectorized_map(lambda graph: ops.take(graph[0], graph[1], axis=0), (nodes, indices))


class SegmentSum(layers.Layer):
    """Sums of messages (graphs, edges, width) at the nodes that receive them."""

    def __init__(self, nodes, **options):
        super().__init__(**options)
        self.nodes = nodes

    def call(self, messages, indices):
        return ops.vectorized_map(lambda graph: ops.segment_sum(graph[0], graph[1], num_segments=self.nodes), (messages, indices))


class Latent(layers.Layer):
    """A sample of a normal distribution given by mean and logarithm of the variance; adds its divergence to the loss."""

    def __init__(self, **options):
        super().__init__(**options)
        self.seed_generator = keras.random.SeedGenerator(7)

    def call(self, parts):
        mean, log_variance = ops.split(parts, 2, axis=-1)
        self.add_loss(-0.5 * ops.mean(1 + log_variance - ops.square(mean) - ops.exp(log_variance)))
        return mean + ops.exp(0.5 * log_variance) * keras.random.normal(ops.shape(mean), seed=self.seed_generator)


class Spread(layers.Layer):
    """Sinusoidal features of a time (batch,): (batch, width)."""

    def __init__(self, width, **options):
        super().__init__(**options)
        self.width = width

    def call(self, time):
        angles = ops.expand_dims(time, 1) * (10000.0 ** (-np.arange(self.width // 2) / (self.width // 2))).astype("float32")
        return ops.concatenate([ops.cos(angles), ops.sin(angles)], axis=-1)
