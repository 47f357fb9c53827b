"""Communication under compute gives the bits, and the bytes on the wire, of a step that awaits each collective at once.

    check_overlap.py WEFT [PROCESSES ...]

Each program runs in one process, then in so many that mpirun starts.
"""

import array
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import check_processes
import npz_values

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMS = ("data-parallel", "zero-1", "fully-sharded", "tensor-parallel", "sequence-parallel", "ulysses", "two-dimensional",
         "expert-parallel", "vocabulary-embedding", "vocabulary-cross-entropy", "spatial-convolution")
MLP = ROOT / "bench" / "mlp"
FITS = {"mlp, data parallel": [MLP / "model.json", "--data-parallel", "--devices", "cpu:8"],
        "mlp, tensor parallel": [MLP / "model.json", "--distribution", MLP / "distribution-mp.json"],
        "mlp, microbatches": [MLP / "model.json", "--data-parallel", "--devices", "cpu:8", "--microbatches", 3]}


def under_way(weft, source):
    """The collectives of the plan that are not awaited at once."""
    plan = subprocess.run([weft, "compile", source, "--overlap", "on", "--emit", "plan"], check=True, capture_output=True, text=True).stdout
    lines = [line.strip() for line in plan.splitlines()]
    return sum("plan.start" in line and not after.startswith("plan.wait") for line, after in zip(lines, lines[1:]))


def bytes_sent(counters):
    """The bytes of each kind of collective; their number differs where an all-reduce is divided."""
    return {name: count["bytes"] for name, count in json.loads("{" + counters)["collectives"].items()}


def check_form(weft, scratch, name, counts):
    source = scratch / f"{name}.mlir"
    text = (ROOT / "examples" / "parallelism" / f"{name}.mlir").read_text()
    source.write_text(re.sub(r', weft.expect = "[^"]*"', "", text))  # parts of a divided sum are counted, too
    programs = {overlap: check_processes.Program(weft, scratch, f"{name}-{overlap}", source, "--overlap", overlap)
                for overlap in ("off", "on")}
    off, sent = programs["off"].run(1)
    for count in counts:
        on, its = programs["on"].run(count)
        check_processes.expect(on == off, f"{name}: the same bits in {count} processes")
        check_processes.expect(bytes_sent(its) == bytes_sent(sent), f"{name}: the same bytes in {count} processes")
    return under_way(weft, source)


def fit(weft, folder, flags, overlap, count):
    """The weights after six steps."""
    command = [weft, "fit", *flags, "--data", "data.npz", "--batch-size", 64, "--epochs", 2, "--seed", 3, "--optimizer", "adam",
               "--verbose", 0, "--overlap", overlap, "--save-weights", "w.npz"]
    command = command if count == 1 else check_processes.mpirun(count, *command)
    subprocess.run([str(word) for word in command], check=True, cwd=folder)
    return (folder / "w.npz").read_bytes()


def main():
    weft, counts = sys.argv[1], [1, *map(int, sys.argv[2:])]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        found = sum(check_form(weft, folder, name, counts) for name in FORMS)
        check_processes.expect(found >= 10, f"{found} collectives are under way")
        chance = random.Random(1)
        pixels = array.array("f", (chance.random() for _ in range(192 * 784)))
        digits = array.array("i", (chance.randrange(10) for _ in range(192)))
        npz_values.write(folder / "data.npz", {"x_train": ((192, 28, 28), pixels), "y_train": ((192,), digits)})
        for name, flags in FITS.items():
            off = fit(weft, folder, flags, "off", 1)
            for count in counts:
                check_processes.expect(fit(weft, folder, flags, "on", count) == off, f"{name}: the same weights from {count} processes")
    print(f"{len(check_processes.FAILURES)} failures")


main()
