"""Runs every test program of a build and counts single tests.

The layers are ctest's entries (Catch2 programs), lit's files and the checks of
tools/check; each contributes its own number of tests to the final line
"N passed, N failed", after the ten slowest. As many programs run at a time as there are processors.

    run_tests.py [--target cpu:avx2]    kernels for this processor, not for the best
    run_tests.py --quick                without the tests of test/slow-tests.txt
    run_tests.py --write-slow           all tests; then writes that list
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
SLOW = ROOT / "test" / "slow-tests.txt"
SLOW_SECONDS = 3  # a test of more is left out by --quick


def run(command):
    """Runs a command and returns (status, output, seconds)."""
    begin = time.monotonic()
    result = subprocess.run(command, cwd=ROOT, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout, time.monotonic() - begin


class Tests:
    """The layers of tests, without those in `skipped`; `seconds` has the time of each that ran."""

    def __init__(self, skipped):
        self.skipped, self.seconds, self.passed, self.failed = skipped, {}, 0, 0

    def count(self, passed, failed, text):
        self.passed, self.failed = self.passed + passed, self.failed + failed
        print(text, flush=True)

    def in_parallel(self, judge, names):
        """Runs judge(name) -> (passed, failed, text) of all names, as many at a time as there are processors."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in concurrent.futures.as_completed([pool.submit(judge, name) for name in names if name not in self.skipped]):
                self.count(*done.result())

    def unit_tests(self, programs):
        """Counts Catch2 test cases of every program that ctest knows; any other program is one test."""
        def judge(name):
            status, output, self.seconds[name] = run(programs[name])
            seconds = f"{self.seconds[name]:.0f} s"
            if status == 0:
                cases = re.search(r"All tests passed \(.* in (\d+) test case", output)
                count = int(cases.group(1)) if cases else 1
                return count, 0, f"  {name}: {count} passed, {seconds}"
            bad = re.search(r"test cases:\s+(\d+)\s+\|(?:\s+(\d+) passed\s+\|)?\s+(\d+) failed", output)
            return int(bad.group(2) or 0) if bad else 0, int(bad.group(3)) if bad else 1, f"{output}\n  {name}: FAILED, {seconds}"

        self.in_parallel(judge, [name for name in programs if name != "lit"])

    def lit_tests(self, command):
        """Counts lit's files."""
        times = BUILD / "lit-times.json"
        skipped = [name for name in self.skipped if name.startswith("test/")]
        options = ["--filter-out", "|".join(re.escape(name) + "$" for name in skipped)] if skipped else []
        status, output, seconds = run([*command, "--output", str(times), *options])
        counts = {name.strip(): int(n) for name, n in re.findall(r"^\s*(\w[\w ]*?)\s*:\s*(\d+)", output, re.M)}
        failed = counts.get("Failed", 0) + counts.get("Unresolved", 0) + counts.get("Timed Out", 0)
        if status != 0:
            failed = max(failed, 1)
        for test in json.loads(times.read_text())["tests"] if times.exists() else ():
            self.seconds[test["name"].split(" :: ")[1]] = test["elapsed"]
        passed = counts.get("Passed", 0)
        self.count(passed, failed, (output if status else "") + f"  lit: {passed} files passed, {failed} failed, {seconds:.0f} s")

    def scripts(self):
        """Every tools/check/check_*.py is one test."""
        def judge(name):
            status, output, self.seconds[name] = run([sys.executable, str(ROOT / "tools" / "check" / name)])
            seconds = f"{self.seconds[name]:.0f} s"
            return (0, 1, f"{output}\n  {name}: FAILED, {seconds}") if status else (1, 0, f"  {name}: passed, {seconds}")

        self.in_parallel(judge, sorted(script.name for script in (ROOT / "tools" / "check").glob("check_*.py")))


def commands():
    """{name: command} of every ctest entry."""
    _, listing, _ = run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"])
    tests = json.loads(listing[listing.index("{"):])["tests"]
    return {test["name"]: test["command"] for test in tests}


def main():
    parser = argparse.ArgumentParser(description="Runs the test programs of build/")
    parser.add_argument("--target", help="target of the kernels, as cpu:avx2 (default: the best that the machine runs)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help=f"leave out the tests of {SLOW.relative_to(ROOT)}")
    which.add_argument("--write-slow", action="store_true", help=f"write {SLOW.relative_to(ROOT)} after running all tests")
    arguments = parser.parse_args()
    if arguments.target:
        os.environ["WEFT_TARGET"] = arguments.target
    tests = Tests({line for line in SLOW.read_text().splitlines() if not line.startswith("#")} if arguments.quick else set())
    programs = commands()
    tests.unit_tests(programs)
    tests.lit_tests(programs["lit"])
    tests.scripts()
    slowest = sorted(tests.seconds, key=tests.seconds.get, reverse=True)
    print("The ten slowest: " + ", ".join(f"{name} {tests.seconds[name]:.0f} s" for name in slowest[:10]))
    if arguments.write_slow:
        slow = sorted(name for name in slowest if tests.seconds[name] > SLOW_SECONDS)
        SLOW.write_text(f"# Tests that took more than {SLOW_SECONDS} s; tools/test --quick leaves them out, tools/test --write-slow writes the list.\n"
                        + "\n".join(slow) + "\n")
    print(f"{tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed or not tests.passed else 0


if __name__ == "__main__":
    sys.exit(main())
