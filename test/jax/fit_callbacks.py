"""Callbacks on traced and on compiled steps act as Keras' do, and Keras loads the files that they save.

    fit_callbacks.py WEFT FIXTURES SCRATCH
"""

import os
import pathlib
import shutil
import subprocess
import sys

os.environ |= {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "exec")]

import check_callbacks  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402

CASES = {0.05: ["checkpoint-best", "checkpoint-max", "early-stopping", "plateau", "all"],
         0.01: ["checkpoint-every", "checkpoint-batches", "csv", "schedule"]}
TRACE = {"PYTHONPATH": str(HERE.parents[1] / "tools" / "pjrt" / "python")}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=os.environ | TRACE)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


class StepRun(check_callbacks.Run):
    """A run from a file of steps; the archive has the optimizer's rate."""

    def __init__(self, weft, fixtures, step, archive):
        super().__init__(weft, fixtures)
        self.step, self.archive = step, archive

    def model(self, rate):
        return [self.step, "--weights", self.archive, "--seed", "1337"]


def make_archive(folder, rate, path):
    model = keras.models.model_from_json((folder / "model.json").read_text())
    with np.load(folder / "initial.npz") as initial:
        model.set_weights([initial[f"initial/sequential/{weight.path}"] for weight in model.weights])
    model.optimizer.learning_rate = rate
    model.save(path)


def check_files(folder, scratch, wanted):
    """Checks with Keras the files that callbacks saved: a model, and weights alone."""
    with np.load(folder / "data.npz") as data:
        held = data["val_x"], data["val_y"]
    best = keras.models.load_model(scratch / "checkpoint-best" / "best-01-2.135.keras")
    plain = keras.models.model_from_json((folder / "model.json").read_text())
    plain.load_weights(scratch / "checkpoint-every" / "w2.weights.h5")
    for model, loss in ((best, wanted["checkpoint-best"]["history"]["val_loss"][0]),
                        (plain, wanted["checkpoint-every"]["history"]["val_loss"][1])):
        found = model.evaluate(*held, verbose=0)[0]
        assert abs(found - loss) < 1e-4, f"the saved model has the loss {found}, not {loss}"
    assert int(best.optimizer.iterations.numpy()) == 4, "the optimizer's steps"


def main():
    weft, fixtures = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    scratch, folder = pathlib.Path(sys.argv[3]).resolve(), fixtures / "callbacks"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    wanted = check_callbacks.json.loads((folder / "messages.json").read_text())
    bad = 0
    for rate, cases in CASES.items():
        archive, step, compiled = (scratch / f"{rate}{ending}" for ending in (".keras", ".mlir", ".weft"))
        make_archive(folder, rate, archive)
        run(sys.executable, "-m", "weft.trace", archive, "--batch-size", 16, "-o", step)
        run(weft, "compile", step, "-o", compiled)
        for file in (step, compiled):
            print(file.name)
            bad += check_callbacks.check(StepRun(weft, fixtures, file, archive), scratch, cases)
    check_files(folder, scratch, wanted)
    native = [case for cases in CASES.values() for case in cases]
    bad += check_callbacks.check(check_callbacks.Run(weft, fixtures), scratch, native)
    check_files(folder, scratch, wanted)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
