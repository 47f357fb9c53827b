"""A model of four times a device's memory trains on eight devices that share its weights.

    check_memory.py WEFT MODEL DISTRIBUTION

The model is 24 dense layers of 192 and a head of 8: 3,563,552 bytes of weights. Each device has a
quarter of that. Trained with and without the stated memory, it ends in the same weights to the bit;
the runtime counts on the fullest device the bytes that `weft explain` predicts, and no more than stated.
Without a stated memory the next batch waits on the devices, which is counted apart.
"""

import array
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import npz_values

WEIGHTS = 4 * (24 * (192 * 192 + 192) + 192 * 8 + 8)
MEMORY = WEIGHTS // 4


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def main():
    weft, model, distribution = sys.argv[1:]
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        x = array.array("f", (random.gauss(0, 1) for _ in range(192 * 192)))
        y = array.array("i", (random.randrange(8) for _ in range(192)))
        npz_values.write(scratch / "data.npz", {"x": ((192, 192), x), "y": ((192,), y)})
        ends = []
        for name, stated in (("free", []), ("stated", ["--memory", MEMORY])):
            flags = [model, "--distribution", distribution, "--batch-size", 64, *stated]
            predicted = json.loads(run(weft, "explain", *flags, "--json"))
            run(weft, "fit", *flags, "--data", scratch / "data.npz", "--seed", 1, "--no-shuffle", "--verbose", 0,
                "--stats", scratch / "s.json", "--save-weights", scratch / f"{name}.npz")
            counted = json.loads((scratch / "s.json").read_text())
            ends.append(npz_values.read(scratch / f"{name}.npz"))
            memory = predicted["memory"]["total"]
            fits = "fits" if memory <= MEMORY else "does not fit"
            ahead = counted["batch_ahead_bytes"]
            if (ahead > 0) != (name == "free"):
                sys.exit(f"{name}: {ahead} bytes of batches that wait")
            same = "counted as predicted" if counted["device_memory_bytes"] == memory + ahead else "COUNTED OTHERWISE"
            print(f"{name}: {memory:,} bytes of {MEMORY:,}: {fits}, {same}; a step sends {predicted['total']['bytes']:,}")
    print("same weights" if ends[0] == ends[1] else "OTHER WEIGHTS")


if __name__ == "__main__":
    main()
