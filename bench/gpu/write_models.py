#!/usr/bin/env python3
"""Writes two models of the field as StableHLO, by JAX and Keras; the files are large and not committed.

    .venv/bin/python bench/gpu/write_models.py OUT_FOLDER

resnet50.mlir   keras.applications' ResNet-50, prediction of 8 images of 224 x 224
gpt2.mlir       a train step (loss and gradients, SGD) of GPT-2's 124 M weights: 12 layers, 768 wide, 12 heads, 1 x 1024 tokens
Weights are arguments.
"""

import os
import pathlib
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

LAYERS, WIDTH, HEADS, TOKENS, VOCABULARY = 12, 768, 12, 1024, 50257


def resnet50():
    import keras
    model = keras.applications.ResNet50(weights=None)

    def predict(trainable, others, x):
        return model.stateless_call(trainable, others, x, training=False)[0]

    def shapes(variables):
        return [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in variables]
    return jax.jit(predict).lower(shapes(model.trainable_variables), shapes(model.non_trainable_variables),
                                  jax.ShapeDtypeStruct((8, 224, 224, 3), "float32"))


def gpt2_shapes():
    """Radford et al., Language models are unsupervised multitask learners, 2019: 124,439,808 weights."""
    layer = {"norm1": (2, WIDTH), "qkv": (WIDTH, 3 * WIDTH), "qkv_bias": (3 * WIDTH,), "out": (WIDTH, WIDTH), "out_bias": (WIDTH,),
             "norm2": (2, WIDTH), "up": (WIDTH, 4 * WIDTH), "up_bias": (4 * WIDTH,), "down": (4 * WIDTH, WIDTH), "down_bias": (WIDTH,)}
    all_shapes = {"tokens": (VOCABULARY, WIDTH), "positions": (TOKENS, WIDTH), "norm": (2, WIDTH),
                  "layers": [layer for _ in range(LAYERS)]}
    return jax.tree.map(lambda shape: jax.ShapeDtypeStruct(shape, "float32"), all_shapes, is_leaf=lambda x: isinstance(x, tuple))


def normalized(x, scale):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale[0] + scale[1]


def block(x, its):
    batch, tokens, _ = x.shape
    qkv = (normalized(x, its["norm1"]) @ its["qkv"] + its["qkv_bias"]).reshape(batch, tokens, 3, HEADS, WIDTH // HEADS)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = jnp.einsum("bihd,bjhd->bhij", q, k) / (WIDTH // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -1e9)
    mixed = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores), v).reshape(batch, tokens, WIDTH)
    x = x + mixed @ its["out"] + its["out_bias"]
    hidden = jax.nn.gelu(normalized(x, its["norm2"]) @ its["up"] + its["up_bias"], approximate=True)
    return x + hidden @ its["down"] + its["down_bias"]


def gpt2():
    def loss(weights, tokens):
        x = weights["tokens"][tokens[:, :-1]] + weights["positions"]
        for layer in weights["layers"]:
            x = block(x, layer)
        logits = normalized(x, weights["norm"]) @ weights["tokens"].T
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)
        return -chosen.mean()

    def step(weights, tokens):
        value, gradients = jax.value_and_grad(loss)(weights, tokens)
        return value, jax.tree.map(lambda w, g: w - 3e-4 * g, weights, gradients)
    return jax.jit(step, donate_argnums=0).lower(gpt2_shapes(), jax.ShapeDtypeStruct((1, TOKENS + 1), "int32"))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in (("resnet50", resnet50), ("gpt2", gpt2)):
        (folder / f"{name}.mlir").write_text(make().as_text())
        print(folder / f"{name}.mlir", flush=True)


if __name__ == "__main__":
    main()
