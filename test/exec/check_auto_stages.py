"""Stages that the costs of layers choose ("stages": "auto").

    check_auto_stages.py WEFT

A chain of dense layers of uneven widths: the slowest stage is the widest layer, which is alone; the run has the bits of the same stages as
lists, and of one stage; `explain` says the cut, its seconds and the bubble; a limit of memory moves the cut. All cuts are compared in
chain-cuts-test.
"""

import array
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import npz_values

WIDTHS = [256, 256, 256, 2048, 256, 256, 256]
INPUTS = 256


def dense(name, units, source, width):
    return {"class_name": "Dense", "name": name, "config": {"name": name, "units": units, "activation": "tanh"},
            "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__", "config": {
                "shape": [None, width], "dtype": "float32", "keras_history": [source, 0, 0]}}], "kwargs": {}}]}


def model(widths):
    layers = [{"class_name": "InputLayer", "name": "x", "inbound_nodes": [], "config": {"name": "x", "batch_shape": [None, INPUTS], "dtype": "float32"}}]
    source, width = "x", INPUTS
    for number, units in enumerate(widths):
        layers.append(dense(f"d{number}", units, source, width))
        source, width = f"d{number}", units
    return json.dumps({"class_name": "Functional", "config": {"name": "net", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [[source, 0, 0]]},
                       "compile_config": {"optimizer": "adam", "loss": "mean_squared_error"}})


def tables():
    """Two embeddings of a word each, and dense layers on their sum."""
    def tensor(name, shape, dtype="float32"):
        return {"class_name": "__keras_tensor__", "config": {"shape": shape, "dtype": dtype, "keras_history": [name, 0, 0]}}
    layers = []
    for number in range(2):
        layers.append({"class_name": "InputLayer", "name": f"w{number}", "inbound_nodes": [], "config": {"name": f"w{number}", "batch_shape": [None], "dtype": "int32"}})
        layers.append({"class_name": "Embedding", "name": f"e{number}", "config": {"name": f"e{number}", "input_dim": 8000, "output_dim": 256, "trainable": False},
                       "inbound_nodes": [{"args": [tensor(f"w{number}", [None], "int32")], "kwargs": {}}]})
    layers.append({"class_name": "Add", "name": "add", "config": {"name": "add"},
                   "inbound_nodes": [{"args": [[tensor(f"e{number}", [None, 256]) for number in range(2)]], "kwargs": {}}]})
    layers += [dense(f"d{number}", 256, f"d{number - 1}" if number else "add", 256) for number in range(2)]
    return json.dumps({"class_name": "Functional", "config": {
        "name": "net", "layers": layers, "input_layers": [[f"w{number}", 0, 0] for number in range(2)], "output_layers": [["d1", 0, 0]]},
        "compile_config": {"optimizer": "adam", "loss": "mean_squared_error"}})


class Check:
    def __init__(self, weft, folder):
        self.weft, self.folder, self.failures = weft, folder, []

    def run(self, *words):
        result = subprocess.run([self.weft, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        if result.returncode:
            sys.exit(f"{' '.join(map(str, words))}\nexit status {result.returncode}\n{result.stdout}{result.stderr}")
        return result.stdout

    def expect(self, what, holds):
        print(f"{what}: {'as expected' if holds else 'FAILED'}")
        if not holds:
            self.failures.append(what)

    def distribution(self, name, stages, count=3):
        config = {"device_mesh": {"shape": [count], "axis_names": ["stage"], "devices": None}, "layout_map": {}, "batch_dim_name": "stage",
                  "pipeline": {"axis": "stage", "stages": stages, "microbatches": 8, "schedule": "1f1b"}}
        (self.folder / f"{name}.json").write_text(json.dumps({"class_name": "ModelParallel", "config": config}))
        return f"{name}.json"

    def cut(self, *flags, distribution="auto.json", file="model.json"):
        said = json.loads(self.run("explain", file, "--batch-size", 512, "--distribution", distribution, "--json", *flags))["pipeline"]
        return [each["layers"] for each in said["stages"]], [each["seconds"] for each in said["stages"]], said

    def fit(self, *flags):
        self.run("fit", "model.json", "--data", "data.npz", "--batch-size", 32, "--epochs", 2, "--seed", 3, "--verbose", 0, "--save-weights", "w.npz", *flags)
        return (self.folder / "w.npz").read_bytes()


def main():
    with tempfile.TemporaryDirectory() as folder:
        check = Check(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        (check.folder / "model.json").write_text(model(WIDTHS))
        numbers = random.Random(7)
        npz_values.write(check.folder / "data.npz", {key: ((64, INPUTS), array.array("f", (numbers.uniform(-1, 1) for _ in range(64 * INPUTS)))) for key in "xy"})
        check.distribution("auto", "auto")
        layers, seconds, said = check.cut()
        # d3 has 256 x 2048 weights and d4 2048 x 256; the others have 256 x 256.
        check.expect(f"the wide layers are in stages of their own: {layers}", layers == [["d0", "d1", "d2"], ["d3"], ["d4", "d5", "d6"]])
        check.expect("the seconds of each stage, and the bubble", len(seconds) == 3 and min(seconds) > 0 and said["bubble"] == 3 * 2)
        text = check.run("explain", "model.json", "--batch-size", 512, "--distribution", "auto.json")
        check.expect("explain says the cut", "cut by price: a step takes " in text and "times the mean" in text)
        lists = check.distribution("lists", layers)
        one, auto = check.fit("--microbatches", 8), check.fit("--distribution", "auto.json")
        check.expect("the bits of the same stages as lists, and of one stage", auto == one == check.fit("--distribution", lists))
        # The tables, which are not trained, are large, and reading rows of them costs little.
        check.distribution("two", "auto", 2)
        (check.folder / "tables.json").write_text(tables())
        free, held = (check.cut(*flags, distribution="two.json", file="tables.json")[0] for flags in ([], ["--memory", "16MB"]))
        check.expect(f"a limit of memory moves the cut: {held} instead of {free}", {"e0", "e1"} <= set(free[0]) and "e1" in held[1])
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
