"""Blocks of devices after collective_broadcast are those of the first device of each group, or zero on devices of no group.

    check_broadcast.py WEFT FOLDER      writes FOLDER/NAME.mlir for each case, and runs it on cpu:8
"""

import array
import itertools
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import npz_values

# Groups of devices on the mesh x=2, y=4, and the device at each position. An empty list of groups stands for one of all devices.
CASES = {"last": [[3, 0, 1, 2], [7, 4, 5, 6]], "part": [[2, 1], [7, 4]], "alone": [[device] for device in range(8)], "all": []}
ORDERS = {"": range(8), "moved-": [6, 4, 5, 7, 3, 1, 2, 0]}
PROGRAM = """module {{
sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[{order}]>
func.func public @main(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] out_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] manual_axes={{"x", "y"}} (%p: tensor<4x4xf32>) {{
    %r = "stablehlo.collective_broadcast"(%p) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{groups}> : tensor<{rows}x{columns}xi64>}}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %r : tensor<4x4xf32>
  }} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}}
}}
"""


def expected(groups, order):
    """The global result, row by row: element (i, j) is 16 i + j + 1 before the broadcast."""
    source_of = {member: group[0] for group in groups or [range(8)] for member in group}
    values = []
    for i in range(8):
        for j in range(16):
            source = source_of.get(order[i // 4 * 4 + j // 4])
            place = None if source is None else list(order).index(source)
            values.append(0 if source is None else 16 * (i % 4 + place // 4 * 4) + j % 4 + place % 4 * 4 + 1)
    return values


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    npz_values.write(folder / "in.npz", {"in/000": ((8, 16), array.array("f", range(1, 129)))})
    for (kind, groups), (moved, order) in itertools.product(CASES.items(), ORDERS.items()):
        name = moved + kind
        program = folder / f"{name}.mlir"
        program.write_text(PROGRAM.format(groups=groups or "", rows=len(groups), columns=len(groups[0]) if groups else 0,
                                          order=", ".join(map(str, order))))
        subprocess.run([weft, "run", program, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                        "--devices", "cpu:8"], check=True)
        found = list(npz_values.read(folder / "out.npz")["out/000"][1])
        if found != expected(groups, order):
            sys.exit(f"{name}: is {found}, not {expected(groups, order)}")


if __name__ == "__main__":
    main()
