"""Predict steps for several batch sizes give Keras' predictions for any number of samples.

    check_serving.py WEFT FIXTURE

The fixture has a model with weights and Keras' predictions of its first samples (golden.npz: predict/initial). Steps of
several sizes are compiled into one file; predictions from it must be Keras' within the case's tolerance, each sample once
and in its order. `weft-serving-example`, the program of serving.h, predicts the same from C.
"""

import array
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import npz_values
from check_fixture import differences, run

SAMPLES = 13
# Sizes that are compiled, and --batch-size of predict.
CASES = (("1,4,8", None), ("4,8", None), ("8,4", None), ("16", None), ("4,8", 8), ("1", None))


def main():
    weft, folder, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(tempfile.mkdtemp())
    case, golden = json.loads((folder / "case.json").read_text()), npz_values.read(folder / "golden.npz")
    shape, values = golden["predict/initial"]
    wanted = list(values[:SAMPLES * (len(values) // shape[0])])
    limit = case["suggested_tolerance"]["predict"]["rel"]
    model = folder / "model.keras"
    for sizes, only in CASES:
        step = scratch / f"{sizes}.weft"
        run([weft, "compile", model, "--step", "predict", "--batch-size", sizes, "-o", step])
        if "," in sizes:
            assert zipfile.ZipFile(step).namelist() == [f"predict-{size}.weft" for size in sizes.split(",")]
        run([weft, "predict", step, "--x", f"{folder / 'golden.npz'}:x[0:{SAMPLES}]", "--weights", model, "--verbose", "0",
             "--out", scratch / "p.npz", *(["--batch-size", only] if only else [])])
        (name, (got_shape, got)), = npz_values.read(scratch / "p.npz").items()
        measured = differences(list(got), wanted)["rel"]
        print(f"{sizes}: {name} {got_shape}, differs by {measured:.3g}, allowed {limit:.3g}")
        assert got_shape[0] == SAMPLES and measured <= limit
    columns = len(golden["x"][1]) // golden["x"][0][0]
    (scratch / "x.bin").write_bytes(array.array("f", golden["x"][1][:SAMPLES * columns]).tobytes())
    example = weft.resolve().with_name("weft-serving-example")
    said = subprocess.run([example, scratch / "4,8.weft", model, scratch / "x.bin", str(SAMPLES)], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert differences([float(word) for word in said.stdout.split()], wanted)["rel"] <= limit
    refused = subprocess.run([example, scratch / "4,8.weft", folder / "model.json", scratch / "x.bin", "1"], capture_output=True, text=True)
    assert refused.returncode == 1 and "model.json" in refused.stderr, refused.stderr


if __name__ == "__main__":
    main()
