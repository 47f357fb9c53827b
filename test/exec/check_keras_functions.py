"""Compares functions of keras.ops in f32 with formulas in f64, in units in the last place.

    check_keras_functions.py WEFT FIXTURES FOLDER

Each function is the only operation of a model in Keras' JSON, which `weft predict` runs. Attention of float16, which Keras on JAX
does not run on CPUs, is compared with Keras' of bfloat16; no key of its first query is visible.
"""

import json
import math
import pathlib
import subprocess
import sys
from array import array

import npz_values
from check_accuracy import both_signs, error, single, spread

WIDE = both_signs(spread(1e-20, 1e38))


def gelu(x):
    return 0.5 * x * math.erfc(-x / math.sqrt(2))


FUNCTIONS = {  # class of Keras: module, its value in f64, arguments, units in the last place
    "Sinh": ("numpy", math.sinh, both_signs(spread(1e-20, 89)), 40),
    "Cosh": ("numpy", math.cosh, both_signs(spread(1e-20, 89)), 40),
    "Arcsinh": ("numpy", math.asinh, WIDE, 6),
    "Arccosh": ("numpy", math.acosh, spread(1, 1e38), 6),
    "Arctanh": ("numpy", math.atanh, both_signs(spread(1e-20, 0.9999)), 6),
    "Arcsin": ("numpy", math.asin, both_signs(spread(1e-20, 1)), 6),
    "Arccos": ("numpy", math.acos, both_signs(spread(1e-20, 0.999)), 6),
    "Arctan": ("numpy", math.atan, WIDE, 4),
    "Erf": ("math", math.erf, both_signs(spread(1e-20, 5)), 4),
    "Erfc": ("math", math.erfc, both_signs(spread(1e-20, 9)), 4),
    "Gelu": ("nn", gelu, both_signs(spread(1e-20, 12)), 200),
}


def model(name, module, count):
    """The JSON of a model that applies the function to `count` numbers."""
    tensor = {"class_name": "__keras_tensor__",
              "config": {"shape": [None, count], "dtype": "float32", "keras_history": ["x", 0, 0]}}
    settings = {"name": "f", "approximate": False} if name == "Gelu" else {"name": "f"}
    layers = [{"module": "keras.layers", "class_name": "InputLayer", "registered_name": None, "name": "x", "inbound_nodes": [],
               "config": {"batch_shape": [None, count], "dtype": "float32", "sparse": False, "name": "x"}},
              {"module": f"keras.src.ops.{module}", "class_name": name, "registered_name": name, "name": "f", "config": settings,
               "inbound_nodes": [{"args": [tensor], "kwargs": {}}]}]
    return {"module": "keras.src.models.functional", "class_name": "Functional", "registered_name": "Functional",
            "config": {"name": "m", "trainable": True, "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [["f", 0, 0]]}}


def check_attention(weft, fixtures, folder):
    name = "edges-attention-bfloat16"
    case = next(c for c in json.loads((fixtures / "layers/function_edges.json").read_text()) if c["name"] == name)
    figures = {key.removeprefix(name + "/"): value for key, value in npz_values.read(fixtures / "layers/function_edges.npz").items()
               if key.startswith(name + "/")}
    (folder / "half.json").write_text(json.dumps(case["model"]).replace("bfloat16", "float16"))
    npz_values.write(folder / "weights.npz", {key.removeprefix("initial/"): value for key, value in figures.items()
                                              if key.startswith("initial/")})
    npz_values.write(folder / "half-in.npz", {"x": figures["x/input_0"]})
    subprocess.run([weft, "predict", folder / "half.json", "--x", f"{folder}/half-in.npz:x", "--weights", folder / "weights.npz",
                    "--out", folder / "half.npz"], check=True, stdout=subprocess.DEVNULL)
    found, wanted = next(iter(npz_values.read(folder / "half.npz").values()))[1], figures["predict"][1]
    apart = max(abs(a - b) for a, b in zip(found, wanted, strict=True))
    print(f"attention of float16: {apart:.2g} apart")
    if not apart < 0.05:  # also NaN
        sys.exit(f"attention of float16 gives {list(found)}, Keras' of bfloat16 {list(wanted)}")


def main():
    weft, fixtures, folder = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    check_attention(weft, fixtures, folder)
    for name, (module, function, arguments, allowed) in FUNCTIONS.items():
        arguments = [single(x) for x in arguments]
        source, data, out = folder / f"{name}.json", folder / f"{name}-in.npz", folder / f"{name}.npz"
        source.write_text(json.dumps(model(name, module, len(arguments))))
        npz_values.write(data, {"x": ([1, len(arguments)], array("f", arguments))})
        subprocess.run([weft, "predict", source, "--x", f"{data}:x", "--seed", "1", "--out", out], check=True, stdout=subprocess.DEVNULL)
        found = next(iter(npz_values.read(out).values()))[1]
        errors = [error(value, function(x)) for x, value in zip(arguments, found, strict=True)]
        worst = max(range(len(errors)), key=errors.__getitem__)
        print(f"{name}: {errors[worst]:.2f} units in the last place, at {arguments[worst]:.9g}")
        if errors[worst] > allowed:
            sys.exit(f"{name}({arguments[worst]:.9g}) = {found[worst]:.9g}, not {function(arguments[worst]):.9g}")


if __name__ == "__main__":
    main()
