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
import pathlib
import re
import tempfile
import time

import keras_cases
import two_platforms

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


def figures(args, case):
    found = two_platforms.in_turn(
        args.rounds, lambda platform: two_platforms.figures(args, platform, DEVICES, ["--child", case, "--steps", args.steps]))
    medians = {platform: two_platforms.medians(runs) for platform, runs in found.items()}
    # Weft's bytes in a run of their own, as explaining may cost time.
    with tempfile.TemporaryDirectory() as folder:
        reports = str(pathlib.Path(folder, "reports"))
        words = ["--child", case, "--steps", 1, "--reports", reports]
        medians["weft"]["bytes"] = two_platforms.figures(args, "weft", DEVICES, words, WEFT_EXPLAIN=reports)["bytes"]
    return medians


def main():
    parser = two_platforms.arguments(__doc__, rounds=3, steps=20)
    parser.add_argument("--cases", nargs="+", choices=keras_cases.CASES, default=keras_cases.CASES)
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
