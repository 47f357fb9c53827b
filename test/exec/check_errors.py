"""Gives weft bad input of one kind; each message must be one that docs/errors.md documents.

    check_errors.py WEFT FIXTURES SECTION

docs/errors.md has a table for each section, whose first column is a message with
<...> for what varies. Every case must end with the status of its section, print
one error and match a message of the table; every message needs a case.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import error_cases
import patience

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "errors.md"
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
    """What is wrong with a run, or nothing."""
    kind = "warning" if status == 0 else "error"
    said = re.findall(rf"^weft: {kind}: (.*)$", result.stderr, re.M)
    if result.returncode != status:
        return f"exit status {result.returncode}, not {status}"
    if len(said) != 1:
        return f"{len(said)} messages, not 1"
    fitting = [message for message, pattern in documented.items() if pattern.match(said[0])]
    met.update(fitting)
    return "" if fitting else "a message that docs/errors.md does not have"


def main():
    weft, fixtures, section = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    documented, met, bad = templates(section), set(), 0
    with tempfile.TemporaryDirectory() as scratch:
        cases = error_cases.Cases(weft, fixtures, pathlib.Path(scratch))
        for name, command, options in cases.of(section):
            result = subprocess.run([weft, *map(str, command)], capture_output=True, text=True, timeout=patience.HANG,
                                    errors="replace", **options)
            wrong = complaint(result, STATUS.get(section, 1), documented, met)
            bad += bool(wrong)
            if wrong or "-v" in sys.argv:
                print(f"{name}: {wrong or 'ok'}\n  {result.stderr.replace(str(scratch) + '/', '').strip()}")
    for message in documented.keys() - met:
        print(f"docs/errors.md, {section}: no case gives `{message}`")
    for message in documented:
        if "; " not in message and section not in ("command-line", "fit-flags"):
            print(f"docs/errors.md, {section}: `{message}` does not say how to mend it")
            bad += 1
    print(f"{section}: {len(documented)} messages, {bad} bad cases")
    return 1 if bad or documented.keys() - met or not documented else 0


if __name__ == "__main__":
    sys.exit(main())
