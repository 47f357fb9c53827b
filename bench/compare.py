"""Weft next to Keras on JAX: the same model, data and steps, one after the other in one run.

    python3 bench/compare.py --peer-python VENV/bin/python [--rounds 3] [--cases mlp-1 mlp-dp mlp-mp]

VENV holds bench/requirements.txt. Each round runs, for each case, the peer (bench/keras_jax.py), `weft fit` with an
empty kernel cache, `weft fit` with a filled one, and `weft run` of the compiled step; figures are medians over the
rounds. Only ratios of one run are meaningful, as machines differ, and a virtual one varies over time. `--json`
prints the figures for programs.

  fit step    the time of a step of fit, the batch and the metrics included
  bare step   the compiled step alone, data already on the devices
  start       start of the process to the end of the first step, kernels compiled or cached
  memory      peak resident set: of fit with an empty cache, and of `weft run`
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MLP = ROOT / "bench" / "mlp"
CASES = {
    "mlp-1": [],
    "mlp-dp": ["--data-parallel", "--devices", "cpu:8"],
    "mlp-mp": ["--distribution", str(MLP / "distribution-mp.json")],
}
# figure: (unit, the peer's key, ours, the ratio asked of mlp-1, mlp-dp, mlp-mp)
FIGURES = {
    "fit step": ("ms", "fit_step_ms", "fit_step_ms", (None, 5, 4)),
    "bare step": ("ms", "bare_step_ms", "bare_step_ms", (1.5, 4, 3)),
    "start, compiled": ("s", "cold_start_s", "cold_start_s", (5, 5, 5)),
    "start, cached": ("s", "cold_start_s", "cached_start_s", (10, 10, 10)),
    "memory, fit": ("MiB", "peak_rss_mib", "fit_rss_mib", (3, 3, 3)),
    "memory, run": ("MiB", "peak_rss_mib", "run_rss_mib", (8, 8, 8)),
}


def run(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def peer(python, case, epochs):
    output = run([python, ROOT / "bench" / "keras_jax.py", "--case", case, "--epochs", epochs])
    return json.loads(output.splitlines()[-1])


def fit(weft, case, folder, cache, epochs):
    stats = folder / "stats.json"
    run([weft, "fit", MLP / "model.json", *CASES[case], "--data",
         ROOT / "examples" / "data" / "mnist24k.npz", "--divide-by", "255", "--batch-size", "128",
         "--epochs", epochs, "--seed", "1234", "--stats", stats],
        {**os.environ, "XDG_CACHE_HOME": str(cache)})
    return json.loads(stats.read_text())


def bare(weft, python, case, folder, cache, steps):
    """The compiled step by `weft run`, on a batch of MNIST and freshly drawn weights."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    program, weights, inputs = (folder / name for name in ("step.weft", "w.npz", "in.npz"))
    run([weft, "compile", MLP / "model.json", *CASES[case], "--batch-size", "128", "--step",
         "train", "-o", program], environment)
    run([weft, "fit", MLP / "model.json", *CASES[case], "--batch-size", "128", "--seed", "1234",
         "--init-only", "--save-weights", weights], environment)
    run([python, "-c", f"""
import numpy as np
data = np.load({str(ROOT / "examples/data/mnist24k.npz")!r})
np.savez({str(inputs)!r}, **np.load({str(weights)!r}),
         x=(data["x_train"][:128] / 255).astype("float32"), y=data["y_train"][:128].astype("int32"))
"""])
    stats = folder / "run.json"
    run([weft, "run", program, "--inputs", inputs, "--outputs", folder / "out.npz", "--repeat",
         steps, "--stats", stats])
    return json.loads(stats.read_text())


def measure(args, case):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cache = folder / "cache"
        theirs = peer(args.peer_python, case, args.epochs)
        cold = fit(args.weft, case, folder, cache, args.epochs)
        cached = fit(args.weft, case, folder, cache, args.epochs)
        alone = bare(args.weft, args.peer_python, case, folder, cache, "300")
    ours = {
        "fit_step_ms": cached["step_ms"]["median"],
        "bare_step_ms": alone["step_ms"]["median"],
        "cold_start_s": cold["startup_ms"] / 1e3,
        "cached_start_s": cached["startup_ms"] / 1e3,
        "fit_rss_mib": cold["peak_rss_bytes"] / 2**20,
        "run_rss_mib": alone["peak_rss_bytes"] / 2**20,
    }
    return theirs, ours


def medians(rounds):
    numbers = [key for key, value in rounds[0].items() if isinstance(value, float)]
    return {key: statistics.median(figures[key] for figures in rounds) for key in numbers}


def table(case, theirs, ours):
    print(f"{case:17} {'Keras on JAX':>14} {'Weft':>12} {'ratio':>8}   asked")
    for figure, (unit, their_key, our_key, asked) in FIGURES.items():
        a, b = theirs[their_key], ours[our_key]
        goal = asked[list(CASES).index(case)]
        print(f"  {figure:15} {a:10.3g} {unit:3} {b:8.3g} {unit:3} {a / b:7.1f}x   "
              + (f"{goal}x" if goal else "-"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", required=True, help="a Python with Keras and JAX")
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", default="3")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = {case: [] for case in args.cases}
    for _ in range(args.rounds):
        for case in args.cases:
            results[case].append(measure(args, case))
    figures = {case: [medians(side) for side in zip(*rounds)] for case, rounds in results.items()}
    if args.json:
        print(json.dumps({case: {"peer": a, "weft": b} for case, (a, b) in figures.items()}))
        return
    for case, (theirs, ours) in figures.items():
        table(case, theirs, ours)


if __name__ == "__main__":
    main()
