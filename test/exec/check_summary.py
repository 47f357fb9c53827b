"""weft summary prints the same as Keras' summary() of the model in the same file (test/fixtures/fit).

    check_summary.py WEFT FIXTURES
"""

import difflib
import os
import pathlib
import subprocess
import sys

import patience

FLAGS = {"seed-functional-mlp": [], "seed-sequential-mnist": [], "multi-io": [], "seed-cnn": ["--show-trainable"],
         "resnet-tiny": ["--line-length", "110"], "nested": ["--expand-nested", "--show-trainable"]}


def main():
    weft, fixtures, bad = sys.argv[1], pathlib.Path(sys.argv[2]), 0
    for name, flags in FLAGS.items():
        command = [weft, "summary", str(fixtures / name / "model.json"), *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience.HANG,
                              env={**os.environ, "COLUMNS": "130" if flags else "80"})
        wanted = (fixtures / "fit" / f"summary-{name}.txt").read_text()
        lines = list(difflib.unified_diff(wanted.splitlines(), done.stdout.splitlines(), "Keras", "weft", lineterm="", n=0))
        bad += bool(lines or done.returncode)
        print(f"{name}: {'as Keras' if not lines else ''}", *lines, done.stderr, sep="\n" if lines or done.stderr else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
