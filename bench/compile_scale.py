"""Compile time against layers and devices.

    python3 bench/compile_scale.py [--weft build/bin/weft] [--repeat 3] [--json]

(a) MLPs of 64, 128, 256 and 512 Dense layers (width 64, batch 64, Adam) to the
stage `plan`, kernels outlined and deduplicated: linear in layers is the goal.
(b) One MLP with its batch split over 8, 64, 512 and 4096 devices, to the stages
`partitioned` and `plan`: equal time and size is the goal.

A time is the least of --repeat runs of the whole command, reading the model and
printing the stage included.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def tensor(source):
    """How a Keras file refers to the output of a layer."""
    return [{"args": [{"class_name": "__keras_tensor__",
                       "config": {"shape": [None, 64], "dtype": "float32", "keras_history": [source, 0, 0]}}], "kwargs": {}}]


def deep_model(layers, width=64):
    """A Functional model as model.json has it: `layers` Dense layers, relu but for the last."""
    configs = [{"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
                "config": {"batch_shape": [None, width], "dtype": "float32", "name": "x"}}]
    for i in range(layers):
        activation = "relu" if i + 1 < layers else "linear"
        configs.append({"class_name": "Dense", "name": f"d{i}", "inbound_nodes": tensor(configs[-1]["name"]),
                        "config": {"name": f"d{i}", "units": width, "activation": activation, "use_bias": True}})
    ends = {"input_layers": [["x", 0, 0]], "output_layers": [[f"d{layers - 1}", 0, 0]]}
    return {"class_name": "Functional", "config": {"name": "deep", "layers": configs, **ends},
            "compile_config": {"optimizer": "adam", "loss": "mean_squared_error"}}


def measure(arguments, repeat):
    """(least seconds, bytes of output) of a command."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = subprocess.run(arguments, capture_output=True, check=False)
        seconds.append(time.perf_counter() - start)
        if result.returncode:
            raise SystemExit(result.stderr.decode())
    return min(seconds), len(result.stdout)


def by_layers(weft, repeat, folder):
    rows = []
    for layers in (64, 128, 256, 512):
        path = folder / f"mlp{layers}.json"
        path.write_text(json.dumps(deep_model(layers)))
        command = [weft, "compile", path, "--step", "train", "--batch-size", "64", "--seed", "1", "--emit", "plan"]
        seconds, size = measure(command, repeat)
        rows.append({"layers": layers, "seconds": seconds, "ms_per_layer": 1000 * seconds / layers, "plan_bytes": size})
    return rows


def by_devices(weft, repeat, folder):
    path = folder / "mlp8.json"
    path.write_text(json.dumps(deep_model(8)))
    rows = []
    for devices in (8, 64, 512, 4096):
        row = {"devices": devices}
        for stage in ("partitioned", "plan"):
            command = [weft, "compile", path, "--step", "train", "--batch-size", "4096", "--seed", "1",
                       "--data-parallel", "--devices", f"cpu:{devices}", "--emit", stage]
            row[f"{stage}_seconds"], row[f"{stage}_bytes"] = measure(command, repeat)
        rows.append(row)
    return rows


def show(rows):
    names = list(rows[0])
    print(" | ".join(names))
    for row in rows:
        print(" | ".join(f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name]) for name in names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        result = {"layers": by_layers(options.weft, options.repeat, folder),
                  "devices": by_devices(options.weft, options.repeat, folder)}
    if options.json:
        print(json.dumps(result))
        return
    show(result["layers"])
    print()
    show(result["devices"])


if __name__ == "__main__":
    main()
