"""Checks that no kernel spills registers, uses a stack, or exceeds its limits in a committed list.

    python3 check_ptx_limits.py LIMITS.txt LOG...

A LOG is the output of `ptxas -v`; a line of LIMITS is a kernel, registers and bytes of shared memory. A kernel without a line is an
error, and so is a line without a kernel.
"""

import re
import sys

KERNEL = re.compile(r"Function properties for (\w+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
                    r".*?Used (\d+) registers(?:.*?(\d+) bytes smem)?")


def main():
    limits = {}
    for line in open(sys.argv[1], encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            name, registers, shared = line.split()
            limits[name] = int(registers), int(shared)
    wrong = []
    for path in sys.argv[2:]:
        found = KERNEL.findall(open(path, encoding="utf-8").read())
        for name, stack, stores, loads, registers, shared in found:
            if int(stack) + int(stores) + int(loads):
                wrong.append(f"{path}: {name} has a stack of {stack} bytes and spills {stores}")
            if name not in limits:
                wrong.append(f"{path}: {name} takes {registers} registers and {shared or 0} bytes; add a line to {sys.argv[1]}")
            elif int(registers) > limits[name][0] or int(shared or 0) > limits[name][1]:
                wrong.append(f"{path}: {name} takes {registers} registers and {shared or 0} bytes of shared memory, "
                             f"{limits[name][0]} and {limits[name][1]} are allowed")
        wrong += [f"{path} has no {name}" for name in limits.keys() - {kernel[0] for kernel in found}]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
