"""Checks functions of f32 in GPU kernels, with the arguments and bounds of test/exec/check_accuracy.py for CPUs.

    PYTHONPATH=test/exec check_gpu_accuracy.py WEFT_OPT PTX_RUN FOLDER

The kernels are PTX, which ptx-run runs.
"""

import pathlib
import subprocess
import sys
from array import array

from check_accuracy import UNITS, check, operands
from ptx_runner import Machine

OPS = {"sine": "sin", "cosine": "cos", "exponential": "exp", "exponential_minus_one": "expm1", "log_plus_one": "log1p",
       "round_nearest_even": "round_even", "round_nearest_afz": "round", "power": "pow"}


def kernel(name):
    columns = operands(name)
    type_, names = f"tensor<{len(columns[0])}xf32>", [f"%x{i}" for i in range(len(columns))]
    arguments = ", ".join(f"{x}: {type_}" for x in names)
    return f"""func.func private @{name}({arguments}) -> {type_} attributes {{weft.kernel = #weft.kernel<elementwise>}} {{
      %y = weft.{OPS.get(name, name)} {", ".join(names)} : {type_}
      return %y : {type_}
    }}
"""


def main():
    weft_opt, ptx_run, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "functions.mlir"
    source.write_text("".join(kernel(name) for name in UNITS))
    ptx = subprocess.run([weft_opt, source, "--weft-choose-nests=target=cuda:sm_90a",
                          "--weft-print-assembly=target=cuda:sm_90a", "-o", "/dev/null"], check=True,
                         capture_output=True, text=True).stdout
    (folder / "functions.ptx").write_text(ptx)
    machine = Machine(ptx_run, folder / "functions.ptx", folder)
    for name in UNITS:
        columns = [array("f", column) for column in operands(name)]
        found = array("f", [99]) * len(columns[0])
        machine.launch(name, 1, [*columns, found, array("q", [0])])
        check(name, found)


if __name__ == "__main__":
    main()
