"""Training with shared memory gives the bits of training without, and stores and computes less.

    check_shared_memory.py WEFT [PROCESSES]

With PROCESSES, mpirun starts so many, each of which shares among its own devices.
"""

import array
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import npz_values

MLP = pathlib.Path(__file__).resolve().parents[2] / "bench" / "mlp"
LAYOUTS = {"data parallel": ["--data-parallel", "--devices", "cpu:8"],
           "tensor parallel": ["--distribution", MLP / "distribution-mp.json"],
           "fully sharded": ["--distribution", "fsdp.json"]}
# Weights are sharded over the axis of the batch, and gathered for use.
FULLY_SHARDED = {"class_name": "ModelParallel", "config": {
    "device_mesh": {"shape": [8], "axis_names": ["data"], "devices": None},
    "layout_map": {".*up/kernel": ["data", None], ".*down/kernel": ["data", None]}, "batch_dim_name": "data"}}


def fit(weft, folder, layout, share, processes=1):
    """(weights, statistics) of six steps."""
    start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", processes] if processes > 1 else []
    command = [*start, weft, "fit", MLP / "model.json", *LAYOUTS[layout], "--data", "data.npz", "--batch-size", 64, "--epochs", 2,
               "--seed", 3, "--optimizer", "adam", "--verbose", 0, "--share", share, "--save-weights", "w.npz", "--stats", "s.json"]
    subprocess.run([str(word) for word in command], check=True, cwd=folder)
    return (folder / "w.npz").read_bytes(), json.loads((folder / "s.json").read_text())


def check(weft, folder, layout, processes):
    alone, apart = fit(weft, folder, layout, "off")
    together, shared = fit(weft, folder, layout, "on", processes)
    saved = shared["shared"]
    facts = {"the same bits": together == alone,
             "the same bytes on the wire": shared["collectives"] == apart["collectives"],
             "nothing shared where it is off": not any(apart["shared"].values()),
             "something shared": saved["bytes"] > 0}
    if processes == 1:  # several have no batches ahead on the devices
        facts["the same memory of a device"] = shared["device_memory_bytes"] == apart["device_memory_bytes"]
    if layout == "data parallel":
        # Weights, slots and gradients of 101,770 numbers, which all but one device of a process lack.
        facts["weights, slots and gradients are stored once"] = saved["bytes"] >= (8 // processes - 1) * 4 * 4 * 101770
        facts["one wait for all updates"] = saved["instructions"] >= 4 and saved["waits"] == 1
    for fact, holds in facts.items():
        print(("ok   " if holds else "FAIL ") + f"{layout}, {processes} processes: {fact}")


def main():
    weft, processes = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        chance = random.Random(1)
        pixels = array.array("f", (chance.random() for _ in range(192 * 784)))
        digits = array.array("i", (chance.randrange(10) for _ in range(192)))
        npz_values.write(folder / "data.npz", {"x_train": ((192, 28, 28), pixels), "y_train": ((192,), digits)})
        (folder / "fsdp.json").write_text(json.dumps(FULLY_SHARDED))
        for layout in LAYOUTS:
            check(weft, folder, layout, processes)
    print(f"{len(LAYOUTS)} layouts")


main()
