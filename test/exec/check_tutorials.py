"""Checks small things that the seed tutorials do, on the command line.

    check_tutorials.py WEFT FIXTURE NAME...

Each NAME is a function below; FIXTURE is the folder of seed-functional-mlp.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import npz_values

ROOT = pathlib.Path(__file__).resolve().parents[2]
MNIST = ROOT / "examples" / "data" / "mnist24k.npz"


class Tutorials:
    def __init__(self, weft, fixture, scratch):
        self.weft, self.fixture, self.scratch = weft, fixture, scratch
        self.case = json.loads((fixture / "case.json").read_text())
        self.golden = npz_values.read(fixture / "golden.npz")
        self.model = fixture / "model.json"
        data = fixture / "golden.npz"
        self.data = ["--x", f"{data}:x", "--y", f"{data}:y", "--batch-size", "16", "--seed", str(self.case["seed"])]

    def run(self, *command, fails=False):
        result = subprocess.run([str(c) for c in (self.weft, *command)], capture_output=True, text=True)
        if bool(result.returncode) != fails:
            sys.exit(f"{command}\nexit status {result.returncode}\n{result.stdout}{result.stderr}")
        return result.stderr if fails else result.stdout

    def losses(self, *flags, epochs=1):
        """The loss of every epoch."""
        out = self.scratch / "h.json"
        self.run("fit", self.model, *self.data, "--epochs", epochs, "--verbose", 0, "--history", out, *flags)
        return json.loads(out.read_text())["history"]["loss"]

    def distribution(self, value):
        path = self.scratch / "d.json"
        path.write_text(json.dumps(value))
        return ["--distribution", path]

    # ---- the calls of the tutorials ----

    def fit_and_evaluate(self):
        """compile(loss="mse"), fit(epochs=3), evaluate: Keras' figures (RMSprop is the default optimizer)."""
        near(self.losses("--no-shuffle", epochs=3), self.case["fit"]["history"]["loss"])
        weights = self.scratch / "w.npz"
        steps = self.case["steps"]
        self.losses("--no-shuffle", "--max-steps", steps, "--save-weights", weights, epochs=steps)
        found = json.loads(self.run("evaluate", self.model, *self.data, "--weights", weights, "--json"))
        near([found["loss"]], self.golden["evaluate/loss"][1])

    def shuffled(self):
        """shuffle, batch: the samples that Keras' fit takes, in its order."""
        near(self.losses(epochs=3), self.case["fit_shuffled"]["history"]["loss"])

    def data_parallel(self):
        """DataParallel(devices), DataParallel(device_mesh), DataParallel(), the devices in another order."""
        one = self.losses("--no-shuffle")
        cpus = [f"cpu:{i}" for i in range(8)]
        files = [{"devices": cpus}, {"devices": cpus[::-1]}, {},
                 {"device_mesh": {"shape": [8], "axis_names": ["batch"], "devices": cpus[::-1]}}]
        for config in files:
            flags = self.distribution({"class_name": "DataParallel", "config": config})
            near(self.losses("--no-shuffle", "--devices", "cpu:8", *flags), one)
            drawn = json.loads(self.run("layout", self.model, "--devices", "cpu:8", *flags, "--json"))
            assert drawn["devices"] == 8, drawn["devices"]
        near(self.losses("--no-shuffle", "--data-parallel", "--devices", "cpu:8"), one)

    def memory(self):
        """Weights and activations are split: the bytes on a device shrink with the mesh."""
        held = {}
        for name in ("1x8", "2x4", "4x2", "8x1"):
            text = self.run("explain", self.model, "--distribution", self.fixture / f"distribution-mp-{name}.json",
                            "--batch-size", 16, "--json")
            held[name] = json.loads(text)["memory"]
        d1, rest = 784 * 200 * 4, (200 * 10 + 10 + 2 + 1 + 1) * 4
        for name, parts in (("1x8", 8), ("2x4", 4), ("4x2", 2), ("8x1", 1)):
            assert held[name]["weights"] == d1 // parts + rest, (name, held[name])
        whole = json.loads(self.run("explain", self.model, "--batch-size", 16, "--json"))["memory"]
        assert 4 * held["2x4"]["activations"] < whole["activations"], (held["2x4"], whole)

    def channel(self):
        """MNIST with a channel dimension: shapes are printed, and the flag is named where it is missing."""
        flags = ["--x", f"{MNIST}:x_train[0:96]", "--y", f"{MNIST}:y_train[0:96]", "--divide-by", "255", "--seed", "1",
                 "--loss", "sparse_categorical_crossentropy"]
        printed = self.run("fit", self.model, *flags, "--add-channel")
        assert "x_train[0:96] (96, 28, 28, 1) uint8 0..255, divided by 255" in printed, printed
        error = self.run("fit", self.model, *flags, fails=True)
        assert "has samples of shape (28, 28), x needs (28, 28, 1); add --add-channel" in error, error

    def remainder(self):
        """drop_remainder: 100 samples are 3 batches of 32, and 4 are left out."""
        out = self.scratch / "h.json"
        flags = ["--x", f"{MNIST}:x_train[0:100]", "--y", f"{MNIST}:y_train[0:100]", "--seed", "1", "--batch-size", 32,
                 "--loss", "sparse_categorical_crossentropy", "--add-channel", "--history", out, "--history-steps"]
        printed = self.run("fit", self.model, *flags, "--drop-remainder")
        assert "--drop-remainder leaves out 4 of 100 samples" in printed, printed
        assert len(json.loads(out.read_text())["steps"]["loss"]) == 3
        self.run("fit", self.model, *flags)
        assert len(json.loads(out.read_text())["steps"]["loss"]) == 4


def near(got, want):
    """Asserts that losses are within 1e-5 of Keras', relative: the fixture's tolerance."""
    assert len(got) == len(want), (got, want)
    assert all(abs(g - w) <= 1e-5 * abs(w) for g, w in zip(got, want)), (got, want)


def main():
    weft, fixture, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        tutorials = Tutorials(weft, pathlib.Path(fixture), pathlib.Path(scratch))
        for name in names:
            getattr(tutorials, name)()
            print(f"{name}: as the tutorial")
    return 0


if __name__ == "__main__":
    sys.exit(main())
