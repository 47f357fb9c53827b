"""Runs StableHLO programs of JAX with other shardings than their own; the outputs must still be JAX's.

    check_redrawn.py WEFT FOLDER cpu:N SEEDS [PROGRAM...]      SEEDS: 3, or 5-9

For each seed, every sharding of a program (of arguments, results and constraints) gets its dimensions in another
order, or its mesh axes assigned again; dimensions may be of lengths that axes do not divide.
"""

import pathlib
import random
import re
import sys
import tempfile

import check_programs

MESH = re.compile(r'sdy\.mesh @mesh = <\[(.*?)\]>')
SHARDING = re.compile(r'(<@mesh, )\[((?:\{[^}]*\}(?:, )?)*)\]')


def dealt_out(draw, rank, axes):
    """Random axes for each dimension: each axis shards one dimension or none."""
    dimensions = [[] for _ in range(rank)]
    for axis in draw.sample(axes, len(axes)):
        if draw.random() < 0.7:
            draw.choice(dimensions).append(f'"{axis}"')
    return ["{" + ", ".join(names) + "}" for names in dimensions]


def redrawn(text, seed):
    """The program with other shardings; scalars have none."""
    draw = random.Random(seed)
    axes = re.findall(r'"(\w+)"=', MESH.search(text)[1])

    def other(match):
        dimensions = re.findall(r"\{[^}]*\}", match[2])
        if not dimensions:
            return match[0]
        if draw.random() < 0.5:
            dimensions = draw.sample(dimensions, len(dimensions))
        else:
            dimensions = dealt_out(draw, len(dimensions), axes)
        return match[1] + "[" + ", ".join(dimensions) + "]"

    return SHARDING.sub(other, text)


def main():
    weft, folder, devices, seeds, *names = sys.argv[1:]
    first, _, last = seeds.partition("-")
    programs = [path for path in sorted(pathlib.Path(folder).glob("*.mlir")) if MESH.search(path.read_text())]
    programs = [path for path in programs if not names or path.stem in names]
    failed = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for program in programs:
            for seed in range(int(first), int(last or first) + 1):
                other = scratch / program.name
                other.write_text(redrawn(program.read_text(), f"{program.stem} {seed}"))
                arrays = other.with_suffix(".npz")
                arrays.unlink(missing_ok=True)
                arrays.symlink_to(program.with_suffix(".npz").resolve())
                why = check_programs.run(weft, other, devices, scratch / "out.npz")
                count += 1
                if why:
                    print(f"{program.stem} seed {seed} on {devices}: {why[:400]}", flush=True)
                    failed += 1
    print(f"{count} programs, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
