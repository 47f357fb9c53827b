#!/usr/bin/env python3
"""Forms of parallelism as Keras layouts, on JAX's own eight CPU devices and on Weft: the bytes that a device sends in a step.

    python3 bench/parallelism.py --python VENV/bin/python --library build/lib/libWeftPjrt.so [ROW ...]

VENV holds bench/requirements.txt; the rows are those of examples/parallelism/keras. Weft's bytes are those that its
runtime counts while a step runs, XLA's are read from its HLO (bench/hlo_traffic.py); memory is that of Weft's fullest
device. Ends with 1 where Weft is over a row's budget, sends more than XLA or computes something else.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = 8
# Prints the values that differ by more than rounding.
COMPARE = """import sys, numpy as np
a, b = map(np.load, sys.argv[1:])
for name in sorted({*a, *b}):
    if not np.allclose(a[name], b[name], rtol=1e-4, atol=1e-5 * max(1, np.abs(b[name]).max())):
        print(name)
"""


def start(args, platform, folder):
    environment = dict(os.environ, JAX_PLATFORMS=platform, KERAS_BACKEND="jax", XDG_CACHE_HOME=str(folder / "cache"),
                       WEFT_DEVICES=f"cpu:{DEVICES}", WEFT_EXPLAIN=str(folder / "reports"),
                       XLA_FLAGS=f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={DEVICES}")
    if platform == "weft":
        environment.update(WEFT_PJRT_LIBRARY=os.path.abspath(args.library),
                           PYTHONPATH=str(ROOT / "tools" / "pjrt" / "python"))
    command = [args.python, ROOT / "examples/parallelism/keras/run.py", *args.rows, "--json",
               "--values", folder / f"{platform}.npz"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=open(folder / platform, "w"), text=True)


def finish(platform, child, folder):
    """The report of run.py for each row. run.py ends with 1 if a budget is exceeded, which is no failure
    here."""
    out = child.communicate()[0]
    lines = out.splitlines()
    if not lines or not lines[-1].startswith("{"):
        sys.exit(f"{platform}: exit {child.returncode}\n{out}{(folder / platform).read_text()[-4000:]}")
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with JAX and Keras")
    parser.add_argument("--library", default="build/lib/libWeftPjrt.so")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        children = {platform: start(args, platform, folder) for platform in ("cpu", "weft")}
        found = {platform: finish(platform, child, folder) for platform, child in children.items()}
        wrong = subprocess.run([args.python, "-c", COMPARE, folder / "weft.npz", folder / "cpu.npz"],
                               capture_output=True, text=True, check=True).stdout
    print("| row | XLA | Weft | formula | memory, Weft |\n|---|---|---|---|---|")
    failures = [f"{value} differs from XLA's" for value in wrong.split()]
    for row, weft in found["weft"].items():
        xla = found["cpu"][row]
        print(f"| {row} | {sent(xla)} | {sent(weft)} | {weft['formula']} | {weft['memory']:,} |")
        failures += [f"{row}: {limit}" for limit in weft["failed"]]
        if weft["bytes"] > xla["bytes"]:
            failures.append(f"{row}: {weft['bytes']} bytes, XLA sends {xla['bytes']}")
    print("\n".join(failures or [f"{len(found['weft'])} rows keep their budgets and give XLA's values"]))
    sys.exit(bool(failures))


def sent(found):
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(found["kinds"].items()))
    return f"{found['bytes']:,}: {kinds}"


if __name__ == "__main__":
    main()
