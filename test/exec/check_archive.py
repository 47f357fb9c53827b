"""Saves a fixture's model as .keras while it trains, and loads it again.

    check_archive.py WEFT FIXTURE [keras] [mesh]

Predictions from the file that Keras wrote are Keras' own; training that is saved
and continued gives the bits of training in one go. With "keras", real Keras loads
the saved file, predicts the same and trains on; without Keras that is skipped. With "mesh", the optimizers of WRAPPED
train on four devices, too, with a model that does not magnify rounding.
"""

import collections
import importlib.util
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import warnings

import npz_values
from check_fixture import differences, run


def npy_values(path):
    """The flat float32 values of an .npy."""
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - start) // 4}f", data[start:])


class Checker:
    def __init__(self):
        self.failures = 0

    def compare(self, name, got, want, tolerance):
        measured = differences(got, want)["rel"]
        bad = not measured <= tolerance
        self.failures += bad
        if bad or "-v" in sys.argv:
            print(f"{'FAIL' if bad else 'ok  '} {name}: {measured:.3g}, allowed {tolerance:.3g}")


SAMPLES = 64  # 4 batches of 16, which every fixture has


def check_resume(weft, folder, out, checker):
    """Trains two epochs of 4 steps, then one epoch twice with a file in between.

    Without dropout: neither Keras nor Weft saves the state of random numbers."""
    model = out / "model.json"
    model.write_text(re.sub('"rate": [0-9.]+', '"rate": 0.0', (folder / "model.json").read_text()))
    golden = folder / "golden.npz"
    flags = ["--x", f"{golden}:x[0:{SAMPLES}]", "--y", f"{golden}:y[0:{SAMPLES}]", "--batch-size", "16", "--seed", "1337",
             "--no-shuffle", "--verbose", "0"]
    run([weft, "fit", model, *flags, "--epochs", "2", "--save-weights", out / "once.npz"])
    run([weft, "fit", model, *flags, "--epochs", "1", "--save", out / "a.keras"])
    run([weft, "fit", out / "a.keras", *flags, "--epochs", "1", "--save", out / "b.keras",
         "--save-weights", out / "twice.npz"])
    run([weft, "fit", model, "--weights", out / "a.keras", *flags, "--epochs", "1",
         "--save-weights", out / "weights.npz"])
    once = npz_values.read(out / "once.npz")
    for other in ("twice", "weights"):
        values = npz_values.read(out / f"{other}.npz")
        for name, (_, want) in once.items():
            checker.compare(f"{other}: {name}", values[name][1], want, 0.0)


def check_overrides(weft, folder, out, checker):
    """Checks that the saved file has the values with which flags replaced compile_config: it trains on without the flags."""
    golden = folder / "golden.npz"
    data = ["--x", f"{golden}:x[0:{SAMPLES}]", "--y", f"{golden}:y[0:{SAMPLES}]", "--batch-size", "16", "--seed", "1337",
            "--no-shuffle", "--verbose", "0"]
    flags = ["--optimizer", "adam", "--learning-rate", "0.01", "--metrics", 'mae,{"class_name": "MeanSquaredError", "config": {"name": "squares", "dtype": "float32"}}',
             "--loss", '{"class_name": "MeanAbsoluteError", "config": {"reduction": "sum"}}']
    run([weft, "fit", out / "model.json", *data, *flags, "--epochs", "2", "--save-weights", out / "flags-once.npz"])
    run([weft, "fit", out / "model.json", *data, *flags, "--epochs", "1", "--save", out / "flags.keras"])
    run([weft, "fit", out / "flags.keras", *data, "--epochs", "1", "--save-weights", out / "flags-twice.npz"])
    values = npz_values.read(out / "flags-twice.npz")
    for name, (_, want) in npz_values.read(out / "flags-once.npz").items():
        checker.compare(f"flags: {name}", values[name][1], want, 0.0)
    run([weft, "fit", out / "flags.keras", *data, "--learning-rate", "0.5", "--epochs", "1",
         "--save-weights", out / "flags-rate.npz"])
    checker.compare("flags: a rate over that of a file", npz_values.read(out / "flags-rate.npz")["adam/learning_rate"][1],
                    [0.5], 0.0)


def check_predictions(weft, folder, out, checker):
    golden = folder / "golden.npz"
    run([weft, "predict", folder / "model.keras", "--x", f"{golden}:x[0:16]", "--batch-size", "16", "--verbose", "0",
         "--out", out / "initial.npy"])
    want = npz_values.read(golden)["predict/initial"][1]
    checker.compare("predict/initial", npy_values(out / "initial.npy"), want, 1e-5)


def check_refusals(weft, folder, out, checker):
    """Checks that an output that cannot be written, or whose name Keras cannot load, is refused before any work."""
    for path, reason, status in ((out / "missing" / "a.keras", "missing", 1), (out / "a.h5", ".keras", 2)):
        done = subprocess.run([weft, "fit", folder / "model.json", "--save", path], capture_output=True, text=True)
        if done.returncode != status or str(path) not in done.stderr or reason not in done.stderr:
            checker.failures += 1
            print(f"FAIL --save {path}: status {done.returncode}, {done.stderr}")


def check_keras_overrides(keras, numpy, out, golden, checker):
    """Checks that Keras compiles the model with the flags' values and trains on from the saved state."""
    model = keras.saving.load_model(out / "flags.keras")
    found = (type(model.optimizer).__name__, type(model.loss).__name__, model.loss.reduction,
             round(float(model.optimizer.learning_rate), 6), int(model.optimizer.iterations))
    if found != ("Adam", "MeanAbsoluteError", "sum", 0.01, SAMPLES // 16):
        checker.failures += 1
        print(f"FAIL Keras compiles with {found}")
    history = model.fit(golden["x"][:SAMPLES], golden["y"][:SAMPLES], batch_size=16, shuffle=False, verbose=0)
    if list(history.history) != ["loss", "mae", "squares"]:
        checker.failures += 1
        print(f"FAIL Keras logs {list(history.history)}")
    once = npz_values.read(out / "flags-once.npz")
    for variable in [*model.trainable_variables, *model.optimizer.variables]:
        checker.compare(f"flags: Keras trains on: {variable.path}", numpy.ravel(variable.numpy()).tolist(),
                        once[variable.path][1], 1e-4)


# Optimizers: the class and the fields of its config that are not defaults.
WRAPPED = {
    "scaled": {"class_name": "LossScaleOptimizer", "config": {
        "initial_scale": 8.0, "dynamic_growth_steps": 3,
        "inner_optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.01, "momentum": 0.9}}}},
    "factored": {"class_name": "Adafactor", "config": {"learning_rate": 0.01}},
    "averaged": {"class_name": "ScheduleFreeAdamW", "config": {"learning_rate": 0.01, "warmup_steps": 2}},
    "several": {"class_name": "MultiOptimizer", "config": {"name": "several", "optimizer_map": {
        "class_name": "OptimizerMap", "config": {
            "default_optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.01, "name": "adam"}},
            "optimizer_map": {"d2/.*": {"class_name": "SGD", "config": {"learning_rate": 0.1, "momentum": 0.9, "name": "sgd"}}}}}}},
    "bfloat16": {"class_name": "Adam", "config": {"learning_rate": 0.0625}},
}
NARROW = {"bfloat16": 0.03}  # narrow types of weights, and the allowed difference from Keras after four steps
MESH = ["--data-parallel", "--devices", "cpu:4"]


def narrowed(model, name):
    """The model; if NARROW has the name, a copy under the dtype policy of that name."""
    if name not in NARROW:
        return model
    out = model.with_name(f"{name}.json")
    out.write_text(model.read_text().replace('{"name": "float32"}', f'{{"name": "{name}"}}'))
    return out


def check_wrapped(weft, folder, out, checker):
    """Checks that training with each optimizer of WRAPPED gives the same bits through a saved file as in one go."""
    golden = folder / "golden.npz"
    data = ["--x", f"{golden}:x[0:{SAMPLES}]", "--y", f"{golden}:y[0:{SAMPLES}]", "--batch-size", "16", "--seed", "1337",
            "--no-shuffle", "--verbose", "0"]
    for name, optimizer in WRAPPED.items():
        flags = ["--optimizer", json.dumps(optimizer), "--loss", "mse"]
        model = narrowed(out / "model.json", name)
        run([weft, "fit", model, *data, *flags, "--epochs", "2", "--save-weights", out / f"{name}-once.npz"])
        run([weft, "fit", model, *data, *flags, "--epochs", "1", "--save", out / f"{name}.keras"])
        run([weft, "fit", out / f"{name}.keras", *data, "--epochs", "1", "--save-weights", out / f"{name}-twice.npz"])
        once, values = npz_values.read(out / f"{name}-once.npz"), npz_values.read(out / f"{name}-twice.npz")
        for path, (_, want) in once.items():
            checker.compare(f"{name}: {path}", values[path][1], want, 0.0)
        if "mesh" in sys.argv:
            run([weft, "fit", model, *data, *flags, "--epochs", "2", *MESH, "--save-weights", out / f"{name}-mesh.npz"])
            for path, (_, values) in npz_values.read(out / f"{name}-mesh.npz").items():
                checker.compare(f"{name} on 4 devices: {path}", values, once[path][1], NARROW.get(name, 1e-4))


def check_wrapped_keras(keras, numpy, out, golden, checker):
    for name, optimizer in WRAPPED.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # Keras warns if the file does not fit the optimizer
            model = keras.saving.load_model(out / f"{name}.keras")
        if type(model.optimizer).__name__ != optimizer["class_name"]:
            checker.failures += 1
            print(f"FAIL Keras compiles with {type(model.optimizer)}")
        model.fit(golden["x"][:SAMPLES], golden["y"][:SAMPLES], batch_size=16, shuffle=False, verbose=0)
        once = npz_values.read(out / f"{name}-once.npz")
        seen = collections.Counter()
        for variable in [*model.trainable_variables, *model.optimizer.variables]:
            path = variable.path if variable.path not in seen else f"{variable.path}_{seen[variable.path]}"
            seen[variable.path] += 1  # Adafactor names the moments of all kernels alike
            checker.compare(f"{name}: Keras trains on: {path}", numpy.ravel(variable.numpy()).astype(float).tolist(),
                            once[path][1], NARROW.get(name, 1e-4))


def check_keras(weft, folder, out, checker):
    if importlib.util.find_spec("keras") is None:
        print("skipped: this Python has no keras")
        return
    os.environ.setdefault("KERAS_BACKEND", "jax")
    import keras
    import numpy

    golden = numpy.load(folder / "golden.npz")
    model = keras.saving.load_model(out / "a.keras")
    run([weft, "predict", out / "a.keras", "--x", f"{folder / 'golden.npz'}:x[0:16]", "--batch-size", "16",
         "--verbose", "0", "--out", out / "a.npy"])
    checker.compare("Keras predicts", model.predict(golden["x"][:16], verbose=0).ravel().tolist(),
                    npy_values(out / "a.npy"), 1e-5)
    model.fit(golden["x"][:SAMPLES], golden["y"][:SAMPLES], batch_size=16, shuffle=False, verbose=0)
    once = npz_values.read(out / "once.npz")
    for variable in [*model.trainable_variables, *model.optimizer.variables]:
        checker.compare(f"Keras trains on: {variable.path}", numpy.ravel(variable.numpy()).tolist(),
                        once[variable.path][1], 1e-4)
    check_keras_overrides(keras, numpy, out, golden, checker)
    check_wrapped_keras(keras, numpy, out, golden, checker)


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    checker = Checker()
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch)
        check_resume(weft, folder, out, checker)
        check_overrides(weft, folder, out, checker)
        check_wrapped(weft, folder, out, checker)
        if "keras" in sys.argv:
            check_keras(weft, folder, out, checker)
        else:
            check_predictions(weft, folder, out, checker)
            check_refusals(weft, folder, out, checker)
    print(f"{folder.name} through .keras files: {checker.failures} differences")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
