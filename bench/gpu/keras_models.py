"""Keras models of the field: train steps with Adam that `weft compile` reads from their JSON, and the same in Keras on JAX.

    python3 keras_models.py OUT_FOLDER      writes NAME.json of each; needs Keras

ResNet-50 and MobileNetV2 are keras.applications'; the encoder has the sizes of a small BERT; the recurrent model reads words in both
directions. Images and labels are random: what is measured is time.
"""

import json
import os
import pathlib
import sys
import time

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

WORDS = 128  # of a text
# name: samples of a batch, classes, words of the vocabulary or 0 for images of 224 x 224, policy, flags of `weft compile`
MODELS = {
    "resnet50-bf16": {"batch": 64, "classes": 1000, "words": 0, "policy": "mixed_bfloat16", "flags": []},
    "mobilenet-bf16": {"batch": 64, "classes": 1000, "words": 0, "policy": "mixed_bfloat16", "flags": []},
    "bert": {"batch": 32, "classes": 30522, "words": 30522, "policy": "float32", "flags": ["--matmul-precision", "tf32"]},
    "bert-bf16": {"batch": 32, "classes": 30522, "words": 30522, "policy": "mixed_bfloat16", "flags": []},
    "recurrent": {"batch": 64, "classes": 2, "words": 20000, "policy": "float32", "flags": ["--matmul-precision", "tf32"]},
}


def encoder(keras, its, layers=6, width=512, heads=8):
    text = keras.Input((WORDS,), dtype="int32")
    x = keras.layers.Embedding(its["words"], width)(text)
    for _ in range(layers):
        mixed = keras.layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = keras.layers.LayerNormalization()(keras.layers.Add()([x, mixed]))
        hidden = keras.layers.Dense(width)(keras.layers.Dense(4 * width, activation="gelu")(x))
        x = keras.layers.LayerNormalization()(keras.layers.Add()([x, hidden]))
    return keras.Model(text, keras.layers.Dense(its["classes"], activation="softmax", dtype="float32")(x))


def recurrent(keras, its):
    text = keras.Input((WORDS,), dtype="int32")
    x = keras.layers.Embedding(its["words"], 128)(text)
    x = keras.layers.Bidirectional(keras.layers.LSTM(128, return_sequences=True))(x)
    x = keras.layers.GRU(128)(x)
    return keras.Model(text, keras.layers.Dense(its["classes"], activation="softmax", dtype="float32")(x))


def make(name):
    import keras
    its = MODELS[name]
    keras.config.set_dtype_policy(its["policy"])
    try:
        if its["words"]:
            model = encoder(keras, its) if name.startswith("bert") else recurrent(keras, its)
        else:
            model = {"resnet50": keras.applications.ResNet50, "mobilenet": keras.applications.MobileNetV2}[name.split("-")[0]](weights=None)
    finally:
        keras.config.set_dtype_policy("float32")
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    return model


def write(name, file):
    """A model's JSON with its compile_config, as `weft compile` reads it."""
    file.write_text(json.dumps(json.loads(make(name).to_json())))


def draw(its):
    import numpy as np
    random = np.random.default_rng(0)
    x = random.integers(0, its["words"], (its["batch"], WORDS)).astype(np.int32) if its["words"] else random.random(
        (its["batch"], 224, 224, 3), dtype=np.float32)
    of_each_word = its["words"] == its["classes"]
    return x, random.integers(0, its["classes"], (its["batch"], WORDS) if of_each_word else (its["batch"],))


def peer(file, name, runs=20):
    """ms of the same step in Keras on JAX, whose f32 products are rounded to TF32: steps in a row, weights donated."""
    import jax
    import keras
    config = json.loads(file.read_text())
    for part in ("build_config", "compile_config"):
        config.pop(part, None)
    model = keras.saving.deserialize_keras_object(config)
    optimizer, loss_of = keras.optimizers.Adam(), keras.losses.SparseCategoricalCrossentropy()
    optimizer.build(model.trainable_variables)

    def loss(trainable, others, x, y):
        predicted, others = model.stateless_call(trainable, others, x, training=True)
        return loss_of(y, predicted), others

    def step(state, x, y):
        trainable, others, slots = state
        (value, others), gradients = jax.value_and_grad(loss, has_aux=True)(trainable, others, x, y)
        trainable, slots = optimizer.stateless_apply(slots, gradients, trainable)
        return value, (trainable, others, slots)
    step = jax.jit(step, donate_argnums=0)
    state = jax.tree.map(jax.numpy.copy, tuple([variable.value for variable in its] for its in (
        model.trainable_variables, model.non_trainable_variables, optimizer.variables)))
    x, y = map(jax.device_put, draw(MODELS[name]))
    begin = time.perf_counter()
    value, state = step(state, x, y)
    jax.block_until_ready(value)
    first_s = time.perf_counter() - begin
    for count in (3, runs):
        begin = time.perf_counter()
        for _ in range(count):
            value, state = step(state, x, y)
        jax.block_until_ready(state)
        took = 1e3 * (time.perf_counter() - begin) / count
    return {"ms": round(took, 4), "first_s": round(first_s, 2), "runs": runs}


if __name__ == "__main__":
    for each in MODELS:
        write(each, pathlib.Path(sys.argv[1]) / f"{each}.json")
