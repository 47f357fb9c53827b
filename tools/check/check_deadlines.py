"""No test waits for a time: a busy machine takes longer.

Python under test/ waits for a condition (test/exec/patience.py); a limit on a process is patience.HANG, and none
sleeps elsewhere. Unit tests sleep nowhere, lit files neither sleep nor kill, and ctest's limits are for hangs.
"""

import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = "test/exec/patience.py"
SHORTEST = 600  # seconds for a limit that is a number
# Files whose limit is their purpose: how long a file of Keras' own tests may take, given by --limit.
OWN_LIMITS = {"test/jax/keras_suite.py"}


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split() if (ROOT / name).is_file()]


def name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def waits(name, text):
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        if name_of(node.func) == "sleep" and name != PATIENCE:
            yield f"{name}:{node.lineno}: sleeps; wait for a condition with patience.until"
        for keyword in node.keywords:
            if keyword.arg == "timeout" and name_of(keyword.value) != "HANG" and name not in OWN_LIMITS:
                yield f"{name}:{keyword.value.lineno}: timeout is not patience.HANG"


def problems():
    for name in tracked("test/*.py"):
        yield from waits(name, (ROOT / name).read_text())
    for name in tracked("test/*.cpp", "test/*.h", "test/*.c"):
        for number, line in enumerate((ROOT / name).read_text().split("\n"), 1):
            if re.search(r"\b(u?sleep|nanosleep|sleep_for|sleep_until)\(", line):
                yield f"{name}:{number}: sleeps; wait for a condition"
            if re.search(r"(?<!->)(?<!\.)\balarm\(", line):
                yield f"{name}:{number}: alarm counts other processes' time; use weft::limitComputing"
    for name in tracked("test/*.test", "test/*.mlir"):
        for number, line in enumerate((ROOT / name).read_text(errors="replace").split("\n"), 1):
            if "RUN:" in line and re.search(r"\b(sleep|timeout|kill)\b", line):
                yield f"{name}:{number}: waits or kills in a RUN line; write it in Python with patience.until"
    for name in tracked("*CMakeLists.txt", "*.cmake"):
        for number, line in enumerate((ROOT / name).read_text().split("\n"), 1):
            limit = re.search(r"\bTIMEOUT (\d+)", line)
            if limit and int(limit[1]) < SHORTEST:
                yield f"{name}:{number}: TIMEOUT {limit[1]}; a hang is {SHORTEST} s"


def main():
    found = list(problems())
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
