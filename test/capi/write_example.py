"""Copies the example in the first comment of a C header to a file that is compiled.

    write_example.py HEADER OUT
"""

import pathlib
import re
import sys


def example(text):
    """The lines of the header's first comment that are indented by three blanks, from an #include on."""
    comment = re.match(r"(?://[^\n]*\n)+", text).group(0)
    lines = [line[2:] for line in comment.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("   #include"))
    block = []
    for line in lines[first:]:
        if line and not line.startswith("   "):
            break
        block.append(line[3:])
    return "\n".join(block).rstrip() + "\n"


header, out = map(pathlib.Path, sys.argv[1:])
out.write_text("#include <stddef.h>\n" + example(header.read_text()))
