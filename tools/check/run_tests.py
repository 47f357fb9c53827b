"""Runs every test program of a build and counts single tests.

The layers are ctest's entries (Catch2 programs), lit's files and the checks of
tools/check; each contributes its own number of tests to the final line
"N passed, N failed". As many programs run at a time as there are processors.

    run_tests.py [--target cpu:avx2]    kernels for this processor, not for the best
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def run(command):
    """Runs a command and returns (status, output, its time as "12 s")."""
    begin = time.monotonic()
    result = subprocess.run(command, cwd=ROOT, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout, f"{time.monotonic() - begin:.0f} s"


def commands():
    """{name: command} of every ctest entry."""
    _, listing, _ = run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"])
    tests = json.loads(listing[listing.index("{"):])["tests"]
    return {test["name"]: test["command"] for test in tests}


def in_parallel(judge, names):
    """Runs judge(name) -> (passed, failed, text) of all names, as many at a time as there are processors; prints and sums them."""
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in concurrent.futures.as_completed([pool.submit(judge, name) for name in names]):
            p, f, text = done.result()
            passed, failed = passed + p, failed + f
            print(text, flush=True)
    return passed, failed


def unit_tests():
    """Counts Catch2 test cases of every program that ctest knows; any other program is one test."""
    programs = commands()

    def judge(name):
        status, output, seconds = run(programs[name])
        if status == 0:
            cases = re.search(r"All tests passed \(.* in (\d+) test case", output)
            count = int(cases.group(1)) if cases else 1
            return count, 0, f"  {name}: {count} passed, {seconds}"
        bad = re.search(r"test cases:\s+(\d+)\s+\|(?:\s+(\d+) passed\s+\|)?\s+(\d+) failed", output)
        return int(bad.group(2) or 0) if bad else 0, int(bad.group(3)) if bad else 1, f"{output}\n  {name}: FAILED, {seconds}"

    return in_parallel(judge, [name for name in programs if name != "lit"])


def lit_tests():
    """Counts lit's files."""
    status, output, seconds = run(commands()["lit"])
    counts = {name.strip(): int(n) for name, n in re.findall(r"^\s*(\w[\w ]*?)\s*:\s*(\d+)", output, re.M)}
    failed = counts.get("Failed", 0) + counts.get("Unresolved", 0) + counts.get("Timed Out", 0)
    if status != 0:
        print(output)
        failed = max(failed, 1)
    passed = counts.get("Passed", 0)
    print(f"  lit: {passed} files passed, {failed} failed, {seconds}", flush=True)
    return passed, failed


def scripts():
    """Every tools/check/check_*.py is one test."""
    def judge(script):
        status, output, seconds = run([sys.executable, str(script)])
        return (0, 1, f"{output}\n  {script.name}: FAILED, {seconds}") if status else (1, 0, f"  {script.name}: passed, {seconds}")

    return in_parallel(judge, sorted((ROOT / "tools" / "check").glob("check_*.py")))


def main():
    parser = argparse.ArgumentParser(description="Runs every test program of build/")
    parser.add_argument("--target", help="target of the kernels, as cpu:avx2 (default: the best that the machine runs)")
    target = parser.parse_args().target
    if target:
        os.environ["WEFT_TARGET"] = target
    passed = failed = 0
    for layer in (unit_tests, lit_tests, scripts):
        p, f = layer()
        passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
