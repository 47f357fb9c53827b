"""The rows of `weft explain` add up to its total: check_rows.py SHORT COMPLETE JSON, of one program."""

import json
import pathlib
import re
import sys

ROW = re.compile(r"^  [a-z_]+ +[\w,:()]+ +(?:([\d,]+) x ([\d,]+) +)?([\d,]+)(?:  |$)")
REST = re.compile(r"^  and [\d,]+ rows? of ([\d,]+) bytes")
TOTAL = re.compile(r"^  total +([\d,]+)  in ([\d,]+) collective")


def number(text):
    return int(text.replace(",", ""))


def rows(path):
    """(bytes, count) of each row, the bytes of those left out, the total."""
    found, rest = [], 0
    for line in path.read_text().splitlines():
        if match := TOTAL.match(line):
            return found, rest, (number(match[1]), number(match[2]))
        if match := REST.match(line):
            rest = number(match[1])
        elif match := ROW.match(line):
            count = number(match[1] or "1")
            assert match[1] is None or count * number(match[2]) == number(match[3]), line
            found.append((number(match[3]), count))
    raise AssertionError(f"{path}: no total")


short, complete, report = (pathlib.Path(path) for path in sys.argv[1:])
told = json.loads(report.read_text())
wanted = (told["total"]["bytes"], told["total"]["count"])
for path in (short, complete):
    found, rest, total = rows(path)
    assert total == wanted == (told["total"]["bytes"], sum(c["count"] for c in told["collectives"])), (total, wanted)
    assert sum(sent for sent, _ in found) + rest == total[0], (path, found, rest, total)
found, rest, _ = rows(complete)
assert rest == 0 and len(found) == len(told["collectives"])
lines = len(short.read_text().splitlines())
assert lines <= 60, lines
print(f"rows add up to the total in both texts; {len(told['collectives'])} collectives in {len(rows(short)[0])} rows, {lines} lines")
