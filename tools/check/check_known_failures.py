"""docs/known-failures.md has numbered rows, and each test it names is in the file it names."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/known-failures.md"
ROW = re.compile(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|", re.M)
UNIT = "test/unit/known-failures-{}test.cpp"
FILES = {
    "U": UNIT.format(""),
    **{name: UNIT.format(name + "-") for name in ("values", "collectives", "shapes")},
    "messages": "test/passes/known-failures-messages.mlir",
    "explain": "test/pipeline/known-failures-explain.test",
    "probes": "test/exec/upstream-probes.test",
    "arrays": "test/jax/reports_of_arrays.py",
    "programs": "test/jax/reports_of_programs.py",
    "keras": "test/keras/reported_models.py",
}


def main():
    rows = ROW.findall((ROOT / PAGE).read_text())
    problems = []
    if [int(number) for number, _ in rows] != list(range(1, len(rows) + 1)) or len(rows) < 100:
        problems.append(f"{PAGE}: {len(rows)} rows, not 1 to 100 or more in order; fix the table")
    for number, tests in rows:
        named = re.findall(r'(\w+): ((?:"[^"]+"(?:, )?)+)', tests)
        for file, quoted in named:
            text = " ".join((ROOT / FILES[file]).read_text().split()) if file in FILES else ""
            problems += [f'{PAGE}: row {number} names "{test}", which is not in {FILES.get(file, file)}; name the test'
                         for test in re.findall(r'"([^"]+)"', quoted) if test not in text]
        if not named and tests != "none":
            problems.append(f"{PAGE}: row {number} names no test; write FILE: \"test\" or none")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
