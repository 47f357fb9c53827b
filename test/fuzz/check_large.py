"""Compiles programs of the sizes of models for every target, without running them: each op of docs/ops.md that kernels may
have is among them.

    check_large.py WEFT_FUZZ OPS.md COUNT [--everywhere]
"""

import re
import subprocess
import sys

# Sections of ops that stand outside of kernels, or are of another dialect.
OUTSIDE = ("Loops and branches", "Layouts and differentiation", "Ops of StableHLO")


def main():
    fuzz, page, count, *flags = sys.argv[1:]
    count = int(count)
    drawn = set()

    def compile_programs(seed, count):
        result = subprocess.run([fuzz, "--large", "--seed", str(seed), "--count", str(count), "--summary", "--report", "2", *flags],
                                capture_output=True, text=True)
        if result.returncode:
            sys.exit(result.stdout + result.stderr)
        drawn.update(re.findall(r"weft\.(\w+) \d+", result.stdout))

    compile_programs(0, count)
    sections = re.split(r"^## ", open(page).read(), flags=re.M)
    ops = [op for section in sections if not section.startswith(OUTSIDE) for op in re.findall(r"^\| `(\w+)` \|(?!.* by a library that)", section, re.M)]
    programs = count
    while programs < 2 * count and not set(ops) <= drawn:  # which ops these seeds draw is chance
        compile_programs(programs, count // 8)
        programs += count // 8
    missing = [op for op in ops if op not in drawn]
    if missing:
        sys.exit(f"no program has {', '.join(missing)}")
    print(f"{len(ops)} ops in {programs} programs compile")


if __name__ == "__main__":
    main()
