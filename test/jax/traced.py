"""A model that Weft's own reader does not know: Keras traces it, weft trains it as Keras does.

    traced.py WEFT SCRATCH

A layer of the script's own, dropout, batch normalisation, a schedule, clipping, and metrics that are no means (AUC, F1)
beside those that are. Compared with Keras' fit: history with validation, evaluate, predictions and weights. Then the
compiled steps, where there is no compiler, give the same bits, and Keras loads the files that they saved.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

os.environ |= {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "Inputs"), str(HERE.parent / "exec")]

import gated_layers  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from check_compiled import without_compiler  # noqa: E402

SEED, BATCH, EPOCHS = 7, 16, 3
TRACE = {"PYTHONPATH": str(HERE.parents[1] / "tools" / "pjrt" / "python")}


def build():
    inputs = keras.Input((12,), name="features")
    x = keras.layers.Dense(16, activation="gelu")(inputs)
    x = gated_layers.Gate()(keras.layers.BatchNormalization()(x))
    outputs = keras.layers.Dense(1, activation="sigmoid")(keras.layers.Dropout(0.25)(x))
    model = keras.Model(inputs, outputs)
    rate = keras.optimizers.schedules.ExponentialDecay(0.01, 4, 0.9)
    model.compile(keras.optimizers.Adam(rate, clipnorm=0.5, use_ema=True), "binary_crossentropy",
                  metrics=["accuracy", keras.metrics.AUC(num_thresholds=20), keras.metrics.Precision(),
                           keras.metrics.Recall([0.3, 0.6], name="recalls")])
    return model


def run(*command, status=0, **environment):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=os.environ | environment)
    assert result.returncode == status, f"{command}\n{result.returncode}\n{result.stdout}{result.stderr}"
    return result


def trace(*arguments, **options):
    return run(sys.executable, "-m", "weft.trace", *arguments, **TRACE, **options)


def near(got, want, what, tolerance=2e-5):
    got, want = np.asarray(got, "float64"), np.asarray(want, "float64")
    worst = np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)
    print(f"{what}: {worst:.2g} of {tolerance:.2g}")
    assert got.shape == want.shape and worst <= tolerance, f"{what}: {got} {want}"


def check_prediction_only(weft, scratch, x):
    """A model that is not compiled, of two inputs and two outputs, with linear algebra, which JAX's CPU has from LAPACK."""
    first, second = keras.Input((12,), name="first"), keras.Input((3,), name="second", dtype="int32")
    white = gated_layers.Whiten(name="white")(first)
    both = keras.layers.Concatenate(name="both")([white, keras.layers.Rescaling(0.5)(second)])
    model = keras.Model({"first": first, "second": second}, {"white": white, "both": both})
    model.save(scratch / "white.keras")
    codes = np.arange(len(x) * 3, dtype="int32").reshape(-1, 3)
    np.savez(scratch / "two.npz", **{"x/first": x, "x/second": codes})
    trace(scratch / "white.keras", "--batch-size", 32, "--seed", 1, "--import", HERE / "Inputs" / "gated_layers.py", "-o",
          scratch / "white.mlir")
    run(weft, "predict", scratch / "white.mlir", "--data", scratch / "two.npz", "--verbose", 0, "--out", scratch / "two-out.npz")
    wanted = model.predict({"first": x, "second": codes}, batch_size=32, verbose=0)
    with np.load(scratch / "two-out.npz") as found:
        for name, value in wanted.items():
            near(found[f"y/{name}"], value, f"prediction {name}", 1e-5)


def main():
    weft, scratch = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(3)
    x = random.normal(size=(96, 12)).astype("float32")
    y = (x[:, :3].sum(1) + random.normal(size=96) > 0).astype("float32")[:, None]
    np.savez(scratch / "data.npz", x=x[:64], y=y[:64], x_val=x[64:], y_val=y[64:])

    check_prediction_only(weft, scratch, x)
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    build().save(scratch / "model.keras")
    keras.utils.clear_session()  # the numbers in names begin again
    keras.utils.set_random_seed(SEED)
    model = keras.saving.load_model(scratch / "model.keras")
    history = model.fit(x[:64], y[:64], validation_data=(x[64:], y[64:]), batch_size=BATCH, epochs=EPOCHS, shuffle=False,
                        verbose=0).history

    trace(scratch / "model.keras", "--batch-size", BATCH, "--seed", SEED, "--import", HERE / "Inputs" / "gated_layers.py",
          "-o", scratch / "step.mlir")
    refused = run(weft, "fit", scratch / "model.keras", "--data", scratch / "data.npz", status=1)
    assert "python -m weft.trace" in refused.stderr and "JAX_PLATFORMS=weft" in refused.stderr, refused.stderr
    refused = run(weft, "fit", scratch / "step.mlir", "--data", scratch / "data.npz", "--verbose", 0, status=1)
    assert "--weights" in refused.stderr, refused.stderr
    flags = ["--weights", scratch / "model.keras", "--data", scratch / "data.npz", "--validation-data", scratch / "data.npz",
             "--epochs", EPOCHS, "--no-shuffle", "--verbose", 0]
    run(weft, "fit", scratch / "step.mlir", *flags, "--history", scratch / "h.json", "--save-weights", scratch / "w.npz")
    found = json.loads((scratch / "h.json").read_text())["history"]
    assert sorted(found) == sorted(history), (found, history)
    for name, values in history.items():
        near(found[name], values, f"history {name}")
    with np.load(scratch / "w.npz") as saved:
        for variable in [*model.variables, *model.optimizer.variables]:
            near(saved[variable.path], variable.value, variable.path, 2e-4)

    run(weft, "compile", scratch / "step.mlir", "-o", scratch / "step.weft")
    shutil.rmtree(scratch / "tool", ignore_errors=True)
    alone = without_compiler(weft, scratch)
    missing = run(alone, "fit", scratch / "step.mlir", *flags, status=1)
    assert "the compiler cannot be loaded" in missing.stderr, missing.stderr
    run(alone, "fit", scratch / "step.weft", *flags, "--save-weights", scratch / "alone.npz", "--save", scratch / "trained.keras")
    with np.load(scratch / "w.npz") as one, np.load(scratch / "alone.npz") as other:
        assert one.files == other.files and all(np.array_equal(one[name], other[name]) for name in one.files)
    test = ["--weights", scratch / "trained.keras", "--x", f"{scratch}/data.npz:x_val", "--verbose", 0]
    evaluated = run(alone, "evaluate", scratch / "step.weft", *test, "--y", f"{scratch}/data.npz:y_val", "--json").stdout
    evaluated = json.loads(evaluated)
    wanted = keras.saving.load_model(scratch / "trained.keras")
    for name, value in wanted.evaluate(x[64:], y[64:], batch_size=BATCH, verbose=0, return_dict=True).items():
        near(evaluated[name], value, f"evaluate {name}")
    run(alone, "predict", scratch / "step.weft", *test, "--out", scratch / "p.npy")
    near(np.load(scratch / "p.npy"), wanted.predict(x[64:], batch_size=BATCH, verbose=0), "predictions")
    more = wanted.fit(x[:64], y[:64], batch_size=BATCH, epochs=1, shuffle=False, verbose=0).history
    assert int(wanted.optimizer.iterations) == 16 and np.isfinite(more["loss"]).all()
    run(alone, "run", scratch / "step.weft", "--step", "predict", "--list")
    print("traced, compiled and loaded again")


if __name__ == "__main__":
    main()
