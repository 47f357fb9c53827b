"""Runs every test program of a build and counts single tests.

The layers are ctest's entries (Catch2 programs), lit's files and the checks of
tools/check; each contributes its own number of tests to the final line
"N passed, N failed".

    run_tests.py [--target cpu:avx2]    kernels for this processor, not for the best
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def run(command):
    """Runs a command, echoes its output and returns (status, output)."""
    result = subprocess.run(command, cwd=ROOT, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


def commands():
    """{name: command} of every ctest entry."""
    _, listing = run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"])
    tests = json.loads(listing[listing.index("{"):])["tests"]
    return {test["name"]: test["command"] for test in tests}


def unit_tests():
    """Counts Catch2 test cases of every program that ctest knows; any other program is one test."""
    passed = failed = 0
    for name, command in commands().items():
        if name == "lit":
            continue
        status, output = run(command)
        cases = re.search(r"All tests passed \(.* in (\d+) test case", output)
        if status == 0:
            count = int(cases.group(1)) if cases else 1
            passed += count
            print(f"  {name}: {count} passed", flush=True)
            continue
        bad = re.search(r"test cases:\s+(\d+)\s+\|(?:\s+(\d+) passed\s+\|)?\s+(\d+) failed", output)
        failed += int(bad.group(3)) if bad else 1
        passed += int(bad.group(2) or 0) if bad else 0
        print(output)
        print(f"  {name}: FAILED", flush=True)
    return passed, failed


def lit_tests():
    """Counts lit's files."""
    status, output = run(commands()["lit"])
    counts = {name.strip(): int(n) for name, n in re.findall(r"^\s*(\w[\w ]*?)\s*:\s*(\d+)", output, re.M)}
    failed = counts.get("Failed", 0) + counts.get("Unresolved", 0) + counts.get("Timed Out", 0)
    if status != 0:
        print(output)
        failed = max(failed, 1)
    passed = counts.get("Passed", 0)
    print(f"  lit: {passed} files passed, {failed} failed", flush=True)
    return passed, failed


def scripts():
    """Every tools/check/check_*.py is one test."""
    passed = failed = 0
    for script in sorted((ROOT / "tools" / "check").glob("check_*.py")):
        status, output = run([sys.executable, str(script)])
        if status:
            failed += 1
            print(output)
            print(f"  {script.name}: FAILED", flush=True)
        else:
            passed += 1
            print(f"  {script.name}: passed", flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description="Runs every test program of build/")
    parser.add_argument("--target", help="what kernels are compiled for, as cpu:avx2 (default: the best that the machine runs)")
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
