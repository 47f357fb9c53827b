"""A weight that two stages of a pipeline use: the bits of one stage, moved and summed once a step, saved once.

    check_tied_stages.py WEFT FOLDER [MPIRUN WORDS...]

FOLDER is the fixture gpt-tied, whose head is its embedding, a layer that both stages call. `check_fixture.py` compares it with
Keras. With words of mpirun, only: a process for each stage computes the bits of one process.
"""

import array
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import npz_values

STAGES = [["table", "embed_drop", "block0.*"], ["block1.*", "ln_f", "table"]]
TABLE = 65 * 32 * 4


class Check:
    def __init__(self, weft, fixture, folder, launcher):
        self.weft, self.folder, self.failures, self.launcher = weft, folder, [], launcher
        self.model, self.golden = fixture / "model.json", fixture / "golden.npz"

    def run(self, *words, launcher=()):
        result = subprocess.run([*launcher, self.weft, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        if result.returncode:
            sys.exit(f"{' '.join(map(str, words))}\nexit status {result.returncode}\n{result.stdout}{result.stderr}")
        return result.stdout + (result.stderr if "--verify" in words else "")

    def expect(self, what, holds):
        print(f"{what}: {'as expected' if holds else 'FAILED'}")
        if not holds:
            self.failures.append(what)

    def distribution(self, schedule, microbatches, stages=tuple(STAGES)):
        config = {"device_mesh": {"shape": [2], "axis_names": ["stage"], "devices": None}, "layout_map": {}, "batch_dim_name": "stage",
                  "pipeline": {"axis": "stage", "stages": list(stages), "microbatches": microbatches, "schedule": schedule}}
        path = self.folder / f"{schedule}-{microbatches}.json"
        path.write_text(json.dumps({"class_name": "ModelParallel", "config": config}))
        return path

    def fit(self, *flags, launcher=()):
        self.run("fit", self.model, "--x", f"{self.golden}:x", "--y", f"{self.golden}:y", "--batch-size", 8, "--epochs", 2, "--seed", 3, "--verbose", 0,
                 "--save-weights", "w.npz", "--save", "w.keras", "--history", "h.json", *flags, launcher=launcher)
        return npz_values.read(self.folder / "w.npz"), json.loads((self.folder / "h.json").read_text())

    def bits(self):
        for microbatches in (4, 8):
            one = self.fit("--microbatches", microbatches)
            for schedule in ("gpipe", "1f1b", "zb-h1"):
                got = self.fit("--distribution", self.distribution(schedule, microbatches))
                self.expect(f"{schedule}, {microbatches} microbatches: bits of one stage", got == one)
        chunks = (["table", "embed_drop"], ["block0.*"], ["block1.*"], ["ln_f", "table"])
        self.expect("interleaved, 8 microbatches: bits of one stage", self.fit("--distribution", self.distribution("interleaved", 8, chunks)) == one)
        names = [name for name in one[0] if name.endswith("table/embeddings")]
        self.expect(f"the weight is saved once: {names}", names == ["table/embeddings"])
        predicted = []
        for flags in ([], ["--distribution", self.distribution("1f1b", 4)]):
            self.run("predict", "w.keras", "--x", f"{self.golden}:x", "--batch-size", 8, "--verbose", 0, "--out", "p.npz", *flags)
            predicted.append(npz_values.read(self.folder / "p.npz"))
        self.expect("predictions of the saved model, on one device and on both stages", npz_values.worst_difference(predicted[1]["y"][1], predicted[0]["y"][1], least=1) <= 1e-5)

    def moved(self):
        """The weight is moved once a step, and so is its gradient; it has no slots on the second stage."""
        rows = {}
        for microbatches in (2, 8):
            said = json.loads(self.run("explain", self.model, "--batch-size", 8, "--distribution", self.distribution("1f1b", microbatches), "--json"))
            rows[microbatches] = [(each["count"], each["bytes"], each["reason"]) for each in said["collectives"] if "table/embeddings" in each["reason"]]
            self.expect(f"{microbatches} microbatches: the weight and its gradient are moved once", sorted(each[:2] for each in rows[microbatches]) == [(1, TABLE)] * 2)
        self.expect("the reasons name the weight and the layer", any("a further call of table" in each[2] for each in rows[8]) and
                    any("gradient of table/embeddings" in each[2] for each in rows[8]))
        one = json.loads(self.run("explain", self.model, "--batch-size", 8, "--json"))["memory"]
        two = json.loads(self.run("explain", self.model, "--batch-size", 8, "--distribution", self.distribution("1f1b", 4), "--json"))["memory"]
        rest = (one["weights"] - TABLE) / 2
        self.expect("stages have half of the other weights and their slots, and one of them the table's",
                    math.isclose(two["weights"], rest + TABLE, rel_tol=0.01) and math.isclose(two["optimizer"], 2 * (rest + TABLE), rel_tol=0.01))

    def shared(self):
        """A Dense layer that each of two stages calls; on one stage its gradients are added in each microbatch, so bits may differ."""
        def tensor(name, call=0):
            return [{"class_name": "__keras_tensor__", "config": {"shape": [None, 16], "dtype": "float32", "keras_history": [name, call, 0]}}]

        def dense(name, *inputs):
            return {"class_name": "Dense", "name": name, "config": {"name": name, "units": 16, "activation": "tanh"},
                    "inbound_nodes": [{"args": each, "kwargs": {}} for each in inputs]}
        layers = [{"class_name": "InputLayer", "name": "x", "inbound_nodes": [], "config": {"name": "x", "batch_shape": [None, 16], "dtype": "float32"}},
                  dense("both", tensor("x"), tensor("b")), dense("a", tensor("both")), dense("b", tensor("a"))]
        (self.folder / "shared.json").write_text(json.dumps({"class_name": "Functional", "config": {
            "name": "net", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [["both", 1, 0]]},
            "compile_config": {"optimizer": "sgd", "loss": "mean_squared_error"}}))
        numbers = random.Random(7)
        npz_values.write(self.folder / "data.npz", {key: ((48, 16), array.array("f", (numbers.uniform(-1, 1) for _ in range(48 * 16)))) for key in "xy"})
        found = []
        for flags in (["--microbatches", 4], ["--distribution", self.distribution("1f1b", 4, (["both", "a"], ["b", "both"]))]):
            self.run("fit", "shared.json", "--data", "data.npz", "--batch-size", 16, "--epochs", 3, "--seed", 1, "--verbose", 0, "--save-weights", "w.npz", *flags)
            found.append(npz_values.read(self.folder / "w.npz"))
        worst = max(npz_values.worst_difference(found[1][name][1], values, least=1) for name, (_, values) in found[0].items())
        self.expect(f"a layer that both stages call: values of one stage, {worst:.1e}", worst <= 1e-6)

    def verified(self):
        out = self.run("compile", self.model, "--batch-size", 8, "--distribution", self.distribution("1f1b", 4), "--verify", "-o", "step.weft")
        self.expect("verified", "global program = 2 devices" in out)

    def processes(self):
        path = self.distribution("1f1b", 4)
        self.expect("a process for each stage has the bits of one process", self.fit("--distribution", path, launcher=self.launcher) == self.fit("--distribution", path))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check = Check(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(folder), sys.argv[3:])
        if check.launcher:
            check.processes()
        else:
            check.bits()
            check.moved()
            check.shared()
            check.verified()
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
