"""Scripts on JAX's CPU devices and on Weft's plugin, which take turns: what the benches of both share.

    parser = arguments(__doc__, "an interpreter with JAX", rounds=3, calls=20)
    found = in_turn(args.rounds, lambda platform: figures(args, platform, 8, ["--child", case]))
    medians(found["weft"])["step"]

A measurement is a process of its own: the script again with a flag that users do not see, whose last line is JSON.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent


def arguments(doc, python="an interpreter with JAX and Keras", **numbers):
    """The flags --python and --library, and one for each number, with its default."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help=python)
    parser.add_argument("--library", default="build/lib/libWeftPjrt.so")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser


def environment(args, platform, devices, cache, given=os.environ):
    """Of a process with that many devices, whose caches are in the folder `cache`."""
    found = {**given, "JAX_PLATFORMS": platform, "KERAS_BACKEND": "jax", "XDG_CACHE_HOME": str(cache), "WEFT_DEVICES": f"cpu:{devices}",
             "XLA_FLAGS": f"{given.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}".strip()}
    if platform == "weft":
        found |= {"WEFT_PJRT_LIBRARY": os.path.abspath(args.library), "PYTHONPATH": str(BENCH.parent / "tools" / "pjrt" / "python")}
    return found


def run(command, **more):
    """The output of a command in this environment and `more`; ends the bench if it fails."""
    done = subprocess.run([str(word) for word in command], env=os.environ | more, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-4000:]}")
    return done.stdout


def figures(args, platform, devices, words, cache=None, **more):
    """The figures that this script prints in a process with these words; without `cache` nothing is cached before."""
    with tempfile.TemporaryDirectory() as folder:
        said = run([args.python, pathlib.Path(sys.argv[0]).resolve(), *words], **environment(args, platform, devices, cache or folder) | more)
    return json.loads(said.splitlines()[-1])


def in_turn(rounds, measure):
    """The measurements of each platform, a round of both after the other."""
    found = {"cpu": [], "weft": []}
    for _ in range(rounds):
        for platform, runs in found.items():
            runs.append(measure(platform))
    return found


def medians(runs, names=None):
    return {name: statistics.median(one[name] for one in runs) for name in names or runs[0]}
