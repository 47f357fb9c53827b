"""Checks that a program sends the collectives that `weft explain` predicts.

    check_program_counts.py WEFT DEVICES PROGRAM.mlir...

Arrays in/000... of PROGRAM.npz are the arguments. Collectives of `weft run --stats`
equal those of `weft explain --json` by kind, count and bytes.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def main():
    weft, devices, *programs = sys.argv[1:]
    failures = 0
    for program in map(pathlib.Path, programs):
        with tempfile.TemporaryDirectory() as scratch:
            stats = pathlib.Path(scratch) / "s.json"
            command = [weft, "run", program, "--inputs", program.with_suffix(".npz"), "--outputs", f"{scratch}/o.npz"]
            subprocess.run([*command, "--devices", devices, "--stats", stats], check=True, capture_output=True)
            counted = json.loads(stats.read_text())["collectives"]
        explained = subprocess.run([weft, "explain", program, "--json"], check=True, capture_output=True, text=True)
        predicted = json.loads(explained.stdout)["total"]["by_kind"]
        if counted != predicted:
            failures += 1
            print(f"FAIL {program.stem}: counted {counted}, predicted {predicted}")
    print(f"{len(programs) - failures} of {len(programs)} programs send the predicted collectives")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
