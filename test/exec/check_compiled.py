"""Trains compiled steps with a copy of the tool that has no compiler, and compares with Keras' figures.

    check_compiled.py WEFT FIXTURE [DISTRIBUTION.json]

`weft compile --step all` of model.json; a copy of the tool without libWeftCommands.so then runs fit, evaluate and predict
from step.weft. The history of fit is that of Keras (case.json), evaluate then gives the values of one more epoch's end, and
training that goes on from saved weights gives the same bits as training in one go.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import npz_values
from check_fixture import differences, run


def without_compiler(weft, scratch):
    """The tool in a folder where it finds no compiler."""
    tool = scratch / "tool"
    (tool / "bin").mkdir(parents=True)
    (tool / "lib").mkdir()
    shutil.copy(weft, tool / "bin" / "weft")
    for library in (weft.resolve().parents[1] / "lib").glob("libWeft*.so*"):
        if library.name.startswith(("libWeftRuntime", "libWeftStepCommands")):
            shutil.copy(library, tool / "lib" / library.name)
    return tool / "bin" / "weft"


def main():
    weft, folder, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(tempfile.mkdtemp())
    distribution = ["--distribution", folder / sys.argv[3]] if len(sys.argv) > 3 else []
    case, golden = json.loads((folder / "case.json").read_text()), folder / "golden.npz"
    limit, size = case["suggested_tolerance"], case["batch_size"]
    step = scratch / "step.weft"
    run([weft, "compile", folder / "model.json", "--step", "all", "--batch-size", size, "--seed", case["seed"], *distribution,
         "-o", step])
    alone = without_compiler(weft, scratch)
    refused = subprocess.run([alone, "fit", folder / "model.json", "--x", f"{golden}:x"], capture_output=True, text=True)
    assert refused.returncode == 1 and "the compiler cannot be loaded" in refused.stderr, refused.stderr
    data = ["--x", f"{golden}:x", "--y", f"{golden}:y", "--verbose", "0"]
    wanted = case["fit"]
    fit = [alone, "fit", step, *data, "--no-shuffle"]
    run([*fit, "--epochs", wanted["epochs"], "--history", scratch / "h.json", "--save-weights", scratch / "w.npz"])
    history = json.loads((scratch / "h.json").read_text())["history"]
    failures = 0
    for name, values in wanted["history"].items():
        measured = differences(history[name], values)["rel"]
        allowed = max(limit["steps"]["rel"], limit["evaluate"]["rel"])
        failures += not measured <= allowed
        print(f"history {name}: {measured:.3g}, allowed {allowed:.3g}")
    evaluated = json.loads(subprocess.run([alone, "evaluate", step, *data, "--weights", scratch / "w.npz", "--json"],
                                          capture_output=True, text=True, check=True).stdout)
    assert sorted(evaluated) == sorted(wanted["history"]), evaluated
    run([alone, "predict", step, *data[:2], "--weights", scratch / "w.npz", "--out", scratch / "p.npz", "--verbose", "0"])
    assert npz_values.read(scratch / "p.npz")["y"][0][0] == case["samples"]
    # Every variable is saved and loaded: the optimizer's and the random numbers' with the weights.
    run([*fit, "--epochs", 1, "--save-weights", scratch / "first.npz"])
    run([*fit, "--epochs", wanted["epochs"] - 1, "--weights", scratch / "first.npz", "--save-weights", scratch / "rest.npz"])
    once, twice = npz_values.read(scratch / "w.npz"), npz_values.read(scratch / "rest.npz")
    failures += once != twice
    if (folder / "model.keras").exists():
        # A step compiled from a model with weights refuses to begin with others.
        run([weft, "compile", folder / "model.keras", "--step", "train", "--batch-size", size, *distribution, "-o", step])
        refused = subprocess.run([alone, "fit", step, *data], capture_output=True, text=True)
        failures += refused.returncode != 1 or "load the weights from a file (--weights)" not in refused.stderr
        run([alone, "fit", step, *data, "--weights", folder / "model.keras", "--save", scratch / "trained.keras"])
        run([alone, "fit", step, *data, "--weights", scratch / "trained.keras", "--max-steps", 1])
    print(f"{folder.name}, compiled: {failures} differences")
    shutil.rmtree(scratch)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
