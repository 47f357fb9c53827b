"""Trains models of real widths under Keras' mixed policies with weft, and compares the losses of three steps with Keras'.

    KERAS_BACKEND=jax VENV/bin/python test/keras/mixed_models.py WEFT [POLICY] [NAME ...]

Policies are mixed_bfloat16 and mixed_float16; models are Dense layers of 1024 and of 4096 units, a transformer of width 768
and ResNet-50 on images of 64 x 64. A model is written with its initial weights; Keras and weft take the same batches. A loss
may differ by the tolerance that test/fixtures/mixed-bfloat16 gives to losses of steps.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import keras
import numpy as np
from keras import layers

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 3
CLASSES = 10


def dense(units):
    x = inputs = keras.Input((units,), name="x")
    for activation in ("relu", "gelu", layers.LeakyReLU(negative_slope=0.1)):
        x = layers.Dense(units, activation=activation)(x)
    return keras.Model(inputs, layers.Dense(CLASSES, dtype="float32")(x)), 64


def transformer():
    tokens = keras.Input((32,), dtype="int32", name="x")
    x = layers.Embedding(1000, 768)(tokens)
    # JAX's CPU lacks the products by which Keras computes attention in f16; with dropout, which this rate never draws, it uses others.
    dropout = 1e-9 if keras.config.dtype_policy().name == "mixed_float16" else 0
    for _ in range(2):
        h = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(12, 64, dropout=dropout)(h, h, use_causal_mask=True)
        h = layers.Dense(3072, activation="gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dense(768)(h)
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(tokens, layers.Dense(CLASSES, dtype="float32")(x)), 16


def resnet50():
    model = keras.applications.ResNet50(weights=None, include_top=False, input_shape=(64, 64, 3), pooling="avg")
    return keras.Model(model.inputs, layers.Dense(CLASSES, dtype="float32")(model.outputs[0])), 16


MODELS = {"dense1024": lambda: dense(1024), "dense4096": lambda: dense(4096), "transformer768": transformer, "resnet50": resnet50}


def data(model, count):
    random = np.random.RandomState(3)
    shape = (count, *model.inputs[0].shape[1:])
    isText = "int" in keras.backend.standardize_dtype(model.inputs[0].dtype)
    x = random.randint(0, 1000, shape).astype("int32") if isText else random.normal(0, 1, shape).astype("float32")
    return x, random.randint(0, CLASSES, count).astype("int32")


def compare(weft, policy, name, out):
    """Returns the largest relative difference of a loss."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(7)
    keras.config.set_dtype_policy(policy)
    model, batch = MODELS[name]()
    model.compile(keras.optimizers.Adam(1e-4), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = data(model, STEPS * batch)
    model.save(out / "model.keras")
    np.savez(out / "data.npz", x=x, y=y)
    steps = [slice(step * batch, (step + 1) * batch) for step in range(STEPS)]
    want = [float(model.train_on_batch(x[each], y[each], return_dict=True)["loss"]) for each in steps]
    result = subprocess.run([weft, "fit", out / "model.keras", "--x", f"{out}/data.npz:x", "--y", f"{out}/data.npz:y", "--batch-size", str(batch),
                             "--no-shuffle", "--epochs", "1", "--max-steps", str(STEPS), "--verbose", "0", "--history", out / "history.json",
                             "--history-steps"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{policy} {name}: {result.stderr}")
    found = json.loads((out / "history.json").read_text())["steps"]["loss"]
    worst = max(abs(f - w) / abs(w) for f, w in zip(found, want, strict=True))
    print(f"{policy} {name}: losses {', '.join(f'{f:.5f}' for f in found)}, Keras {', '.join(f'{w:.5f}' for w in want)}, "
          f"at most {worst:.1e} apart", flush=True)
    return worst


def main():
    weft, *rest = sys.argv[1:]
    policies = [word for word in rest if word.startswith("mixed")] or ["mixed_bfloat16", "mixed_float16"]
    names = [word for word in rest if word in MODELS] or list(MODELS)
    case = json.loads((ROOT / "test/fixtures/mixed-bfloat16/case.json").read_text())
    allowed = case["suggested_tolerance"]["steps"]["rel"]
    failed = 0
    for policy in policies:
        for name in names:
            with tempfile.TemporaryDirectory() as out:
                failed += compare(weft, policy, name, pathlib.Path(out)) > allowed
    sys.exit(f"{failed} models differ by more than {allowed}" if failed else 0)


if __name__ == "__main__":
    main()
