"""docs/stages.md agrees with compiler/stages/Stages.def; --write generates it."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "compiler" / "stages" / "Stages.def"
PAGE = ROOT / "docs" / "stages.md"
PASS = re.compile(r"^WEFT_PASS\((\w+),\s*create(\w+?)(?:Pass)?\(", re.M)
STAGE = re.compile(r'^WEFT_STAGE\((\w+),\s*((?:"[^"]*"\s*)+),\s*((?:"[^"]*"\s*)+)\)', re.M)


def text_of(literals):
    """Joins adjacent string literals, as the preprocessor does."""
    return "".join(re.findall(r'"([^"]*)"', literals))


def page():
    """Returns the whole page, from the table of stages."""
    stages = [(n, text_of(d), text_of(h)) for n, d, h in STAGE.findall(TABLE.read_text())]
    passes = PASS.findall(TABLE.read_text())
    declared = len(re.findall(r"^WEFT_STAGE\(", TABLE.read_text(), re.M))
    if not stages or len(stages) != declared:
        raise ValueError(f"{TABLE.relative_to(ROOT)}: read {len(stages)} of {declared} stages; "
                         "write each as WEFT_STAGE(name, \"description\", \"holds\")")
    lines = [
        "# Stages", "",
        "<!-- Generated from compiler/stages/Stages.def by tools/check/check_stages.py --write. -->", "",
        "A program passes these stages in order. `--emit=NAME` stops at one, `--from=NAME` starts",
        "from one, and the invariant in the fourth column is verified at its border.", "",
        "| # | Stage | The program is | Invariant | Passes that reach it |", "|---|---|---|---|---|",
    ]
    for i, (name, described, holds) in enumerate(stages, 1):
        reach = ", ".join(done for stage, done in passes if stage == name)
        lines.append(f"| {i} | `{name}` | {described} | {holds} | {reach} |")
    return "\n".join(lines) + "\n"


def main():
    try:
        wanted = page()
    except ValueError as error:
        print(error)
        return 1
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(wanted)
        return 0
    if not PAGE.exists() or PAGE.read_text() != wanted:
        print("docs/stages.md: differs from compiler/stages/Stages.def; "
              "run python3 tools/check/check_stages.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
