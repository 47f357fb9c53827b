"""Whole models in .h5 files, and JSON of Keras 2, against the Keras that wrote them.

    check_legacy.py WEFT FIXTURES [keras]

Each file of test/fixtures/legacy predicts what its Keras predicted, alone and from the .keras
file that Weft saves, and as the weights of the model's JSON. Files of Keras 3 train on to the variables of Keras, as a model and as
weights; files of Keras 2 train, and a message names the optimizer's state.
With "keras", real Keras 3 loads some of the saved .keras files and predicts the same, too.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "exec"))
import npz_values

IN_KERAS = ("keras2_functional", "keras3_nested")  # the others have less structure
TOLERANCE = {"keras2_mixed": 2e-3}  # of float16; else 1e-5 of the largest value


class Checker:
    def __init__(self, weft, folder, out):
        self.weft, self.folder, self.out, self.failures = weft, folder, out, 0

    def fail(self, text):
        self.failures += 1
        print(f"FAIL {text}")

    def run(self, *words, status=0):
        done = subprocess.run([str(word) for word in (self.weft, *words)], capture_output=True, text=True)
        if done.returncode != status:
            self.fail(f"{' '.join(map(str, words))}: status {done.returncode}, {done.stdout}{done.stderr}")
        return done.stderr

    def compare(self, name, found, wanted, tolerance):
        worst = npz_values.worst_difference(found, wanted, 1e-3)
        if not worst <= tolerance:
            self.fail(f"{name}: {worst:.3g}, allowed {tolerance:.3g}")

    def predictions(self, model, data, tolerance, *more):
        """Compares the predictions of a file with those of its Keras."""
        out = self.out / "p.npz"
        self.run("predict", model, "--data", data, "--batch-size", "8", "--verbose", "0", "--out", out, *more)
        found = npz_values.read(out)
        wanted = {name: value for name, value in npz_values.read(data).items() if name.startswith("predict")}
        if len(found) != len(wanted):
            return self.fail(f"{model}: outputs {list(found)}")
        for name, (_, values) in wanted.items():
            self.compare(f"{model}: {name}", found[name.replace("predict", "y", 1)][1], values, tolerance)

    def training(self, file, data, *more):
        """Trains on from a file of Keras 3, and compares each variable with Keras'."""
        values = self.out / "w.npz"
        self.run("fit", file, "--data", data, "--batch-size", "4", "--epochs", "1", "--no-shuffle", "--verbose", "0",
                 "--seed", "1", "--save-weights", values, *more)
        found = npz_values.read(values)
        for name, (_, wanted) in npz_values.read(data).items():
            if name.startswith("after/"):
                self.compare(f"{file}: {name}", found[name.removeprefix("after/")][1], wanted, 1e-4)

    def file(self, file):
        data, saved = file.with_suffix(".npz"), self.out / f"{file.stem}.keras"
        tolerance = TOLERANCE.get(file.stem, 1e-5)
        self.predictions(file, data, tolerance)
        arrays = npz_values.read(data)
        if any(name.startswith("after/") for name in arrays):
            self.training(file, data)
        # Without training: the state is saved as it was read. A model that was never compiled gets a loss.
        labels = [] if any(name.split("/")[0] == "y" for name in arrays) else ["--loss", "mse", "--y", f"{data}:predict"]
        self.run("fit", file, "--data", data, *labels, "--batch-size", "8", "--verbose", "0", "--epochs", "0", "--save", saved)
        if saved.exists():
            self.predictions(saved, data, tolerance)
            self.as_weights(file, data, labels, tolerance, zipfile.ZipFile(saved).read("config.json"))
        return saved

    def as_weights(self, file, data, labels, tolerance, config):
        """Reads the weights of the file for a model that has none."""
        model = self.out / f"{file.stem}.json"
        model.write_bytes(config)
        self.predictions(model, data, tolerance, "--weights", file)
        if any(name.startswith("after/") for name in npz_values.read(data)):
            return self.training(model, data, "--weights", file)
        said = self.run("fit", model, "--data", data, *labels, "--batch-size", "8", "--verbose", "0", "--epochs", "0", "--seed", "1",
                        "--weights", file, "--save-weights", self.out / "w.npz")
        has_state, is_named = b"optimizer_weights" in file.read_bytes(), "holds the state of an optimizer of Keras 2" in said
        if has_state != is_named:
            self.fail(f"{file}: {'no' if has_state else 'a'} message of the optimizer's state: {said}")

    def same_config(self, file):
        """Checks that the JSON of a model is read as its .h5 file is."""
        tables = []
        for path in (file.with_suffix(".h5"), file):
            shown = subprocess.run([self.weft, "summary", path], capture_output=True, text=True).stdout
            tables.append(shown.partition(" Total params")[0])  # the JSON has no optimizer
        if not tables[0] or tables[0] != tables[1]:
            self.fail(f"{file}: another model than that of its .h5 file")


def check_keras(checker, saved):
    """Checks that Keras 3 loads what Weft saved, and predicts the same."""
    os.environ["KERAS_BACKEND"] = "numpy"  # compiles nothing
    import keras
    import numpy
    for path in saved:
        if path.stem not in IN_KERAS:
            continue
        model = keras.saving.load_model(path)
        golden = numpy.load(checker.folder / f"{path.stem}.npz")
        x = {name: golden[f"x/{name}"] for name in (tensor.name for tensor in model.inputs)} if "x" not in golden else golden["x"]
        found = keras.tree.flatten(model.predict(x, verbose=0))
        wanted = [golden["predict"]] if "predict" in golden else [golden[f"predict/{name}"] for name in model.output_names]
        for one, other in zip(found, wanted, strict=True):
            checker.compare(f"{path.name} in Keras", one.ravel().tolist(), other.ravel().tolist(), TOLERANCE.get(path.stem, 1e-5))


def main():
    with tempfile.TemporaryDirectory() as out:
        checker = Checker(sys.argv[1], pathlib.Path(sys.argv[2]) / "legacy", pathlib.Path(out))
        saved = [checker.file(file) for file in sorted(checker.folder.glob("*.h5"))]
        for file in sorted(checker.folder.glob("*.json")):
            checker.same_config(file)
        if "keras" in sys.argv[3:]:
            check_keras(checker, saved)
    sys.exit(checker.failures > 0)


main()
