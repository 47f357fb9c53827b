"""Copies the example in the first comment of a header to a file that is compiled.

    write_example.py HEADER OUT           from an #include on: C that stands alone
    write_example.py HEADER OUT NUMBER    a block of it, as part of a function
"""

import pathlib
import re
import sys


def comment_lines(text):
    """The header's first comment without its slashes."""
    return [line[2:] for line in re.match(r"(?://[^\n]*\n)+", text).group(0).splitlines()]


def example(text):
    """The lines that are indented by three blanks, from an #include on."""
    lines = comment_lines(text)
    first = next(i for i, line in enumerate(lines) if line.startswith("   #include"))
    block = []
    for line in lines[first:]:
        if line and not line.startswith("   "):
            break
        block.append(line[3:])
    return "\n".join(block).rstrip() + "\n"


def blocks(text):
    """The blocks of indented lines in the header's first comment."""
    found = re.findall(r"(?:^   .*\n)+", "\n".join(comment_lines(text)) + "\n", re.M)
    return [re.sub(r"^   ", "", block, flags=re.M) for block in found]


if __name__ == "__main__":
    header, out = map(pathlib.Path, sys.argv[1:3])
    source = header.read_text()
    out.write_text(blocks(source)[int(sys.argv[3])] if sys.argv[3:] else "#include <stddef.h>\n" + example(source))
