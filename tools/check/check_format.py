"""Every C and C++ file is as clang-format 22 writes it with .clang-format.

    python3 tools/check/check_format.py          names the files that differ
    python3 tools/check/check_format.py --fix    formats them
"""

import os
import pathlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "clang-format-22"
BATCH = 40


def sources():
    """The repository's C and C++ files."""
    listing = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.cpp", "*.cu"], cwd=ROOT, text=True, capture_output=True, check=True)
    return [name for name in listing.stdout.splitlines() if (ROOT / name).exists()]


def differing(names):
    """The files of `names` that clang-format would change."""
    done = subprocess.run([PROGRAM, "--dry-run", "-Werror", *names], cwd=ROOT, text=True, capture_output=True)
    if done.returncode == 0:
        return []
    found = sorted({line.split(":", 1)[0] for line in done.stderr.splitlines() if "-Wclang-format-violations" in line})
    return found or [f"{PROGRAM} failed: {done.stderr.strip()}"]


def main():
    if not shutil.which(PROGRAM):
        print(f"tools/check/check_format.py: {PROGRAM} not found; install it (tools/packages.txt)")
        return 1
    names = sources()
    if sys.argv[1:] == ["--fix"]:
        return subprocess.run([PROGRAM, "-i", *names], cwd=ROOT).returncode
    batches = [names[i:i + BATCH] for i in range(0, len(names), BATCH)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [name for batch in pool.map(differing, batches) for name in batch]
    for name in found:
        print(f"{name}: is not as {PROGRAM} writes it; run python3 tools/check/check_format.py --fix")
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main())
