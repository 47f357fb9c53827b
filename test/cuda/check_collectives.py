"""Compares programs on several GPUs of the fake driver with the same devices on one GPU: with --collectives peer and exact the results
have the same bits; with nccl they are within rounding. The bytes that collectives count are equal.

    python check_collectives.py WEFT FAKE_FOLDER OUT_FOLDER [NAME ...]      of gpu_programs.py; else those with a mesh that are not large

A program runs on each number of GPUs, in one of the ways and with graphs or without, so that three programs cover all pairs. Runs
repeat, so that graphs are launched, but those whose sums NCCL adds: rounding grows. With three seeds of the work's order, and one of
NCCL's sums, the bits are equal.
"""

import json
import os
import pathlib
import subprocess
import sys

import gpu_programs
import npz_values

GPUS, WAYS = [1, 2, 4, 8], ["nccl", "peer", "exact"]
TOLERANCE = 4e-5  # of the largest value; see check_run.py


def run(weft, fake, program, folder, repeat, *, gpus=1, way=None, graphs="on", seed=1):
    """Runs a program on cuda:8; returns its results, the counts of its collectives, and the groups of calls of NCCL."""
    log = folder / "nccl.log"
    log.unlink(missing_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": fake, "FAKE_CUDA_SEED": str(seed), "FAKE_CUDA_GPUS": str(gpus), "FAKE_NCCL_SEED": "5",
                   "FAKE_NCCL_LOG": str(log)}
    subprocess.run([weft, "run", program, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--devices", "cuda:8",
                    "--repeat", str(repeat), "--graphs", graphs, "--stats", folder / "stats.json",
                    *(["--collectives", way] if way else [])], check=True, env=environment, stdout=subprocess.DEVNULL)
    moved = json.loads((folder / "stats.json").read_text())["collectives"]
    results = {name: values for name, (_, values) in npz_values.read(folder / "out.npz").items()}
    return results, moved, log.read_text().splitlines() if log.exists() else []


def compare(text, found, wanted, is_exact):
    """Returns the worst difference; ends the test with one that is too large."""
    if is_exact and found != wanted:
        sys.exit(f"{text}: other bits than on one GPU")
    worst = 0
    for result, values in found.items():
        difference = npz_values.worst_difference(values, wanted[result], 1e-3)
        worst = max(worst, difference)
        if not difference <= TOLERANCE:
            sys.exit(f"{text}: {result} differs by {difference:.2e} of the largest value")
    return worst


def check(weft, fake, name, source, folder, number):
    """Returns the worst difference and the number of groups of calls of the n-th program, nothing if no data moves."""
    program = folder / "cuda.weft"
    subprocess.run([weft, "compile", source, "--devices", "cuda:8", "-o", program], check=True)
    npz_values.write(folder / "in.npz", gpu_programs.inputs(source, gpu_programs.listing(weft, program)))
    once, moved, _ = run(weft, fake, program, folder, 1, graphs="off")
    if not moved:
        return None
    often, moved_often, _ = run(weft, fake, program, folder, 3, graphs="off", seed=2)
    worst, groups = 0, 0
    for n, gpus in enumerate(GPUS):
        way, graphs = WAYS[(n + number) % 3], ["on", "off"][(n + number) % 2]
        is_exact = way != "nccl" or gpus == 1
        first = None
        for seed in [1 + (n + number) % 3] if is_exact else range(1, 4):
            found, counts, calls = run(weft, fake, program, folder, 3 if is_exact else 1, gpus=gpus, way=way, graphs=graphs, seed=seed)
            groups += len(calls)
            text = f"{name} on {gpus} GPUs with --collectives {way} --graphs {graphs}, order {seed}"
            if counts != (moved_often if is_exact else moved):
                sys.exit(f"{text}: collectives moved {counts}, on one GPU {moved}")
            if found != (first := first or found):
                sys.exit(f"{text}: other bits than in order 1")
            if (way == "peer" or gpus == 1) and calls:
                sys.exit(f"{text}: NCCL is called")
            worst = max(worst, compare(text, found, often if is_exact else once, is_exact))
    return worst, groups


def main():
    weft, fake, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    programs = gpu_programs.programs()
    names = names or [name for name in programs if name not in gpu_programs.LARGE and programs[name].parent == gpu_programs.STABLEHLO]
    results = {}
    for name in names:
        if result := check(weft, fake, name, programs[name], folder, len(results)):
            results[name] = result
    print(f"{len(results)} programs agree; worst {max(worst for worst, _ in results.values()):.1e}; "
          f"{sum(groups for _, groups in results.values())} groups of calls")


if __name__ == "__main__":
    main()
