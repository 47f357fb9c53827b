"""Runs libraries that stand on JAX on Weft's devices and on JAX's CPU devices: their figures must agree.

    pip install flax optax equinox dm-haiku numpyro diffrax
    libraries.py [PROGRAM...]       all of library_programs.py: some minutes

Each program runs in two processes, on eight devices.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

TOLERANCE = 1e-3


def run_here(name, path):
    import jax
    from library_programs import PROGRAMS

    leaves = jax.tree.leaves(PROGRAMS[name]())
    np.savez(path, **{f"{i:03}": np.asarray(leaf) for i, leaf in enumerate(leaves)})


def run(name, platform, path):
    environment = {**os.environ, "JAX_PLATFORMS": platform, "WEFT_DEVICES": "cpu:8",
                   "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--here", path, name], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    return list(np.load(path).values()), f"{time.perf_counter() - begin:.1f}"


def difference(found, expected):
    """The largest difference, relative to the largest value of its array; infinite for another type or shape."""
    if found.dtype != expected.dtype or found.shape != expected.shape or np.any(np.isnan(found) != np.isnan(expected)):
        return np.inf
    scale = max(1e-6, float(np.nanmax(np.abs(expected), initial=0)))
    return float(np.nanmax(np.abs(found.astype(np.float64) - expected), initial=0)) / scale


def compare(name, folder):
    expected, spent = run(name, "cpu", os.path.join(folder, "cpu.npz"))
    found, spent_here = run(name, "weft", os.path.join(folder, "weft.npz"))
    if expected is None or found is None:
        print(f"{name:36} failed: {spent if expected is None else spent_here}", flush=True)
        return False
    worst = max(map(difference, found, expected)) if len(found) == len(expected) else np.inf
    print(f"{name:36} {len(found):3} arrays, differ by {worst:.1e} at most; {spent} s on JAX's CPU, {spent_here} s on Weft", flush=True)
    return worst <= TOLERANCE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        return run_here(options.programs[0], options.here)
    from library_programs import PROGRAMS

    unknown = [name for name in options.programs if name not in PROGRAMS]
    if unknown:
        parser.error(f"no program {unknown[0]}; there are {', '.join(PROGRAMS)}")
    with tempfile.TemporaryDirectory() as folder:
        agree = [compare(name, folder) for name in options.programs or PROGRAMS]
    print(f"{sum(agree)} of {len(agree)} agree to {TOLERANCE:g}")
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
