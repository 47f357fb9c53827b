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
for name, pixels, labels in (
        ("good", ramp, range(8)),
        ("nan", [NAN] * 12 + ramp[12:], range(8)),
        ("all", [NAN] * PIXELS, range(8)),
        ("labels", ramp, [15, 16, 17, 15, 16, 17, 15, 16])):
    npz_values.write(folder / f"{name}.npz", {"x": ((8, 28, 28), array.array("f", pixels)),
                                              "y": ((8,), array.array("B", labels))})
