"""Times a train step of an MNIST MLP on 8 devices in 1, 2 and 4 processes of this machine.

    python3 bench/processes.py [--weft build/bin/weft] [--rounds 3] [--steps 300]

The programs and inputs are the same, and so are the results, to the bit. On one
machine more processes have no more cores: the figures are the cost of messages between them.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "exec"))
import check_processes  # noqa: E402


def step(program, count, steps):
    """Median milliseconds that the devices take for a step."""
    stats = program.scratch / "stats.json"
    command = program.command(program.scratch / "out.npz", "--stats", stats, "--repeat", str(steps))
    check_processes.succeed(command if count == 1 else check_processes.mpirun(count, *command))
    return json.loads(stats.read_text())["execute_ms"]["median"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    cases = {"mlp-dp": ["--data-parallel", "--devices", "cpu:8"],
             "mlp-mp": ["--distribution", ROOT / "bench" / "mlp" / "distribution-mp.json"]}
    with tempfile.TemporaryDirectory() as scratch:
        for name, flags in cases.items():
            program = check_processes.Program(options.weft, pathlib.Path(scratch), name, ROOT / "bench" / "mlp" / "model.json",
                                              "--batch-size", "128", *flags)
            times = {count: [] for count in (1, 2, 4)}
            for _ in range(options.rounds):
                for count in times:
                    times[count].append(step(program, count, options.steps))
            alone = statistics.median(times[1])
            for count, measured in times.items():
                print(f"{name}: {count} processes {statistics.median(measured):.2f} ms a step, "
                      f"{statistics.median(measured) / alone:.1f}x one process; least {min(measured):.2f} ms", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
