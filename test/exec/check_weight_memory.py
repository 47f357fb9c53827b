"""Weights are drawn, read and written block by block: no process holds a variable whole.

    check_weight_memory.py WEFT EMBEDDING.json [RANKS]

A model whose one large variable has 128 MB is drawn, saved in each kind of file, and predicts from it. At most
a process needs its share of the variable and a few blocks of 16 MiB more than for a model of some KB. The predictions from
every file are equal. Callbacks and checks add a copy of the share to a training, or blocks alone; orthogonal initial values
of many rows add blocks. RANKS: the variable is sharded among so many processes, by mpirun; each reports its own peak.
"""

import array
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import npz_values

ROWS = 500_000  # rows of 64 floats: 128 MB
BLOCKS = 48 << 20  # a few blocks: as read, converted, written; pages of the file's cache are not counted
# Runs a command and writes its peak to a file of its own.
ONE = ["-c", "import os, pathlib, resource, subprocess, sys; c = subprocess.run(sys.argv[2:]).returncode; "
             "pathlib.Path(f'{sys.argv[1]}.{os.getpid()}').write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); "
             "sys.exit(c)"]


# Callbacks and checks of a training: whether they keep a copy of the share, and the flags.
KEPT = {"EarlyStopping": (True, ["--callback", "EarlyStopping('loss', restore_best_weights=True)"]),
        "a backup of EarlyStopping": (True, ["--callback", "EarlyStopping('loss', restore_best_weights=True)", "--callback",
                                             "BackupAndRestore('BACKUP')"]),
        "TensorBoard": (False, ["--callback", "TensorBoard('LOGS', histogram_freq=1)"]),
        "--check-numerics": (True, ["--check-numerics"])}


def write_model(template, rows, path, initializer=None):
    model = json.loads(template.read_text())
    layer = next(each for each in model["config"]["layers"] if each["class_name"] == "Embedding")
    layer["config"]["input_dim"] = rows
    if initializer:
        layer["config"]["embeddings_initializer"] = initializer
    path.write_text(json.dumps(model))


def write_distribution(ranks, path):
    path.write_text(json.dumps({"class_name": "ModelParallel", "config": {
        "device_mesh": {"shape": [1, ranks], "axis_names": ["data", "model"], "devices": None},
        "layout_map": {"embedding/embeddings": ["model", None]}, "batch_dim_name": "data", "auto_shard_dataset": True}}))


class Runs:
    def __init__(self, weft, ranks, folder):
        self.ranks, self.folder = ranks, folder
        start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        self.start = [*start, sys.executable, *ONE, folder / "peak", weft]
        self.mesh = ["--distribution", folder / "mesh.json", "--devices", f"cpu:{ranks}"]
        write_distribution(ranks, folder / "mesh.json")

    def peak(self, *words):
        """The bytes that the largest process needed."""
        result = subprocess.run([str(word) for word in (*self.start, *words, *self.mesh)], capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"{' '.join(map(str, words))}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
        files = list(self.folder.glob("peak.*"))
        peaks = [1024 * int(file.read_text()) for file in files]
        for file in files:
            file.unlink()
        return max(peaks)

    def peaks(self, model):
        """{task: peak}; the predictions from each file are compared."""
        found, predictions = {}, set()
        for kind in ("npz", "safetensors", "weights.h5", "keras"):
            file, flag = self.folder / f"w.{kind}", "--save" if kind == "keras" else "--save-weights"
            found[f"draw and write {kind}"] = self.peak("fit", model, "--init-only", "--seed", 1, flag, file)
            out = self.folder / "p.npy"
            found[f"read {kind}"] = self.peak("predict", model, "--x", f"{self.folder / 'x.npz'}:x", "--batch-size", 32, "--verbose", 0,
                                              "--weights", file, "--out", out)
            predictions.add(out.read_bytes())
            file.unlink()
        assert len(predictions) == 1, "files of one kind give other predictions than those of another"
        return found


    def trained(self, model):
        """{callback or check: the peak of a training with it minus that of a plain training}."""
        plain = self.peak(*self.training(model))
        found = {}
        for what, (_, flags) in KEPT.items():
            places = {"BACKUP": str(self.folder / "backup"), "LOGS": str(self.folder / "logs")}
            for name, place in places.items():
                flags = [flag.replace(name, place) for flag in flags]
            found[what] = self.peak(*self.training(model), *flags) - plain
            for place in places.values():
                shutil.rmtree(place, ignore_errors=True)
        return found

    def training(self, model):
        return ["fit", model, "--data", self.folder / "x.npz", "--batch-size", 32, "--epochs", 2, "--seed", 1, "--verbose", 0]

    def drawn(self, model):
        return self.peak("fit", model, "--init-only", "--seed", 1)


def main():
    weft, template, ranks = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    share = ROWS * 64 * 4 // ranks
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        folder = pathlib.Path(scratch)
        npz_values.write(folder / "x.npz", {"x": ((32, 4), array.array("i", [i * 3 for i in range(128)])),
                                            "y": ((32, 1), array.array("f", [0.5] * 32))})
        runs = Runs(weft, ranks, folder)
        write_model(template, 400, folder / "small.json")
        write_model(template, ROWS, folder / "large.json")
        small, large = runs.peaks(folder / "small.json"), runs.peaks(folder / "large.json")
        allowed = dict.fromkeys(large, share)
        for found, model in ((small, "small"), (large, "large")):
            write_model(template, 400 if model == "small" else ROWS, folder / "orthogonal.json", "Orthogonal")
            found["draw orthogonal values"] = runs.drawn(folder / "orthogonal.json")
            found.update(runs.trained(folder / f"{model}.json"))
        allowed["draw orthogonal values"] = share
        allowed.update({what: share if is_kept else 0 for what, (is_kept, _) in KEPT.items()})
    bad = 0
    for what, peak in large.items():
        more = peak - small[what]
        is_bad = more > allowed[what] + BLOCKS
        bad += is_bad
        print(f"{what}: {more >> 20} MiB more than a small model, {allowed[what] >> 20} of them its share"
              + (f", more than {allowed[what] + BLOCKS >> 20}" if is_bad else ""))
    print(f"{len(large)} uses, {bad} of them hold more than their share")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
