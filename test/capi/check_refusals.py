"""Checks that stdin has each message of the section compiler-library of docs/errors.md.

    weft-compiler-refusals FILE | check_refusals.py
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import check_errors

said = re.findall(r"error: (.*)", sys.stdin.read())
documented = check_errors.templates("compiler-library")
missing = [message for message, pattern in documented.items() if not any(map(pattern.match, said))]
if missing or len(documented) < 10:
    sys.exit(f"docs/errors.md has, and nothing says: {missing}")
print(f"{len(documented)} messages are said")
