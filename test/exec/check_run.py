"""Compiles a step of a fixture, runs the file with `weft run`, compares with real Keras.

    check_run.py WEFT FIXTURE predict|train [DISTRIBUTION.json | 1] [MOST_MIB]

A train step is run as often as the fixture trained, each time on the arrays
that the run before wrote. With MOST_MIB no run may take more memory.
"""

import array
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import npz_values
from check_fixture import differences, run

# The fields that --stats has at least; startup_ms is measured in ticks of 10 ms.
STATISTICS = {"devices", "steps", "step_ms", "execute_ms", "compile_ms", "startup_ms", "peak_rss_bytes", "collectives"}
CODES = {"float32": "f", "int32": "i", "uint32": "I"}


def ports(weft, program):
    """[(direction, name, role, shape, dtype)] of the table that --list prints."""
    table = subprocess.run([weft, "run", program, "--list"], check=True, capture_output=True, text=True).stdout
    rows = [re.split(r"  +", line) for line in table.splitlines() if line.startswith(("input ", "output "))]
    return [(d, name, role, tuple(int(n) for n in re.findall(r"\d+", shape)), dtype)
            for d, name, role, shape, dtype, _ in rows]


class Samples:
    """x and y of a fixture as flat lists, and batches of them."""

    def __init__(self, case, folder):
        data = case["data"]
        if data.get("stored_in_golden"):
            stored, names = npz_values.read(folder / "golden.npz"), ("x", "y")
            begin, end = 0, case["samples"]
        else:
            source = folder.parents[2] / "examples" / "data" / pathlib.Path(data["file"]).name
            stored, names = npz_values.read(source), (data["x"], data["y"])
            begin, end = data["slice"]
        self.rows = end - begin
        self.divisor = data.get("divide_by") or 1
        self.arrays = {}
        for role, name in zip(("input", "label"), names):
            shape, values = stored[name]
            width = math.prod(shape[1:])
            self.arrays[role] = (width, values[begin * width:end * width])

    def batch(self, role, begin, shape, dtype):
        width, values = self.arrays[role]
        part = values[begin * width:(begin + shape[0]) * width]
        if role == "input" and self.divisor != 1:
            part = [v / self.divisor for v in part]
        return shape, array.array(CODES[dtype], part)


def start(listed, golden):
    """The variables before the first step; slots start at zero."""
    made = {}
    for direction, name, role, shape, dtype in listed:
        if direction != "input" or role not in ("weight", "state", "slot"):
            continue
        if f"initial/{name}" in golden:
            made[name] = (shape, array.array(CODES[dtype], golden[f"initial/{name}"][1]))
        elif name.endswith("/learning_rate"):
            made[name] = golden[f"optimizer/{name}"]
        else:
            made[name] = (shape, array.array(CODES[dtype], [0] * math.prod(shape)))
    return made


class Program:
    """A compiled step; run() gives its outputs."""

    def __init__(self, weft, folder, step, batch, distribution, scratch):
        self.weft, self.scratch, self.file = weft, scratch, scratch / f"{step}.weft"
        flags = [] if distribution == "1" else ["--distribution", folder / distribution]
        run([weft, "compile", folder / "model.json", "--step", step, "--batch-size", str(batch), *flags,
             "-o", self.file])
        self.listed = ports(weft, self.file)
        self.peak = 0

    def run(self, variables, samples, begin):
        inputs = dict(variables)
        for direction, name, role, shape, dtype in self.listed:
            if direction == "input" and role in ("input", "label"):
                inputs[name] = samples.batch(role, begin, shape, dtype)
        npz_values.write(self.scratch / "in.npz", inputs)
        run([self.weft, "run", self.file, "--inputs", self.scratch / "in.npz", "--outputs", self.scratch / "out.npz",
             "--stats", self.scratch / "stats.json"])
        self.stats = json.loads((self.scratch / "stats.json").read_text())
        if not STATISTICS <= set(self.stats) or not 0 < self.stats["step_ms"]["median"] < self.stats["startup_ms"] + 10:
            sys.exit(f"--stats has {self.stats}")
        self.peak = max(self.peak, self.stats["peak_rss_bytes"] / 2**20)
        return npz_values.read(self.scratch / "out.npz")


def check_predict(program, golden, samples):
    """Yields (name, difference, allowed)."""
    results = program.run(start(program.listed, golden), samples, 0)
    name = next(row[1] for row in program.listed if row[0] == "output" and row[2] == "output")
    yield "predict/initial", differences(results[name][1], golden["predict/initial"][1])["rel"], 1e-5


def check_train(program, golden, samples, case):
    tolerance = case["suggested_tolerance"]
    variables = start(program.listed, golden)
    batch, losses = case["batch_size"], []
    for step in range(case["steps"]):
        results = program.run(variables, samples, step * batch % samples.rows)
        variables |= {name: value for name, value in results.items() if name in variables}
        total = results["metrics/loss"][1]
        losses.append(total[0] / total[1] if len(total) == 2 else total[0])
    yield "steps/loss", differences(losses, golden["steps/loss"][1])["rel"], tolerance["steps"]["rel"]
    for name, (_, values) in variables.items():
        kind = "final" if f"final/{name}" in golden else "optimizer"
        yield f"{kind}/{name}", differences(values, golden[f"{kind}/{name}"][1])["rel"], tolerance[kind]["rel"]


def main():
    weft, folder, step = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    distribution = sys.argv[4] if len(sys.argv) > 4 else "1"
    most = float(sys.argv[5]) if len(sys.argv) > 5 else math.inf
    case = json.loads((folder / "case.json").read_text())
    golden = npz_values.read(folder / "golden.npz")
    samples = Samples(case, folder)
    with tempfile.TemporaryDirectory() as scratch:
        batch = case["batch_size"] if step == "train" else case["predict_samples"]
        program = Program(weft, folder, step, batch, distribution, pathlib.Path(scratch))
        checks = (check_train(program, golden, samples, case) if step == "train"
                  else check_predict(program, golden, samples))
        failures = 0
        for name, measured, allowed in checks:
            failures += not measured <= allowed
            print(f"{'ok  ' if measured <= allowed else 'FAIL'} {name}: {measured:.3g}, allowed {allowed:.3g}")
    print(f"{folder.name} {step} on {distribution}: {program.stats['devices']} devices, {failures} differences, "
          f"{program.peak:.0f} MiB, collectives {program.stats['collectives']}")
    return 1 if failures or program.peak > most else 0


if __name__ == "__main__":
    sys.exit(main())
