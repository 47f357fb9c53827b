"""Checks that large contractions of a train step keep the processors of a GPU busy.

    python3 check_parts.py NESTS BLOCKS MULTIPLY_ADDS

NESTS is text of `weft compile --emit nests`. Each nest of tiles with so many multiply-adds or more must have BLOCKS blocks or more:
tiles of its result, times the parts of its depth.
"""

import math
import pathlib
import re
import sys

NEST = re.compile(r"nest\.loops #nest\.tiles<\w+, block\[(\d+), (\d+), \d+\].*?(?:parts = (\d+))?> to .*\n(?:.*\n)*?\s+%\d+ = weft\.(dot|convolution) (.*)")


def shapes(text):
    return [[int(size) for size in shape.split("x")[:-1]] for shape in re.findall(r"tensor<([\dx]+x)\w+>", text)]


def depth(name, text):
    """The products of each sum."""
    lhs, rhs, result = shapes(text)[-3:]
    if name == "convolution":
        features = int(re.search(r"rhs_dims = array<i64: (\d+)", text).group(1))
        return math.prod(rhs) // rhs[features]
    contract = re.search(r"contract \[([\d, ]*)\]", text).group(1)
    return math.prod(lhs[int(dim)] for dim in contract.split(","))


def main():
    least, work = int(sys.argv[2]), int(sys.argv[3])
    seen, wrong = 0, []
    for rows, columns, parts, name, text in NEST.findall(pathlib.Path(sys.argv[1]).read_text()):
        sums = math.prod(shapes(text)[-1])
        if sums * depth(name, text) < work:
            continue
        seen += 1
        blocks = math.ceil(sums / (int(rows) * int(columns))) * int(parts or 1)
        if blocks < least:
            wrong.append(f"{name} of {sums} sums of {depth(name, text)} products has {blocks} blocks")
    print("\n".join(wrong) or f"{seen} contractions have {least} blocks or more each")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
