"""Compares runs whose instructions are CUDA graphs with runs that launch them one by one, on the fake driver: the same bits for
each order of a graph's nodes, no finding, and few calls of the driver in a run.

    python check_graphs.py WEFT FAKE_FOLDER OUT_FOLDER PROGRAM:DEVICES:CALLS ...

CALLS: the most calls that one more run with known ports may take, without those that set the current context.
"""

import os
import pathlib
import subprocess
import sys

import gpu_programs
import npz_values

SEEDS = range(1, 6)
FREE = {"cuCtxSetCurrent", "cuCtxGetCurrent"}


def run(weft, fake, program, folder, seed, repeat, *flags):
    """Returns the results, and how often each function of the driver was called."""
    calls = folder / "calls.txt"
    environment = {**os.environ, "LD_LIBRARY_PATH": fake, "FAKE_CUDA_SEED": str(seed), "FAKE_CUDA_CALLS": str(calls)}
    subprocess.run([weft, "run", program, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--repeat", str(repeat),
                    *flags], check=True, env=environment)
    counts = dict(line.split() for line in calls.read_text().splitlines())
    return npz_values.read(folder / "out.npz"), {name: int(count) for name, count in counts.items()}


def more(fewer, many, runs):
    """The calls of a run, from those of two numbers of runs."""
    return {name: (count - fewer.get(name, 0)) / runs for name, count in many.items()
            if name not in FREE and count != fewer.get(name, 0)}


def check(weft, fake, folder, name, devices, most):
    source = gpu_programs.programs()[name]
    program = folder / f"{name}-{devices}.weft"
    subprocess.run([weft, "compile", source, "--devices", f"cuda:{devices}", "--target", "cuda:sm_80", "-o", program], check=True)
    npz_values.write(folder / "in.npz", gpu_programs.inputs(source, gpu_programs.listing(weft, program)))
    wanted, _ = run(weft, fake, program, folder, 1, 3, "--graphs", "off")
    for seed in SEEDS:
        found, three = run(weft, fake, program, folder, seed, 3)
        if found != wanted:
            sys.exit(f"{name} on cuda:{devices}: graphs in order {seed} give other bits")
    _, five = run(weft, fake, program, folder, SEEDS[-1], 5)
    calls = more(three, five, 2)
    if not calls.get("cuGraphLaunch") or sum(calls.values()) > most:
        sys.exit(f"{name} on cuda:{devices}: a run takes {calls}, at most {most} are expected, one of them cuGraphLaunch")
    return sum(calls.values())


def main():
    weft, fake, folder, *programs = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for program in programs:
        name, devices, most = program.split(":")
        print(f"{name} on cuda:{devices}: {check(weft, fake, folder, name, devices, int(most)):g} calls a run")


if __name__ == "__main__":
    main()
