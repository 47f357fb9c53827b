#!/usr/bin/env python3
"""The same Keras scripts on JAX's CPU devices and on Weft, in one run: bytes moved, compile time, step time.

    python3 bench/side_by_side.py --python VENV/bin/python --library build/lib/libWeftPjrt.so
        [--cases mlp-dp mlp-mp cnn-dp gpt-dp gpt-tp gpt-fsdp] [--rounds 3] [--steps 20] [--json]

VENV holds bench/requirements.txt; the models are those of bench/keras_cases.py, on eight devices. The
platforms take turns, a process a measurement; cells are medians over the rounds.

  bytes      a device sends in a step; XLA's from the text of the compiled program by the ring formula,
             Weft's as the runtime counts them (with WEFT_EXPLAIN)
  compile    time of trace and lowering, which are JAX's, and of the platform's compiler, s; nothing cached
  step       a call of the compiled train step on data that lie on the devices, ms
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import keras_cases

DEVICES = 8


def counted_bytes(folder):
    """The bytes that Weft's runtime counted in a run of the train step."""
    reports = [path.read_text() for path in sorted(pathlib.Path(folder).glob("*-jit_step.txt"))]
    found = re.search(r"each device moved ([\d,]+) bytes", reports[-1])
    return int(found[1].replace(",", ""))


def measure(case, steps, reports):
    """Measures in a process of its own."""
    import hlo_traffic

    model = keras_cases.compiled_model(case, DEVICES)
    batches = [keras_cases.on_devices(batch) for batch in keras_cases.batches(case, min(steps + 1, 8))]
    jitted, variables, metrics = keras_cases.train_step(model)
    begin = time.perf_counter()
    lowered = jitted.lower(variables, metrics, batches[0])
    middle = time.perf_counter()
    compiled = lowered.compile()
    end = time.perf_counter()
    step, loss = keras_cases.median_step_ms(compiled, variables, metrics, batches, steps)
    if reports:
        moved = counted_bytes(reports)
    else:
        found = hlo_traffic.collectives(compiled.as_text(), DEVICES)
        moved = sum(entry["bytes"] for entry in found.values())
    return {"bytes": moved, "trace and lower": middle - begin, "compile": end - middle,
            "step": step, "loss": loss}


def child(args, case, platform, steps, explained=False):
    """One measurement; Weft's bytes in a run of their own, as explaining may cost time."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, JAX_PLATFORMS=platform, KERAS_BACKEND="jax", XDG_CACHE_HOME=folder,
                           WEFT_DEVICES=f"cpu:{DEVICES}",
                           XLA_FLAGS=f"--xla_force_host_platform_device_count={DEVICES}")
        here = pathlib.Path(__file__).resolve()
        if platform == "weft":
            environment.update(WEFT_PJRT_LIBRARY=os.path.abspath(args.library),
                               PYTHONPATH=str(here.parent.parent / "tools" / "pjrt" / "python"))
        command = [args.python, here, "--child", case, "--steps", str(steps)]
        if explained:
            environment["WEFT_EXPLAIN"] = os.path.join(folder, "reports")
            command += ["--reports", environment["WEFT_EXPLAIN"]]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        sys.exit(f"{case} on {platform}: exit {done.returncode}\n{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def figures(args, case):
    rounds = {"cpu": [], "weft": []}
    for _ in range(args.rounds):
        for platform, found in rounds.items():
            found.append(child(args, case, platform, args.steps))
    medians = {platform: {name: statistics.median(one[name] for one in found) for name in found[0]}
               for platform, found in rounds.items()}
    medians["weft"]["bytes"] = child(args, case, "weft", 1, explained=True)["bytes"]
    return medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with JAX and Keras")
    parser.add_argument("--library", default="build/lib/libWeftPjrt.so")
    parser.add_argument("--cases", nargs="+", choices=keras_cases.CASES, default=keras_cases.CASES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20, help="timed steps")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--reports", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure(args.child, args.steps, args.reports)))
        return
    if not args.json:
        print("| case | bytes, XLA | Weft | compile s, XLA | Weft | step ms, XLA | Weft | ratio |")
        print("|---|---|---|---|---|---|---|---|")
    found = {}
    for case in args.cases:
        found[case] = both = figures(args, case)
        xla, weft = both["cpu"], both["weft"]
        if not args.json:
            print(f"| {case} | {xla['bytes']:,} | {weft['bytes']:,} | {xla['compile']:.2f} | {weft['compile']:.2f} "
                  f"| {xla['step']:.3g} | {weft['step']:.3g} | {xla['step'] / weft['step']:.2f}x |", flush=True)
    if args.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
