"""A backup is refused by a run with other settings, by their name and both values; layouts and devices may change.

    check_backup_settings.py WEFT SCRATCH

The run that makes the backup is stopped by --max-steps in its first epoch. Each changed flag must be refused; the resumed run
on two devices must end as one that was not stopped.
"""

import array
import json
import pathlib
import shutil
import subprocess
import sys

import npz_values
import patience


def model(rate=0.25, activation="tanh", momentum=0.5):
    layers = [{"class_name": "Dense", "config": {"name": "a", "units": 8, "activation": activation}},
              {"class_name": "Dropout", "config": {"name": "d", "rate": rate}},
              {"class_name": "Dense", "config": {"name": "b", "units": 1}}]
    return {"class_name": "Sequential", "config": {"name": "m", "build_input_shape": [None, 4], "layers": layers},
            "compile_config": {"loss": "mse", "optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.1, "momentum": momentum}}}}


class Check:
    def __init__(self, weft, scratch):
        self.weft, self.scratch = weft, scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        for name, shift in (("data", 0), ("other", 1)):
            npz_values.write(scratch / f"{name}.npz", {
                "x": ((24, 4), array.array("f", [(i * 7 % 11 + shift) / 5 for i in range(96)])),
                "y": ((24, 1), array.array("f", [i % 3 for i in range(24)]))})
        self.model = self.write("model.json", model())

    def write(self, name, made):
        path = self.scratch / name
        path.write_text(json.dumps(made))
        return path

    def fit(self, *words, program=None, data="data.npz", status=0):
        command = [self.weft, "fit", program or self.model, "--data", self.scratch / data, "--epochs", 3, "--verbose", 0, *words]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=patience.HANG)
        if done.returncode != status:
            sys.exit(f"{words}: status {done.returncode}, not {status}: {done.stderr}")
        return done.stderr

    def stopped(self, name, *words, **options):
        """The flags of a backup, made by a run of two steps."""
        backup = self.scratch / name
        flags = ["--callback", f"BackupAndRestore('{backup}', save_freq=1, delete_checkpoint=False)"]
        self.fit(*flags, *words, "--max-steps", 2, **options)
        return flags

    def settings(self):
        base = ["--seed", 3, "--batch-size", 6]
        kept = self.stopped("kept", *base)
        saved = self.scratch / "w.npz"
        self.fit("--seed", 9, "--init-only", "--save-weights", saved)
        others = {"another data/x/divided by: 1.0, not 3.0": ["--divide-by", 3],
                  "another loss: \"mse\", not \"mae\"": ["--loss", "mae"],
                  "another metrics: none, not \"mae\"": ["--metrics", "mae"],
                  "another optimizer": ["--optimizer", "sgd"],
                  "another learning_rate: none, not 0.5": ["--learning-rate", "0.5"],
                  "another batch_size: 6, not 4": ["--batch-size", 4],
                  "another seed: 3, not 4": ["--seed", 4],
                  "another shuffle": ["--no-shuffle"],
                  "another validation": ["--validation-data", self.scratch / "other.npz"],
                  "another class_weight": ["--class-weight", "0:2"],
                  "another weights": ["--weights", saved],
                  "another steps_per_epoch: 0, not 2": ["--steps-per-epoch", 2],
                  "another drop_remainder": ["--drop-remainder"],
                  "another callbacks": ["--callback", "TerminateOnNaN()"]}
        for said, flags in others.items():
            self.refused(said, *kept, *base, *flags)
        self.refused("another data/x/values", *kept, *base, data="other.npz")
        for said, made in (("another model/layers/d/rate: 0.25, not 0.5", model(rate=0.5)),
                           ("another model/layers/a/activation: \"tanh\", not \"relu\"", model(activation="relu")),
                           ("another optimizer/momentum: 0.5, not 0.9", model(momentum=0.9))):
            self.refused(said, *kept, *base, program=self.write("changed.json", made))
        validated = self.stopped("validated", *base, "--validation-split", "0.25")
        self.refused("another data/samples: 18, not 12", *validated, *base, "--validation-split", "0.5")
        stops = ["--callback", "EarlyStopping(monitor='loss', patience=3)"]
        stopping = self.stopped("stopping", *base, *stops)
        self.refused("patience: 3, not 4", *stopping, *base, "--callback", "EarlyStopping(monitor='loss', patience=4)")

    def refused(self, said, *words, **options):
        errors = self.fit(*words, status=1, **options)
        if f"was made with {said}" not in errors and said not in errors:
            sys.exit(f"{words}: {said!r} is not in {errors!r}")

    def resumed(self):
        base = ["--seed", 3, "--batch-size", 6]
        whole, found = self.scratch / "whole.npz", self.scratch / "found.npz"
        self.fit(*base, "--save-weights", whole)
        kept = self.stopped("again", *base)
        errors = self.fit(*kept, *base, "--data-parallel", "--devices", "cpu:2", "--save-weights", found)
        if "goes on from the backup, after 2 steps, in epoch 1 of 3" not in errors:
            sys.exit(f"nothing is said of the backup: {errors}")
        wanted, got = npz_values.read(whole), npz_values.read(found)
        for name, (_, values) in wanted.items():
            if not npz_values.worst_difference(got[name][1], values) <= 1e-5:
                sys.exit(f"{name} differs on two devices")
        # A run without --seed goes on with the backup's.
        drawn = self.stopped("drawn", "--batch-size", 6)
        self.fit(*drawn, "--batch-size", 6)
        # A compiled step is known by its model: layouts of the step may change.
        steps = [self.scratch / "one.weft", self.scratch / "two.weft", self.scratch / "else.weft"]
        for step, made, flags in zip(steps, (model(), model(), model(rate=0.5)), ([], ["--data-parallel", "--devices", "cpu:2"], [])):
            subprocess.run([self.weft, "compile", self.write("step.json", made), "--batch-size", "6", *flags, "-o", step], check=True)
        kept = self.stopped("steps", "--seed", 3, program=steps[0])
        self.refused("another program", *kept, "--seed", 3, program=steps[2])
        self.fit(*kept, "--seed", 3, program=steps[1])


def main():
    check = Check(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
    check.settings()
    check.resumed()
    print("other settings are refused, other layouts are not")


if __name__ == "__main__":
    main()
