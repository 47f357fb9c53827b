"""Waiting in tests: for a condition, not for a time, since a machine may be busy.

    done = subprocess.run(command, timeout=patience.HANG)
    patience.until(lambda: path.exists(), "the file is there")

tools/check/check_deadlines.py sees to it that no test waits otherwise.
"""

import os
import pathlib
import sys
import time

# Seconds after which a process counts as hanging, however busy the machine: a hundred times as long as the slowest runs alone.
HANG = 600


def until(holds, what):
    """The first true answer of holds(), which is asked again and again."""
    end = time.monotonic() + HANG
    while time.monotonic() < end:
        answer = holds()
        if answer:
            return answer
        time.sleep(0.05)
    sys.exit(f"not within {HANG} s: {what}")


def slowness():
    """How much slower everything is than on the idle machine: processes that want to run, divided by processors."""
    wanting = int(pathlib.Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    return max(1, wanting / os.cpu_count(), os.getloadavg()[0] / os.cpu_count())
