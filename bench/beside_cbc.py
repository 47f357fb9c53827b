#!/usr/bin/env python3
"""Random graphs of choices, solved by Weft's solver of layouts and by CBC, an integer programming solver.

    python3 bench/beside_cbc.py --graphs build/bin/choice-graphs [--count 200] [--cbc cbc]

`ninja choice-graphs` builds the first program; Debian has the second one as coinor-cbc. Prints how many choices cost as much as
CBC's, and each that costs more or whose bound is above; exits with 1 if there is one. `ninja layouts-beside-cbc` runs it.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time


def cost_by_cbc(cbc, file):
    """The optimum of an integer program, -1 if it has no solution."""
    out = subprocess.run([cbc, str(file), "solve", "quit"], capture_output=True, text=True, check=True).stdout
    if re.search(r"infeasible", out) and not re.search(r"Optimal solution found", out):
        return -1
    return round(float(re.search(r"Objective value:\s+(\S+)", out)[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="build/bin/choice-graphs")
    parser.add_argument("--cbc", default="cbc")
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    equal = proved = none = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        text = subprocess.run([options.graphs, str(options.count), folder], capture_output=True, text=True, check=True).stdout
        seconds = time.monotonic() - started
        for line in text.splitlines():
            number, cost, bound, nodes = map(int, line.split())
            best = cost_by_cbc(options.cbc, pathlib.Path(folder) / f"{number}.lp")
            equal += cost == best
            none += best == -1
            proved += cost == bound or cost == -1
            if cost != best or (best >= 0 and bound > best):
                wrong.append(number)
                print(f"graph {number} of {nodes} nodes: cost {cost}, bound {bound}, CBC {best}")
        rest = time.monotonic() - started - seconds
    print(f"{equal} of {options.count} graphs cost as much as CBC's ({none} have no choice), {proved} proved; {seconds:.1f} s, CBC {rest:.1f} s")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
