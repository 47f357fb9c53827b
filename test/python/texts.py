"""Damaged programs through weft.Context: each is refused with a message or compiled, and the process goes on.

    texts.py SOURCE_TREE [SECONDS [SEED]]      200 texts of a fixed seed without SECONDS
"""

import pathlib
import random
import sys
import time

import weft

WORDS = ["%0", "tensor<4xf32>", "tensor<0xf32>", "-1", "99999999999", '"m"', "{", "}", "#mesh", "weft.layout", "[", "dims", "f64",
         "i1", "weft.dot", "func.func"]


def programs(tree):
    """The texts of examples and tests."""
    for folder in ("examples", "test/dialects", "test/stablehlo", "test/pipeline"):
        for path in sorted((tree / folder).rglob("*.mlir")):
            if path.stat().st_size < 20000:
                yield from path.read_text(errors="replace").split("// -----")


def damaged(text, chance):
    for _ in range(chance.randint(0, 4)):
        at, kind = chance.randrange(len(text) + 1), chance.random()
        if kind < 0.3:
            text = text[:at] + text[at + chance.randint(1, 8):]
        elif kind < 0.7:
            text = text[:at] + chance.choice(WORDS) + text[at:]
        else:
            begin = chance.randrange(len(text) + 1)
            text = text[:at] + text[begin:begin + chance.randint(1, 40)] + text[at:]
    return text


def main():
    texts = list(programs(pathlib.Path(sys.argv[1])))
    end = time.monotonic() + float(sys.argv[2]) if sys.argv[2:] else None
    chance = random.Random(int(sys.argv[3]) if sys.argv[3:] else 1)
    context, tried, compiled = weft.Context(), 0, 0
    while time.monotonic() < end if end else tried < 200:
        tried += 1
        try:
            module = context.parse(damaged(chance.choice(texts), chance), name="damaged.mlir")
            str(module), module.values()
            if chance.random() < 0.5:
                module.reach(chance.choice(context.stages))
            module.explain(), module.image(target="cpu:generic")
            compiled += 1
        except weft.Error as error:
            assert str(error), "a refusal without a message"
    assert 0 < compiled < tried, (compiled, tried)
    print(f"{tried} texts, {compiled} compiled")


main()
