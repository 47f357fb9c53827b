"""Inputs of every type train as in Keras, and sizes that a model leaves open are those of the data.

    check_input_types.py WEFT FIXTURES FOLDER

The cases of test/fixtures/layers/input_types.py, on one device and on three, from arrays of their types; then one of them with
an input of unknown size.
"""

import json
import pathlib
import subprocess
import sys

import npz_values
import patience

TOLERANCE = 1e-5
DEVICES = {"one device": [], "3 devices": ["--data-parallel", "--devices", "cpu:3"]}


class Cases:
    def __init__(self, weft, fixtures, folder):
        self.weft, self.folder = weft, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.data = fixtures / "layers" / "input_types.npz"
        self.figures = npz_values.read(self.data)
        self.cases = json.loads((fixtures / "layers" / "input_types.json").read_text())

    def of(self, name, kind):
        start = f"{name}/{kind}/"
        return {key.removeprefix(start): value for key, value in self.figures.items() if key.startswith(start)}

    def run(self, *words):
        return subprocess.run([str(word) for word in (self.weft, *words)], capture_output=True, text=True, timeout=patience.HANG)

    def differences(self, name, model, steps, devices):
        """Trains a case and compares its weights with those of Keras."""
        file, weights, after = (self.folder / f"{name}{end}" for end in (".json", "-before.npz", "-after.npz"))
        file.write_text(json.dumps(model))
        npz_values.write(weights, self.of(name, "initial"))
        inputs = [word for one in self.of(name, "x") for word in ("--x", f"{one}={self.data}:{name}/x/{one}")]
        done = self.run("fit", file, *inputs, "--y", f"{self.data}:{name}/y", "--weights", weights, "--batch-size", 6, "--epochs",
                        steps, "--no-shuffle", "--seed", 1, "--verbose", 0, "--save-weights", after, *devices)
        if done.returncode:
            return [f"{name}: {done.stderr}"]
        found, out = npz_values.read(after), []
        for path, (_, wanted) in self.of(name, "final").items():
            worst = npz_values.worst_difference(found[path][1], wanted)
            if not worst <= TOLERANCE:
                out.append(f"{name}: {path} differs from that of Keras by {worst}")
        return out

    def open_sizes(self):
        """Checks the model input-int64 with Input((None,)): it trains with data; without data its layout is that of a
        counted size, and it is not compiled."""
        case = next(case for case in self.cases if case["name"] == "input-int64")
        model = json.loads(json.dumps(case["model"]))
        model["config"]["layers"][0]["config"]["batch_shape"] = [None, None]
        out = self.differences(case["name"], model, case["steps"], [])
        for status, words, said in (
                (0, ["layout"], "sizes that the input one leaves open count as 1; give others with --shape one=..."),
                (1, ["compile", "-o", self.folder / "step.weft"], "has an unknown dimension; give it with --shape one=...")):
            done = self.run(*words, self.folder / "input-int64.json")
            if done.returncode != status or said not in done.stderr:
                out.append(f"{words[0]} without data: {done.returncode}, {done.stderr}")
        return out


def main():
    cases, failures = Cases(*map(pathlib.Path, sys.argv[1:])), []
    for devices, flags in DEVICES.items():
        for case in cases.cases:
            failures += [f"{devices}: {line}" for line in cases.differences(case["name"], case["model"], case["steps"], flags)]
    failures += [f"open sizes: {line}" for line in cases.open_sizes()]
    print("\n".join(failures) or f"{len(cases.cases)} cases are as in Keras")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
