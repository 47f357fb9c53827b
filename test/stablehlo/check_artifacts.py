"""Checks that a portable artifact and the text of the same program are the same module.

    check_artifacts.py WEFT FOLDER
"""

import pathlib
import subprocess
import sys


def module(weft, program):
    return subprocess.run([weft, "compile", program, "--emit", "imported"], check=True, capture_output=True, text=True).stdout


weft, folder = sys.argv[1:]
artifacts = sorted(pathlib.Path(folder).glob("*.mlirbc"))
for artifact in artifacts:
    if module(weft, artifact) != module(weft, artifact.with_suffix(".mlir")):
        sys.exit(f"{artifact}: is another module than the text beside it")
print(f"{len(artifacts)} artifacts are their text")
sys.exit(not artifacts)
