"""Compile time against layers and devices.

    python3 bench/compile_scale.py [--weft build/bin/weft] [--repeat 3] [--json] [--check] [--peer-python VENV/bin/python]

(a) MLPs of 64, 128, 256 and 512 Dense layers (width 64, batch 64, Adam) to the
stage `plan`, kernels outlined and deduplicated, for the steps train and predict:
linear in layers is the goal.
(b) One MLP with its batch split over 8, 64, 512 and 4096 devices, to the stages
`partitioned` and `plan`: equal time and size is the goal.

(c) A transformer of 32 layers (transformer.py), forward and a step of training,
on 8 to 4096 devices to the stage `plan`: equal time, memory and size is the goal.
(p) The same step of training on 8 devices, without stages and as a pipeline of 8
stages in 16 and in 64 microbatches, to the stage `plan`: at most 3 s more, and for
64 microbatches at most 1.05 times the size for 16, are the goals.
(d) The peer's case (compile_peer.py): the forward pass of 512 layers, kernels cut
by columns and by rows in turn over 4 devices, batches over the rest.
(e) With --peer-python the same case to a .weft file, machine code of all kernels
included and nothing cached, in turn with JAX: medians and their ratio.

A time is the least of --repeat runs of the whole command, loading the compiler,
reading the model and printing the stage included: `cpu` is its CPU time, `wall`
depends on other processes of the machine. --check fails where the figures miss
those goals, with room for noise.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import transformer

ROOT = pathlib.Path(__file__).resolve().parents[1]


def tensor(source):
    """The reference of a Keras file to a layer's output."""
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
    """Least seconds and memory, and bytes of output, of a command."""
    wall, cpu, memory = [], [], []
    for _ in range(repeat):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            start = time.perf_counter()
            process = subprocess.Popen(arguments, stdout=out, stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            wall.append(time.perf_counter() - start)
            cpu.append(usage.ru_utime + usage.ru_stime)
            memory.append(usage.ru_maxrss / 1024)
            size = out.tell()
            if process.returncode:
                errors.seek(0)
                raise SystemExit(errors.read().decode())
    return {"cpu_s": min(cpu), "wall_s": min(wall), "mib": min(memory), "bytes": size}


def alternating(layers, devices):
    """A distribution file: kernels by columns, then by rows, on a mesh of devices/4 x 4."""
    cuts = {f"d{i}/kernel": [None, "model"] if i % 2 == 0 else ["model", None] for i in range(layers)}
    cuts.update({f"d{i}/bias": ["model"] for i in range(0, layers, 2)})
    mesh = {"shape": [devices // 4, 4], "axis_names": ["data", "model"], "devices": None}
    return {"class_name": "ModelParallel",
            "config": {"device_mesh": mesh, "layout_map": cuts, "batch_dim_name": "data", "regex": "fullmatch"}}


def by_layers(weft, repeat, folder):
    rows = []
    for layers in (64, 128, 256, 512):
        path = folder / f"mlp{layers}.json"
        path.write_text(json.dumps(deep_model(layers)))
        for step in ("train", "predict"):
            command = [weft, "compile", path, "--step", step, "--batch-size", "64", "--seed", "1", "--emit", "plan"]
            rows.append({"layers": layers, "step": step, **measure(command, repeat)})
    return rows


def by_devices(weft, repeat, folder):
    path = folder / "mlp8.json"
    path.write_text(json.dumps(deep_model(8)))
    rows = []
    for devices in (8, 64, 512, 4096):
        for stage in ("partitioned", "plan"):
            command = [weft, "compile", path, "--step", "train", "--batch-size", "4096", "--seed", "1",
                       "--data-parallel", "--devices", f"cpu:{devices}", "--emit", stage]
            rows.append({"devices": devices, "stage": stage, **measure(command, repeat)})
    return rows


def transformers(weft, repeat, folder):
    path = folder / "transformer.mlir"
    rows = []
    for train in (False, True):
        for devices in (8, 64, 512, 4096):
            path.write_text(transformer.text(32, devices, train))
            command = [weft, "compile", path, "--from", "imported", "--emit", "plan"]
            rows.append({"step": "train" if train else "predict", "devices": devices, **measure(command, repeat)})
    return rows


def pipelines(weft, repeat, folder):
    path = folder / "pipeline.mlir"
    rows = []
    for stages, microbatches in ((0, 0), (8, 16), (8, 64)):
        path.write_text(transformer.text(32, 8, True, stages, microbatches))
        rows.append({"stages": stages, "microbatches": microbatches, **measure([weft, "compile", path, "--emit", "plan"], repeat)})
    return rows


def as_the_peer(weft, repeat, folder):
    model, spread = folder / "mlp512.json", folder / "distribution.json"
    model.write_text(json.dumps(deep_model(512)))
    rows = []
    for devices in (8, 64, 256):
        spread.write_text(json.dumps(alternating(512, devices)))
        command = [weft, "compile", model, "--step", "predict", "--batch-size", "64", "--seed", "1",
                   "--distribution", spread, "--emit", "plan"]
        rows.append({"layers": 512, "devices": devices, **measure(command, repeat)})
    return rows


def beside_the_peer(weft, repeat, folder, python):
    """Times of JAX's trace, lowering and compilation, and of Weft from model.json to a program file, its
    start included."""
    model, spread = folder / "mlp512.json", folder / "distribution.json"
    rows = []
    for devices in (8, 64, 256):
        spread.write_text(json.dumps(alternating(512, devices)))
        ours, theirs = [], []
        for turn in range(repeat):
            cache = folder / f"cache-{devices}-{turn}"
            start = time.perf_counter()
            subprocess.run([weft, "compile", model, "--step", "predict", "--batch-size", "64", "--seed", "1", "--distribution", spread,
                            "-o", folder / "mlp512.weft"], check=True, capture_output=True, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
            ours.append(time.perf_counter() - start)
            said = subprocess.run([python, ROOT / "bench" / "compile_peer.py", "--devices", str(devices)], check=True, capture_output=True, text=True)
            theirs.append(json.loads(said.stdout.splitlines()[-1])["total_s"])
        weft_s, jax_s = statistics.median(ours), statistics.median(theirs)
        rows.append({"layers": 512, "devices": devices, "jax_s": jax_s, "weft_s": weft_s, "ratio": jax_s / weft_s})
    return rows


def show(rows):
    names = list(rows[0])
    print(" | ".join(names))
    for row in rows:
        print(" | ".join(f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name]) for name in names))


def grown(name, found):
    """Yields messages on rows of more devices that cost too much more than the first."""
    for row in found[1:]:
        if row["cpu_s"] > 5 * found[0]["cpu_s"] or row["bytes"] > 1.1 * found[0]["bytes"] or row["mib"] > 1.5 * found[0]["mib"]:
            yield f"{name} for {row['devices']} devices: {row}, for 8: {found[0]}"


def missed(result):
    """Yields messages on results that noise cannot explain: time that is not linear in the layers, growth with devices."""
    train = {row["layers"]: row["cpu_s"] for row in result["layers"] if row["step"] == "train"}
    if train[512] > 10 * train[128]:
        yield f"512 layers take {train[512]:.2f} s, 128 layers {train[128]:.2f} s: no longer linear"
    for stage in ("partitioned", "plan"):
        yield from grown(stage, [row for row in result["devices"] if row["stage"] == stage])
    plain, few, many = result["pipeline"]
    if many["cpu_s"] > plain["cpu_s"] + 3:
        yield f"a pipeline of 8 stages takes {many['cpu_s']:.2f} s, more than 3 s above the {plain['cpu_s']:.2f} s without stages"
    if many["bytes"] > 1.05 * few["bytes"]:
        yield f"the plan of 64 microbatches has {many['bytes']} bytes, more than 1.05 times the {few['bytes']} of 16"
    for step in ("predict", "train"):
        yield from grown(f"the transformer's {step}", [row for row in result["transformer"] if row["step"] == step])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--peer-python", help="an interpreter with JAX")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        result = {"layers": by_layers(options.weft, options.repeat, folder),
                  "devices": by_devices(options.weft, options.repeat, folder),
                  "transformer": transformers(options.weft, options.repeat, folder),
                  "pipeline": pipelines(options.weft, options.repeat, folder),
                  "forward": as_the_peer(options.weft, options.repeat, folder)}
        if options.peer_python:
            result["beside JAX"] = beside_the_peer(options.weft, options.repeat, folder, options.peer_python)
    if options.check:
        problems = list(missed(result))
        raise SystemExit("\n".join(problems) or 0)
    if options.json:
        print(json.dumps(result))
        return
    for rows in result.values():
        show(rows)
        print()


if __name__ == "__main__":
    main()
