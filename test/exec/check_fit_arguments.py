"""weft fit with Keras' arguments gives the history of Keras' fit (test/fixtures/fit/record.py).

    check_fit_arguments.py WEFT FIXTURES [FLAG ...]

FLAGs are added to each run, as --microbatches 3.
"""

import json
import pathlib
import subprocess
import sys

import patience

SEED, TOLERANCE = 1337, 2e-5


class Flags:
    """The flags for arguments of Keras' fit."""

    def __init__(self, fixtures):
        data, weights = fixtures / "callbacks" / "data.npz", fixtures / "fit" / "weights.npz"
        self.x, self.y = f"{data}:x", f"{data}:y"
        self.arrays = {"val_x": f"{data}:val_x", "val_y": f"{data}:val_y", "weights": f"{weights}:weights",
                       "held_weights": f"{weights}:held_weights"}

    def of(self, arguments):
        arguments = {"batch_size": 16, "shuffle": False, **arguments}
        words = ["--x", self.x, "--y", self.y, "--seed", str(SEED), "--verbose", "0"]
        for name, value in arguments.items():
            flag = "--" + name.replace("_", "-")
            if name == "validation_data":
                for part, array in zip(("x", "y", "sample-weight"), value):
                    words += [f"--validation-{part}", self.arrays[array]]
            elif name == "sample_weight":
                words += [flag, self.arrays[value]]
            elif isinstance(value, str):
                words += [flag, value]
            else:
                words += [flag, json.dumps(value)]
        return words


def difference(found, wanted):
    """The first difference from Keras, or nothing."""
    if found["epoch"] != wanted["epoch"]:
        return f"epochs {found['epoch']}, not {wanted['epoch']}"
    if found["history"].keys() != wanted["history"].keys():
        return f"names {sorted(found['history'])}, not {sorted(wanted['history'])}"
    for name, values in wanted["history"].items():
        mine = found["history"][name]
        if len(mine) != len(values) or any(abs(a - b) > TOLERANCE * max(1, abs(b)) for a, b in zip(mine, values)):
            return f"{name}: {mine}, not {values}"
    return ""


def check_schedules(weft, fixtures, flags):
    """LearningRateScheduler sets the rates of Keras' schedules by epoch."""
    bad = 0
    for case in json.loads((fixtures / "fit" / "schedules.json").read_text()):
        schedule = {"class_name": case["class_name"], "config": case["config"]}
        callback = {"class_name": "LearningRateScheduler", "config": {"schedule": schedule}}
        result = subprocess.run([weft, "fit", str(fixtures / "callbacks" / "model.json"), "--json", "--callback",
                                 json.dumps(callback), *flags.of({"epochs": len(case["rates"])})],
                                capture_output=True, text=True, timeout=patience.HANG)
        rates = json.loads(result.stdout)["history"]["learning_rate"] if result.returncode == 0 else []
        near = len(rates) == len(case["rates"]) and all(abs(a - b) <= 1e-7 for a, b in zip(rates, case["rates"]))
        bad += not near
        print(f"{case['class_name']}: {'as Keras' if near else f'{rates}, not {case}'}{result.stderr}")
    return bad


def main():
    weft, fixtures = sys.argv[1], pathlib.Path(sys.argv[2])
    flags, bad = Flags(fixtures), 0
    cases = json.loads((fixtures / "fit" / "histories.json").read_text())
    for name, case in cases.items():
        command = [weft, "fit", str(fixtures / "callbacks" / "model.json"), "--json", *flags.of(case["arguments"]), *sys.argv[3:]]
        result = subprocess.run(command, capture_output=True, text=True, timeout=patience.HANG)
        said = result.stderr if result.returncode else difference(json.loads(result.stdout), case)
        bad += bool(said)
        print(f"{name}: {said or 'as Keras'}")
    bad += check_schedules(weft, fixtures, flags)
    print(f"{len(cases)} cases, {bad} bad")
    return 1 if bad or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
