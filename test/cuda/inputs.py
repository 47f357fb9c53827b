"""Writes inputs for a program.

    python inputs.py PROGRAM.weft WEFT OUT.npz
"""

import subprocess
import sys

import npz_values
from check_run import arguments

program, weft, out = sys.argv[1:]
npz_values.write(out, arguments(subprocess.run([weft, "run", "--list", program], check=True, text=True, capture_output=True).stdout))
