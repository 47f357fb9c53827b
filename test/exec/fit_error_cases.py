"""Cases that weft fit refuses or warns of: sections fit, fit-flags and fit-warnings."""

import array
import json
import os
import subprocess
import zipfile

import npz_values


class FitCases:
    def fit_command(self, *words):
        folder = self.fixtures / "callbacks"
        return ["fit", folder / "model.json", "--data", folder / "data.npz", "--seed", "1", "--verbose", "0", *words]

    def fit(self):
        data = self.fixtures / "callbacks" / "data.npz"
        yield "classes of time steps", ["fit", self.write("steps.json", self.time_steps()), "--data", self.series(),
                                        "--class-weight", "0:2"]
        several = self.fixtures / "multi-io"
        yield "classes of several outputs", ["fit", several / "model.json", *(
            f"--{kind}={name}={several / 'golden.npz'}:{kind}/{name}" for kind, name in (
                ("x", "a"), ("x", "b"), ("y", "price"), ("y", "kind"))), "--class-weight", "0:2"]
        yield from self.callback_cases()
        yield from self.backup_cases()
        yield "no configuration", ["fit", "--config", self.scratch / "none.json"]
        for text in ("{", '{"epochs": 1, "epochs": 2}', "[1]", '{"epoch": 3}', '{"nothing_like_it_at_all": 3}', '{"model": 3}', '{"callbacks": {}}'):
            yield f"configuration {text}", ["fit", "--config", self.write("fit.json", text)]
        yield "labels of validation", self.fit_command("--validation-x", f"{data}:val_x")

    def callback_cases(self):
        for text in ("EarlyStoping(patience=3)", "Nothing()", "EarlyStopping(patiance=3)", "EarlyStopping(patience=-1)",
                     "EarlyStopping(mode='best')", "EarlyStopping(restore_best_weights=1)", "EarlyStopping(min_delta='a')",
                     "EarlyStopping(baseline=[])", "EarlyStopping(monitor=1)", "EarlyStopping(1, 2, 3, 4, 5, 6, 7, 8, 9)",
                     "EarlyStopping(patience=", "EarlyStopping(patience=3) 4", '{"class_name": "CSVLogger", "config": [1]}',
                     '{"a": 1}', os.fsdecode(b"EarlyStopping('\xff')"), "ModelCheckpoint()", "ModelCheckpoint('m.h5')",
                     "ModelCheckpoint('m.h5', save_weights_only=True)", "ModelCheckpoint('m.keras', save_freq=0)",
                     "ModelCheckpoint('{epoch.keras')", "ModelCheckpoint('}.keras')", "ModelCheckpoint('{epoch:x}.keras')",
                     "ModelCheckpoint('{loss:02d}.keras')", "ModelCheckpoint('{val_los:.2f}.keras')",
                     "ModelCheckpoint('{nothing_like_it}.keras', save_freq=2)", "CSVLogger('a.csv', separator='ab')",
                     "CSVLogger('/nowhere/a.csv')", "ReduceLROnPlateau(factor=1.5)", "EarlyStopping(nothing_like_it=1)", "LearningRateScheduler([])",
                     "LearningRateScheduler(3)", "LearningRateScheduler(CosinDecay(initial_learning_rate=1))",
                     "LearningRateScheduler(Something())", "LearningRateScheduler(CosineDecay(initial_learning_rate=1))",
                     "LearningRateScheduler(CosineDecay(initial_learning_rate=1, decay_steps=0))",
                     "LearningRateScheduler(PiecewiseConstantDecay(boundaries=[1], values=[1]))",
                     "LearningRateScheduler(PiecewiseConstantDecay(boundaries=1, values=[1]))",
                     "EarlyStopping(monitor='val_nothing')"):
            yield f"callback {text}", self.fit_command("--callback", text), {"cwd": self.scratch}
        yield "a value that not each epoch has", self.fit_command(
            "--validation-split", "0.5", "--validation-freq", "2", "--callback", "ModelCheckpoint('{val_loss}.keras')")
        yield "a rate of a schedule", self.fit_command("--callback", "ReduceLROnPlateau()", "--optimizer", json.dumps(
            {"class_name": "SGD", "config": {"learning_rate": {"class_name": "ExponentialDecay", "config": {
                "initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5}}}}))
        self.fit_step = self.scratch / "fit-step.weft"
        folder = self.fixtures / "callbacks"
        subprocess.run([self.weft, "compile", folder / "model.json", "--step", "all", "--batch-size", "32", "-o", self.fit_step],
                       check=True, capture_output=True)
        yield "a model of a compiled step", ["fit", self.fit_step, "--data", folder / "data.npz", "--callback",
                                             "ModelCheckpoint('m.keras')"]
        yield "a loss that is NaN", self.fit_command("--learning-rate", "1e38", "--epochs", "3", "--callback",
                                                     "TerminateOnNaN(raise_error=True)")

    def interrupted(self, name, *words):
        """A folder with the backup of a run."""
        folder = self.scratch / name
        command = self.fit_command("--epochs", "1", *words, "--callback",
                                   f"BackupAndRestore('{folder}', delete_checkpoint=False)")
        subprocess.run([self.weft, *map(str, command)], check=True, capture_output=True)
        return folder

    def backup_cases(self):
        made = self.interrupted("batch-16", "--batch-size", "16")
        yield "a backup of other batches", self.fit_command("--backup", made)
        yield "a backup of another model", ["fit", self.write("other.json", self.renamed()), "--data",
                                            self.fixtures / "callbacks" / "data.npz", "--batch-size", "16", "--backup", made]
        partial = self.interrupted("partial")
        with zipfile.ZipFile(partial / "latest.npz") as file:
            kept = {name: file.read(name) for name in file.namelist() if name != "variables/d1/kernel.npy"}
        with zipfile.ZipFile(partial / "latest.npz", "w") as file:
            for name, content in kept.items():
                file.writestr(name, content)
        yield "a backup without a variable", self.fit_command("--backup", partial)
        damaged = self.interrupted("damaged")
        npz_values.write(damaged / "latest.npz", {"a": ((1,), array.array("B", [1]))})
        yield "no backup", self.fit_command("--backup", damaged)
        (damaged / "latest.npz").write_bytes(b"nothing")
        yield "no archive", self.fit_command("--backup", damaged)
        yield "no folder", self.fit_command("--backup", "/proc/nowhere")

    def renamed(self):
        return (self.fixtures / "callbacks" / "model.json").read_text().replace('"d1"', '"other"')

    @staticmethod
    def time_steps():
        """A model whose labels are one number for each of 4 time steps."""
        dense = {"class_name": "Dense", "config": {"name": "d", "units": 1}}
        return json.dumps({"class_name": "Sequential",
                           "config": {"name": "steps", "build_input_shape": [None, 4, 3], "layers": [dense]},
                           "compile_config": {"optimizer": "sgd", "loss": "mse"}})

    def series(self):
        path = self.scratch / "series.npz"
        npz_values.write(path, {"x": ((2, 4, 3), array.array("f", [1] * 24)), "y": ((2, 4, 1), array.array("f", [1] * 8))})
        return path

    def fit_flags(self):
        for flag, value in (("--class-weight", "0=1"), ("--class-weight", "{}"), ("--class-weight", '{"a": 1}'),
                            ("--class-weight", "0:nan"), ("--shuffle", "yes"), ("--validation-freq", "0"),
                            ("--data-memory", "much"), ("--max-shard-size", "1XB"), ("--interpolation", "area"), ("--class-names", "a,,b"),
                            ("--validation-freq", "1,,2"), ("--validation-freq", "[0]")):
            yield f"{flag} {value}", self.fit_command(flag, value)

    def fit_arrays(self, *words):
        """Without the arrays of the file that fit does not read, which it warns of."""
        folder = self.fixtures / "callbacks"
        return ["fit", folder / "model.json", "--x", f"{folder}/data.npz:x", "--y", f"{folder}/data.npz:y", "--seed", "1",
                "--verbose", "0", *words]

    def fit_warnings(self):
        for callback in ("EarlyStopping(patience=3)", "ReduceLROnPlateau()",
                         f"ModelCheckpoint('{self.scratch / 'best.keras'}', save_best_only=True)"):
            yield f"{callback} without validation", self.fit_arrays("--callback", callback)
        yield "steps per epoch", self.fit_arrays("--steps-per-epoch", "3", "--epochs", "1")
