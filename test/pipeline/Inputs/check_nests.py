"""Checks that programs that differ only in their loop nests give the same bits.

    check_nests.py WEFT FOLDER NAME...

FOLDER has NAME.weft: x[250,320] . w[320,64] + b[64]. Its numbers are whole and small, so that no sum rounds; some are
compared with sums of Python.
"""

import array
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "exec"))
import npz_values  # noqa: E402

ROWS, DEPTH, COLUMNS = 250, 320, 64


def main():
    weft, folder, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    chance = random.Random(5)

    def drawn(*sizes):
        count = sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
        return list(sizes), array.array("f", (chance.randint(-4, 4) for _ in range(count)))

    x, w, b = drawn(ROWS, DEPTH), drawn(DEPTH, COLUMNS), drawn(COLUMNS)
    inputs = folder / "in.npz"
    listed = subprocess.run([weft, "run", folder / f"{names[0]}.weft", "--list"], check=True, capture_output=True,
                            text=True).stdout
    ports = [line.split()[1] for line in listed.splitlines() if line.startswith("input")]
    npz_values.write(inputs, dict(zip(ports, (x, w, b))))
    results = []
    for name in names:
        out = folder / f"{name}.npz"
        subprocess.run([weft, "run", folder / f"{name}.weft", "--inputs", inputs, "--outputs", out], check=True)
        results.append(next(values for _, values in npz_values.read(out).values()))
    assert all(result == results[0] for result in results), "results differ"
    for _ in range(200):
        i, j = chance.randrange(ROWS), chance.randrange(COLUMNS)
        expected = b[1][j] + sum(x[1][i * DEPTH + k] * w[1][k * COLUMNS + j] for k in range(DEPTH))
        assert results[0][i * COLUMNS + j] == expected, (i, j)
    print(f"{len(names)} programs agree")


if __name__ == "__main__":
    main()
