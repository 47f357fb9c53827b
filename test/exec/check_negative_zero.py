"""Results of zeros of both signs have the bits of one device on any number of devices.

    check_negative_zero.py WEFT PROGRAM FOLDER

PROGRAM is text of Weft with DEVICES and TYPE to fill in. The program only moves and adds elements of its arguments: zeros,
of which two of three are -0.
"""

import array
import math
import pathlib
import subprocess
import sys

import npz_values

SIZES = {"x": [7, 2], "z": [7, 2], "u": [4, 2]}


def results(weft, text, folder, name):
    """{port: signs} of a program."""
    source, out = folder / f"{name}.mlir", folder / f"{name}.npz"
    source.write_text(text)
    subprocess.run([weft, "run", source, "--inputs", folder / "in.npz", "--outputs", out], check=True)
    values = npz_values.read(out)
    assert all(value == 0 for _, flat in values.values() for value in flat), values
    return {port: [math.copysign(1, value) for value in flat] for port, (_, flat) in values.items()}


def main():
    weft, program, folder = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
    for element, code in (("f32", "f"), ("f64", "d")):
        npz_values.write(folder / "in.npz", {name: (shape, array.array(code, [-0.0 if i % 3 else 0.0 for i in range(math.prod(shape))]))
                                             for name, shape in SIZES.items()})
        text = program.replace("TYPE", element)
        alone = results(weft, text.replace("DEVICES", "1"), folder, f"{element}-1")
        assert len(alone) == 4 and all(-1 in signs and 1 in signs for signs in alone.values()), alone
        for devices in (2, 3, 4, 8):
            found = results(weft, text.replace("DEVICES", str(devices)), folder, f"{element}-{devices}")
            assert found == alone, f"{element} on {devices} devices: {found}, on one {alone}"
        print(f"{element}: as on one device")


if __name__ == "__main__":
    main()
