"""Pipelines compute what one stage computes with as many microbatches, and their plans have one size.

    check_pipelines.py WEFT [MPIRUN WORDS...]

A residual network of eight dense layers, with a layer that skips over stages, trains on one device in microbatches, and as a
pipeline of two and four stages by each schedule and by a file; also where the microbatches do not divide the batch, and with
a short last batch. Weights and histories are equal to the bit for 5 and 12 microbatches. With 4, a microbatch has 6 rows,
whose sums kernels for several values round otherwise than kernels for one: there they are equal within 1e-6.

With words of mpirun, only: processes that have a stage each compute the bits of one process.
"""

import array
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import npz_values

LAYERS = 8
UNITS = 16
SCHEDULE = {"microbatches": 4, "stages": [["F0", "F1", "F2", "F3", "B0", "B1", "B2", "B3"], ["F0", "B0", "F1", "B1", "F2", "B2", "F3", "B3"]]}


def tensor(name):
    return {"class_name": "__keras_tensor__", "config": {"shape": [None, UNITS], "dtype": "float32", "keras_history": [name, 0, 0]}}


def model(skips=True):
    """The text of the model: x -> d0 -> d1 + d0 -> ... and, with skips, a sum of the last and the first."""
    layers = [{"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
               "config": {"name": "x", "batch_shape": [None, UNITS], "dtype": "float32"}}]

    def add(kind, name, inputs, **config):
        args = [[tensor(each) for each in inputs]] if kind == "Add" else [tensor(inputs[0])]
        layers.append({"class_name": kind, "name": name, "config": {"name": name, **config},
                       "inbound_nodes": [{"args": args, "kwargs": {}}]})
        return name

    value = "x"
    for k in range(LAYERS):
        dense = add("Dense", f"d{k}", [value], units=UNITS, activation="relu")
        value = add("Add", f"a{k}", [value, dense]) if k else dense
    if skips:
        value = add("Add", "a8", [value, "d0"])
    return json.dumps({"class_name": "Functional", "config": {
        "name": "net", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [[value, 0, 0]]},
        "compile_config": {"optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.01}}, "loss": "mean_squared_error"}})


class Check:
    def __init__(self, weft, folder):
        self.weft, self.folder, self.failures, self.launcher = weft, folder, [], []
        (folder / "model.json").write_text(model())
        numbers = random.Random(7)
        npz_values.write(folder / "data.npz", {
            key: ((75, UNITS), array.array("f", (numbers.uniform(-1, 1) for _ in range(75 * UNITS)))) for key in "xy"})

    def run(self, *words):
        result = subprocess.run([*self.launcher, self.weft, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        if result.returncode:
            sys.exit(f"{' '.join(map(str, words))}\nexit status {result.returncode}\n{result.stdout}{result.stderr}")
        return result.stdout + result.stderr if "--verify" in words else result.stdout

    def expect(self, what, holds):
        print(f"{what}: {'as expected' if holds else 'FAILED'}")
        if not holds:
            self.failures.append(what)

    def distribution(self, stages, microbatches, schedule):
        chunks = 2 if schedule == "interleaved" else 1
        per = LAYERS // stages // chunks
        names = [[f"[da]{k}" for k in range(s * per, (s + 1) * per)] for s in range(stages * chunks)]
        names[-1] += ["a8"] if "a8" in (self.folder / "model.json").read_text() else []
        config = {"device_mesh": {"shape": [stages], "axis_names": ["stage"], "devices": None}, "layout_map": {}, "batch_dim_name": "stage",
                  "pipeline": {"axis": "stage", "stages": names, "microbatches": microbatches, "schedule": schedule}}
        path = self.folder / f"{stages}-{microbatches}-{schedule.removesuffix('.json')}.dist.json"
        path.write_text(json.dumps({"class_name": "ModelParallel", "config": config}))
        return path

    def fit(self, *flags):
        self.run("fit", "model.json", "--data", "data.npz", "--batch-size", 24, "--epochs", 2, "--seed", 3,
                 "--validation-split", 0.2, "--save-weights", "w.npz", "--history", "h.json", "--verbose", 0, *flags)
        return npz_values.read(self.folder / "w.npz"), json.loads((self.folder / "h.json").read_text())

    def interleaved(self):
        """Each stage has two chunks of the model. A short last batch, of no whole rounds, is no pipeline."""
        for stages, microbatches in ((2, 4), (2, 6), (4, 8), (4, 12)):
            one = self.fit("--microbatches", microbatches)
            got = self.fit("--distribution", self.distribution(stages, microbatches, "interleaved"))
            worst = max(npz_values.worst_difference(got[0][name][1], values, least=1) for name, (_, values) in one[0].items())
            self.expect(f"{stages} stages of two chunks, {microbatches} microbatches: values of one stage", worst <= 1e-6)
        sizes = [len(self.run("compile", "model.json", "--batch-size", 128, "--emit", "plan", "--distribution",
                              self.distribution(4, microbatches, "interleaved"))) for microbatches in (16, 64)]
        self.expect("interleaved: the plan of 64 microbatches is at most 1.05 of that of 16", sizes[1] <= 1.05 * sizes[0])
        out = self.run("compile", "model.json", "--batch-size", 24, "--distribution", self.distribution(2, 4, "interleaved"), "--verify",
                       "-o", "step.weft")
        self.expect("interleaved: verified", "global program = 2 devices" in out)

    def steps(self):
        (self.folder / "file.json").write_text(json.dumps(SCHEDULE))
        for microbatches in (4, 5, 12):
            one, history = self.fit("--microbatches", microbatches)
            for stages in (2, 4):
                for schedule in ("gpipe", "1f1b", "zb-h1") if stages == 4 else ("file.json",) if microbatches == 4 else ("1f1b",):
                    got = self.fit("--distribution", self.distribution(stages, microbatches, schedule))
                    what = f"{stages} stages, {microbatches} microbatches, {schedule}"
                    if microbatches == 4:
                        worst = max(npz_values.worst_difference(got[0][name][1], values, least=1) for name, (_, values) in one.items())
                        self.expect(f"{what}: values of one stage", worst <= 1e-6)
                    else:
                        self.expect(f"{what}: bits of one stage", got == (one, history))

    def resumes(self):
        """A run that a backup restores goes on: with the same bits by the same stages, and by others, or without, within rounding."""
        first = self.distribution(4, 4, "1f1b")
        words = ["fit", "model.json", "--data", "data.npz", "--batch-size", 24, "--seed", 3, "--verbose", 0, "--save-weights", "w.npz"]
        self.run(*words, "--epochs", 3, "--distribution", first)
        whole = npz_values.read(self.folder / "w.npz")
        others = {"the same stages": first, "another schedule": self.distribution(4, 4, "gpipe"), "two stages": self.distribution(2, 6, "1f1b"), "one device": None}
        for number, (what, second) in enumerate(others.items()):
            backup = [*words, "--backup", f"backup-{number}"]
            self.run(*backup, "--epochs", 1, "--distribution", first)
            self.run(*backup, "--epochs", 3, *(["--distribution", second] if second else []))
            got = npz_values.read(self.folder / "w.npz")
            worst = max(npz_values.worst_difference(got[name][1], values, least=1) for name, (_, values) in whole.items())
            self.expect(f"goes on with {what}", got == whole if number == 0 else worst <= 1e-6)

    def forward(self):
        """evaluate and predict run the forward passes, and have the figures of one device; predict for several batch sizes."""
        path = self.distribution(4, 4, "1f1b")
        self.run("fit", "model.json", "--data", "data.npz", "--batch-size", 24, "--seed", 3, "--verbose", 0, "--distribution", path, "--save", "t.keras")
        for step, words in (("evaluate", []), ("predict", ["--out", "p.npz"])):
            got = []
            for flags in ([], ["--distribution", path]):
                out = self.run(step, "t.keras", "--data", "data.npz", "--batch-size", 24, *words, *flags).splitlines()[-1]
                got.append(npz_values.read(self.folder / "p.npz") if words else out)
            self.expect(f"{step}: the figures of one device", got[0] == got[1])
        self.run("compile", "t.keras", "--step", "predict", "--batch-size", "1,8,32", "--distribution", path, "-o", "serve.weft")
        self.expect("compiled for batch sizes of 1, 8 and 32", (self.folder / "serve.weft").stat().st_size > 0)

    def processes(self, mpirun):
        for schedule in ("gpipe", "1f1b"):
            path = self.distribution(2, 5, schedule)
            self.launcher = []
            one = self.fit("--distribution", path)
            self.launcher = mpirun
            self.expect(f"{schedule}: a process for each stage has the bits of one process", self.fit("--distribution", path) == one)

    def plans(self):
        for schedule in ("gpipe", "1f1b", "zb-h1"):
            sizes = [len(self.run("compile", "model.json", "--batch-size", 128, "--emit", "plan", "--distribution",
                                  self.distribution(4, microbatches, schedule))) for microbatches in (16, 64)]
            self.expect(f"{schedule}: the plan of 64 microbatches is at most 1.05 of that of 16", sizes[1] <= 1.05 * sizes[0])

    def memory(self):
        """A device has the weights of its stage alone, and 1F1B keeps fewer activations than GPipe."""
        used = {}
        for schedule in ("gpipe", "1f1b"):
            path = self.distribution(4, 16, schedule)
            used[schedule] = json.loads(self.run("explain", "model.json", "--batch-size", 128, "--distribution", path, "--json"))["memory"]
        said = json.loads(self.run("explain", "model.json", "--batch-size", 128, "--distribution", self.distribution(4, 16, "1f1b"), "--json"))["pipeline"]
        self.expect("explain says the bubble and live activations of 1F1B", said["bubble"] == 3 * (4 - 1) and said["end"] == 3 * (16 + 4 - 1)
                    and [each["live_activations"] for each in said["stages"]] == [4, 3, 2, 1])
        stage = LAYERS // 4 * (UNITS * UNITS + UNITS) * 4
        self.expect("weights of a stage are on its device alone", stage <= used["1f1b"]["weights"] <= stage + 64)
        self.expect("1F1B needs half of the memory of GPipe at most", 2 * used["1f1b"]["total"] <= used["gpipe"]["total"])

    def verified(self):
        """All devices together compute the global program, in the interpreter."""
        for schedule in ("gpipe", "1f1b", "zb-h1"):
            out = self.run("compile", "model.json", "--batch-size", 24, "--distribution", self.distribution(4, 5, schedule), "--verify",
                           "-o", "step.weft")
            self.expect(f"{schedule}: verified", "global program = 4 devices" in out)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check = Check(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        if sys.argv[2:]:
            check.processes(sys.argv[2:])
        else:
            check.steps()
            check.interleaved()
            check.plans()
            check.memory()
            check.resumes()
            check.forward()
            check.verified()
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
