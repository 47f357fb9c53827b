#!/usr/bin/env python3
"""What is true of Weft on this machine's GPU: answers, speed beside JAX and PyTorch, which kernels take the time; in a few minutes.

    python3 check.py OUT_FOLDER [--minutes 8.5] [--from STEP] [--only STEP,STEP] [--wheel FILE] [--tiny]
    python3 check.py --summary results.jsonl

Each measurement is a line of OUT_FOLDER/results.jsonl as soon as it is made; check.log has what programs printed. Steps run in the order
of the list below, most informative first; none can stop the next, and at the end of the time all stop. The summary comes last.
"""

import argparse
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from check_lines import HERE, Check, Stop
from check_steps import STEPS
from summary import summary


def stop(number, frame):
    raise Stop(f"signal {number}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__ + "\nSteps: " + ", ".join(STEPS),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=8.5)
    parser.add_argument("--from", dest="first", choices=STEPS, help="begin here, behind the environment")
    parser.add_argument("--only", default="", help="these steps, with commas between, behind the environment")
    parser.add_argument("--wheel", type=pathlib.Path, help="the wheel of weft (beside this folder without the flag)")
    parser.add_argument("--tiny", action="store_true", help="on the fake driver: without PyTorch and JAX")
    parser.add_argument("--peers-on-cpu", action="store_true", help="with --tiny: PyTorch and JAX, on this CPU")
    parser.add_argument("--summary", type=pathlib.Path, metavar="FILE", help="only print the summary of a results.jsonl")
    options = parser.parse_args()
    if not options.out and not options.summary:
        parser.error("OUT_FOLDER is missing")
    names = list(STEPS)
    options.steps = options.only.split(",") if options.only else names[names.index(options.first):] if options.first else names
    for name in options.steps:
        if name not in STEPS:
            parser.error(f"no step is called '{name}'; there are {', '.join(STEPS)}")
    return options


def run(check, name):
    if check.left() < 2:
        check.say({"part": "check", "item": name, "ok": False, "why": "no time is left for this step"})
        return
    begin = time.monotonic()
    try:
        STEPS[name](check)
    except Stop:
        raise
    except Exception as error:
        check.say({"part": "check", "item": name, "ok": False, "why": f"{type(error).__name__}: {error}"})
    seconds = round(time.monotonic() - begin, 1)
    check.say({"part": "check", "item": f"step {name}", "ok": True, "text": f"{seconds} s", "seconds": seconds})


def main():
    options = parse()
    if options.summary:
        return summary([json.loads(line) for line in options.summary.read_text().splitlines()])
    check = Check(options.out.resolve(), options.minutes, options.tiny)
    check.peers_on_cpu = options.peers_on_cpu
    check.wheel = options.wheel and options.wheel.resolve() or next(iter(sorted(HERE.parent.glob("weft-*.whl"))), None)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    holder = None
    try:
        # A GPU that a process holds starts faster for the others.
        holder = check.start([sys.executable, HERE / "programs.py", "hold"], None, None, stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in dict.fromkeys(["environment", *options.steps]):
            run(check, name)
    except Stop as why:
        print(f"stopped: {why}")
    finally:
        check.stop()
        if holder:
            holder.wait()
        shutil.rmtree(check.scratch, ignore_errors=True)
    summary(check.lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
