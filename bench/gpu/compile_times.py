#!/usr/bin/env python3
"""Compile times of programs for a GPU and for a CPU; every one of them must compile.

    python3 bench/gpu/compile_times.py [FOLDER_OF_MORE] [--only WORD]

The StableHLO fixtures, the examples, a train step of each fixture's model, and *.mlir of a folder (write_models.py). Prints lines of
a Markdown table: seconds of `weft compile` with an empty cache, for cuda:sm_90a and for cpu:avx2. Exit status 1 if one fails.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEFT = ROOT / "build" / "bin" / "weft"
TARGETS = [("cuda:sm_90a", "cuda"), ("cpu:avx2", "cpu")]


def programs(more):
    """Yields (name, arguments of weft compile, devices or None for the program's own)"""
    for path in sorted((ROOT / "test" / "fixtures" / "stablehlo").glob("*.mlir")):
        yield f"stablehlo/{path.stem}", [path], "1"
    for path in sorted((ROOT / "examples").rglob("*.mlir")):
        yield str(path.relative_to(ROOT).with_suffix("")), [path], None
    for path in sorted((ROOT / "test" / "fixtures").glob("*/model.json")):
        yield f"fixtures/{path.parent.name}", [path, "--step", "train", "--batch-size", "16"], "1"
    for path in sorted(more.glob("*.mlir")) if more else []:
        yield path.stem, [path], "1"


def seconds(arguments, target, devices, folder):
    begin = time.monotonic()
    done = subprocess.run([WEFT, "compile", *arguments, *devices, "--target", target, "-o", folder / "x.weft"], text=True,
                          capture_output=True, env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "XDG_CACHE_HOME": str(folder / str(begin))})
    return (time.monotonic() - begin) if done.returncode == 0 else done.stderr.strip().splitlines()[:1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("more", nargs="?", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = 0
    print("| program | cuda:sm_90a, s | cpu:avx2, s |\n|---|---|---|")
    for name, arguments, count in programs(options.more):
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            times = [seconds(arguments, target, ["--devices", f"{kind}:{count}"] if count else [], pathlib.Path(folder))
                     for target, kind in TARGETS]
        failed += any(isinstance(t, list) for t in times)
        print(f"| {name} | " + " | ".join(f"{t:.2f}" if isinstance(t, float) else f"FAILED {t}" for t in times) + " |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
