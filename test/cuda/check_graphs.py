"""Compares runs whose instructions are CUDA graphs with runs that launch them one by one, on the fake driver: the same bits for
each order of a graph's nodes, no finding, and few calls of the driver in a run.

    python check_graphs.py WEFT FAKE_FOLDER OUT_FOLDER PROGRAM:DEVICES:CALLS[:GPUS:WAY] ...

CALLS: the most calls that one more run with known ports may take, without those that set the current context, or ask whether
GPUs are done. On several GPUs, collectives take this way.
"""

import os
import pathlib
import subprocess
import sys

import gpu_programs
import npz_values

SEEDS = range(1, 6)
FREE = {"cuCtxSetCurrent", "cuCtxGetCurrent", "cuStreamQuery"}


def run(weft, fake, program, folder, gpus, seed, repeat, *flags):
    """Returns the results, and how often each function of the driver was called."""
    calls = folder / "calls.txt"
    environment = {**os.environ, "LD_LIBRARY_PATH": fake, "FAKE_CUDA_SEED": str(seed), "FAKE_CUDA_GPUS": str(gpus), "FAKE_CUDA_CALLS": str(calls)}
    subprocess.run([weft, "run", program, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--repeat", str(repeat),
                    *flags], check=True, env=environment)
    counts = dict(line.split() for line in calls.read_text().splitlines())
    return npz_values.read(folder / "out.npz"), {name: int(count) for name, count in counts.items()}


def more(fewer, many, runs):
    """The calls of a run, from those of two numbers of runs."""
    return {name: (count - fewer.get(name, 0)) / runs for name, count in many.items()
            if name not in FREE and count != fewer.get(name, 0)}


def check(weft, fake, folder, name, devices, most, gpus, *ways):
    source = gpu_programs.programs()[name]
    program = folder / f"{name}-{devices}.weft"
    subprocess.run([weft, "compile", source, "--devices", f"cuda:{devices}", "--target", "cuda:sm_80", "-o", program], check=True)
    npz_values.write(folder / "in.npz", gpu_programs.inputs(source, gpu_programs.listing(weft, program)))
    flags = [word for way in ways for word in ("--collectives", way)]
    wanted, _ = run(weft, fake, program, folder, gpus, 1, 3, "--graphs", "off", *flags)
    for seed in SEEDS:
        found, three = run(weft, fake, program, folder, gpus, seed, 3, *flags)
        if found != wanted:
            sys.exit(f"{name} on cuda:{devices}, {gpus} GPUs: graphs in order {seed} give other bits")
    _, five = run(weft, fake, program, folder, gpus, SEEDS[-1], 5, *flags)
    calls = more(three, five, 2)
    if not calls.get("cuGraphLaunch") or sum(calls.values()) > most:
        sys.exit(f"{name} on cuda:{devices}, {gpus} GPUs: a run takes {calls}, at most {most} are expected, some of them cuGraphLaunch")
    return sum(calls.values()), calls["cuGraphLaunch"]


def main():
    weft, fake, folder, *programs = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for program in programs:
        name, devices, most, gpus, *way = (program if program.count(":") > 2 else program + ":1").split(":")
        calls, graphs = check(weft, fake, folder, name, devices, int(most), int(gpus), *way)
        print(f"{name} on cuda:{devices}: {calls:g} calls a run" + (f", {graphs:g} graphs on {gpus} GPUs" if gpus != "1" else ""))


if __name__ == "__main__":
    main()
