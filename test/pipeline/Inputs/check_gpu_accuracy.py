"""Functions of f32 in GPU kernels: arguments and bounds are those of test/exec/check_accuracy.py for CPUs.

    PYTHONPATH=test/exec check_gpu_accuracy.py WEFT_OPT FOLDER

The kernels are PTX, which a machine in Python runs.
"""

import pathlib
import subprocess
import sys
from array import array

from check_accuracy import UNITS, check
from ptx_machine import Module

OPS = {"sine": "sin", "cosine": "cos", "exponential": "exp", "exponential_minus_one": "expm1", "log_plus_one": "log1p",
       "round_nearest_even": "round_even", "round_nearest_afz": "round"}


def kernel(name, count):
    type_ = f"tensor<{count}xf32>"
    second = ", %side" if name == "atan2" else ""
    return f"""func.func private @{name}(%x: {type_}) -> {type_} attributes {{weft.kernel = #weft.kernel<elementwise>}} {{
      %side = weft.constant dense<-0.75> : {type_}
      %y = weft.{OPS.get(name, name)} %x{second} : {type_}
      return %y : {type_}
    }}
"""


def main():
    weft_opt, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "functions.mlir"
    source.write_text("".join(kernel(name, len(arguments)) for name, (_, arguments, _) in UNITS.items()))
    ptx = subprocess.run([weft_opt, source, "--weft-choose-nests=target=cuda:sm_90a",
                          "--weft-print-assembly=target=cuda:sm_90a", "-o", "/dev/null"], check=True,
                         capture_output=True, text=True).stdout
    machine = Module(ptx)
    for name, (_, arguments, _) in UNITS.items():
        found = array("f", [99]) * len(arguments)
        machine.launch(name, 1, [array("f", arguments), found, array("q", [0])])
        check(name, found)


if __name__ == "__main__":
    main()
