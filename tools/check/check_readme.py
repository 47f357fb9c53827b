"""What README.md prints is what its commands print.

    check_readme.py            runs the commands of every ```console block and compares
    check_readme.py --show     runs them for a person to see (tools/try)
    check_readme.py --write    puts what they print now into README.md

Commands begin with "$ " and go on after a backslash at the line's end. Times
and the memory that depends on how kernels are fused are masked; losses and
accuracies may differ by 2 %: other processors sum in another order. Commands run in the repository's root with build/bin first in PATH.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.M | re.S)
TIMES = re.compile(r"\b\d+(?:s|ms|us)\b(?:/step)?")
MEMORY = re.compile(r"(?<=^  )(?:activations|temporaries|total) +[\d,]+(?! +in)|(?<=holds)\s+[\d,]+", re.M)
NUMBER = re.compile(r"\d+\.\d{3,}")


def steps(block):
    """[(command, printed)] of a block."""
    found = []
    lines = iter(block.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line
            while command.endswith("\\"):
                command += "\n" + next(lines)
            found.append((command[2:], []))
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(printed).strip("\n")) for command, printed in found]


def run(command, show=False):
    """Runs one command in a shell; its output, or None where it went to the terminal."""
    environment = dict(os.environ, PATH=f"{ROOT / 'build' / 'bin'}:{os.environ['PATH']}")
    result = subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, text=True,
                            stdout=None if show else subprocess.PIPE, stderr=None if show else subprocess.STDOUT)
    if result.returncode:
        sys.exit(f"{command}: exit status {result.returncode}\n{result.stdout or ''}")
    return None if show else result.stdout.strip("\n")


def same(printed, now):
    """Equal up to times, and to 2 % of figures with three digits or more behind the point."""
    masked = [MEMORY.sub("MEMORY", TIMES.sub("TIME", text)) for text in (printed, now)]
    if NUMBER.sub("NUMBER", masked[0]) != NUMBER.sub("NUMBER", masked[1]):
        return False
    figures = [[float(n) for n in NUMBER.findall(text)] for text in masked]
    return all(abs(a - b) <= 0.02 * max(abs(a), abs(b)) for a, b in zip(*figures, strict=True))


def check(text):
    problems = []
    for block in BLOCK.findall(text):
        for command, printed in steps(block):
            now = run(command)
            if not same(printed, now):
                problems.append(f"README.md: `{command}` prints something else now; look at it, then run "
                                "python3 tools/check/check_readme.py --write")
                problems += difflib.unified_diff(printed.splitlines(), now.splitlines(), "README.md", "now",
                                                 lineterm="")
    if not BLOCK.search(text):
        problems.append("README.md: no ```console block; show what the commands print")
    print("\n".join(problems))
    return 1 if problems else 0


def write(text):
    def fresh(block):
        shown = []
        for command, printed in steps(block.group(0)):
            now = run(command)
            shown.append(f"$ {command}\n" + (printed if same(printed, now) else now))
        return "\n\n".join(part.rstrip("\n") for part in shown) + "\n"

    README.write_text(BLOCK.sub(fresh, text))
    return 0


def show(text):
    for block in BLOCK.findall(text):
        for command, _ in steps(block):
            print(f"\n$ {command}", flush=True)
            run(command, show=True)
    return 0


def main():
    actions = {(): check, ("--write",): write, ("--show",): show}
    return actions[tuple(sys.argv[1:])](README.read_text())


if __name__ == "__main__":
    sys.exit(main())
