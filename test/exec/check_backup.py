"""A training killed again and again ends with the bits of one that was not: weights, optimizer, history, table.

    check_backup.py WEFT SCRATCH [KILLS] [SEED]

Kills fall at random moments of the run (seed printed), so that some hit the start, the writing of a backup or the end.
KILLS is 6 in the test run; `check_backup.py build/bin/weft /tmp/backup 200` takes some minutes. The model has dropout,
batch normalisation, a metric that keeps state, an optimizer with moving averages; callbacks remember their best.
"""

import array
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import npz_values
import patience

EPOCHS, SAMPLES = 12, 60


def layer(kind, name, **config):
    return {"class_name": kind, "config": {"name": name, **config}}


def model():
    layers = [layer("Dense", "a", units=16, activation="relu"), layer("BatchNormalization", "n"), layer("Dropout", "d", rate=0.3),
              layer("Dense", "b", units=1, activation="sigmoid")]
    return {"class_name": "Sequential", "config": {"name": "m", "build_input_shape": [None, 8], "layers": layers},
            "compile_config": {"loss": "binary_crossentropy", "metrics": ["accuracy", {"class_name": "AUC", "config": {}}],
                               "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.01, "use_ema": True}}}}


def write_data(folder):
    draw = random.Random(5)
    x = array.array("f", [draw.gauss(0, 1) for _ in range(SAMPLES * 8)])
    y = array.array("f", [float(x[8 * i] + draw.gauss(0, 1) > 0) for i in range(SAMPLES)])
    npz_values.write(folder / "data.npz", {"x": ((SAMPLES, 8), x), "y": ((SAMPLES, 1), y)})
    (folder / "model.json").write_text(json.dumps(model()))


def command(weft, folder, place, *flags):
    return [str(word) for word in (
        weft, "fit", folder / "model.json", "--data", folder / "data.npz", "--epochs", EPOCHS, "--batch-size", 8,
        "--validation-split", 0.25, "--steps-per-epoch", 5, "--verbose", 0, "--save-weights", place / "w.npz", "--history",
        place / "h.json", "--history-steps", "--callback", f'CSVLogger("{place / "log.csv"}")', "--callback",
        "EarlyStopping(patience=40, restore_best_weights=True, monitor='val_auc', mode='max')", "--callback",
        "ReduceLROnPlateau(patience=2, factor=0.7)", *flags)]


def results(place):
    return {name: (place / name).read_bytes() for name in ("w.npz", "h.json", "log.csv")}


def run_to_end(words):
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, timeout=patience.HANG)
    if done.returncode:
        sys.exit(f"{words}: status {done.returncode}: {done.stderr}")
    return time.monotonic() - begin


def kill_until_done(words, kills, longest, draw):
    """Returns how many of the kills met a running process."""
    met = 0
    while met < kills:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killer = threading.Timer(draw.uniform(0, longest), process.kill)
        killer.start()
        _, errors = process.communicate(timeout=patience.HANG)
        killer.cancel()
        if process.returncode == 0:
            return met
        if process.returncode != -signal.SIGKILL:
            sys.exit(f"status {process.returncode}: {errors}")
        met += 1
    return met


def main():
    weft, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(10**6)
    print(f"seed {seed}")
    draw = random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("whole", "killed"):
        (folder / name).mkdir(parents=True)
    write_data(folder)
    run_to_end(command(weft, folder, folder / "whole", "--seed", 3))  # compiles
    wanted, met, runs, place = results(folder / "whole"), 0, 0, folder / "killed"
    words = command(weft, folder, place, "--seed", 3, "--backup", place / "backup", "--save-every", 2)
    longest = run_to_end(words)
    while met < kills:
        for name in wanted:
            (place / name).unlink(missing_ok=True)
        met += kill_until_done(words, kills - met, longest, draw)
        run_to_end(words)
        runs += 1
        for name, content in results(place).items():
            if content != wanted[name]:
                sys.exit(f"{name} differs after {met} kills")
        if (place / "backup").exists():
            sys.exit("the backup is still there at the end")
    print(f"{met} kills in {runs} runs: the same bits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
