"""Callbacks print, write and remember the same as Keras' (test/fixtures/callbacks, made by real Keras).

    check_callbacks.py WEFT FIXTURES SCRATCH

Compared are the printed lines (without times), histories, learning rates, names of files and CSV files. Bars are drawn in a
pseudo-terminal; only finished bars are compared.
"""

import csv
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys

import patience

CHECKPOINT_BEST = 'ModelCheckpoint("best-{epoch:02d}-{val_loss:.3f}.keras", save_best_only=True, verbose=1)'
HALVES = "LearningRateScheduler([0.009999999776482582, 0.004999999888241291, 0.0024999999441206455, " \
         "0.0012499999720603228], verbose=1)"
# The runs in messages.json: verbose, and the callbacks of the script that made it.
CALLBACKS = {
    "checkpoint-best": (1, [CHECKPOINT_BEST]),
    "checkpoint-every": (2, ['ModelCheckpoint("w{epoch}.weights.h5", save_weights_only=True, verbose=1)']),
    "checkpoint-batches": (2, ['ModelCheckpoint("b-{epoch:02d}-{batch:04d}.keras", save_freq=3, verbose=1)']),
    "checkpoint-max": (0, ['ModelCheckpoint("m.keras", monitor="val_accuracy", mode="max", save_best_only=True, verbose=1)']),
    "early-stopping": (2, ["EarlyStopping(patience=2, restore_best_weights=True, verbose=1)"]),
    "early-stopping-baseline": (0, [
        'EarlyStopping("val_accuracy", min_delta=0.01, patience=3, baseline=0.9, verbose=1, start_from_epoch=2)']),
    "plateau": (2, ["ReduceLROnPlateau(factor=0.5, patience=2, min_lr=0.01, cooldown=1, verbose=1)"]),
    "csv": (1, ['CSVLogger("log.csv")']),
    "csv-semicolon": (0, ['{"class_name": "CSVLogger", "config": {"filename": "log.csv", "separator": ";"}}']),
    "schedule": (2, [HALVES]),
    "nan": (2, ["TerminateOnNaN"]),
    "all": (1, ['ModelCheckpoint("best.keras", save_best_only=True, verbose=1)', "EarlyStopping(patience=3, verbose=1)",
                "ReduceLROnPlateau(patience=1, verbose=1)", 'CSVLogger("log.csv")']),
}


class Run:
    """The commands that train the model from its file; subclasses train from steps that were traced or compiled."""

    def __init__(self, weft, fixtures):
        self.weft, self.folder = weft, fixtures / "callbacks"

    def model(self, rate):
        return [self.folder / "model.json", "--learning-rate", repr(rate), "--seed", "1337"]

    def command(self, case, wanted, verbose, callbacks):
        data = self.folder / "data.npz"
        words = [self.weft, "fit", *self.model(wanted["learning_rate"]), "--x", f"{data}:x", "--y", f"{data}:y",
                 "--batch-size", 16, "--epochs", wanted["epochs_asked"], "--no-shuffle", "--verbose", verbose, "--history",
                 "history.json"]
        if case != "csv-semicolon":
            words += ["--validation-x", f"{data}:val_x", "--validation-y", f"{data}:val_y"]
        return [str(word) for word in words + [word for text in callbacks for word in ("--callback", text)]]


def in_terminal(command, folder):
    """The output of a command in a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, stdout=follower, stderr=subprocess.PIPE)
    os.close(follower)
    output = b""
    try:
        while part := os.read(leader, 65536):
            output += part
    except OSError:  # Linux reports the end of a pseudo-terminal as an error
        pass
    os.close(leader)
    errors = process.stderr.read().decode()
    return process.wait(timeout=patience.HANG), output.decode().replace("\r\n", "\n"), errors


def lines_of(text):
    """Lines without colours and times. A moving bar is its last state, and is left out unless it is complete."""
    found = []
    for line in re.sub(r"\x1b\[[0-9]*m", "", text).split("\n"):
        line = line.rsplit("\r", 1)[-1].strip("\b ")
        bar = re.match(r"\s*(\d+)/(\d+) ", line)
        if bar and bar[1] != bar[2]:
            continue
        line = re.sub(r"\d+s[ -]+\d+[mu]?s/step|\d+s \d+s/step", "TIME", line)
        found.append(line)
    return [line for line in found if line]


def near(found, wanted, tolerance):
    if isinstance(wanted, str):  # JSON files hold NaN as "nan"
        wanted = float(wanted)
    return abs(found - wanted) <= tolerance * max(1, abs(wanted)) or (found != found and wanted != wanted)


def same_text(found, wanted):
    """Whether two texts are equal but for the last digits of their numbers."""
    number = r"-?(?:\d+\.\d+(?:e[-+]\d+)?|nan)"
    if re.split(number, found) != re.split(number, wanted):
        return False
    return all(near(float(a), float(b), 3e-4) for a, b in zip(re.findall(number, found), re.findall(number, wanted)))


def differing_lines(found, wanted):
    for mine, theirs in zip(found, wanted):
        if not same_text(mine, theirs):
            yield f"prints {mine!r}, not {theirs!r}"
    if len(found) != len(wanted):
        yield f"prints {len(found)} lines, not {len(wanted)}: {found[len(wanted):]}{wanted[len(found):]}"


def differing_history(found, wanted):
    if sorted(found) != sorted(wanted):
        yield f"history of {sorted(found)}, not {sorted(wanted)}"
        return
    for name, values in wanted.items():
        if len(found[name]) != len(values) or not all(near(a, b, 1e-4) for a, b in zip(found[name], values)):
            yield f"history of {name}: {found[name]}, not {values}"


def differing_table(found, wanted):
    if found.count(b"\r\n") != wanted.count(b"\r\n") or b"\n" in found.replace(b"\r\n", b""):
        yield f"lines of the table {found!r}, not {wanted!r}"
    delimiter = ";" if b";" in wanted else ","
    mine, theirs = ([row for row in csv.reader(text.decode().splitlines(), delimiter=delimiter)] for text in (found, wanted))
    for row, other in zip(mine, theirs):
        for a, b in zip(row, other):
            if a != b and not near(float(a), float(b), 1e-4):
                yield f"row {row}, not {other}"


def differences(run, case, wanted, scratch):
    verbose, callbacks = CALLBACKS[case]
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    status, output, errors = in_terminal(run.command(case, wanted, verbose, callbacks), scratch)
    if status or errors:
        yield f"status {status}: {errors}"
        return
    shown = [line for line in lines_of(output) if not re.match(r"[xy](/\w+)?: /|seed ", line)]
    theirs = lines_of((run.folder / f"{case}.txt").read_bytes().decode())
    history, of_keras = json.loads((scratch / "history.json").read_text())["history"], wanted["history"]
    yield from differing_lines(shown, theirs)
    yield from differing_history(history, of_keras)
    files = sorted(path.name for path in scratch.iterdir() if path.name != "history.json")
    if files != sorted(wanted["files_written"]):
        yield f"writes {files}, not {wanted['files_written']}"
    table = run.folder / f"{case}-log.csv"
    if table.exists():
        yield from differing_table((scratch / "log.csv").read_bytes(), table.read_bytes())


def check(run, scratch, cases=None):
    wanted, bad = json.loads((run.folder / "messages.json").read_text()), 0
    for case in cases or CALLBACKS:
        found = list(differences(run, case, wanted[case], scratch / case))
        bad += bool(found)
        print(f"{case}: {'as Keras' if not found else ''}", *found, sep="\n  " if found else "")
    return bad


def main():
    run = Run(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
    return 1 if check(run, pathlib.Path(sys.argv[3])) else 0


if __name__ == "__main__":
    sys.exit(main())
