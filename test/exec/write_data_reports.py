"""Writes the data of data-reports.test.

    write_data_reports.py FOLDER SOURCE
"""

import array
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])

import npz_values

PIXELS = 8 * 784
NAN = float("nan")
ramp = [i % 2 for i in range(PIXELS)]
for name, pixels, labels, code in (
        ("good", ramp, range(8), "B"),
        ("nan", [NAN] * 12 + ramp[12:], range(8), "B"),
        ("all", [NAN] * PIXELS, range(8), "B"),
        ("labels", ramp, [15, 16, 17, 15, 16, 17, 15, 16], "B"),
        ("halves", ramp, [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5], "f")):
    npz_values.write(folder / f"{name}.npz", {"x": ((8, 28, 28), array.array("f", pixels)),
                                              "y": ((8,), array.array(code, labels))})
