"""Checks that weft.trace refuses bad input with the file, both values and a fix, and writes nothing.

    trace_refusals.py FIXTURES SCRATCH
"""

import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(HERE.parents[1] / "tools" / "pjrt" / "python")}


def cases(fixtures, scratch):
    model = fixtures / "seed-sequential-mnist" / "model.json"
    mesh = {"shape": [2], "axis_names": ["batch"], "devices": None}
    spec = {"class_name": "DataParallel", "config": {"device_mesh": mesh}}

    def distribution(name, **changes):
        path = scratch / f"{name}.json"
        path.write_text(json.dumps(spec | changes))
        return ["--distribution", path]
    yield [scratch / "nothing.json"], r"nothing.json: Keras does not load it: FileNotFoundError: .*; where it names a class"
    yield [model, "--distribution", scratch / "none.json"], r"none.json: cannot be read: No such file or directory; check the path"
    yield [model, *distribution("mesh", config={})], r"mesh.json: is no distribution \(KeyError: 'device_mesh'\); write class_name"
    yield [model, *distribution("class", class_name="Pipeline")], r"class.json: class_name is Pipeline; use DataParallel or ModelParallel"
    yield [model, *distribution("named", config={"device_mesh": mesh | {"devices": ["cpu:1", "cpu:0"]}})], \
        r"named.json: device_mesh: devices is \['cpu:1', 'cpu:0'\]; leave it null"
    yield [model, *distribution("regex", config={"device_mesh": mesh, "regex": "search"})], r"regex.json: regex is search; Keras"
    yield [model, "--input", "x=28by28"], r"--input x=28by28: is not \[NAME=\]SHAPE\[:DTYPE\]; write, for example, --input x=28x28"
    yield [model, "--label", "digits=10"], r"--label digits=10: the model has .*; write --label"
    yield [model, "--loss", "no_such_loss"], r"Keras does not trace its steps: ValueError: Could not interpret loss identifier: no_such_loss; fix the model"


def main():
    fixtures, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    out, bad = scratch / "refused.mlir", 0
    for arguments, message in cases(fixtures, scratch):
        result = subprocess.run([sys.executable, "-m", "weft.trace", *map(str, arguments), "--seed", "1", "-o", out], text=True,
                                capture_output=True, env=ENVIRONMENT)
        said = re.findall(r"^weft.trace: error: (.*)$", result.stderr, re.M)
        if result.returncode != 1 or len(said) != 1 or not re.search(message, said[0]) or out.exists():
            bad += 1
            print(f"{arguments}: status {result.returncode}\n{result.stderr}")
    usage = subprocess.run([sys.executable, "-m", "weft.trace", "m.json", "--batch-size", "0", "-o", out], env=ENVIRONMENT,
                           capture_output=True, text=True)
    bad += usage.returncode != 2 or "--batch-size 0" not in usage.stderr
    print(f"{bad} refusals that are not as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
