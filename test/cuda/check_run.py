"""Compares compiled programs on the fake driver's GPUs with CPUs: `weft run` on cuda:1 with cpu:1, and programs with a mesh of
8 on cuda:8, which share a GPU, with cpu:8.

    python check_run.py WEFT FAKE_FOLDER OUT_FOLDER [NAME ...]      of gpu_programs.py; else all that are not large
"""

import json
import os
import pathlib
import subprocess
import sys

import gpu_programs
import npz_values

SEEDS = range(1, 4)  # each gives another order of the streams' work
TOLERANCE = 2e-6     # of the largest value
# The tolerance of whole train steps, whose sums have another order: two CPU targets are 9e-6 apart, the fake library, which adds up in
# double precision, and the plainest CPU code 2.3e-5.
OF_STEPS = 4e-5


# Targets and devices of a program; the results of the first in each list are the reference for the others.
PLACES = [("cpu:generic", "cpu:1"), ("cuda:sm_80", "cuda:1"), ("cuda:sm_90a", "cuda:1")]
ON_A_MESH = [("cpu:generic", "cpu:8"), ("cuda:sm_80", "cuda:8")]


def run(weft, fake, program, folder, device, seed):
    """Runs a program; returns its results and the counts of its collectives."""
    environment = {**os.environ, "LD_LIBRARY_PATH": fake, "FAKE_CUDA_SEED": str(seed)}
    subprocess.run([weft, "run", program, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                    "--devices", device, "--repeat", "2", "--stats", folder / "stats.json"], check=True, env=environment)
    moved = json.loads((folder / "stats.json").read_text())["collectives"]
    return {name: values for name, (_, values) in npz_values.read(folder / "out.npz").items()}, moved


def check(weft, fake, name, source, folder):
    """Returns the worst difference; ends the test if one is too large, or if orders give different bits."""
    results, moved = {}, {}
    allowed = OF_STEPS if name.startswith("train-step") else TOLERANCE
    # Layouts are chosen by the rates of the target: both targets on a mesh get those that GPUs would have.
    scheduled = folder / "scheduled.mlir"
    if source.parent == gpu_programs.STABLEHLO:
        subprocess.run([weft, "compile", source, "--devices", "cuda:8", "--target", "cuda:sm_80", "--emit", "scheduled", "-o", scheduled], check=True)
    for target, device in PLACES + (ON_A_MESH if source.parent == gpu_programs.STABLEHLO else []):
        program = folder / ((target + "-" + device).replace(":", "-") + ".weft")
        given = [scheduled, "--from", "scheduled"] if (target, device) in ON_A_MESH else [source, "--devices", device]
        subprocess.run([weft, "compile", *given, "--target", target, "-o", program], check=True)
        npz_values.write(folder / "in.npz", gpu_programs.inputs(source, gpu_programs.listing(weft, program)))
        for seed in SEEDS if device.startswith("cuda") else [0]:
            results[target, device, seed], moved[device] = run(weft, fake, program, folder, device, seed)
    worst = 0
    # Train steps are not compared with JAX's figures, from which rounding moves a few results by more; test/stablehlo does that.
    known = {} if name.startswith("train-step") else gpu_programs.figures(source)
    # The least size to compare with: some gradients are only rounding errors.
    least = 1e-3 if name.startswith("train-step") else 0
    for (target, device, seed), found in results.items():
        for wanted in (results["cpu:generic", device.replace("cuda", "cpu"), 0], known):
            for result, values in wanted.items():
                difference = npz_values.worst_difference(found[result], values, least)
                worst = max(worst, difference)
                if not difference <= allowed:
                    sys.exit(f"{name}: {result} on {target}, {device}, order {seed}, differs by {difference:.2e} of the largest value")
        if target.startswith("cuda") and found != results[target, device, SEEDS[0]]:
            sys.exit(f"{name} on {target}, {device}: orders {SEEDS[0]} and {seed} give other bits")
    if moved.get("cuda:8") != moved.get("cpu:8"):
        sys.exit(f"{name}: collectives moved {moved['cuda:8']} on cuda:8, {moved['cpu:8']} on cpu:8")
    return worst


def main():
    weft, fake, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    programs = gpu_programs.programs()
    names = names or [name for name in programs if name not in gpu_programs.LARGE]
    worst = {name: check(weft, fake, name, programs[name], folder) for name in names}
    name = max(worst, key=worst.get)
    print(f"{len(worst)} programs agree, equal bits in {len(SEEDS)} orders; worst {worst[name]:.1e} ({name})")


if __name__ == "__main__":
    main()
