"""Compiles programs of the sizes of models for every target, without running them: each op of docs/ops.md that kernels may
have is among them.

    check_large.py WEFT_FUZZ OPS.md COUNT [--everywhere]
"""

import re
import subprocess
import sys

# Sections of ops that stand outside of kernels.
OUTSIDE = ("Loops and branches", "Layouts and differentiation")


def main():
    fuzz, page, count, *flags = sys.argv[1:]
    result = subprocess.run([fuzz, "--large", "--seed", "0", "--count", count, "--summary", "--report", "2", *flags],
                            capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stdout + result.stderr)
    drawn = dict(re.findall(r"weft\.(\w+) (\d+)", result.stdout))
    sections = re.split(r"^## ", open(page).read(), flags=re.M)
    ops = [op for section in sections if not section.startswith(OUTSIDE) for op in re.findall(r"^\| `(\w+)` \|", section, re.M)]
    missing = [op for op in ops if op not in drawn]
    if missing:
        sys.exit(f"no program has {', '.join(missing)}")
    print(f"{len(ops)} ops in {count} programs compile")


if __name__ == "__main__":
    main()
