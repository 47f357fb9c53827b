"""Runs every test that waits, kills or limits time again and again beside a load, on two cores.

    beside_load.py [--times 20] [--load 8] [--cores 2] [--filter REGEX]

These tests are the lit files in test/ with a script that imports test/exec/patience.py. Run this by hand, since 20 times take
hours (docs/testing.md). The last line is "N runs, N failed".
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
USES = re.compile(r"^import patience\b", re.M)


def waiting_tests():
    """Files of lit that run a script with patience.py."""
    scripts = {path.name for path in (ROOT / "test").rglob("*.py") if USES.search(path.read_text())}
    for path in sorted((ROOT / "test").rglob("*.test")):
        runs = [line for line in path.read_text().splitlines() if "RUN:" in line]
        if any(pathlib.PurePath(word).name in scripts for line in runs for word in line.split()):
            yield path


def run(lit, path):
    """(whether it passed, seconds, its output)"""
    begin = time.monotonic()
    done = subprocess.run([lit, "-v", path], cwd=ROOT, capture_output=True, text=True, errors="replace")
    return done.returncode == 0, time.monotonic() - begin, done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--load", type=int, default=8, help="processes that compute without end")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--filter", default="", help="only tests whose path matches")
    options = parser.parse_args()
    lit = shutil.which("lit", path=os.environ["PATH"] + ":/usr/lib/llvm-22/bin")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.cores])
    tests = [path for path in waiting_tests() if re.search(options.filter, str(path.relative_to(ROOT)))]
    if not tests:
        sys.exit("no such test")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.load)]
    runs = failed = 0
    try:
        for path in tests:
            passed, slowest = 0, 0.0
            for _ in range(options.times):
                good, seconds, printed = run(lit, path)
                passed, slowest = passed + good, max(slowest, seconds)
                if not good:
                    print(printed, flush=True)
            runs, failed = runs + options.times, failed + options.times - passed
            print(f"{path.relative_to(ROOT)}: {passed} of {options.times} passed, the slowest took {slowest:.0f} s", flush=True)
    finally:
        for process in busy:
            process.kill()
    print(f"{runs} runs beside a load of {options.load} on {options.cores} cores, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
