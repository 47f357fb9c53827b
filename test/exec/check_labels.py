"""Labels outside the classes: their loss is zero and they count as wrong, as in Keras on JAX.

    check_labels.py WEFT FIXTURES

Keras 3.15.1, 3 classes, one input four times: labels 0, 1, 2 give a loss of
1.7640142 and labels 0, 1, 2, 3 (or -1, or 300) 1.3230107, which is 3/4 of it;
accuracies are 1/3 and 1/4. Labels with a fraction give the loss of the integer
towards zero.
"""

import array
import json
import pathlib
import subprocess
import sys
import tempfile

import npz_values


def main():
    weft, fixtures = sys.argv[1], pathlib.Path(sys.argv[2])
    model = fixtures / "seed-sequential-mnist" / "model.json"
    pixels = array.array("B", (i * 7 % 256 for i in range(8 * 784)))
    with tempfile.TemporaryDirectory() as scratch:
        data = pathlib.Path(scratch) / "data.npz"

        def evaluate(samples, labels, code="h"):
            npz_values.write(data, {"x": ((samples, 28, 28), pixels[:samples * 784]),
                                    "y": ((samples,), array.array(code, labels))})
            result = subprocess.run([weft, "evaluate", model, "--data", data, "--divide-by", "255", "--seed", "1337",
                                     "--batch-size", "4", "--json"], capture_output=True, text=True, check=True)
            return json.loads(result.stdout)
        good = evaluate(6, [0, 1, 2, 3, 4, 5])
        bad = evaluate(8, [0, 1, 2, 3, 4, 5, 10, -1])
        cut = evaluate(6, [0.75, 1.5, 2.25, 3, 4.5, 5.125], "f")
    if cut["loss"] != good["loss"]:
        sys.exit(f"loss: {cut['loss']} with fractions of labels, {good['loss']} without")
    for name, got in bad.items():
        want = good[name] * 6 / 8
        if abs(got - want) > 1e-6 * abs(want):
            sys.exit(f"{name}: {got} with labels outside the classes, {want} wanted")
    print(f"loss {good['loss']:.6g} of 6 samples, {bad['loss']:.6g} with 2 more whose labels are no classes")


if __name__ == "__main__":
    main()
