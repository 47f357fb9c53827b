"""Outputs in README.md and docs/*.md equal those of their commands.

    check_console.py           runs the commands of every ```console block and compares
    check_console.py --show    runs those of the README and the tutorial for a person to see (tools/try)
    check_console.py --write   writes their present outputs to the pages

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
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]
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
    """Whether outputs are equal up to times, and to 2 % of figures with three digits or more behind the point."""
    masked = [MEMORY.sub("MEMORY", TIMES.sub("TIME", text)) for text in (printed, now)]
    if NUMBER.sub("NUMBER", masked[0]) != NUMBER.sub("NUMBER", masked[1]):
        return False
    figures = [[float(n) for n in NUMBER.findall(text)] for text in masked]
    return all(abs(a - b) <= 0.02 * max(abs(a), abs(b)) for a, b in zip(*figures, strict=True))


def complaints(page):
    """Yields the outputs of a page that differ from those of its commands."""
    name, problems = page.relative_to(ROOT), []
    for block in BLOCK.findall(page.read_text()):
        for command, printed in steps(block):
            now = run(command)
            if not same(printed, now):
                problems.append(f"{name}: `{command}` prints something else now; look at it, then run "
                                "python3 tools/check/check_console.py --write")
                problems += difflib.unified_diff(printed.splitlines(), now.splitlines(), str(name), "now", lineterm="")
    return problems


def check():
    problems = [problem for page in PAGES for problem in complaints(page)]
    problems += [f"{page.relative_to(ROOT)}: no ```console block; show the commands' output"
                 for page in SHOWN if not BLOCK.search(page.read_text())]
    print("\n".join(problems))
    return 1 if problems else 0


def write():
    def fresh(block):
        shown = []
        for command, printed in steps(block.group(0)):
            now = run(command)
            shown.append(f"$ {command}\n" + (printed if same(printed, now) else now))
        return "\n\n".join(part.rstrip("\n") for part in shown) + "\n"

    for page in PAGES:
        text = page.read_text()
        if BLOCK.search(text):
            page.write_text(BLOCK.sub(fresh, text))
    return 0


def show():
    for page in SHOWN:
        for block in BLOCK.findall(page.read_text()):
            for command, _ in steps(block):
                print(f"\n$ {command}", flush=True)
                run(command, show=True)
    return 0


def main():
    actions = {(): check, ("--write",): write, ("--show",): show}
    return actions[tuple(sys.argv[1:])]()


if __name__ == "__main__":
    sys.exit(main())
