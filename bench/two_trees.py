#!/usr/bin/env python3
"""Compares the speed of two trees of Weft by the same benches, run in turn.

    python3 bench/two_trees.py BEFORE AFTER --python VENV/bin/python [--rounds 5]
        [--benches side_by_side compile_scale startup compare] [--json]

BEFORE and AFTER are folders with a build each (build/bin/weft, build/lib/libWeftPjrt.so); each runs its own bench/.
VENV holds bench/requirements.txt. A round runs every bench of one tree and of the other, and the next round begins with
the other one. Cells are medians over the rounds; spread is the difference of the largest and the least over the median,
of the tree where it is larger. `worse` marks a figure that grew by more than 5 % and by more than its spread. Only an
idle machine gives figures that mean anything.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

BENCHES = {
    "side_by_side": ["--cases", "gpt-dp", "cnn-dp", "--rounds", "1", "--steps", "5", "--python", "{python}", "--library", "{library}"],
    "compile_scale": ["--repeat", "1", "--weft", "{weft}"],
    "startup": ["--rounds", "1", "--python", "{python}", "--library", "{library}"],
    "compare": ["--rounds", "1", "--peer-python", "{python}", "--weft", "{weft}"],
}


def numbers(value, name=""):
    """The numbers of nested JSON, by their path."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return {}
    if isinstance(value, (int, float)):
        return {name: float(value)}
    rows = value.items() if isinstance(value, dict) else enumerate(value)
    found = {}
    for key, each in rows:
        found |= numbers(each, f"{name}/{key}" if name else str(key))
    return found


def measure(tree, bench, python):
    words = {"python": str(python), "weft": str(tree / "build/bin/weft"), "library": str(tree / "build/lib/libWeftPjrt.so")}
    command = [str(python), str(tree / "bench" / f"{bench}.py"), "--json", *(word.format(**words) for word in BENCHES[bench])]
    result = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\nexit status {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return numbers(json.loads(result.stdout))


def rows(figures):
    """Yields each figure that both trees have, with medians, spread, and whether it got worse."""
    found = []
    for name in figures[0]:
        pair = [figures[tree].get(name, []) for tree in (0, 1)]
        if not all(pair):
            continue
        before, after = (statistics.median(values) for values in pair)
        spread = max((max(values) - min(values)) / abs(middle) if middle else 0.0
                     for values, middle in zip(pair, (before, after), strict=True))
        ratio = after / before if before else 1.0
        found.append({"figure": name, "before": before, "after": after, "ratio": ratio, "spread": spread,
                      "worse": ratio > 1.05 and ratio - 1 > spread})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, default=sys.executable, help="a Python with Keras and JAX")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--benches", nargs="+", choices=BENCHES, default=list(BENCHES))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    trees = [options.before.resolve(), options.after.resolve()]
    figures = [{}, {}]
    for number in range(options.rounds):
        for tree in (0, 1) if number % 2 == 0 else (1, 0):
            for bench in options.benches:
                print(f"round {number + 1} of {options.rounds}: {bench} of {trees[tree]}", file=sys.stderr, flush=True)
                for name, value in measure(trees[tree], bench, options.python.absolute()).items():
                    figures[tree].setdefault(f"{bench}/{name}", []).append(value)
    table = rows(figures)
    if options.json:
        print(json.dumps(table, indent=1))
        return 0
    print(f"{'figure':64} {'before':>12} {'after':>12} {'ratio':>6} {'spread':>6}")
    for row in table:
        print(f"{row['figure']:64} {row['before']:12.4g} {row['after']:12.4g} {row['ratio']:6.2f} {row['spread']:6.2f}"
              f"{'  worse' if row['worse'] else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
