"""Blocks of devices after collective_broadcast are those of the first device of each group, or zero.

    check_broadcast.py WEFT FOLDER

FOLDER has last.mlir and part.mlir, programs of 8 x 16 floats in blocks of 4 x 4 over the mesh x=2, y=4.
"""

import array
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import npz_values

# {program: {device: the device whose block it gets}}, as the groups of the programs say.
SENT = {"last": {device: 3 + device // 4 * 4 for device in range(8)}, "part": {1: 2, 2: 2, 4: 7, 7: 7}}


def expected(sources):
    """The global result, row by row: element (i, j) is 16 i + j + 1 before the broadcast."""
    values = []
    for i in range(8):
        for j in range(16):
            source = sources.get(i // 4 * 4 + j // 4)
            values.append(0 if source is None else 16 * (i % 4 + source // 4 * 4) + j % 4 + source % 4 * 4 + 1)
    return values


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    npz_values.write(folder / "in.npz", {"in/000": ((8, 16), array.array("f", range(1, 129)))})
    for name, sources in SENT.items():
        subprocess.run([weft, "run", folder / f"{name}.mlir", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                        "--devices", "cpu:8"], check=True)
        found = list(npz_values.read(folder / "out.npz")["out/000"][1])
        if found != expected(sources):
            sys.exit(f"{name}: is {found}, not {expected(sources)}")


if __name__ == "__main__":
    main()
