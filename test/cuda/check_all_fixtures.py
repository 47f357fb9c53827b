#!/usr/bin/env python3
"""Trains every fixture on the fake GPU and compares with Keras; too long for each test run.

    python3 test/cuda/check_all_fixtures.py build/bin/weft [--devices cuda:1 cuda:8] [--only NAME ...] [--jobs N]

cuda:1: one device. cuda:8: one of the fixture's distributions on eight devices that share a GPU, the one that shards
data and weights if there is one (mp-2x4). Prints a line for each run, as it ends; the exit status is 1 if a tensor
is out of Keras' tolerance, or the fake driver has a finding. See docs/gpu-testing.md.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "test" / "fixtures"
# The distribution to use: the first of these that a fixture has.
MESHES = [f"distribution-{name}.json" for name in ("mp-2x4", "mp-4x2", "height-2x4", "dp8")]


def distribution(folder, devices):
    """The distribution for check_fixture.py, or None if the fixture has none on eight devices."""
    if devices == "cuda:1":
        return "1"
    return next((folder / name for name in MESHES if (folder / name).exists()), None)


def train(weft, folder, devices):
    """Trains a fixture; returns the line to print and whether all is well."""
    given = distribution(folder, devices)
    if given is None:
        return f"{folder.name:24} {devices}  no distribution over 8 devices", True
    began = time.monotonic()
    result = subprocess.run([sys.executable, ROOT / "test" / "exec" / "check_fixture.py", weft, folder, given, "--devices", devices],
                            text=True, capture_output=True,
                            env=os.environ | {"LD_LIBRARY_PATH": str(pathlib.Path(weft).resolve().parents[1] / "lib" / "fake-cuda")})
    said = (result.stdout + result.stderr).strip()
    return f"{folder.name:24} {devices}  {time.monotonic() - began:6.0f} s  {said}", result.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--devices", nargs="+", default=["cuda:1", "cuda:8"])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these fixtures")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    folders = [path.parent for path in sorted(FIXTURES.glob("*/case.json")) if not options.only or path.parent.name in options.only]
    if missing := set(options.only) - {folder.name for folder in folders}:
        parser.error(f"no fixture is named {', '.join(sorted(missing))}; those of {FIXTURES} that have a case.json can be trained")
    runs = [(folder, devices) for folder in folders for devices in options.devices]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(train, options.weft, *one) for one in runs]):
            line, is_right = done.result()
            bad += not is_right
            print(line, flush=True)
    print(f"{len(runs) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
