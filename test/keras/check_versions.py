"""Exchanges files between Weft and a version of Keras, in both directions. It takes too long for tools/test: run it by hand.

    check_versions.py WEFT PYTHON...        PYTHON has Keras and JAX of any version that go together

Example, of two versions in virtual environments of their own:

    python3 test/keras/check_versions.py build/bin/weft k3.3/bin/python k3.15/bin/python

Keras builds each model, trains it and saves it. Weft predicts from model.keras, and from the .weights.h5 beside it; trains on
for two epochs, whose history is Keras' own where nothing is drawn at random; and saves. The same Keras loads Weft's file
without a warning, gives Weft's predictions, and trains on by a step with Weft's loss and metrics. Files of one layer are
only predicted from, files of a loss or a metric evaluated. A class that the version lacks is left out, and so is a model that
fails in that Keras alone.
The last lines are a table, with a line for each version; the differences, and Weft's messages where it refuses a file, are above it.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import npz_values  # noqa: E402
import patience  # noqa: E402
from version_layers import LAYERS, LOSSES, METRICS, PAIRS, WRAPPERS  # noqa: E402
from version_models import PREDICTED, SAMPLES, TRAINED, Models  # noqa: E402

BATCH = 8
HEAD = "| Keras | JAX | models | passed | differences |\n|---|---|---|---|---|"


class Difference(Exception):
    """A difference between Weft and Keras."""


def first(value):
    """The first batch of an array, or of each in a dict."""
    return {name: part[:BATCH] for name, part in value.items()} if isinstance(value, dict) else value[:BATCH]


class Run:
    """All cases with the Keras of this Python."""

    def __init__(self, weft, only, verbose):
        os.environ["KERAS_BACKEND"], os.environ["JAX_PLATFORMS"] = "jax", "cpu"
        os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # compiles faster
        warnings.simplefilter("ignore")  # `load` turns warnings into errors
        import jax
        import keras
        import numpy

        self.keras, self.numpy, self.versions = keras, numpy, (keras.__version__, jax.__version__)
        self.weft_path, self.only, self.verbose = weft, re.compile(only), verbose
        self.models = Models(keras, numpy)
        self.count = self.passed = self.differences = self.refused = 0

    def weft(self, command, *words):
        words = [str(word) for word in (self.weft_path, command, *words, "--data", "data.npz", "--batch-size", BATCH, "--seed", 1)]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=patience.HANG)
        if done.returncode:
            raise Difference(f"weft {command}: {done.stderr.strip() or f'exit status {done.returncode}'}")
        return done.stdout

    def compare(self, what, found, wanted, limit):
        flat = [self.numpy.ravel(self.numpy.asarray(values, "float64")).tolist() for values in (found, wanted)]
        if len(flat[0]) != len(flat[1]):
            raise Difference(f"{what}: {len(flat[0])} numbers, Keras has {len(flat[1])}")
        worst = npz_values.worst_difference(*flat, least=1e-3)
        if self.verbose:
            print(f"    {what}: {worst:.2g} of {limit:.2g}")
        if not worst <= limit:
            raise Difference(
                f"{what}: off by {worst:.2g} of the largest value, allowed are {limit:.2g}"
                + (f" ({flat[0]}, Keras has {flat[1]})" if len(flat[0]) <= 4 else "")
            )

    @contextlib.contextmanager
    def part(self, name):
        """Counts and shows a difference inside, and goes on with the next part."""
        try:
            yield
        except Difference as difference:
            self.failed(name, str(difference))
        except Exception as error:  # an error of Keras, about a file or its own model
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = f"Keras: {type(error).__name__}: {str(error).strip()[:600]} ({pathlib.Path(where.filename).name}:{where.lineno})"
            if name == "model":
                self.refused += 1
                print(f"Keras {self.versions[0]} cannot do {self.name} itself: {said}")
            else:
                self.failed(name, said)

    def failed(self, name, what):
        self.differences += 1
        print(f"FAIL Keras {self.versions[0]}: {self.name}: {name}: {what}")

    def predicted(self, what, file):
        """Weft's predictions, those of all outputs concatenated."""
        self.weft("predict", file, *what, "--verbose", 0, "--out", "p.npz")
        with self.numpy.load(self.folder / "p.npz") as arrays:
            names = [f"y/{name}" for name in self.outputs] if len(arrays) > 1 else list(arrays)
            return self.numpy.concatenate([self.numpy.ravel(arrays[name]) for name in names])

    def predicted_by(self, model, x):
        found = model.predict(x, batch_size=BATCH, verbose=0)
        if isinstance(found, dict):
            found = [found[name] for name in self.outputs]
        return self.numpy.concatenate([self.numpy.ravel(part) for part in (found if isinstance(found, list) else [found])])

    def history(self):
        return json.loads((self.folder / "h.json").read_text())["history"]

    def write_data(self, x, y):
        arrays = {}
        for kind, value in (("x", x), ("y", y)):
            arrays.update({f"{kind}/{name}": part for name, part in value.items()} if isinstance(value, dict) else {kind: value})
        self.numpy.savez(self.folder / "data.npz", **arrays)

    def load(self, file, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            return self.keras.saving.load_model(self.folder / file, **options)

    def trained(self, make):
        """Trains a model, saves it and loads it again, in Keras and in Weft."""
        case = make()
        model, folder = case.model, self.folder
        self.outputs = list(model.output_names) if hasattr(model, "output_names") else ["y"]
        self.write_data(case.x, case.y)
        options = {"batch_size": BATCH, "shuffle": False, "verbose": 0}
        model.save(folder / "fresh.keras")
        model.fit(case.x, case.y, **options)
        model.save(folder / "model.keras")
        model.save_weights(folder / "model.weights.h5")
        if not case.brief:
            expected = self.predicted_by(model, case.x)
            with self.part("predict"):
                self.compare("predictions", self.predicted([], "model.keras"), expected, case.predicted)
            with self.part("predict --weights"):
                self.compare("predictions", self.predicted(["--weights", "model.weights.h5"], "fresh.keras"), expected, case.predicted)
        # The model is loaded again: with use_ema, Keras on JAX does not train on with the same object.
        again = self.load("model.keras")
        history = again.fit(case.x, case.y, epochs=2, **options).history
        with self.part("fit"):
            self.weft(
                "fit",
                "model.keras",
                "--epochs",
                2,
                "--no-shuffle",
                "--verbose",
                0,
                "--history",
                "h.json",
                "--save",
                "out.keras",
                "--save-weights",
                "out.weights.h5",
            )
            if not case.random:
                self.same_history(self.history(), history, case.trained)
        if not (folder / "out.keras").exists():
            return
        found = self.predicted([], "out.keras")
        with self.part("Keras loads .keras"):
            loaded = self.load("out.keras")
            self.compare("predictions", found, self.predicted_by(loaded, case.x), case.predicted)
            steps = self.numpy.asarray(loaded.optimizer.iterations).item()
            if steps != self.numpy.asarray(again.optimizer.iterations).item():
                raise Difference(f"{steps} iterations of the optimizer, Keras has {self.numpy.asarray(again.optimizer.iterations).item()}")
            step = loaded.fit(first(case.x), first(case.y), **options)
            self.weft("fit", "out.keras", "--max-steps", 1, "--no-shuffle", "--verbose", 0, "--history", "h.json")
            if not case.random:
                self.same_history(self.history(), step.history, case.trained)
        if case.brief:
            return
        with self.part("Keras loads .weights.h5"):
            other = self.load("fresh.keras", compile=False)
            other.load_weights(folder / "out.weights.h5")
            self.compare("predictions", found, self.predicted_by(other, case.x), case.predicted)

    def same_history(self, found, wanted, limit):
        if list(found) != list(wanted):
            raise Difference(f"the history has {', '.join(found)}; Keras' has {', '.join(wanted)}")
        for name in wanted:
            self.compare(f"history of {name}", found[name], wanted[name], limit)

    def layer(self, layer, *shapes):
        inputs = [self.keras.Input(shape, name=f"x{number}") for number, shape in enumerate(shapes)]
        x = [self.models.reals(*shape) for shape in shapes]
        together = isinstance(
            layer,
            (
                self.keras.layers.Add,
                *[
                    kind
                    for name in (
                        "Average",
                        "Concatenate",
                        "Dot",
                        "Maximum",
                        "Minimum",
                        "Multiply",
                        "Subtract",
                        "Attention",
                        "AdditiveAttention",
                    )
                    if (kind := getattr(self.keras.layers, name, None))
                ],
            ),
        )
        model = self.keras.Model(inputs if len(inputs) > 1 else inputs[0], layer(inputs) if together else layer(*inputs))
        self.outputs = ["y"]
        self.write_data({f"x{number}": part for number, part in enumerate(x)} if len(x) > 1 else x[0], self.numpy.zeros((SAMPLES, 1)))
        model.save(self.folder / "model.keras")
        with self.part("predict"):
            self.compare("predictions", self.predicted([], "model.keras"), self.predicted_by(model, x if len(x) > 1 else x[0]), PREDICTED)

    def evaluated(self, kind, loss, metrics):
        keras, numpy = self.keras, self.numpy
        model = keras.Sequential(
            [
                keras.Input((6,)),
                keras.layers.Dense(
                    {"classes": 3, "binary": 1, "reals": 2}[kind], {"classes": "softmax", "binary": "sigmoid", "reals": "softplus"}[kind]
                ),
            ]
        )
        model.compile("sgd", loss, metrics=metrics)
        x = self.models.reals(6)
        y = {
            "classes": lambda: numpy.eye(3, dtype="float32")[self.models.words(3)],
            "binary": lambda: self.models.words(2, 1).astype("float32"),
            "reals": lambda: numpy.abs(self.models.reals(2)),
        }[kind]()
        self.write_data(x, y)
        wanted = model.evaluate(x, y, batch_size=BATCH, verbose=0, return_dict=True)
        model.save(self.folder / "model.keras")
        with self.part("evaluate"):
            found = json.loads(self.weft("evaluate", "model.keras", "--json"))
            found = {name: value for name, value in found.items() if name in wanted}
            if set(found) != set(wanted):
                raise Difference(f"weft evaluates {', '.join(found)}; Keras {', '.join(wanted)}")
            for name in wanted:
                self.compare(name, found[name], wanted[name], TRAINED)

    def cases(self):
        keras = self.keras
        yield from ((name, lambda make=make: self.trained(make)) for name, make in self.models.named().items())
        for name, options, shape in LAYERS:
            if kind := getattr(keras.layers, name, None):
                yield f"layer {name}", lambda kind=kind, options=options, shape=shape: self.layer(kind(**options), shape)
        for name, (make, shape) in WRAPPERS.items():
            yield f"layer {name}", lambda make=make, shape=shape: self.layer(make(keras), shape)
        for name, options in PAIRS:
            if kind := getattr(keras.layers, name, None):
                yield f"layer {name}", lambda kind=kind, options=options: self.layer(kind(**options), (5, 4), (5, 4))
        for kind, names in LOSSES.items():
            for name in names:
                if loss := getattr(keras.losses, name, None):
                    yield f"loss {name}", lambda kind=kind, loss=loss: self.evaluated(kind, loss(), [])
        for kind, entries in METRICS.items():
            yield f"metrics of {kind}", lambda kind=kind, entries=entries: self.evaluated(
                kind.partition(",")[0],
                "mse",
                [getattr(keras.metrics, name)(**options) for name, options in entries if hasattr(keras.metrics, name)],
            )

    def run(self):
        for name, check in self.cases():
            if not self.only.search(name):
                continue
            if self.verbose:
                print(f"  {name}", flush=True)
            self.name, before, refused = name, self.differences, self.refused
            self.keras.utils.clear_session(free_memory=False)
            self.keras.utils.set_random_seed(1)
            self.keras.config.set_dtype_policy("float32")
            with tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                with self.part("model"):
                    check()
            if self.refused == refused:
                self.count += 1
                self.passed += self.differences == before
        return f"| {self.versions[0]} | {self.versions[1]} | {self.count} | {self.passed} | {self.differences} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", type=pathlib.Path, help="build/bin/weft")
    parser.add_argument("python", nargs="*", help="interpreters that have Keras; without any, the one that runs this")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names have it")
    parser.add_argument("-v", "--verbose", action="store_true", help="show each case and its distances")
    args = parser.parse_args()
    if not args.python:
        row = Run(args.weft.resolve(), args.only, args.verbose).run()
        print(row)
        return 0 if row.endswith("| 0 |") else 1
    rows, status = [], 0
    for python in args.python:
        words = [python, __file__, str(args.weft), "--only", args.only, *(["-v"] if args.verbose else [])]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
        lines = done.stdout.splitlines()
        rows += [line for line in lines if line.startswith("| ")] or [f"| {python} | did not run | | | |"]
        print("\n".join(line for line in lines if not line.startswith("| ")), flush=True)
        status = status or done.returncode
    print("\n".join([HEAD, *rows]))
    return status


if __name__ == "__main__":
    sys.exit(main())
