"""docs/seeds.md has 72 rows, each with a test file that exists or `not yet: why`, and counts the proved ones."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (\d+) \|.*\| ([^|]+) \|$", re.M)


def main():
    text = (ROOT / "docs" / "seeds.md").read_text()
    rows = ROW.findall(text)
    problems = []
    proved = sum(not proof.startswith("not yet: ") for _, proof in rows)
    if f"\n{proved} are proved" not in text:
        problems.append(f"docs/seeds.md: {proved} rows name a test, the first line counts others; write {proved}")
    if [int(number) for number, _ in rows] != list(range(1, 73)):
        problems.append(f"docs/seeds.md: {len(rows)} rows, not 1 to 72 in order; fix the table")
    for number, proof in rows:
        tests = re.findall(r"test/[\w./-]+\w", proof)
        problems += [f"docs/seeds.md: row {number} names {t}, which is not there; name the test that proves it"
                     for t in tests if not (ROOT / t).exists()]
        if not tests and not proof.startswith("not yet: "):
            problems.append(f"docs/seeds.md: row {number} has no test; name one, or write 'not yet: ' and the missing part")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
