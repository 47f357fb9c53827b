"""Ends bench/gpu/check.py by SIGKILL when its file has a random number of lines, ten times: each line that was there is still there,
all lines are whole, and what it printed is in the file.

    python cut_check.py CHECK_PY OUT_FOLDER STEP,STEP
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "exec"))

import patience  # noqa: E402

CUTS, MOST_LINES = 10, 16


def cut(check, out, steps, count):
    """Returns (the file when it had `count` lines, the file after the end, what was printed)."""
    shutil.rmtree(out, ignore_errors=True)
    file = out / "results.jsonl"
    command = [sys.executable, check, out, "--tiny", "--minutes", "1", "--only", steps]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def read():
        return file.read_bytes() if file.exists() else b""
    patience.until(lambda: read().count(b"\n") >= count or process.poll() is not None, f"{file} has {count} lines")
    seen = read()
    process.kill()
    printed = process.communicate()[0]
    return seen, file.read_bytes(), printed


def main():
    check, out, steps = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    draw, kept = random.Random(41), 0
    for _ in range(CUTS):
        count = draw.randint(1, MOST_LINES)
        seen, after, printed = cut(check, out, steps, count)
        lines = [json.loads(line) for line in after.decode().splitlines()]
        begins = {f"{line['t']:6.1f} {line['part']:11} {line['item'][:40]:40}" for line in lines}
        missing = [line for line in printed.splitlines() if line[:6].strip() and line[:59] not in begins]
        if not after.startswith(seen) or not after.endswith(b"\n") or len(lines) < count or missing:
            sys.exit(f"cut at line {count}: {len(seen)} bytes before, {len(after)} after, {len(lines)} lines, not in the file: {missing}")
        kept += len(lines)
    print(f"{CUTS} cuts, {kept} whole lines")


if __name__ == "__main__":
    main()
