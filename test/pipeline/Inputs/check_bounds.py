"""Compares the bound that `weft explain` states of a step with what the step sends under other layouts of its values.

    check_bounds.py WEFT FOLDER...

A bound says that no layout of the values that nobody annotated sends fewer bytes. Each program of the folders that has one is
explained again with a constraint on one of its values, sharded over one axis in one of its dimensions as a person would; that is
another layout of the free values, so that it sends at least as much. A bound is never above what its own step sends.
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

MOST = 12  # constraints of one program
AXIS = re.compile(r'"(\w+)"=(\d+)')
RESULT = re.compile(r"^( +)(%\w+) = (?:weft|stablehlo)\.(?!constrain|constant|case|while|for)\w+ .*?(tensor<((?:\d+x)+)\w+>)$", re.MULTILINE)


def explain(weft, text):
    """The bytes that a device sends and the bound, or None where the layouts have no bound or the text is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(re.sub(r', weft.expect = "[^"]*"', "", text))
        result = subprocess.run([weft, "explain", path, "--json", "--fix-seconds", "0"], capture_output=True, text=True)
    if result.returncode:
        return None, None
    report = json.loads(result.stdout)
    layouts = report.get("layouts")
    return report["total"]["bytes"], layouts and layouts["bound"]


def constrained(text):
    """Yields the program with one value constrained, and what the constraint is."""
    mesh = re.search(r"#(\w+) = #weft\.mesh<(.*?)>", text)
    if not mesh:
        return
    returned = set(re.findall(r"%\w+", " ".join(re.findall(r"^ +return (.*?)(?: :.*)?$", text, re.MULTILINE))))
    axes = [(name, int(size)) for name, size in AXIS.findall(mesh[2])]
    for match in RESULT.finditer(text):
        if match[2] in returned:
            continue  # what nobody annotated keeps the layout of the annotations
        sizes = [int(size) for size in match[4].split("x")[:-1]]
        for (name, size), dim in itertools.product(axes, range(len(sizes))):
            if sizes[dim] % size:
                continue
            dims = ", ".join(f'{{"{name}"}}' if at == dim else "{}" for at in range(len(sizes)))
            line = f'\n{match[1]}{match[2]}_at = weft.constrain {match[2]} to #weft.layout<#{mesh[1]}, [{dims}]> : {match[3]} -> {match[3]}'
            end = text.find("\n  }", match.end())
            if end < 0:
                continue
            uses = re.sub(re.escape(match[2]) + r"(?![\w#])", match[2] + "_at", text[match.end():end])
            yield text[:match.end()] + line + uses + text[end:], f"{match[2]} in [{dims}]"


def check(weft, path):
    """Returns the number of layouts that were compared and of those below the bound."""
    text = path.read_text()
    sent, bound = explain(weft, text)
    if bound is None:
        return 0, 0
    below = int(bound > sent)
    if below:
        print(f"FAIL {path.stem}: bound {bound} of {sent}")
    compared = 1
    others = list(constrained(text))
    for other, what in others[::max(1, len(others) // MOST)][:MOST]:
        now, _ = explain(weft, other)
        if now is None:
            continue
        compared += 1
        if now < bound:
            below += 1
            print(f"FAIL {path.stem}: {now} bytes with {what}, bound {bound} of {sent}")
    return compared, below


def main():
    weft, *folders = sys.argv[1:]
    paths = sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.mlir"))
    results = [check(weft, path) for path in paths]
    compared, below = (sum(column) for column in zip(*results, strict=True))
    programs = sum(count > 0 for count, _ in results)
    print(f"{programs} programs with a bound, {compared} layouts: {below} send less than the bound")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
