#!/usr/bin/env python3
"""Exposed communication of a train step on processes over a slow network, with communication under compute and without.

    python3 bench/overlap.py --python VENV/bin/python [--cases mlp-dp ...] [--processes 2] [--bandwidth 2e8] [--latency 1e-4]
        [--rounds 3] [--steps 5] [--json]

VENV holds bench/requirements.txt; models and layouts are those of bench/keras_cases.py on four devices. The network is
build/lib/slow-mpi (`ninja -C build WeftSlowMpi`), whose messages of collectives take a stated time in which no core computes for them. A step over it,
less a step whose messages take no such time, is communication that is exposed. The three take turns; cells are
the least median of the rounds.

  none      step over links that take no time, ms
  off, on   what a step takes more over the slow network with --overlap off and on, ms
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "exec"), str(ROOT / "bench")]
DEVICES = 4
CASES = ["mlp-dp", "cnn-dp", "gpt-dp", "gpt-tp", "gpt-fsdp"]


def write_model(case, folder):
    """Writes, in a process of its own, model.json and distribution.json."""
    os.environ["KERAS_BACKEND"] = "jax"
    import keras_cases

    model = keras_cases.compiled_model(case.split("-")[0] + "-1", 1)
    (folder / "model.json").write_text(model.to_json())
    (folder / "distribution.json").write_text(json.dumps(keras_cases.distribution_file(case, DEVICES)))


def step(program, args, slow):
    """Median milliseconds of a step."""
    import check_processes

    stats = program.scratch / "stats.json"
    network = {"WEFT_SLOW_LATENCY": args.latency, "WEFT_SLOW_BANDWIDTH": args.bandwidth} if slow else {}
    environment = {**os.environ, "LD_LIBRARY_PATH": str(ROOT / "build" / "lib" / "slow-mpi"), **{k: str(v) for k, v in network.items()}}
    command = check_processes.mpirun(args.processes, *program.command(program.scratch / "out.npz", "--stats", stats, "--repeat", args.steps),
                                     flags=[word for name in ("LD_LIBRARY_PATH", *network) for word in ("-x", name)])
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr[-2000:]}")
    return json.loads(stats.read_text())["execute_ms"]["median"]


def measure(case, args, folder):
    import check_processes
    import keras_cases

    family = case.split("-")[0]
    subprocess.run([args.python, __file__, "--write", case, str(folder)], check=True, capture_output=True)
    layout = ["--distribution", folder / "distribution.json"]
    training = ["--optimizer", "adam", "--loss", '{"class_name": "SparseCategoricalCrossentropy", "config": {"from_logits": true}}']
    programs = {overlap: check_processes.Program(args.weft, folder, f"{case}-{overlap}", folder / "model.json", *layout, *training,
                                                 "--batch-size", keras_cases.BATCH[family], "--seed", 1, "--overlap", overlap)
                for overlap in ("off", "on")}
    times = {"none": [], "off": [], "on": []}
    for _ in range(args.rounds):
        times["none"].append(step(programs["off"], args, slow=False))
        for overlap in ("off", "on"):
            times[overlap].append(step(programs[overlap], args, slow=True))
    none, off, on = (min(times[name]) for name in ("none", "off", "on"))
    return {"case": case, "none": none, "off": off - none, "on": on - none}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--cases", nargs="+", default=CASES)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--bandwidth", type=float, default=2e8)
    parser.add_argument("--latency", type=float, default=1e-4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.write:
        return write_model(args.write[0], pathlib.Path(args.write[1]))
    for case in args.cases:
        with tempfile.TemporaryDirectory() as scratch:
            row = measure(case, args, pathlib.Path(scratch))
        if args.json:
            print(json.dumps(row), flush=True)
        else:
            print(f"{case:9} none {row['none']:8.1f} ms   exposed off {row['off']:8.1f} ms   on {row['on']:8.1f} ms", flush=True)


if __name__ == "__main__":
    main()
