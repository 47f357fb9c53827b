"""Cases of test/fixtures/layers, trained and saved by Weft, loaded by Weft and by Keras.

    check_saved_cases.py WEFT FIXTURES [keras]

The .keras file and the .weights.h5 file of a trained model predict what its variables (.npz) predict: a weight
with a low-rank adapter is saved with it. Only adapters and other weights that train change. With "keras", real
Keras loads some of the .keras files and predicts the same.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "exec"))
import npz_values

CASES = {"low_rank": ["lora-dense-alpha", "lora-dense-mixed", "lora-einsum-heads", "lora-conv2d", "lora-embedding"],
         "inner_models": ["distributed-attention", "distributed-nested", "distributed-words"]}
IN_KERAS = {"lora-dense-alpha", "lora-conv2d", "lora-embedding", "distributed-attention"}
NARROW = 0.02  # of bfloat16, of the largest value; else 1e-5


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")


class Case:
    def __init__(self, weft, name, model, arrays, out):
        self.weft, self.name, self.failures = weft, name, 0
        self.model, self.data, self.out = out / f"{name}.json", out / f"{name}.npz", out
        self.model.write_text(json.dumps(model))
        # One input: its name is that of the layer.
        npz = {key: value for key, value in arrays.items() if key.split("/")[0] in ("x", "y")}
        npz_values.write(self.data, {key.split("/")[0]: value for key, value in npz.items()})
        self.tolerance = NARROW if name.endswith("mixed") else 1e-5
        self.arrays = arrays

    def compare(self, what, found, wanted):
        worst = npz_values.worst_difference(found, wanted, 1e-3)
        if not worst <= self.tolerance:
            self.failures += 1
            print(f"FAIL {self.name}: {what}: {worst:.3g}")

    def predicted(self, model, *flags):
        out = self.out / "p.npz"
        run(self.weft, "predict", model, *flags, "--data", self.data, "--batch-size", 1, "--verbose", 0, "--seed", 1337, "--out", out)
        return next(iter(npz_values.read(out).values()))[1]

    def check(self):
        values, weights, self.saved = (self.out / f"{self.name}{end}" for end in (".values.npz", ".weights.h5", ".keras"))
        run(self.weft, "fit", self.model, "--data", self.data, "--batch-size", 1, "--epochs", 2, "--seed", 1337, "--verbose", 0,
            "--learning-rate", 0.001,  # a higher one lets attention overflow
            "--save", self.saved, "--save-weights", values)
        run(self.weft, "fit", self.model, "--weights", values, "--data", self.data, "--batch-size", 1, "--epochs", 0, "--verbose", 0,
            "--save-weights", weights)
        self.wanted = self.predicted(self.model, "--weights", values)
        self.compare("from .keras", self.predicted(self.saved), self.wanted)
        self.compare("from .weights.h5", self.predicted(self.model, "--weights", weights), self.wanted)
        self.check_frozen(npz_values.read(values))

    def check_frozen(self, values):
        """Checks that a weight with an adapter has its initial value, and that its adapter has not."""
        for name, (_, found) in values.items():
            for kind in ("kernel", "embeddings"):
                adapter = name.removesuffix(kind) + f"lora_{kind}_b"
                if name.endswith(f"/{kind}") and adapter in values:
                    self.compare(f"{name} is frozen", found, self.arrays[f"initial/{name}"][1])
                    if not any(values[adapter][1]):
                        self.failures += 1
                        print(f"FAIL {self.name}: {adapter} does not train")

    def check_in_keras(self):
        os.environ["KERAS_BACKEND"] = "numpy"  # compiles nothing
        import keras
        import numpy
        found = keras.saving.load_model(self.saved).predict(numpy.load(self.data)["x"], verbose=0)
        self.compare("in Keras", numpy.asarray(found, "float32").ravel().tolist(), self.wanted)


def main():
    weft, layers = sys.argv[1], pathlib.Path(sys.argv[2]) / "layers"
    failures = 0
    with tempfile.TemporaryDirectory() as out:
        for family, names in CASES.items():
            models = {case["name"]: case["model"] for case in json.loads((layers / f"{family}.json").read_text())}
            arrays = npz_values.read(layers / f"{family}.npz")
            for name in names:
                own = {key.removeprefix(f"{name}/"): value for key, value in arrays.items() if key.startswith(f"{name}/")}
                case = Case(weft, name, models[name], own, pathlib.Path(out))
                case.check()
                if "keras" in sys.argv[3:] and name in IN_KERAS:
                    case.check_in_keras()
                failures += case.failures
    sys.exit(failures > 0)


main()
