"""Compares keras_fit.py on Weft's devices with JAX's own CPU device.

    check_fit.py none|dp|mp
"""

import json
import os
import pathlib
import subprocess
import sys


def fit(kind, **environment):
    script = pathlib.Path(__file__).with_name("keras_fit.py")
    done = subprocess.run([sys.executable, script, kind], env={**os.environ, **environment}, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


kind = sys.argv[1]
expected = fit("none", JAX_PLATFORMS="cpu")
found = fit(kind, JAX_PLATFORMS="weft", WEFT_DEVICES="cpu:1" if kind == "none" else "cpu:8")
for name, values in expected.items():
    for a, b in zip(values, found[name], strict=True):
        if abs(a - b) > 1e-4 * max(1, abs(a)):
            sys.exit(f"{name}: Weft has {found[name]}, JAX {values}")
print("fit agrees")
