#!/usr/bin/env python3
"""Start and step of Weft's command line, of Keras on JAX and of Keras on Weft's plugin, in one run.

    python3 bench/native.py --python VENV/bin/python --library build/lib/libWeftPjrt.so
        [--cases cnn-dp gpt-dp gpt-tp gpt-fsdp] [--rounds 3] [--steps 20] [--json]

VENV holds bench/requirements.txt; models and layouts are those of bench/keras_cases.py on eight devices, which
`weft fit` reads as model.json and distribution. The three take turns, a process a measurement; cells are medians over
the rounds. Kernels and programs are in the caches of each, but for the first start of Keras on JAX, which has none.

  start    start of the process to the end of the first step of fit, s
  step     median of a step of fit, the loss read after each, ms
"""

import argparse
import json
import os
import pathlib
import statistics
import tempfile
import time

import numpy as np

import keras_cases
import two_platforms
from two_platforms import run

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = 8
CASES = ["cnn-dp", "gpt-dp", "gpt-tp", "gpt-fsdp"]
SYSTEMS = {"cpu": "Keras on JAX", "weft": "plugin", "native": "native"}


def data(case, steps):
    x, y = (np.concatenate(arrays) for arrays in zip(*keras_cases.batches(case, steps)))
    return x, y


def keras_fit(case, steps):
    """Trains in a process of its own: returns the seconds until the first step is done, and the median of the
    others."""
    import keras

    import keras_jax

    class Clock(keras.callbacks.Callback):
        ends = []

        def on_train_batch_end(self, batch, logs=None):
            float(logs["loss"])
            Clock.ends.append((keras_jax.process_age(), time.perf_counter()))

    model = keras_cases.compiled_model(case, DEVICES)
    x, y = data(case, steps)
    model.fit(x, y, batch_size=keras_cases.BATCH[case.split("-")[0]], shuffle=False, verbose=0, callbacks=[Clock()])
    times = [end[1] for end in Clock.ends]
    return {"start": Clock.ends[0][0], "step": 1e3 * statistics.median(b - a for a, b in zip(times, times[1:])),
            "loss": float(model.history.history["loss"][-1])}


def write_files(case, folder, steps):
    """Writes, in a process of its own, model.json, distribution.json and data.npz for the command line."""
    os.environ["KERAS_BACKEND"] = "jax"
    model = keras_cases.compiled_model(case.split("-")[0] + "-1", 1)
    (folder / "model.json").write_text(model.to_json())
    (folder / "distribution.json").write_text(json.dumps(keras_cases.distribution_file(case, DEVICES)))
    x, y = data(case, steps)
    np.savez(folder / "data.npz", x=x, y=y)


def native_fit(args, case, folder):
    stats, history = folder / "stats.json", folder / "history.json"
    run([args.weft, "fit", folder / "model.json", "--distribution", folder / "distribution.json", "--data", folder / "data.npz",
         "--batch-size", keras_cases.BATCH[case.split("-")[0]], "--no-shuffle", "--seed", 1234, "--verbose", 0, "--stats", stats,
         "--history", history], XDG_CACHE_HOME=str(folder / "native"))
    found = json.loads(stats.read_text())
    return {"start": found["startup_ms"] / 1e3, "step": found["step_ms"]["median"],
            "loss": json.loads(history.read_text())["history"]["loss"][-1]}


def plugin_or_jax(args, case, platform, folder):
    return two_platforms.figures(args, platform, DEVICES, ["--child", case, "--steps", args.steps], folder / platform,
                                 JAX_COMPILATION_CACHE_DIR=str(folder / "jax"), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")


def measure(args, case):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run([args.python, pathlib.Path(__file__).resolve(), "--write", folder, "--child", case, "--steps", args.steps],
            KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")
        def once(system):
            return native_fit(args, case, folder) if system == "native" else plugin_or_jax(args, case, system, folder)

        first = {system: once(system) for system in SYSTEMS}
        rounds = {system: [] for system in SYSTEMS}
        for _ in range(args.rounds):
            for system, found in rounds.items():
                found.append(once(system))
    return {system: {"first start": first[system]["start"], **two_platforms.medians(found)} for system, found in rounds.items()}


def main():
    parser = two_platforms.arguments(__doc__, rounds=3, steps=20)
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--cases", nargs="+", choices=keras_cases.CASES, default=CASES)
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--write", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.write:
        write_files(args.child, args.write, args.steps)
        return
    if args.child:
        print(json.dumps(keras_fit(args.child, args.steps)))
        return
    found = {}
    for case in args.cases:
        found[case] = measure(args, case)
        if not args.json:
            for system, title in SYSTEMS.items():
                one = found[case][system]
                print(f"{case:9} {title:13} first start {one['first start']:6.2f} s, start {one['start']:6.3f} s, step {one['step']:7.2f} ms, "
                      f"loss {one['loss']:.5f}", flush=True)
    if args.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
