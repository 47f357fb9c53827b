"""Every pass has one name: in Passes.td, its file, its flag and its test.

`def PlaceBuffersPass : Pass<"weft-place-buffers"` is in PlaceBuffers.cpp, tested by
test/passes/place-buffers.mlir, and its description has Requires:, Ensures: and Example:.
The example names that test, and the program it shows, if it shows one, is run there.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFINITION = re.compile(r'^def (\w+)\s*:\s*Pass<\s*"([^"]+)"(.*?)(?=^def |\Z)', re.M | re.S)


def kebab(name):
    """PlaceBuffers -> place-buffers."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def problems_of(table, definition, flag, body):
    """Yields the problems of one pass."""
    name = definition.removesuffix("Pass")
    where = table.relative_to(ROOT)
    if not any(table.parent.rglob(f"{name}.cpp")):
        yield f"{where}: {definition} has no file {name}.cpp in {table.parent.relative_to(ROOT)}; rename one of them"
    if flag != f"weft-{kebab(name)}":
        yield f"{where}: flag of {definition} is {flag} != weft-{kebab(name)}; rename one of them"
    test = ROOT / "test" / "passes" / f"{kebab(name)}.mlir"
    if not test.exists():
        yield f"{where}: {definition} has no test {test.relative_to(ROOT)}; write it"
    elif f"--{flag}" not in test.read_text() and flag not in test.read_text():
        yield f"{test.relative_to(ROOT)}: does not run {flag}; add a RUN line with it"
    for heading in ("Requires:", "Ensures:", "Example:"):
        if heading not in body:
            yield f"{where}: description of {definition} has no '{heading}'; write it"
    example = body.partition("Example:")[2]
    if str(test.relative_to(ROOT)) not in example:
        yield f"{where}: the example of {definition} does not name its test; write 'Example: {test.relative_to(ROOT)}'"
    for line in shown(example):
        if test.exists() and line not in test.read_text():
            yield f"{test.relative_to(ROOT)}: does not have the line '{line}' of the example of {definition}; run that program"


def shown(example):
    """The lines of the first program in an example, without a location or comment."""
    block = re.search(r"```mlir\n(.*?)```", example, re.S)
    lines = block.group(1).splitlines() if block else []
    return [text for text in (re.sub(r"\s*(loc\(.*|//.*)$", "", line).strip() for line in lines) if len(text) > 1]


def passes_elsewhere():
    """Yields passes that no table names, and tables in other folders."""
    for path in sorted([*ROOT.glob("dialects/**/*.td"), *ROOT.glob("compiler/**/*.td"), *ROOT.glob("passes/**/*.td")]):
        if path.name != "Passes.td" and DEFINITION.search(path.read_text()):
            yield f"{path.relative_to(ROOT)}: defines a pass; move it to passes/FOLDER/Passes.td"
    for path in sorted([*ROOT.glob("passes/**/*.cpp"), *ROOT.glob("dialects/**/*.cpp")]):
        if "PassWrapper<" in path.read_text():
            yield f"{path.relative_to(ROOT)}: a pass without a description; define it in Passes.td"


def main():
    problems, passes = [], 0
    for table in sorted([*ROOT.glob("passes/*/Passes.td"), *ROOT.glob("compiler/**/Passes.td")]):
        for definition, flag, body in DEFINITION.findall(table.read_text()):
            passes += 1
            problems += problems_of(table, definition, flag, body)
    problems += passes_elsewhere()
    if not passes:
        problems.append("passes: no pass found in Passes.td; fix the pattern in tools/check/check_names.py")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
