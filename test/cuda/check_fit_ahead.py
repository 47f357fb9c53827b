"""Trains with steps that begin before the last one's results are read: weights and history have the bits of a training that waits for
each step, on GPUs (the fake driver) without graphs, in each order of operations. On GPUs a step takes few calls of the driver.

    python check_fit_ahead.py WEFT FAKE_FOLDER FIXTURE_FOLDER OUT_FOLDER cpu:DEVICES cuda:GPUS cuda:DEVICES:CALLS nccl:DEVICES:GPUS:PROCESSES exact:...

CALLS: the most calls that one more step may take, without those that set the current context. With NCCL, a step is a graph on each GPU in
front of the sums of gradients and one after them, however many devices the GPU has.
"""

import json
import os
import pathlib
import subprocess
import sys

import check_processes
import npz_values

FREE = {"cuCtxSetCurrent", "cuCtxGetCurrent"}
BATCH = 8
# Before: an array's first two batches are written to the GPU, and each of four sets of addresses runs twice before it is a graph.
STEPS = 12
MORE = 4  # the first steps may take a call more or less, as threads run; a quarter of it is rounded away
WAITS = ["--callback", "TerminateOnNaN()"]


def fit(weft, fixture, folder, devices, steps, flags, environment, launcher=()):
    golden = fixture / "golden.npz"
    subprocess.run([*launcher, weft, "fit", fixture / "model.json", "--x", f"{golden}:x[0:{BATCH * steps}]", "--y", f"{golden}:y[0:{BATCH * steps}]",
                    "--batch-size", str(BATCH), "--devices", devices, "--data-parallel", "--metrics", "mse,mae", "--verbose", "0", "--seed", "1",
                    "--history", folder / "h.json", "--history-steps", "--save-weights", folder / "w.npz", *flags],
                   check=True, env={**os.environ, **environment})
    return npz_values.read(folder / "w.npz"), json.loads((folder / "h.json").read_text())


def counted(weft, fake, fixture, folder, devices, steps, seed, *flags):
    calls = folder / "calls.txt"
    results = fit(weft, fixture, folder, devices, steps, flags,
                  {"LD_LIBRARY_PATH": fake, "FAKE_CUDA_SEED": str(seed), "FAKE_CUDA_CALLS": str(calls)})
    counts = dict(line.split() for line in calls.read_text().splitlines())
    return results, {name: int(count) for name, count in counts.items() if name not in FREE}


def check_calls(weft, fake, fixture, folder, devices, most):
    def run(*arguments):
        return counted(weft, fake, fixture, folder, devices, *arguments)
    wanted, _ = run(STEPS, 1, "--graphs", "off", *WAITS)
    for seed in (1, 2):
        found, fewer = run(STEPS, seed)
        if found != wanted:
            sys.exit(f"{devices}: a fit that runs ahead gives other results in order {seed}")
    _, many = run(STEPS + MORE, 2)
    calls = {name: round((count - fewer.get(name, 0)) / MORE) for name, count in many.items()}
    calls = {name: count for name, count in calls.items() if count}
    if calls.get("cuGraphLaunch") != 1 or sum(calls.values()) > most:
        sys.exit(f"{devices}: a step takes {calls}, at most {most} are expected, one of them cuGraphLaunch")
    print(f"{devices}: {sum(calls.values())} calls a step,", ", ".join(f"{count} {name}" for name, count in sorted(calls.items())))


def check_nccl(weft, fake, fixture, folder, way, devices, gpus, processes):
    calls, launcher = folder / "calls.txt", check_processes.mpirun(processes) if processes > 1 else ()
    environment = {"LD_LIBRARY_PATH": fake, "WEFT_CUDA_LIBRARIES": fake, "FAKE_CUDA_GPUS": str(gpus), "FAKE_NCCL_FOLDER": str(folder),
                   "FAKE_NCCL_SEED": "5"}
    case = f"{way}: {devices} devices on {gpus} GPUs, {processes} processes"
    if processes == 1:
        environment["FAKE_CUDA_CALLS"] = str(calls)

    def run(steps, seed, *flags):
        return fit(weft, fixture, folder, f"cuda:{devices}", steps, ["--collectives", way, *flags], {**environment, "FAKE_CUDA_SEED": str(seed)},
                   launcher)

    def graphs():
        return int(dict(line.split() for line in calls.read_text().splitlines())["cuGraphLaunch"])

    wanted = run(STEPS, 1, *WAITS)
    for seed in (1, 2):
        if run(STEPS, seed) != wanted:
            sys.exit(f"{case}: a fit that runs ahead gives other results in order {seed}")
    if processes == 1:
        fewer = graphs()
        run(STEPS + MORE, 2)
        if graphs() - fewer != 2 * gpus * MORE:
            sys.exit(f"{case}: {MORE} steps launch {graphs() - fewer} graphs, {2 * gpus * MORE} are expected")
    print(f"{case}: the same results")


def main():
    weft, fake, fixture, folder, *cases = sys.argv[1:]
    fixture, folder = pathlib.Path(fixture), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        kind, devices, *most = case.split(":")
        if kind in ("nccl", "exact"):
            check_nccl(weft, fake, fixture, folder, kind, int(devices), *map(int, most))
            continue
        if most:
            check_calls(weft, fake, fixture, folder, f"{kind}:{devices}", int(most[0]))
            continue
        # A GPU for each device.
        environment = {"LD_LIBRARY_PATH": fake, "FAKE_CUDA_GPUS": devices} if kind == "cuda" else {}
        if fit(weft, fixture, folder, case, STEPS, [], environment) != fit(weft, fixture, folder, case, STEPS, WAITS, environment):
            sys.exit(f"{case}: a fit that runs ahead gives other results")
        print(f"{case}: the same results")


if __name__ == "__main__":
    main()
