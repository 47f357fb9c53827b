"""Runs a script on Weft's devices and on JAX's CPU devices, seeded alike, and compares the figures it prints.

    same_figures.py [--devices N] [--recorded FILE [--record]] SCRIPT ARGUMENTS

Figures are the decimal numbers after "loss:" and "accuracy:" and those in a last line of JSON. With
--recorded those of JAX's CPU devices are read from FILE, which --record writes; without it both run.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

FIGURE = re.compile(r"(?:loss|accuracy)\s*[:=]\s*(-?\d+\.\d+(?:[eE][-+]?\d+)?)")
# JAX's CPU devices are found as gpu, too: see WEFT_ALIAS.
SEEDED = """import runpy, sys
if sys.argv[1] == "cpu":
    from jax._src import xla_bridge
    xla_bridge._alias_to_platforms["gpu"].insert(0, "cpu")
import keras
keras.utils.set_random_seed(7)
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(numbers, value), []) if isinstance(value, list) else [float(value)]


def figures(text):
    """The figures of an output; only the last drawing of Keras' progress bar counts."""
    lines = [re.split(r"[\r\b]+", line.rstrip("\r\b"))[-1] for line in text.split("\n") if line.strip()]
    found = [float(figure) for line in lines for figure in FIGURE.findall(line)]
    return found + (numbers(json.loads(lines[-1])) if lines and lines[-1].startswith("{") else [])


def run(command, platform, **environment):
    done = subprocess.run([sys.executable, "-c", SEEDED, platform, *command], capture_output=True, check=False,
                          env={**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": platform, **environment})
    out = done.stdout.decode()  # text=True would turn the carriage returns of the bar into line ends
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}\n{out[-2000:]}{done.stderr.decode()[-4000:]}")
    return figures(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--recorded", type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.recorded and not options.record:
        expected = json.loads(options.recorded.read_text())
    else:
        expected = run(options.command, "cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={options.devices}")
    if options.record:
        options.recorded.write_text(json.dumps(expected) + "\n")
        return
    found = run(options.command, "weft", WEFT_DEVICES=f"cpu:{options.devices}", WEFT_ALIAS="gpu")
    print("JAX ", expected, "\nWeft", found)
    if not expected or len(found) != len(expected):
        sys.exit(f"Weft printed {len(found)} figures, JAX {len(expected)}")
    for a, b in zip(found, expected):
        if not abs(a - b) <= options.tolerance * max(1, abs(b)):
            sys.exit(f"Weft has {a}, JAX {b}")
    print(f"{len(found)} figures agree")


if __name__ == "__main__":
    main()
