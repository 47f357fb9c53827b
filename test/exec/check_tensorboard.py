"""The event files of TensorBoard hold the figures of the history, and histograms of the weights.

    check_tensorboard.py WEFT FIXTURES SCRATCH

They are read by event_files.py; `tensorboard --logdir SCRATCH/logs` shows them.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import event_files
import npz_values
import patience


def expect(condition, what):
    if not condition:
        sys.exit(what)


def near(found, wanted):
    return len(found) == len(wanted) and all(abs(a - b) <= 1e-6 * max(1, abs(b)) for a, b in zip(found, wanted))


def series(events, tag):
    """[(step, value)] of a scalar."""
    found = [(step, values[0]) for name, step, plugin, values in events if name == tag and plugin == "scalars"]
    expect(found, f"no scalar is called {tag}: {sorted({event[0] for event in events})}")
    return found


def check_histogram(events, tag, weights):
    """Checks thirty equal ranges from the least to the largest of the weights after the last epoch."""
    *_, (_, step, plugin, values) = [event for event in events if event[0] == tag]
    parts = [values[i:i + 3] for i in range(0, len(values), 3)]
    low, high, width = min(weights), max(weights), (max(weights) - min(weights)) / 30
    expect(plugin == "histograms" and len(parts) == 30, f"{tag}: {len(parts)} parts of {plugin}")
    expect(near([parts[0][0], parts[-1][1]], [low, high]), f"{tag}: from {parts[0][0]} to {parts[-1][1]}, not {low} to {high}")
    counts = [0] * 30
    for weight in weights:
        counts[min(29, int((weight - low) / width))] += 1
    expect([part[2] for part in parts] == counts, f"{tag}: {[part[2] for part in parts]}, not {counts}")
    return step


def main():
    weft, fixtures, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    folder, logs = fixtures / "callbacks", scratch / "logs"
    command = [weft, "fit", folder / "model.json", "--data", folder / "data.npz", "--validation-split", "0.25", "--epochs", "3",
               "--batch-size", "16", "--seed", "1", "--verbose", "0", "--history", scratch / "h.json", "--save-weights",
               scratch / "w.npz", "--callback", f"TensorBoard('{logs}', histogram_freq=2, update_freq=2, "
               "write_steps_per_second=True)", "--callback", "ReduceLROnPlateau('loss', patience=0, min_delta=10)"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=patience.HANG)
    expect(done.returncode == 0, done.stderr)
    history = json.loads((scratch / "h.json").read_text())["history"]
    train, held = event_files.read(logs / "train"), event_files.read(logs / "validation")
    for name, values in history.items():
        events, tag = (held, f"epoch_{name[4:]}") if name.startswith("val_") else (train, f"epoch_{name}")
        steps, numbers = zip(*series(events, tag))
        expect(steps == (0, 1, 2) and near(numbers, values), f"{tag}: {numbers}, not {values}")
    expect([step for step, _ in series(train, "batch_loss")] == [2, 4, 6, 8], "batch_loss: not each second batch")
    iterations = series(held, "evaluation_loss_vs_iterations")
    expect([step for step, _ in iterations] == [3, 6, 9] and near([v for _, v in iterations], history["val_loss"]),
           f"evaluation_loss_vs_iterations: {iterations}")
    expect(all(value > 0 for _, value in series(train, "epoch_steps_per_second")), "steps per second")
    weights = npz_values.read(scratch / "w.npz")
    for name in ("d1/kernel", "d1/bias", "d2/kernel", "d2/bias"):
        step = check_histogram(train, f"{name}/histogram", list(weights[name][1]))
        expect(step == 2, f"{name}: the last histogram is of epoch {step}")
    print(f"{len(train)} and {len(held)} values")
    return 0


if __name__ == "__main__":
    sys.exit(main())
