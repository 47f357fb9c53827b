#!/usr/bin/env python3
"""Train steps of models of a real size on XLA's CPU and on Weft, in one run: compile, first step, step, memory, losses.

    python3 bench/models.py --python VENV/bin/python --library build/lib/libWeftPjrt.so
        [--cases NAME...] [--devices 8] [--steps 4] [--rounds 1] [--one] [--avx2] [--json FILE]

VENV holds bench/requirements.txt; the models are those of bench/model_cases.py, trained with Adam under
keras.distribution.DataParallel. NAME may have wildcards; without it all run but "smoke", which tests this driver. The platforms
take turns, a process a measurement; cells are medians over the rounds.

  compile    lowered.compile() with empty caches, s
  first      the first step, s
  step       the median of the steps after the first, ms
  MiB        the highest resident memory above that of a process that has only imported Keras, JAX and the plugin
  losses     the largest relative difference of a loss of the steps between XLA and Weft; with --one also that
             between XLA on all devices and XLA on one, "1:"

A ratio is XLA's figure over Weft's. With --avx2 both are limited to AVX2 (avx2.py). Each case's figures are added to FILE as a
line of JSON when they are there.
"""

import argparse
import fnmatch
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import avx2
import two_platforms

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = (("compile", "compile s", 1), ("first", "first s", 1), ("step", "step ms", 1e3), ("memory", "MiB", 1))


def resident_mib(key):
    """VmRSS or VmHWM (the highest so far) of this process."""
    return int(re.search(rf"{key}:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1]) / 1024


def say(name, text):
    print(f"{time.strftime('%H:%M:%S')} {name}: {text}", file=sys.stderr, flush=True)


def measure(name, devices, steps):
    """Measures in a process of its own."""
    avx2.limit_libraries()
    import jax
    import keras

    import keras_cases
    import model_cases

    spread = keras.distribution.DataParallel(devices=keras.distribution.list_devices()[:devices])
    imported = resident_mib("VmRSS")
    keras.distribution.set_distribution(spread)
    model = model_cases.compiled_model(name)
    put = [tuple(jax.tree.map(lambda a: jax.device_put(a, spread.get_data_layout(a.shape).backend_layout), part) for part in batch)
           for batch in model_cases.batches(name, steps + 1)]
    jitted, variables, metrics = keras_cases.train_step(model)
    lowered = jitted.lower(variables, metrics, put[0])
    begin = time.perf_counter()
    compiled = lowered.compile()
    times, losses = [time.perf_counter() - begin], []
    del lowered
    for batch in put:
        begin = time.perf_counter()
        logs, variables = compiled(variables, metrics, batch)
        jax.block_until_ready((logs, variables))
        times.append(time.perf_counter() - begin)
        losses.append(float(logs["loss"]))
    return {"compile": times[0], "first": times[1], "step": statistics.median(times[2:]),
            "memory": resident_mib("VmHWM") - imported, "losses": losses}


def child(args, name, platform, devices):
    """The figures of one measurement, or {"failure": what the process said}."""
    with tempfile.TemporaryDirectory() as folder:
        given = avx2.environment(os.environ) if args.avx2 else os.environ
        environment = two_platforms.environment(args, platform, devices, folder, given) | {"TF_CPP_MIN_LOG_LEVEL": "3"}
        command = [args.python, HERE / "models.py", "--child", name, "--devices", str(devices), "--steps", str(args.steps)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=args.timeout)
        except subprocess.TimeoutExpired:
            return {"failure": f"over {args.timeout} s"}
    if done.returncode:
        return {"failure": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1], "stderr": done.stderr[-4000:]}
    return json.loads(done.stdout.splitlines()[-1])


def difference(ours, theirs):
    return max(abs(a - b) / max(abs(b), 1e-30) for a, b in zip(ours, theirs, strict=True))


def figures(args, name):
    """Medians of a case on both platforms, or what failed."""
    rounds = {"cpu": [], "weft": []}
    for index in range(args.rounds):
        for platform, found in rounds.items():
            say(name, f"round {index + 1} of {args.rounds}, {'XLA' if platform == 'cpu' else 'Weft'}")
            found.append(child(args, name, platform, args.devices))
            if "failure" in found[-1]:
                return {"case": name, "platform": platform, **found[-1]}
    row = {"case": name}
    for platform, label in (("cpu", "xla"), ("weft", "weft")):
        row[label] = two_platforms.medians(rounds[platform], [key for key, *_ in COLUMNS])
        row[label]["losses"] = rounds[platform][0]["losses"]
    row["difference"] = difference(row["weft"]["losses"], row["xla"]["losses"])
    if args.one:
        say(name, "XLA on one device")
        one = child(args, name, "cpu", 1)
        row["one"] = difference(row["xla"]["losses"], one["losses"]) if "losses" in one else None
    return row


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def printed(row):
    if "failure" in row:
        return f"| {row['case']} | {row['platform']}: {row['failure'][:100]} |"
    cells = []
    for key, _, scale in COLUMNS:
        xla, weft = (row[label][key] * scale for label in ("xla", "weft"))
        cells.append(f"{short(xla)}/{short(weft)} {xla / weft:.2f}")
    losses = f"{row['difference']:.0e}" + (f", 1: {row['one']:.0e}" if row.get("one") is not None else "")
    return f"| {row['case']} | {' | '.join(cells)} | {losses} |"


def print_means(rows):
    rows = [row for row in rows if "xla" in row]
    if not rows:
        return
    cells = []
    for key, *_ in COLUMNS:
        ratios = [row["xla"][key] / row["weft"][key] for row in rows]
        cells.append(f"{math.exp(statistics.fmean(map(math.log, ratios))):.2f}, least {min(ratios):.2f}")
    print(f"| geometric mean | {' | '.join(cells)} | |")


def main():
    parser = two_platforms.arguments(__doc__, rounds=1)
    parser.add_argument("--cases", nargs="+", metavar="NAME")
    parser.add_argument("--devices", type=int, default=8, help="virtual devices; they divide the batch")
    parser.add_argument("--steps", type=int, default=4, help="steps after the first")
    parser.add_argument("--one", action="store_true", help="compare XLA's losses with those of XLA on one device, too")
    parser.add_argument("--avx2", action="store_true", help="limit both to AVX2")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds of a measurement")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="a file for the figures")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure(args.child, args.devices, args.steps)))
        return
    # The names are read by the interpreter that has Keras.
    listed = subprocess.run([args.python, "-c", "import model_cases; print(*model_cases.CASES)"], capture_output=True, text=True, check=True,
                            env=dict(os.environ, PYTHONPATH=str(HERE), KERAS_BACKEND="jax", JAX_PLATFORMS="cpu"))
    known = listed.stdout.split()
    for form in args.cases or []:
        if not fnmatch.filter(known, form):
            sys.exit(f"no model is called {form}; there are {', '.join(known)}")
    names = [name for name in known if (any(fnmatch.fnmatch(name, form) for form in args.cases) if args.cases else name != "smoke")]
    print("XLA/Weft, and XLA's figure over Weft's\n")
    print(f"| model | {' | '.join(heading for _, heading, _ in COLUMNS)} | losses |\n|{'---|' * (len(COLUMNS) + 2)}", flush=True)
    rows = []
    for name in names:
        rows.append(figures(args, name))
        print(printed(rows[-1]), flush=True)
        if args.json:
            with args.json.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print_means(rows)
    sys.exit(any("failure" in row for row in rows))


if __name__ == "__main__":
    main()
