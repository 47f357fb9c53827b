"""Trains on the fake driver: fits that run ahead give the bits of fits that wait for each step and launch instructions one by one,
and a step takes few calls of the driver, none of which waits for the step itself.

    python check_fit_graphs.py WEFT FAKE_FOLDER FIXTURE_FOLDER OUT_FOLDER DEVICES:CALLS ...

CALLS: the most calls that one more step may take, without those that set the current context.
"""

import json
import os
import pathlib
import subprocess
import sys

import npz_values

FREE = {"cuCtxSetCurrent", "cuCtxGetCurrent"}
# Waits of the host for work: in the order of streams, not for the step that was enqueued last.
BATCH = 16


def fit(weft, fake, fixture, folder, devices, steps, seed, *flags):
    calls = folder / "calls.txt"
    environment = {**os.environ, "LD_LIBRARY_PATH": fake, "FAKE_CUDA_SEED": str(seed), "FAKE_CUDA_CALLS": str(calls)}
    golden = fixture / "golden.npz"
    subprocess.run([weft, "fit", fixture / "model.json", "--x", f"{golden}:x[0:{BATCH * steps}]", "--y", f"{golden}:y[0:{BATCH * steps}]",
                    "--batch-size", str(BATCH), "--devices", f"cuda:{devices}", "--data-parallel", "--verbose", "0", "--seed", "1",
                    "--history", folder / "h.json", "--history-steps", "--save-weights", folder / "w.npz", *flags],
                   check=True, env=environment)
    counts = dict(line.split() for line in calls.read_text().splitlines())
    results = npz_values.read(folder / "w.npz"), json.loads((folder / "h.json").read_text())
    return results, {name: int(count) for name, count in counts.items() if name not in FREE}


def check(weft, fake, fixture, folder, devices, most):
    def run(*arguments):
        return fit(weft, fake, fixture, folder, devices, *arguments)
    wanted, _ = run(6, 1, "--graphs", "off", "--callback", "TerminateOnNaN()")
    for seed in range(1, 4):
        found, fewer = run(6, seed)
        if found != wanted:
            sys.exit(f"cuda:{devices}: a fit that runs ahead gives other results in order {seed}")
    _, many = run(8, 3)
    calls = {name: (count - fewer.get(name, 0)) / 2 for name, count in many.items() if count != fewer.get(name, 0)}
    if calls.get("cuGraphLaunch") != 1 or sum(calls.values()) > most:
        sys.exit(f"cuda:{devices}: a step takes {calls}, at most {most} are expected, one of them cuGraphLaunch")
    return calls


def main():
    weft, fake, fixture, folder, *cases = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        devices, most = map(int, case.split(":"))
        calls = check(weft, fake, pathlib.Path(fixture), folder, devices, most)
        print(f"cuda:{devices}: {sum(calls.values()):g} calls a step,", ", ".join(f"{count:g} {name}" for name, count in sorted(calls.items())))


if __name__ == "__main__":
    main()
