"""Runs the hand-written training loop of examples/training on a fixture.

    check_custom_loop.py WEFT LOOP FIXTURE DEVICES

LOOP trains from the model that Keras saved, one pass over the fixture's samples in order: the loss of each step and the
weights in the file that it writes are Keras' within the fixture's tolerances, and weft predicts from that file.
"""

import array
import json
import pathlib
import re
import sys
import tempfile

import npz_values
from check_fixture import ROOT, differences, run


def main():
    weft, loop, folder, devices = sys.argv[1:]
    folder = pathlib.Path(folder)
    case = json.loads((folder / "case.json").read_text())
    golden = npz_values.read(folder / "golden.npz")
    begin, end = case["data"]["slice"]
    source = npz_values.read(ROOT / "examples" / "data" / pathlib.Path(case["data"]["file"]).name)
    (x_shape, x), (_, y) = source[case["data"]["x"]], source[case["data"]["y"]]
    size, failures = x_shape[1] * x_shape[2], 0
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch)
        npz_values.write(out / "data.npz", {"x": ((end - begin, *x_shape[1:], 1), array.array("B", x[begin * size:end * size])),
                                            "y": ((end - begin,), array.array("B", y[begin:end]))})
        printed = run([loop, folder / "model.keras", out / "data.npz", out / "trained.keras", devices, "1"])
        run([weft, "fit", out / "trained.keras", "--init-only", "--save-weights", out / "trained.npz"])
        losses = [float(loss) for loss in re.findall(r"^epoch 0 batch \d+ loss: ([-0-9.e]+)$", printed, re.M)]
        found = {f"final/{name}": values for name, (_, values) in npz_values.read(out / "trained.npz").items()}
        found |= {f"optimizer/{name.removeprefix('final/')}": values for name, values in found.items()} | {"steps/loss": losses}
        compared = 0
        for name, (_, want) in golden.items():
            part, _, rest = name.partition("/")
            random = "seed_generator" in name  # no file of Keras holds the state of random numbers
            if part not in ("final", "optimizer") and name != "steps/loss" or rest in case["noise_driven"] or random:
                continue
            compared += 1
            measured = differences(found[name], want)["rel"]
            allowed = case["suggested_tolerance"][part]["rel"]
            if not measured <= allowed:
                failures += 1
                print(f"FAIL {name}: {measured:.3g}, allowed {allowed:.3g}")
    print(f"custom loop on {devices}: {compared} tensors compared, {failures} differences")
    sys.exit(failures > 0 or compared < 30)


if __name__ == "__main__":
    main()
