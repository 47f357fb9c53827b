"""Models after model.quantize(), against the Keras that wrote them.

    check_quantized.py WEFT FIXTURES [keras]

Each file of test/fixtures/quantized predicts and evaluates as in Keras, on one device and on four, and trains on: its
integers stay, its biases and norms change as in Keras. What Weft saves predicts as what it trained; with "keras", in real Keras, too.
Beside low-rank adapters only they and what is no integer train, and the saved integers are those that Keras saves. Models of float8
do not train.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "exec"))
import npz_values

failures = 0


def fail(text):
    global failures
    failures += 1
    print(f"FAIL {text}")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        fail(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def compare(name, found, wanted, tolerance):
    worst = npz_values.worst_difference(found, wanted, 1e-3)
    if not worst <= tolerance:
        fail(f"{name}: {worst:.3g}, allowed {tolerance:.3g}")


def check(weft, file, out, with_keras):
    data, figures = file.with_suffix(".npz"), npz_values.read(file.with_suffix(".npz"))
    flags = ["--data", data, "--batch-size", "8", "--verbose", "0"]

    def predictions(model, *more):
        run(weft, "predict", model, *flags, *more, "--out", out / "p.npz")
        return list(npz_values.read(out / "p.npz").values())[0][1]

    weights = file.with_name(file.stem + "_weights.npz")
    if weights.exists():
        given, saved = ["--weights", weights], out / "adapted.keras"
        compare(f"{file.name} adapted", predictions(file, *given), figures["adapted"][1], 1e-5)
        run(weft, "fit", file, *flags, *given, "--init-only", "--save", saved)
        compare(f"{file.name} merged", predictions(saved), figures["predict"][1], 1e-5)
        run(weft, "fit", file, *flags, *given, "--epochs", "1", "--no-shuffle", "--save-weights", out / "a.npz")
        compare(f"{file.name} adapted and trained", predictions(file, "--weights", out / "a.npz"), figures["adapted_after"][1], 1e-2)
        before, after = npz_values.read(weights), npz_values.read(out / "a.npz")
        for name in before:
            changes = before[name][1] != after[name][1]
            if name.startswith(("table/", "heads/", "wide/")) and changes != ("lora" in name or name.endswith("bias")):
                fail(f"{file.name}: {name} {'changes' if changes else 'does not train'}")
    for more in ([], ["--devices", "cpu:4", "--data-parallel"]):
        compare(f"{file.name} {more}", predictions(file, *more), figures["predict"][1], 1e-5)
    shown = run(weft, "evaluate", file, "--data", data, "--batch-size", "8", "--verbose", "2")
    for name in ("loss", "accuracy"):
        value = re.search(rf"\b{name}: ([0-9.e+-]+)", shown)
        compare(f"{file.name} {name}", [float(value.group(1)) if value else float("nan")], figures[name][1], 1e-3)
    if file.stem == "float8":
        if "Trainable params: 12,921 (" not in run(weft, "summary", file):  # as model.summary(), with scales and histories
            fail(f"{file.name}: other sizes than in Keras")
        return
    saved = out / f"{file.stem}.keras"
    run(weft, "fit", file, *flags, "--epochs", "1", "--no-shuffle", "--save", saved, "--save-weights", out / "w.npz")
    trained = predictions(saved)
    if not weights.exists():  # Keras loads adapters of zeros, which cannot train
        compare(f"{file.name} trained", trained, figures["after"][1], 1e-2)
        compare(f"{file.name} bias", npz_values.read(out / "w.npz")["wide/bias"][1], figures["bias"][1], 1e-3)
    if with_keras:
        import keras
        import numpy
        found = keras.saving.load_model(saved).predict(numpy.load(data)["x"], verbose=0)
        compare(f"{file.name} in Keras", found.ravel().tolist(), trained, 1e-5)


def main():
    os.environ["KERAS_BACKEND"] = "jax"
    with tempfile.TemporaryDirectory() as out:
        files = sorted((pathlib.Path(sys.argv[2]) / "quantized").glob("*[48]*.keras"))
        for file in files:
            check(sys.argv[1], file, pathlib.Path(out), "keras" in sys.argv[3:])
    print(f"{len(files)} files")
    sys.exit(failures > 0 or not files)


main()
