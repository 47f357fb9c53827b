"""Shows whether a narrow twin's figures differ between Weft and Keras by rounding: compares both with Keras in float64.

    KERAS_BACKEND=jax python exact_twin.py FOLDER/NAME WEFT [DISTRIBUTION.json]

FOLDER/NAME is a folder that write_models.py narrow wrote. The model is trained once more in float64, from the same weights,
and by WEFT. The report has the distances of all compared variables from those figures, by their 2-norms, of Weft's and of
Keras' own in float32: two programs that round differently are equally far, a defect is farther. Then the variables where Weft and Keras
are farther apart than case.json allows.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["JAX_ENABLE_X64"] = "1"

import keras  # noqa: E402
import numpy as np  # noqa: E402


def exact(folder, case, golden):
    """The variables after the steps, in float64."""
    keras.config.set_floatx("float64")
    text = (folder / "model.json").read_text().replace('"float32"', '"float64"')
    model = keras.models.model_from_json(text)
    for variable in model.variables:
        variable.assign(golden[f"initial/{variable.path}"].astype("float64"))
    names = [name for name in golden.files if name == "x" or name.startswith("x/")]
    x = golden["x"] if names == ["x"] else {name.removeprefix("x/"): golden[name] for name in names}
    y, batch = golden["y"], case["batch_size"]
    for step in range(case["steps"]):
        begin = step * batch % len(y)
        part = slice(begin, begin + batch)
        given = {key: value[part] for key, value in x.items()} if isinstance(x, dict) else x[part]
        model.train_on_batch(given, y[part])
    return {variable.path: np.asarray(variable.value) for variable in model.variables}


def trained(folder, case, weft, distribution):
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "final.npz"
        golden = folder / "golden.npz"
        names = [name for name in np.load(golden).files if name == "x" or name.startswith("x/")]
        command = [weft, "fit", folder / "model.json", "--seed", case["seed"], "--batch-size", case["batch_size"], "--no-shuffle",
                   "--epochs", case["steps"], "--max-steps", case["steps"], "--verbose", 0, "--y", f"{golden}:y", "--save-weights", out]
        for name in names:
            command += ["--x", f"{golden}:{name}" if name == "x" else f"{name.removeprefix('x/')}={golden}:{name}"]
        if distribution:
            command += ["--distribution", folder / distribution]
        subprocess.run([str(word) for word in command], check=True)
        with np.load(out) as found:
            return {name: found[name] for name in found.files}


def distance(a, b):
    a, b = np.asarray(a, "float64"), np.asarray(b, "float64")
    return np.linalg.norm(a - b) / (np.linalg.norm(b) or 1)


def main():
    folder, weft = pathlib.Path(sys.argv[1]), sys.argv[2]
    case, golden = json.loads((folder / "case.json").read_text()), np.load(folder / "golden.npz")
    mine = trained(folder, case, weft, sys.argv[3] if len(sys.argv) > 3 else None)
    wanted = exact(folder, case, golden)
    compared = [path for path in wanted if f"final/{path}" in golden.files and path not in case["noise_driven"]]
    rows = {path: (distance(mine[path], wanted[path]), distance(golden[f"final/{path}"], wanted[path]),
                   distance(mine[path], golden[f"final/{path}"])) for path in compared}
    for title, part in (("Weft", 0), ("Keras in float32", 1)):
        values = sorted(row[part] for row in rows.values())
        print(f"{folder.name}: {title} from float64: median {np.median(values):.2e}, worst {values[-1]:.2e}")
    for path, (weft_off, keras_off, apart) in rows.items():
        allowed = case["tolerance_of"][f"final/{path}"]["l2"]
        if apart > allowed:
            print(f"{path}: Weft {weft_off:.2e}, Keras {keras_off:.2e} from float64; apart {apart:.2e}, allowed {allowed:.2e}")


if __name__ == "__main__":
    main()
