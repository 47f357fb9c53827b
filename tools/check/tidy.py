"""clang-tidy 22 over every C and C++ file that a build folder compiles.

    python3 tools/check/tidy.py [--build FOLDER] [--jobs N] [FILE ...]

The checks are those of .clang-tidy. The folder must be built: clang-tidy reads
its generated headers and its precompiled header, without which every file of
the compiler takes three times as long. FILE: only files whose path has one of
these texts in it.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "clang-tidy-22"
FINDING = re.compile(r"^(/[^:]+):(\d+):(\d+): (?:warning|error): (.*\[[\w.,-]+\])$")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="default: build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="default: one for each core")
    parser.add_argument("files", nargs="*", metavar="FILE")
    return parser.parse_args()


def sources(build, texts):
    """The repository's files that the folder compiles; generated ones are left out."""
    commands = json.loads((build / "compile_commands.json").read_text())
    names = sorted({command["file"] for command in commands})
    own = [name for name in names if pathlib.Path(name).is_relative_to(ROOT) and not pathlib.Path(name).is_relative_to(build)]
    return [name for name in own if not texts or any(text in name for text in texts)]


def tidy(build, name):
    """(findings, failure): each finding is a line; failure is another error that stopped clang-tidy."""
    done = subprocess.run([PROGRAM, "--quiet", "-p", build, name], text=True, capture_output=True)
    findings = set()
    for line in done.stdout.splitlines():
        if found := FINDING.match(line):
            path = os.path.relpath(os.path.realpath(found[1]), ROOT)
            findings.add(f"{path}:{found[2]}:{found[3]}: {found[4]}")
    return findings, "" if done.returncode == 0 or findings else done.stdout + done.stderr


def run(build, names, jobs):
    """Prints each finding once, headers are read by many files; returns their number."""
    seen = set()
    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(tidy, build, name) for name in names]
        for done, future in enumerate(as_completed(running), 1):
            findings, failure = future.result()
            for line in [*sorted(findings - seen), *([failure] if failure else [])]:
                print(f"\r{line}")
            seen |= findings | ({failure} if failure else set())
            print(f"\r{done} of {len(names)} files, {len(seen)} findings", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return len(seen)


def main():
    asked = arguments()
    build = asked.build.resolve()
    if not shutil.which(PROGRAM):
        print(f"tools/check/tidy.py: {PROGRAM} not found; install it (tools/packages.txt)")
        return 1
    if not (build / "compile_commands.json").exists():
        print(f"tools/check/tidy.py: {build} is no build folder; build one, or name it with --build")
        return 1
    names = sources(build, asked.files)
    return 1 if not names or run(build, names, asked.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
