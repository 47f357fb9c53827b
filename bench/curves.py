#!/usr/bin/env python3
"""Whole trainings by Weft's command line on eight devices beside the same by Keras on JAX on one.

    python3 bench/curves.py --python VENV/bin/python --text tinyshakespeare.txt [--cases convnet gpt] [--epochs 2]

VENV holds bench/requirements.txt. Both read the same model.json and data, in the same order, from the same seed.

  convnet   the Keras guide's convnet on 14,000 digits of MNIST, data-parallel: loss and accuracy of each epoch, and of
            the test images
  gpt       two blocks of width 64 on 64 characters of tinyshakespeare, 300 steps of 32 samples, under data, tensor
            and fully sharded layouts: the mean loss of each 50 steps

Training magnifies rounding, so Keras trains a second time from weights that are off by 1e-7 of themselves. Ends with 1
where a figure of Weft differs from Keras' by more than 1e-3 of it and by more than three times the largest difference
between Keras' two trainings.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np

import keras_cases
from two_platforms import run

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYOUTS = {"convnet": ["cnn-dp"], "gpt": ["gpt-dp", "gpt-tp", "gpt-fsdp"]}
BATCH = {"convnet": 64, "gpt": 32}
STEPS = {"convnet": None, "gpt": 300}


def convnet_data():
    arrays = np.load(ROOT / "examples" / "data" / "mnist24k.npz")
    return {f"{kind}_{part}": arrays[f"{kind}_{part}"].astype("float32")[..., None] if kind == "x" else arrays[f"{kind}_{part}"].astype("int32")
            for kind in "xy" for part in ("train", "test")}


def gpt_data(text):
    characters = sorted(set(text))
    numbers = np.array([characters.index(c) for c in text], "int32")
    starts = np.random.RandomState(0).randint(0, len(numbers) - keras_cases.LENGTH - 1, STEPS["gpt"] * BATCH["gpt"])
    windows = np.stack([numbers[start:start + keras_cases.LENGTH + 1] for start in starts])
    return {"x_train": windows[:, :-1], "y_train": windows[:, 1:]}


def keras_training(case, folder, epochs, change):
    """Runs in a process of its own: writes model.json, and trains the model from weights off by `change` of
    themselves."""
    import keras

    if case == "gpt":
        keras_cases.gpt.__defaults__ = (2, 64, 4)
    model = keras_cases.compiled_model("cnn-1" if case == "convnet" else "gpt-1", 1)
    text = model.to_json()
    (folder / "model.json").write_text(text)
    keras.backend.clear_session()
    keras.utils.set_random_seed(1234)
    model = keras.models.model_from_json(text)
    random = np.random.RandomState(0)
    for variable in model.trainable_variables:
        variable.assign((variable.numpy() * (1 + change * random.choice([-1, 1], variable.shape))).astype("float32"))
    data = np.load(folder / "data.npz")
    losses = []

    class Losses(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            # The logged value is the mean since the epoch's begin.
            losses.append(logs["loss"] * (batch + 1))

    history = model.fit(data["x_train"], data["y_train"], batch_size=BATCH[case], epochs=epochs, shuffle=False, verbose=0,
                        callbacks=[Losses()]).history
    if case == "gpt":
        return {"loss": np.diff([0, *losses[49::50]]) / 50}
    history["test"] = model.evaluate(data["x_test"], data["y_test"], batch_size=BATCH[case], verbose=0)
    return history


def keras_curves(args, case, folder, epochs, change):
    said = run([args.python, pathlib.Path(__file__).resolve(), "--child", case, "--folder", folder, "--epochs", epochs, "--change", change],
               KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")
    return json.loads(said.splitlines()[-1])


def weft_training(weft, case, layout, folder, epochs):
    (folder / "distribution.json").write_text(json.dumps(keras_cases.distribution_file(layout, 8)))
    model = [folder / "model.json", "--distribution", folder / "distribution.json", "--data", folder / "data.npz", "--batch-size", BATCH[case]]
    run([weft, "fit", *model, "--epochs", epochs, "--no-shuffle", "--seed", 1234, "--verbose", 0, "--history", folder / "h.json",
         "--history-steps", "--save-weights", folder / "w.npz"])
    found = json.loads((folder / "h.json").read_text())
    if case == "gpt":
        return {"loss": np.mean(np.reshape(found["steps"]["loss"], (-1, 50)), axis=1)}
    test = json.loads(run([weft, "evaluate", *model, "--weights", folder / "w.npz", "--json"]))
    return {**found["history"], "test": [test["loss"], test["accuracy"]]}


def compare(args, case, folder):
    """Prints the curves; returns whether each is like Keras'."""
    data = convnet_data() if case == "convnet" else gpt_data(args.text.read_text())
    np.savez(folder / "data.npz", **data)
    epochs = args.epochs if case == "convnet" else 1
    want, other = (keras_curves(args, case, folder, epochs, change) for change in (0, 1e-7))
    good = True
    for layout in LAYOUTS[case]:
        got = weft_training(args.weft, case, layout, folder, epochs)
        for name, curve in want.items():
            for title, values in (("Keras", curve), ("Keras off by 1e-7", other[name]), ("Weft", got[name])):
                print(f"{case:8} {layout:9} {name:9} {title:18} " + " ".join(f"{value:.4f}" for value in values), flush=True)
            rounding = max(abs(a - b) for a, b in zip(curve, other[name], strict=True))
            good &= all(abs(a - b) <= max(1e-3 * abs(a), 3 * rounding) for a, b in zip(curve, got[name], strict=True))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with JAX and Keras")
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--text", type=pathlib.Path)
    parser.add_argument("--cases", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--change", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        curves = keras_training(args.child, args.folder, args.epochs, args.change)
        print(json.dumps({name: [float(value) for value in values] for name, values in curves.items()}))
        return 0
    if "gpt" in args.cases and not args.text:
        sys.exit("gpt: give its text with --text")
    good = True
    for case in args.cases:
        with tempfile.TemporaryDirectory() as folder:
            good &= compare(args, case, pathlib.Path(folder))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
