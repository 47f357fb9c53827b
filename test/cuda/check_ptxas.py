"""Assembles each kernel of each example and fixture with ptxas, and checks that none takes more than a committed list allows.

    python3 check_ptxas.py WEFT PTXAS ptxas-limits.txt OUT_FOLDER [--write]

A line of the list is a program, a kernel, registers of a thread, and bytes of its stack; kernels without a line take up to 128
registers and no stack, so that a processor holds 512 threads. A spill is an error unless the list allows a stack, and
so is a line of the list that no kernel needs. --write makes the list again: read its difference before you commit it.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "gpu"))
import compile_times  # noqa: E402  (its list of programs)

TARGET = "cuda:sm_90a"
REGISTERS = 128
KERNEL = re.compile(r"Function properties for (\w+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
                    r".*?Used (\d+) registers")
HEAD = ("# Program, kernel, registers of a thread and bytes of its stack, where they are more than 128 and 0. "
        "Written by check_ptxas.py --write.\n")


def kernels(weft, ptxas, folder, arguments, count):
    """{kernel: (registers, bytes of stack or of spills, if these are more)} of one program."""
    devices = ["--devices", f"cuda:{count}"] if count else []
    subprocess.run([weft, "compile", *arguments, *devices, "--target", TARGET, "--emit=assembly", "-o", folder / "x.ptx"], check=True)
    done = subprocess.run([ptxas, "-v", f"-arch={TARGET.removeprefix('cuda:')}", folder / "x.ptx", "-o", folder / "x.cubin"],
                          check=True, text=True, capture_output=True)
    entries = (folder / "x.ptx").read_text().count(".visible .entry ")
    found = {name: (int(registers), max(int(stack), int(stores), int(loads)))
             for name, stack, stores, loads, registers in KERNEL.findall(done.stderr + done.stdout)}
    if len(found) < entries:
        sys.exit(f"{arguments[0]}: ptxas tells the registers of {len(found)} kernels, the program has {entries}")
    return found


def read_limits(path):
    lines = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {(program, kernel): (int(registers), int(stack)) for program, kernel, registers, stack in lines}


def main():
    weft, ptxas, path, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    found, programs = {}, 0
    for program, arguments, count in compile_times.programs(None):
        programs += 1
        found |= {(program, kernel): taken for kernel, taken in kernels(weft, ptxas, folder, arguments, count).items()}
    large = {key: taken for key, taken in found.items() if taken[0] > REGISTERS or taken[1]}
    if sys.argv[5:] == ["--write"]:
        path.write_text(HEAD + "".join(f"{program} {kernel} {registers} {stack}\n" for (program, kernel), (registers, stack) in large.items()))
        return 0
    limits = read_limits(path)
    wrong = [f"{program}: {kernel} takes {taken[0]} registers and a stack of {taken[1]} bytes, "
             + ("{} and {} are allowed".format(*limits.get((program, kernel), (REGISTERS, 0))))
             for (program, kernel), taken in large.items()
             if any(a > b for a, b in zip(taken, limits.get((program, kernel), (REGISTERS, 0))))]
    wrong += [f"{path.name}: {program} has no kernel {kernel} of more than {REGISTERS} registers; remove the line"
              for program, kernel in sorted(limits.keys() - large.keys())]
    print("\n".join(wrong) if wrong else f"{len(found)} kernels of {programs} programs assemble, {len(large)} take more than {REGISTERS} registers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
