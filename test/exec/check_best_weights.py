"""EarlyStopping(restore_best_weights=True) ends with the weights of the best epoch, moving statistics among them.

    check_best_weights.py WEFT SCRATCH

A ModelCheckpoint writes the best epoch to a file, and the model predicts the same bits from it and from the weights that
--save-weights wrote after the end. TensorBoard has a histogram of each of them.
"""

import array
import json
import pathlib
import random
import shutil
import subprocess
import sys

import event_files
import npz_values
import patience

# Keras' paths in a Sequential without an InputLayer begin with the model's name.
WEIGHTS = {f"m/{name}" for name in ("a/kernel", "a/bias", "n/gamma", "n/beta", "n/moving_mean", "n/moving_variance", "b/kernel", "b/bias")}


def layer(kind, name, **config):
    return {"class_name": kind, "config": {"name": name, **config}}


def write_model(path):
    layers = [layer("Dense", "a", units=8, activation="relu"), layer("BatchNormalization", "n", momentum=0.5),
              layer("Dropout", "d", rate=0.2), layer("Dense", "b", units=1)]
    path.write_text(json.dumps({
        "class_name": "Sequential", "config": {"name": "m", "build_input_shape": [None, 4], "layers": layers},
        "compile_config": {"loss": "mse", "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.1}}}}))


def write_data(path):
    draw = random.Random(3)
    x, y = ([draw.uniform(-1, 1) for _ in range(count)] for count in (32 * 4, 32))
    npz_values.write(path, {"x": ((32, 4), array.array("f", x)), "y": ((32, 1), array.array("f", y))})


def main():
    weft, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    write_model(scratch / "m.json")
    write_data(scratch / "d.npz")

    def run(*words):
        done = subprocess.run([str(word) for word in (weft, *words)], cwd=scratch, capture_output=True, text=True, timeout=patience.HANG)
        if done.returncode:
            sys.exit(f"{words}: {done.stderr}")

    def predicted(weights):
        run("predict", "m.json", "--x", "d.npz:x", "--batch-size", 8, "--weights", weights, "--verbose", 0, "--out", "p.npy")
        return (scratch / "p.npy").read_bytes()

    run("fit", "m.json", "--data", "d.npz", "--seed", 2, "--batch-size", 8, "--epochs", 30, "--validation-split", "0.25",
        "--verbose", 0, "--history", "h.json", "--save-weights", "end.npz",
        "--callback", "ModelCheckpoint('best.weights.h5', save_best_only=True, save_weights_only=True)",
        "--callback", "ModelCheckpoint('last.weights.h5', save_weights_only=True)",
        "--callback", "TensorBoard('logs', histogram_freq=1)",
        "--callback", "EarlyStopping(patience=3, restore_best_weights=True)")
    losses = json.loads((scratch / "h.json").read_text())["history"]["val_loss"]
    best = losses.index(min(losses))
    if not best < len(losses) - 1 < 29:
        sys.exit(f"the best epoch is {best} of {len(losses)}: the training did not stop behind it")
    if predicted("end.npz") != predicted("best.weights.h5"):
        sys.exit("the weights after the end are not those of the best epoch")
    if predicted("end.npz") == predicted("last.weights.h5"):
        sys.exit("the last epoch has the weights of the best one")
    drawn = {name.removesuffix("/histogram") for name, _, kind, _ in event_files.read(scratch / "logs" / "train") if kind == "histograms"}
    if drawn != WEIGHTS:
        sys.exit(f"histograms of {sorted(drawn)}, not of {sorted(WEIGHTS)}")
    print(f"as the best epoch's, {best} of {len(losses)}, later ones differ")


if __name__ == "__main__":
    main()
