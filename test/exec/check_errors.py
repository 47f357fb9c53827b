"""Gives weft bad input of one kind; each message must be one that docs/errors.md documents.

    check_errors.py WEFT FIXTURES SECTION

docs/errors.md has a table for each section, whose first column is a message with
<...> for the words that vary. Every case must end with the status of its section, print
one error and match a message of the table; every message needs a case.

docs/bad-models.md has a section of its own for bad models and distributions: each input with the exit status and the
message in full. The page is compared, too; WEFT_WRITE_DOCS=1 writes it.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import error_cases
import patience

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "errors.md"
PAGE = DOCUMENT.with_name("bad-models.md")
STATUS = {"command-line": 2, "fit-flags": 2, "fit-warnings": 0, "reshard": 2, "warnings": 0}


def templates(section):
    """{message as documented: pattern} of a section's table."""
    text = DOCUMENT.read_text()
    parts = dict(re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    messages = re.findall(r"^\| `(.+?)` \|", parts[section], re.M)
    pattern = {m: "".join(".+?" if p.startswith("<") else re.escape(p) for p in re.split(r"(<[a-z]+>)", m))
               for m in messages}
    return {m: re.compile(p + r"\Z", re.S) for m, p in pattern.items()}


def complaint(result, status, documented, met):
    """The error in a run, or nothing."""
    kind = "warning" if status == 0 else "error"
    said = re.findall(rf"^weft: {kind}: (.*)$", result.stderr, re.M)
    if result.returncode != status:
        return f"exit status {result.returncode}, not {status}"
    if len(said) != 1:
        return f"{len(said)} messages, not 1"
    fitting = [message for message, pattern in documented.items() if pattern.match(said[0])]
    met.update(fitting)
    return "" if fitting else "a message that docs/errors.md does not have"


def row(name, command, result, places):
    """A line of docs/bad-models.md; long messages are cut."""
    said = next((line for line in result.stderr.splitlines() if line.startswith("weft: error: ")), "")
    for place in places:
        said = said.replace(f"{place}/", "").replace(str(place), "FOLDER")
    said = said if len(said) < 260 else said[:250] + " ..."
    return f"| {name} | `{' '.join(['weft', *command[:1]])}` | {result.returncode} | `{said.replace('|', chr(92) + '|')}` |"


def check_page(section, rows):
    """Whether docs/bad-models.md has these rows in its section, if it has one."""
    text = PAGE.read_text()
    found = re.search(rf"(?<=^## {section}\n\n\| input \| command \| status \| message \|\n\|---\|---\|---\|---\|\n)(\|.*\n)*", text, re.M)
    if not found or found.group(0).splitlines() == rows:
        return True
    if os.environ.get("WEFT_WRITE_DOCS"):
        PAGE.write_text(text[:found.start()] + "\n".join(rows) + "\n" + text[found.end():])
        return True
    old = set(found.group(0).splitlines())
    print(f"{PAGE.name}, {section}: run with WEFT_WRITE_DOCS=1; other rows: " + "\n".join(line for line in rows if line not in old))
    return False


def main():
    weft, fixtures, section = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    documented, met, bad, rows = templates(section), set(), 0, []
    with tempfile.TemporaryDirectory() as scratch:
        cases = error_cases.Cases(weft, fixtures, pathlib.Path(scratch))
        for name, command, options in cases.of(section):
            result = subprocess.run([weft, *map(str, command)], capture_output=True, text=True, timeout=patience.HANG,
                                    errors="replace", **options)
            wrong = complaint(result, STATUS.get(section, 1), documented, met)
            rows.append(row(name, command, result, (scratch, fixtures)))
            bad += bool(wrong)
            if wrong or "-v" in sys.argv:
                print(f"{name}: {wrong or 'ok'}\n  {result.stderr.replace(str(scratch) + '/', '').strip()}")
    for message in documented.keys() - met:
        print(f"docs/errors.md, {section}: no case gives `{message}`")
    for message in documented:
        if "; " not in message and section not in ("command-line", "fit-flags"):
            print(f"docs/errors.md, {section}: `{message}` does not say how to fix it")
            bad += 1
    bad += not check_page(section, rows)
    print(f"{section}: {len(documented)} messages, {bad} bad cases")
    return 1 if bad or documented.keys() - met or not documented else 0


if __name__ == "__main__":
    sys.exit(main())
