"""Trains a fixture with `weft fit` and compares with the figures of real Keras.

    check_fixture.py WEFT FIXTURE [DISTRIBUTION.json | 1] [gradients]

Compares initial weights, the loss of each step, and all weights and optimizer
variables after the last step, by the rule in case.json: rel is the largest
difference over the largest magnitude of a tensor. With "gradients", those of the
first batch instead of what ten steps make of them, for models where rounding alone
changes the side of a ReLU: Adam's momentum after one step is (1 - beta_1) of them.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import npz_values


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nexit status {result.returncode}\n{result.stdout}{result.stderr}")


def difference(got, want):
    """Largest difference over the largest magnitude; infinite for a NaN."""
    scale = max((abs(w) for w in want), default=0) or 1
    worst = 0.0
    for g, w in zip(got, want, strict=True):
        if math.isnan(g) != math.isnan(w):
            return math.inf
        worst = max(worst, abs(g - w))
    return worst / scale


class Checker:
    def __init__(self):
        self.failures = 0

    def compare(self, name, got, want, tolerance):
        measured = difference(got, want)
        bad = not measured <= tolerance
        self.failures += bad
        if bad or "-v" in sys.argv:
            print(f"{'FAIL' if bad else 'ok  '} {name}: {measured:.3g}, allowed {tolerance:.3g}")


def data_flags(case, folder, data_folder):
    data = case["data"]
    if data.get("stored_in_golden"):
        golden = folder / "golden.npz"
        return ["--x", f"{golden}:x", "--y", f"{golden}:y"]
    begin, end = data["slice"]
    source = data_folder / pathlib.Path(data["file"]).name
    flags = ["--x", f"{source}:{data['x']}[{begin}:{end}]", "--y", f"{source}:{data['y']}[{begin}:{end}]"]
    if data.get("divide_by"):
        flags += ["--divide-by", str(data["divide_by"])]
    return flags + (["--add-channel"] if data.get("channels") else [])


def check_gradients(command, out, case, golden, checker):
    run([*command, "--max-steps", "1", "--save-weights", out / "one.npz", "--history", out / "one.json", "--history-steps"])
    slots, history = npz_values.read(out / "one.npz"), json.loads((out / "one.json").read_text())
    # A kernel's gradient is a sum over all positions of all images, here in another order.
    allowed = 4 * case["suggested_tolerance"]["gradient"]["rel"]
    checker.compare("first loss", history["steps"]["loss"][:1], golden["steps/loss"][1][:1], 1e-6)
    for name, (_, want) in golden.items():
        kind, _, path = name.partition("/")
        if kind == "gradient" and name not in case["noise_driven"]:
            momentum = slots[f"adam/{path.replace('/', '_')}_momentum"][1]
            checker.compare(name, [m / 0.1 for m in momentum], want, allowed)


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    distribution = sys.argv[3] if len(sys.argv) > 3 else "1"
    case = json.loads((folder / "case.json").read_text())
    golden = npz_values.read(folder / "golden.npz")
    tolerance = {k: v["rel"] for k, v in case["suggested_tolerance"].items() if isinstance(v, dict)}
    base = [weft, "fit", folder / "model.json", "--seed", str(case["seed"]), "--batch-size", str(case["batch_size"])]
    if distribution != "1":
        base += ["--distribution", distribution if "/" in distribution else folder / distribution]
    checker = Checker()
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch)
        run([*base, "--init-only", "--save-weights", out / "initial.npz"])
        steps = case["steps"]
        flags = data_flags(case, folder, folder.parents[2] / "examples" / "data")
        if "gradients" in sys.argv:
            check_gradients([*base, *flags, "--no-shuffle", "--verbose", "0"], out, case, golden, checker)
            print(f"{folder.name}: {checker.failures} differences of gradients")
            return 1 if checker.failures else 0
        run([*base, *flags, "--no-shuffle", "--epochs", str(steps), "--max-steps", str(steps), "--verbose", "0",
             "--save-weights", out / "final.npz", "--history", out / "history.json", "--history-steps"])
        initial, final = npz_values.read(out / "initial.npz"), npz_values.read(out / "final.npz")
        history = json.loads((out / "history.json").read_text())
    for name, (_, want) in golden.items():
        kind, _, path = name.partition("/")
        if path in case["noise_driven"]:  # their gradient is zero but for rounding
            continue
        if kind == "initial":
            # Uniform draws are equal to the bit.
            checker.compare(name, initial[path][1], want, 0.0)
        elif kind in ("final", "optimizer"):
            checker.compare(name, final[path][1], want, tolerance[kind])
        elif kind == "steps":
            checker.compare(name, history["steps"][path], want, tolerance["steps"])
    print(f"{folder.name} on {pathlib.Path(distribution).name}: {checker.failures} differences")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
