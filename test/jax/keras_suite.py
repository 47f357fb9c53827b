"""Keras' own tests on Weft's devices: those that pass on JAX's CPU device must pass.

    keras_suite.py --keep DIR [FOLDER|FILE...]      runs the tests that DIR has no outcome of, prints the table
    keras_suite.py --keep DIR --sample 2 --every 9  two files of each folder, one test in nine
    keras_suite.py --keep DIR --weft-first          runs on JAX's CPU only the tests that fail on Weft: half the time
    keras_suite.py --keep DIR --again REGEX         runs again on Weft the tests that failed with a matching message
    keras_suite.py --keep DIR --report              prints the table, runs nothing
    keras_suite.py --keep DIR --least 97 FILE...    fails where a folder's files pass less than that

Folders and files are those of the installed keras/src (`layers/core`, `ops/math_test.py`). A test file runs in a
process of its own, first on JAX's CPU device, then the tests that passed there on Weft's; DIR keeps a line of JSON for
each test (cpu/ and weft/), so that a run that was cut off goes on where it ended. A test that passes on Weft and did not run on
JAX's CPU counts as one that passes there.
"""

import argparse
import collections
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import time

SOURCES = pathlib.Path(importlib.util.find_spec("keras").origin).parent / "src"
# Keras keeps some arrays on JAX's CPU device, on every platform.
PLATFORMS = {"cpu": "cpu", "weft": "weft,cpu"}
MANY_DEVICES = re.compile("distribut|multi_process")


def lines_of(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


class Record:
    """The record in DIR of one test file on one platform: outcome and reason of each test."""

    def __init__(self, keep, platform, file, every=1):
        self.every = every
        self.path = keep / platform / (file.replace("/", "__") + ".jsonl")
        self.read()

    def read(self):
        self.tests, self.seconds, self.done, self.started = {}, 0.0, False, None
        for line in lines_of(self.path):
            if "start" in line:
                self.started = line["start"]
            elif "test" in line:
                self.tests[line["test"]] = (line["outcome"], line["why"])
                self.started = None
            elif "done" in line:
                self.done = self.done or self.every % line["done"] == 0
            self.seconds += line.get("seconds", 0.0)

    def having(self, wanted):
        return [test for test, (outcome, _) in self.tests.items() if outcome == wanted]

    def add(self, **line):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as out:
            out.write(json.dumps(line) + "\n")

    def forget(self, pattern):
        """Drops the failures whose reason matches, so that these tests run again."""
        kept = [line for line in lines_of(self.path)
                if "start" not in line and "done" not in line
                and not (line.get("outcome") == "failed" and re.search(pattern, line["why"]))]
        if self.path.exists():
            self.path.write_text("".join(json.dumps(line) + "\n" for line in kept))
        self.read()


def run_file(record, platform, file, options, wanted=None, outcome="passed"):
    """Runs a file until each test, or each with this outcome in `wanted`, has one; a test that ends the process has failed."""
    ends = time.time() + options.limit
    record.read()
    while not record.done:
        environment = {**os.environ, "JAX_PLATFORMS": PLATFORMS[platform], "KERAS_BACKEND": "jax", "KERAS_SUITE_RECORD": str(record.path),
                       "KERAS_SUITE_WANTED": str(wanted or ""), "KERAS_SUITE_OUTCOME": outcome,
                       "KERAS_SUITE_EVERY": str(record.every), "JAX_DEFAULT_DTYPE_BITS": "32", "TF_CPP_MIN_LOG_LEVEL": "3"}
        if MANY_DEVICES.search(file):
            environment |= {"WEFT_DEVICES": "cpu:8", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
        limit, before = ends - time.time(), len(record.tests)
        record.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("keras_suite_file.py"), SOURCES / file],
                                  env=environment, capture_output=True, text=True, timeout=max(limit, 1), check=False)
            why, code = (done.stdout + done.stderr).strip()[-300:], done.returncode
        except subprocess.TimeoutExpired:
            why, code = f"the file's {options.limit} s are over", None
        record.read()
        if record.done:
            return
        if record.started:
            record.add(test=record.started, outcome="late" if code is None else "failed",
                       why=why if code is None else f"the process ended with status {code}: {why}")
        elif code is not None and len(record.tests) == before:
            record.add(test="(file)", outcome="failed", why=why)
            record.add(done=1)
        if code is None:
            record.read()
            return
        record.read()


def reason_class(why):
    """A reason without the numbers and names that differ from test to test."""
    found = re.search(r"Weft: (.*)", why)
    text = "Weft: " + found[1] if found else why.splitlines()[0] if why else "no reason"
    text = re.sub(r"\S+\.py:\d+:\d+: |\"?<?eval_with_key>?\S*", "", text)
    text = re.sub(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[+-]?\d+)?", "N", text)
    return re.sub(r"\s+", " ", text)[:150]


def folder_of(file):
    return str(pathlib.PurePosixPath(file).parent)


def report(files, keep):
    """Prints a row per folder and the classes of failure; returns the share in percent."""
    rows = collections.defaultdict(collections.Counter)
    classes, examples = collections.Counter(), {}
    for file in files:
        cpu, weft = Record(keep, "cpu", file), Record(keep, "weft", file)
        row = rows[folder_of(file)]
        row["files"] += 1
        row["known"] += cpu.path.exists() or weft.path.exists()
        row["tests"] += len(cpu.tests.keys() | weft.tests.keys())
        passed = set(cpu.having("passed")) | set(weft.having("passed")) - cpu.tests.keys()
        row["cpu"] += len(passed)
        for test in passed & set(weft.tests):
            outcome, why = weft.tests[test]
            row["asked"] += outcome != "late"
            row["weft"] += outcome == "passed"
            if outcome == "failed":
                classes[reason_class(why)] += 1
                examples.setdefault(reason_class(why), test)
    total = collections.Counter()
    print("| folder | files | run | tests | pass on CPU | asked on Weft | pass on Weft | share |")
    print("|---|---|---|---|---|---|---|---|")
    for folder, row in sorted(rows.items()) + [("all", total)]:
        share = f"{100 * row['weft'] / row['asked']:.1f} %" if row["asked"] else ""
        print("|", " | ".join([folder, *(str(row[name]) for name in ("files", "known", "tests", "cpu", "asked", "weft")), share]), "|")
        if folder != "all":
            total.update(row)
    print()
    for reason, count in classes.most_common():
        print(f"{count:5}  {reason}    ({examples[reason]})")
    return 100 * total["weft"] / max(total["asked"], 1)


def ask(file, options):
    """Runs the tests of a file that have no outcome yet."""
    cpu, weft = (Record(options.keep, platform, file, options.every) for platform in ("cpu", "weft"))
    if options.again:
        weft.forget(options.again)
    if options.weft_first and "torch" not in file:
        run_file(weft, "weft", file, options)
        if set(weft.having("failed")) - cpu.tests.keys():
            run_file(cpu, "cpu", file, options, weft.path, "failed")
    else:
        run_file(cpu, "cpu", file, options)
        if set(cpu.having("passed")) - weft.tests.keys() and "torch" not in file:
            run_file(weft, "weft", file, options, cpu.path)
    counts = [dict(collections.Counter(outcome for outcome, _ in record.tests.values())) for record in (cpu, weft)]
    print(file, f"cpu {counts[0]} in {cpu.seconds:.0f} s, weft {counts[1]} in {weft.seconds:.0f} s", flush=True)


def choose(options):
    files = sorted(str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*_test.py"))
    if options.files:
        files = [file for file in files if any(file == name or file.startswith(name.rstrip("/") + "/") for name in options.files)]
    if options.sample:
        folders = collections.defaultdict(list)
        for file in files:
            folders[folder_of(file)].append(file)
        files = [file for group in folders.values() for file in group[:options.sample]]
    return files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--keep", type=pathlib.Path, required=True)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a file on a platform")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--every", type=int, default=1, help="one test in so many of each file")
    parser.add_argument("--weft-first", action="store_true", help="run on JAX's CPU only the tests that fail on Weft")
    parser.add_argument("--again")
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    files = choose(options)
    if not files:
        parser.error(f"{' '.join(options.files)} names no test file of {SOURCES}")
    for file in [] if options.report else files:
        ask(file, options)
    share = report(files, options.keep)
    return 1 if share < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
