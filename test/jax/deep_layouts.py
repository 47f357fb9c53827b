"""A transformer's train step whose weights alone are annotated (bench/deep_layers.py): bytes a layer, at 2 and at 20 layers.

Nothing is run. The formula is the layout that a person would choose: for each layer four sums of the activations over
"model", the weights gathered over "data" and their gradients scattered. Gathering the weights of attention over both axes
instead, which are a third of the layer's, sends 0.78 of it. On three axes the batch is sharded over "data" and "fsdp", the
weights over "fsdp" and "model", and their gradients are also summed over "data".
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import deep_layers


def sent(weft, layers, constraint=False, mesh="8x8"):
    """The bytes that a device sends on data 8 x model 8, or on data x fsdp x model of 64 devices."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(deep_layers.lowered_step(mesh, layers, constraint).as_text())
        file.flush()
        command = [weft, "explain", file.name, "--target", "cuda:sm_90a", "--json", "--fix-seconds", "0"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["total"]["bytes"]


def of_layers(mesh, layers):
    """The bytes of some layers by the formula, without the ends."""
    return deep_layers.least_bytes(mesh, layers) - deep_layers.least_bytes(mesh, 0)


def main(weft):
    formula = of_layers("8x8", 1)
    few, many = sent(weft, 2), sent(weft, 20)
    a_layer = (many - few) / 18
    print(f"at most 0.8 of the formula: {a_layer <= 0.8 * formula}")
    print(f"all layers alike: {many <= 10 * few}")
    print(f"as with a constraint: {abs(sent(weft, 20, constraint=True) - many) <= 0.02 * many}")
    print(f"three axes: {sent(weft, 12, mesh='4x4x4') <= of_layers('4x4x4', 12)}")
    print(f"2 layers {few:,}, 20 layers {many:,}, a layer {a_layer:,.0f}, by the formula {formula:,.0f}", file=sys.stderr)


main(sys.argv[1])
