"""Trains a fixture with weft and compares with the figures of real Keras.

    check_fixture.py WEFT FOLDER [DISTRIBUTION.json | 1 | all] [--way native|traced|laid-out] [--python PYTHON] [--gradients]
        [--microbatches N] [-v]

The folder holds model.json or model.keras, golden.npz, case.json and distributions; a new folder needs no code. `all`:
one device, then each distribution of the folder. Compared are initial weights, the metrics of each step, all weights and
optimizer variables after the last one, evaluate over all samples and the predictions before and after, each tensor by
the rules in case.json: rel is the largest difference over the largest magnitude of a tensor, l2 the same by 2-norms.

--gradients: compares gradients of the first batch instead of the steps' results, for models that Adam trains and where
rounding alone changes the side of a ReLU.

--way native: Weft's own front end. --way traced: Keras traces the steps (python -m weft.trace), under PYTHON, which has
JAX and Keras. --way laid-out: the same on one device, or with --traced-on another distribution, and weft lays the steps out.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import npz_values

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nexit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def differences(got, want):
    """The two norms of the difference over those of the golden values; infinite if only one is NaN."""
    if any(math.isnan(g) != math.isnan(w) for g, w in zip(got, want, strict=True)):
        return {"rel": math.inf, "l2": math.inf}
    largest = max((abs(w) for w in want), default=0) or 1
    length = math.sqrt(sum(w * w for w in want)) or 1
    return {"rel": max((abs(g - w) for g, w in zip(got, want)), default=0) / largest,
            "l2": math.sqrt(sum((g - w) ** 2 for g, w in zip(got, want))) / length}


class Data:
    """The arrays of a case, as flags of weft."""

    def __init__(self, folder, case, golden):
        self.source, self.golden, self.file = case["data"], golden, folder / "golden.npz"
        self.samples = case["samples"]

    def flags(self, kinds, count=None):
        if self.source.get("stored_in_golden"):
            end = f"[0:{count or self.samples}]"
            found = []
            for kind in kinds:
                for name in self.golden:
                    stem, _, layer = name.partition("/")
                    if stem == kind:
                        found += [f"--{kind.replace('_', '-')}", f"{layer}={self.file}:{name}{end}" if layer else f"{self.file}:{name}{end}"]
            return found
        begin, end = self.source["slice"]
        end = begin + count if count else end
        path = ROOT / "examples" / "data" / pathlib.Path(self.source["file"]).name
        found = [word for kind in kinds if kind in self.source
                 for word in (f"--{kind}", f"{path}:{self.source[kind]}[{begin}:{end}]")]
        if self.source.get("divide_by"):
            found += ["--divide-by", str(self.source["divide_by"])]
        return found + (["--add-channel"] if self.source.get("channels") else [])

    def has_weights(self):
        return any(name.startswith("sample_weight") for name in self.golden)


class Run:
    """The run of one folder on one distribution."""

    def __init__(self, options, folder, distribution):
        self.options, self.folder = options, folder
        self.case = json.loads((folder / "case.json").read_text())
        self.golden = npz_values.read(folder / "golden.npz")
        self.data = Data(folder, self.case, self.golden)
        self.distribution = None
        if distribution != "1":
            self.distribution = pathlib.Path(distribution if "/" in distribution else folder / distribution)
        archive = self.case.get("archive")
        self.model = folder / (archive or "model.json")

    def trace(self, out):
        """Traces steps for full batches, for the short last one and for the predictions."""
        size, count = self.case["batch_size"], self.data.samples
        sizes = [size] + [other for other in {count % size, self.case["predict_samples"]} - {0, size}]
        command = [self.options.python, "-m", "weft.trace", self.model, "--seed", self.case["seed"], "-o", out / "step.mlir"]
        for each in sizes:
            command += ["--batch-size", each]
        traced_on = self.distribution if self.options.way == "traced" else self.options.traced_on and self.folder / self.options.traced_on
        if traced_on:
            command += ["--distribution", traced_on]
        if self.data.has_weights():
            command += ["--sample-weight"]
        run(command, env=os.environ | {"PYTHONPATH": str(ROOT / "tools" / "pjrt" / "python")})
        self.model = out / "step.mlir"

    def command(self, name, size):
        command = [self.options.weft, name, self.model, "--batch-size", size, "--seed", self.case["seed"]]
        if self.distribution and self.options.way != "traced":
            command += ["--distribution", self.distribution]
        if self.options.devices:
            command += ["--devices", self.options.devices]
        return command

    def predict(self, out, weights):
        count = self.case["predict_samples"]
        run([*self.command("predict", count), *self.data.flags(["x"], count), "--weights", weights, "--verbose", "0", "--out", out])
        return {name.removeprefix("y").removeprefix("/"): values for name, (_, values) in npz_values.read(out).items()}

    def results(self, out):
        """Values by the names of golden.npz."""
        if self.options.way != "native":
            self.trace(out)
        fit, steps = self.command("fit", self.case["batch_size"]), self.case["steps"]
        fit += ["--microbatches", self.options.microbatches] if self.options.microbatches else []
        kinds = ["x", "y", "sample_weight"]
        run([*fit, "--init-only", "--save-weights", out / "initial.npz"])
        run([*fit, *self.data.flags(kinds), "--no-shuffle", "--epochs", steps, "--max-steps", steps, "--verbose", "0",
             "--save-weights", out / "final.npz", "--history", out / "history.json", "--history-steps"])
        evaluated = subprocess.run(
            [str(word) for word in (*self.command("evaluate", self.case["batch_size"]), *self.data.flags(kinds),
                                    "--weights", out / "final.npz", "--json")], capture_output=True, text=True)
        if evaluated.returncode:
            sys.exit(evaluated.stderr)
        found = {f"steps/{name}": values for name, values in json.loads((out / "history.json").read_text())["steps"].items()}
        found |= {f"evaluate/{name}": [value] for name, value in json.loads(evaluated.stdout).items()}
        for name, (_, values) in npz_values.read(out / "initial.npz").items():
            found[f"initial/{name}"] = values
        for name, (_, values) in npz_values.read(out / "final.npz").items():
            found[f"final/{name}"] = found[f"optimizer/{name}"] = values
        for when in ("initial", "final"):
            for name, values in self.predict(out / "p.npz", out / f"{when}.npz").items():
                found[f"predict/{when}" + (f"/{name}" if name else "")] = values
        return found

    def compare_gradients(self, out):
        """Compares gradients of the first batch: Adam's momentum after one step is (1 - beta_1) of them."""
        run([*self.command("fit", self.case["batch_size"]), *self.data.flags(["x", "y", "sample_weight"]), "--no-shuffle", "--max-steps", "1",
             "--verbose", "0", "--save-weights", out / "one.npz", "--history", out / "one.json", "--history-steps"])
        slots, history = npz_values.read(out / "one.npz"), json.loads((out / "one.json").read_text())
        # Keras' sums and Weft's are both rounded: each may be off by the tolerance.
        allowed = 2 * self.case["suggested_tolerance"]["gradient"]["rel"]
        measured = {"loss": (differences(history["steps"]["loss"][:1], self.golden["steps/loss"][1][:1])["rel"], 1e-6)}
        for name, (_, want) in self.golden.items():
            kind, _, path = name.partition("/")
            if kind == "gradient" and name not in self.case["noise_driven"]:
                momentum = slots[f"adam/{path.replace('/', '_')}_momentum"][1]
                measured[name] = (differences([m / 0.1 for m in momentum], want)["rel"], allowed)
        bad = {name: pair for name, pair in measured.items() if not pair[0] <= pair[1]}
        if self.options.verbose:
            print(f"worst gradient: {max(pair[0] for pair in measured.values()):.3g}")
        for name, (difference, limit) in bad.items():
            print(f"FAIL {name}: {difference:.3g}, allowed {limit:.3g}")
        return len(bad), len(measured)

    def limits(self, name):
        """The allowed differences of a tensor, by norm; initial values may be off by 5e-7."""
        part = name.partition("/")[0]
        said = self.case.get("tolerance_of", {}).get(name) or self.case["suggested_tolerance"][part]
        return {norm: max(said[norm], 5e-7 if part == "initial" else 0) for norm in ("rel", "l2")}

    def compare(self, found):
        """Prints the differences that are out of tolerance; returns how many they are, and how many tensors were compared."""
        noise, wrong, compared = set(self.case["noise_driven"]), 0, 0
        for name, (_, want) in self.golden.items():
            part, _, rest = name.partition("/")
            if part not in ("initial", "steps", "final", "optimizer", "evaluate", "predict") or rest in noise:
                continue
            compared += 1
            if name not in found:
                wrong += 1
                print(f"FAIL {name}: is missing")
                continue
            for norm, limit in self.limits(name).items():
                measured = differences(found[name], want)[norm]
                bad = not measured <= limit
                wrong += bad
                if bad or self.options.verbose:
                    print(f"{'FAIL' if bad else 'ok  '} {name}: {measured:.3g} ({norm}), allowed {limit:.3g}")
        return wrong, compared


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("distribution", nargs="?", default="1")
    parser.add_argument("--way", choices=["native", "traced", "laid-out"], default="native")
    parser.add_argument("--traced-on", metavar="DISTRIBUTION.json")
    parser.add_argument("--python", default=ROOT / ".venv" / "bin" / "python")
    parser.add_argument("--devices", help="such as cuda:1 (default: as many CPU devices as the mesh has)")
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--microbatches", type=int, help="divide each batch of the training")
    parser.add_argument("-v", dest="verbose", action="store_true")
    options = parser.parse_args()
    distributions = [options.distribution]
    if options.distribution == "all":
        distributions = ["1", *sorted(path.name for path in options.folder.glob("distribution-*.json"))]
    failures = 0
    for distribution in distributions:
        with tempfile.TemporaryDirectory() as scratch:
            one = Run(options, options.folder, distribution)
            out = pathlib.Path(scratch)
            wrong, compared = one.compare_gradients(out) if options.gradients else one.compare(one.results(out))
        failures += wrong
        print(f"{options.folder.name} on {pathlib.Path(distribution).name}, {options.way}: {compared} tensors compared, "
              f"{wrong} differences", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
