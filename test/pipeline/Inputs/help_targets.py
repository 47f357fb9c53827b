"""Checks that --help lists every target that `weft compile` takes, and no other.

    help_targets.py WEFT MODEL
"""

import re
import subprocess
import sys


def names(text):
    return set(re.findall(r"\b(?:native|cpu:\w+|cuda:\w+|cpu)\b", text))


def main():
    weft, model = sys.argv[1:]
    refused = subprocess.run([weft, "compile", model, "--target", "none", "-o", "-"], text=True, capture_output=True)
    taken = names(refused.stderr.split("use one of", 1)[1])
    page = subprocess.run([weft, "compile", "--help"], text=True, capture_output=True).stdout
    shown = names(re.search(r"--target(.*?)--timing", page, re.S).group(1))
    if len(taken) < 5 or taken != shown:
        sys.exit(f"--target takes {sorted(taken)}, --help shows {sorted(shown)}")
    print(f"{len(taken)} targets")


if __name__ == "__main__":
    main()
