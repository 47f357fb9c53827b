"""Each record of docs/decisions has a date in its name, a status and its sections, and a row in the index and in mkdocs.yml.

`--write` writes the rows of both from the records' names and titles.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER, SITE = ROOT / "docs" / "decisions", ROOT / "mkdocs.yml"
SECTIONS = ("## Context", "## Decision", "## Alternatives", "## Consequences")
INDEX_HEAD = "| record | date |\n|---|---|\n"


def problems_of(record):
    """Yields the problems of one record."""
    text, name = record.read_text(), record.relative_to(ROOT)
    if not re.fullmatch(r"\d{4}-\d\d-\d\d-[a-z0-9-]+\.md", record.name):
        yield f"{name}: is not named YYYY-MM-DD-topic.md; rename it"
    if not re.match(r"# .+\n\n\*\*Status:\*\* (accepted|replaced by \[)", text):
        yield f"{name}: does not begin with '# TITLE' and '**Status:** accepted DATE' or 'replaced by [RECORD](FILE)'; write them"
    places = [text.find(f"\n{section}\n") for section in SECTIONS]
    if -1 in places or places != sorted(places):
        yield f"{name}: has not the sections {', '.join(section[3:] for section in SECTIONS)} in this order; write them"


def rows(records):
    """The rows of the index and of the site for records, newest topics last."""
    titles = {record: record.read_text().partition("\n")[0].removeprefix("# ") for record in records}
    index = "".join(f"| [{titles[record]}]({record.name}) | {record.name[:10]} |\n" for record in records)
    site = "".join(f"          - decisions/{record.name}\n" for record in records)
    return index, site


def main():
    records = sorted(FOLDER.glob("[0-9]*.md"))
    problems = [problem for record in records for problem in problems_of(record)]
    index, site = rows(records)
    wanted = {FOLDER / "index.md": (re.escape(INDEX_HEAD) + r"(?:\|.*\n)*", INDEX_HEAD + index),
              SITE: (r"          - decisions/index\.md\n(?:          - decisions/\S+\n)*", "          - decisions/index.md\n" + site)}
    for path, (pattern, text) in wanted.items():
        new = re.sub(pattern, lambda _: text, path.read_text())
        if new != path.read_text() and "--write" in sys.argv:
            path.write_text(new)
        elif new != path.read_text():
            problems.append(f"{path.relative_to(ROOT)}: does not list the records as they are; run tools/check/check_decisions.py --write")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
