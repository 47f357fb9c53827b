"""Growth of the times of compiler commands with devices and with ops.

    python3 bench/growth.py [--weft build/bin/weft] [--repeat 1] [--quick]

Prints user CPU seconds and peak memory of `weft explain`, `weft compile`, `weft layout`
and `weft compile` of StableHLO for 8 to 65,536 devices and for 1,000 to 100,000 ops
(layout: of the layers of a Keras model, a tenth of the ops), and the exponent
between neighbouring rows: 1 is linear, 2 quadratic. Ends with status 1 where an
exponent is above 1.3 and the time is long enough to be no start-up.

--quick takes few and small programs, with a bound that no noise of a busy machine
reaches: 8 times as many ops may take 4 times as long as linear, 8,192 times as many
devices 8 times as long as 8 devices, 15,015 on five axes 16 times as long as 96, where that is
not below a quarter of a second. Code of kernels is compiled again in each run.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile

import compile_scale

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODEL = ROOT / "examples" / "first" / "model.keras"
DEVICES = (8, 64, 512, 4096, 16384, 65536)
OPS = (1000, 3000, 10000, 30000, 100000)
LIMIT = 1.3
# The least seconds that are compared: below them a command's start and noise dominate.
SHORT = 1.0


def chain(ops):
    """Weft's text of a chain: sums of a sharded tensor, one after the other, and a reduction."""
    lines = ['#mesh = #weft.mesh<"data"=8>', '#rows = #weft.layout<#mesh, [{"data"}, {}]>',
             "module attributes {weft.mesh = #mesh} {",
             '  func.func @main(%v0: tensor<64x8xf32> {weft.name = "x", weft.layout = #rows}, %y: tensor<64x8xf32> {weft.name = "y"}) '
             '-> (tensor<8xf32> {weft.name = "r"}) {']
    lines += [f"    %v{i + 1} = weft.add %v{i}, %y : tensor<64x8xf32>" for i in range(ops)]
    lines += [f"    %r = weft.reduce sum %v{ops} dims [0] : tensor<64x8xf32> -> tensor<8xf32>", "    return %r : tensor<8xf32>", "  }", "}"]
    return "\n".join(lines) + "\n"


def stablehlo(ops, devices):
    """The chain as StableHLO, with the sharding of its argument over `devices`."""
    tensor = "tensor<65536x8xf32>"
    lines = [f"module @main attributes {{mhlo.num_partitions = {devices} : i32, mhlo.num_replicas = 1 : i32}} {{",
             f'  sdy.mesh @mesh = <["data"={devices}]>',
             f'  func.func public @main(%v0: {tensor} {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}}, %y: {tensor}) -> tensor<8xf32> {{',
             "    %zero = stablehlo.constant dense<0.0> : tensor<f32>"]
    lines += [f"    %v{i + 1} = stablehlo.add %v{i}, %y : {tensor}" for i in range(ops)]
    lines += [f"    %r = stablehlo.reduce(%v{ops} init: %zero) applies stablehlo.add across dimensions = [0] : "
              f"({tensor}, tensor<f32>) -> tensor<8xf32>", "    return %r : tensor<8xf32>", "  }", "}"]
    return "\n".join(lines) + "\n"


def measure(command, repeat):
    """The least user CPU seconds, and the least peak MiB, of `repeat` runs."""
    seconds, memory = [], []
    for _ in range(repeat):
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryDirectory() as cache:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, "XDG_CACHE_HOME": cache})
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                raise SystemExit(f"{' '.join(map(str, command))}: {errors.read().decode()}")
            seconds.append(usage.ru_utime)
            memory.append(usage.ru_maxrss / 1024)
    return {"s": min(seconds), "mib": min(memory)}


def of_devices(weft, devices, folder):
    """{column: command} for a number of devices."""
    program = folder / f"devices{devices}.mlir"
    program.write_text(stablehlo(20, devices))
    spread = [MODEL, "--data-parallel", "--devices", f"cpu:{devices}", "--batch-size", "64"]
    return {"explain": [weft, "explain", *spread], "compile": [weft, "compile", *spread, "--step", "train", "-o", folder / "step.weft"],
            "layout": [weft, "layout", *spread], "stablehlo": [weft, "compile", program, "-o", folder / "program.weft"]}


def of_mesh(weft, devices, folder):
    """{column: command} for a mesh of five axes, over which no dimension is even."""
    shape = {96: [3, 4, 2, 2, 2], 15015: [3, 5, 7, 11, 13]}[devices]
    spread = folder / f"mesh{devices}.json"
    mesh = {"shape": shape, "axis_names": list("abcde"), "devices": None}
    layouts = {"d1/kernel": ["b", "c"], "d2/kernel": ["d", "e"]}
    spread.write_text(json.dumps({"class_name": "ModelParallel",
                                  "config": {"device_mesh": mesh, "layout_map": layouts, "batch_dim_name": "a"}}))
    return {"explain": [weft, "explain", MODEL, "--distribution", spread, "--batch-size", "64"]}


def of_ops(weft, ops, folder):
    """{column: command} for a number of ops."""
    program, foreign, model = folder / f"chain{ops}.mlir", folder / f"stablehlo{ops}.mlir", folder / f"layers{ops}.json"
    program.write_text(chain(ops))
    foreign.write_text(stablehlo(ops, 8))
    model.write_text(json.dumps(compile_scale.deep_model(ops // 10)))
    return {"explain": [weft, "explain", program], "compile": [weft, "compile", program, "-o", folder / "chain.weft"],
            "layout": [weft, "layout", model, "--data-parallel", "--devices", "cpu:8", "--batch-size", "64"],
            "stablehlo": [weft, "compile", foreign, "-o", folder / "foreign.weft"]}


def table(name, sizes, commands, repeat):
    """Prints a row for each size as it is measured; yields figures that grow too fast."""
    columns = list(commands(sizes[0]))
    print(name.rjust(8), *(f"| {c:>9} s    MiB  exp" for c in columns), flush=True)
    before = None
    for size in sizes:
        row = {column: measure(command, repeat) for column, command in commands(size).items()}
        cells = []
        for column in columns:
            cell = row[column]
            exponent = math.nan
            if before:
                exponent = math.log(max(cell["s"], 0.01) / max(before[1][column]["s"], 0.01)) / math.log(size / before[0])
            cells.append(f"| {cell['s']:>11.2f} {cell['mib']:>6.0f} {exponent:>4.1f}")
            if exponent > LIMIT and cell["s"] > SHORT:
                yield f"{column} takes {cell['s']:.2f} s for {size} {name} and {before[1][column]['s']:.2f} s for {before[0]}: exponent {exponent:.2f}, not below {LIMIT}"
        print(str(size).rjust(8), *cells, flush=True)
        before = (size, row)


def quick(weft, folder):
    """Yields a message for each figure that grows too fast between two sizes, under any load of the machine."""
    for name, sizes, commands, most in (("devices", (8, 65536), of_devices, 8), ("devices of an uneven mesh", (96, 15015), of_mesh, 16), ("ops", (1000, 8000), of_ops, 32)):
        few, many = ({column: measure(command, 2)["s"] for column, command in commands(weft, size, folder).items()} for size in sizes)
        for column in few:
            if many[column] > most * max(few[column], 0.25):
                yield f"{column} takes {many[column]:.2f} s for {sizes[1]} {name} and {few[column]:.2f} s for {sizes[0]}, more than {most} times as long"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if options.quick:
            problems = list(quick(options.weft, folder))
        else:
            problems = [*table("devices", DEVICES, lambda n: of_devices(options.weft, n, folder), options.repeat),
                        *table("ops", OPS, lambda n: of_ops(options.weft, n, folder), options.repeat)]
    raise SystemExit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
