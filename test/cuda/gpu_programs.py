"""Programs whose kernels all have code for GPUs, and arguments for them."""

import array
import math
import pathlib
import random
import subprocess

import npz_values

TESTS = pathlib.Path(__file__).resolve().parents[1]
STABLEHLO = TESTS / "fixtures" / "stablehlo"
# Whole train steps, of which the larger ones are run by hand: check_run.py with their names.
LARGE = ["train-step-gpt-tiny-mp-2x4", "train-step-seed-cnn-dp8"]
CODES = {"float32": "f", "float64": "d", "int32": "i", "uint32": "I", "bool": "B"}


def programs():
    """{name: source}; all fixtures have JAX's figures beside them."""
    own = {path.stem: path for path in sorted((TESTS / "cuda" / "Inputs").glob("*.mlir"))}
    return own | {path.stem: path for path in sorted(STABLEHLO.glob("*.mlir"))}


def listing(weft, program):
    return subprocess.run([weft, "run", "--list", program], check=True, text=True, capture_output=True).stdout


def inputs(source, listed):
    """The inputs of a fixture, or numbers between 0.5 and 4 for the inputs that `weft run --list` names."""
    if source.with_suffix(".npz").exists():
        return {name: value for name, value in npz_values.read(source.with_suffix(".npz")).items() if name.startswith("in/")}
    draw, out = random.Random(5), {}
    for line in listed.splitlines():
        if line.startswith("input "):
            name, dtype = line.split()[1], line[line.index(")") + 1:].split()[0]
            shape = [int(n) for n in line[line.index("(") + 1:line.index(")")].split(",") if n.strip()]
            few = [draw.uniform(0.5, 4) for _ in range(31)]  # large arrays of few numbers compress well
            numbers = draw.choices(few, k=math.prod(shape))
            out[name] = shape, array.array(CODES[dtype], numbers if dtype.startswith("float") else [int(n) for n in numbers])
    return out


def figures(source):
    """JAX's results, if a file has them."""
    file = source.with_suffix(".npz")
    found = npz_values.read(file) if file.exists() else {}
    return {name: values for name, (_, values) in found.items() if name.startswith("out/")}
