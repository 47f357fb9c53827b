"""Metrics of several numbers are shown, logged and kept as Keras does (test/fixtures/fit/record_lists.py).

    check_list_metrics.py WEFT FIXTURES FOLDER

History, lines, CSVLogger's file and evaluate on one device and on four; a run that was cut off goes on with its lists; and
callbacks that need one number refuse a list by name.
"""

import json
import pathlib
import re
import subprocess
import sys

import npz_values
import patience

TOLERANCE = 2e-5
DEVICES = {"one device": [], "4 devices": ["--data-parallel", "--devices", "cpu:4"]}
REFUSED = {
    '{"class_name": "EarlyStopping", "config": {"monitor": "val_f1"}}': 'monitor "val_f1" gives several numbers',
    '{"class_name": "ModelCheckpoint", "config": {"filepath": "{f1:.2f}.keras", "monitor": "loss"}}': "{f1} gives several numbers",
    '{"class_name": "TensorBoard", "config": {"log_dir": "board"}}': 'metric "f1" gives several numbers',
}


def flat(value):
    return [number for part in value for number in flat(part)] if isinstance(value, list) else [value]


def same(what, found, wanted):
    """[message] if shapes or numbers differ, else []."""
    shape = lambda value: [shape(part) for part in value] if isinstance(value, list) else 0
    if shape(found) != shape(wanted) or any(abs(a - b) > TOLERANCE * max(1, abs(b)) for a, b in zip(flat(found), flat(wanted))):
        return [f"{what}: {found}, Keras has {wanted}"]
    return []


def numbers_of(text):
    return [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


class Run:
    def __init__(self, weft, fixtures, folder):
        self.weft, self.folder = weft, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.wanted = json.loads((fixtures / "fit" / "lists.json").read_text())
        self.model, self.data = folder / "model.json", folder / "data.npz"
        self.model.write_text(json.dumps(self.wanted["model"]))
        arrays = npz_values.read(fixtures / "fit" / "lists.npz")
        npz_values.write(folder / "weights.npz", {name.removeprefix("initial/"): a for name, a in arrays.items() if "/" in name})
        x, y = arrays["x"], arrays["y"]
        held = {"val_x": ((30, 4), x[1][:120]), "val_y": ((30, 3), y[1][:90])}
        npz_values.write(self.data, {"x": x, "y": y, **held})

    def weft_said(self, command, *words):
        line = [self.weft, command, self.model, "--x", f"{self.data}:x", "--y", f"{self.data}:y", "--weights",
                self.folder / "weights.npz", "--batch-size", 20, "--seed", 1, *words]
        return subprocess.run([str(word) for word in line], capture_output=True, text=True, cwd=self.folder, timeout=patience.HANG)

    def fit(self, *words):
        return self.weft_said("fit", "--no-shuffle", "--epochs", 2, "--validation-x", f"{self.data}:val_x", "--validation-y",
                              f"{self.data}:val_y", *words)

    def check(self, devices):
        log = {"class_name": "CSVLogger", "config": {"filename": "log.csv"}}
        done = self.fit("--verbose", 2, "--history", "history.json", "--callback", json.dumps(log), "--save-weights", "after.npz",
                        *devices)
        if done.returncode:
            return [done.stderr]
        bad, history = [], json.loads((self.folder / "history.json").read_text())["history"]
        for name in history.keys() | self.wanted["history"].keys():
            bad += same(f"history of {name}", history.get(name, []), self.wanted["history"].get(name, []))
        lines = re.findall(r"step( - .*)", done.stdout)
        if [re.findall(r"- (\w+):", line) for line in lines] != [re.findall(r"- (\w+):", line) for line in self.wanted["lines"]]:
            bad.append(f"lines {lines}, Keras has {self.wanted['lines']}")
        for mine, line in zip(lines, self.wanted["lines"]):
            values = lambda text: numbers_of(re.sub(r"- \w+:", "", text))
            if any(abs(a - b) > 1.01e-4 for a, b in zip(values(mine), values(line), strict=True)):
                bad.append(f"line {mine}, Keras has {line}")
        table = (self.folder / "log.csv").read_bytes().decode()
        if re.sub(r"[-\d.e]+", "", table) != re.sub(r"[-\d.e]+", "", self.wanted["csv"]):
            bad.append(f"CSV {table}, Keras has {self.wanted['csv']}")
        bad += same("CSV", numbers_of(table.split("\n", 1)[1]), numbers_of(self.wanted["csv"].split("\n", 1)[1]))
        done = self.weft_said("evaluate", "--weights", "after.npz", "--json", *devices)
        found = json.loads(done.stdout) if done.returncode == 0 else {}
        for name, value in self.wanted["evaluate"].items():
            bad += same(f"evaluate's {name}", found.get(name), value) if name in found else [f"no {name}: {done.stderr}"]
        return bad

    def check_backup(self):
        """A checkpoint in the middle of an epoch keeps the history's lists."""
        backup = {"class_name": "BackupAndRestore", "config": {"backup_dir": "backup", "save_freq": 2, "delete_checkpoint": False}}
        for steps in (["--max-steps", 5], []):
            done = self.fit("--verbose", 0, "--history", "history.json", "--callback", json.dumps(backup), *steps)
            if done.returncode:
                return [done.stderr]
        history, bad = json.loads((self.folder / "history.json").read_text())["history"], []
        for name, value in self.wanted["history"].items():
            bad += same(f"after a restart, history of {name}", history.get(name, []), value)
        return bad

    def check_refusals(self):
        bad = []
        for callback, message in REFUSED.items():
            done = self.fit("--verbose", 0, "--callback", callback)
            if done.returncode != 1 or message not in done.stderr:
                bad.append(f"{callback}: exit status {done.returncode}, {done.stderr}")
        return bad


def main():
    run = Run(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve())
    checks = {name: lambda devices=devices: run.check(devices) for name, devices in DEVICES.items()}
    bad = 0
    for name, check in {**checks, "restart": run.check_backup, "refusals": run.check_refusals}.items():
        found = check()
        bad += bool(found)
        print(f"{name}: {'; '.join(found) or 'as Keras'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
