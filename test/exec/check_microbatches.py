"""Steps whose batch is divided in microbatches are those of the whole batch.

    check_microbatches.py WEFT FIXTURES

Cases of test/fixtures/layers, whose undivided steps other tests compare with Keras, train with microbatches that do not all
have equally many samples: masks, weights of samples, time steps and classes, scaled losses, dropout, recurrent layers, kept
states, norms of gradients, regularizers, metrics with variables. Statistics of microbatches are those of Keras' accumulated
gradients, and of a formula. A plan with more microbatches is not larger, and needs less memory.
"""

import array
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import npz_values

CASES = {"masks": ["mask-crossentropy", "mask-mean_with_sample_weight", "mask-metrics"],
         "scaled_losses": ["scaled-adam", "scaled-overflow", "scaled-accumulated", "scaled-policy"],
         "weights_of_values": ["step-weights-masked-sum_over_batch_size", "step-weights-mean_with_sample_weight",
                               "step-weights-classes", "metric-weights-steps"],
         "recurrent": ["gru-dropouts", "lstm-dropout", "bidirectional-both"],
         "stateful": ["stateful-lstm"],
         "core": ["dense"],
         "noise": ["activity-regularization", "gaussian-noise-drawn"],
         "training": ["optimizer-SGD-4", "optimizer-SGD-5"],
         "metrics_with_state": ["state-areas-weighted", "state-scores"],
         "policies_of_weights": ["bfloat16-SGD"]}
# The types of results, and the body, of programs on the rows of %x.
PROGRAMS = {
    "counted rows": (["tensor<3xf32>"], """
    %0 = weft.iota dim 0 : tensor<10x3xf32>
    %1 = weft.mul %0, %x : tensor<10x3xf32>
    %2 = weft.reduce sum %1 dims [0] : tensor<10x3xf32> -> tensor<3xf32>
    return %2 : tensor<3xf32>"""),
    "random bits": (["tensor<10x3xf32>", "tensor<30xf32>"], """
    %0 = weft.rng_bits %key : tensor<2xui32> -> tensor<10x3xui32>
    %1 = weft.convert %0 : tensor<10x3xui32> -> tensor<10x3xf32>
    %2 = weft.mul %1, %x : tensor<10x3xf32>
    %3 = weft.rng_bits %key : tensor<2xui32> -> tensor<30xui32>
    %4 = weft.convert %3 : tensor<30xui32> -> tensor<30xf32>
    %5 = weft.reshape %x : tensor<10x3xf32> -> tensor<30xf32>
    %6 = weft.mul %4, %5 : tensor<30xf32>
    return %2, %6 : tensor<10x3xf32>, tensor<30xf32>"""),
    "turned rows": (["tensor<30xf32>", "tensor<3xf32>"], """
    %0 = weft.transpose %x [1, 0] : tensor<10x3xf32> -> tensor<3x10xf32>
    %1 = weft.reshape %0 : tensor<3x10xf32> -> tensor<30xf32>
    %2 = weft.exp %1 : tensor<30xf32>
    %3 = weft.reshape %2 : tensor<30xf32> -> tensor<3x10xf32>
    %4 = weft.reduce max %3 dims [1] : tensor<3x10xf32> -> tensor<3xf32>
    return %2, %4 : tensor<30xf32>, tensor<3xf32>"""),
    "a loop with an initial sum": (["tensor<10x3xf32>", "tensor<3xf32>"], """
    %0 = weft.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %1:2 = weft.for 4 (%x, %0) : (tensor<10x3xf32>, tensor<3xf32>) -> (tensor<10x3xf32>, tensor<3xf32>) {
    ^bb0(%i: tensor<i32>, %rows: tensor<10x3xf32>, %sum: tensor<3xf32>):
      %2 = weft.sin %rows : tensor<10x3xf32>
      %3 = weft.cos %2 : tensor<10x3xf32>
      %4 = weft.reduce sum %3 dims [0] : tensor<10x3xf32> -> tensor<3xf32>
      %5 = weft.add %sum, %4 : tensor<3xf32>
      weft.yield %2, %5 : tensor<10x3xf32>, tensor<3xf32>
    }
    return %1#0, %1#1 : tensor<10x3xf32>, tensor<3xf32>"""),
    "rows of a sort": (["tensor<10x3xf32>"], """
    %0 = weft.exp %x : tensor<10x3xf32>
    %1 = weft.cumulative sum %0 dim 0 : tensor<10x3xf32>
    return %1 : tensor<10x3xf32>"""),
    "a mean that samples need": (["tensor<3xf32>"], """
    %0 = weft.reduce sum %x dims [0] : tensor<10x3xf32> -> tensor<3xf32>
    %1 = weft.broadcast %0 dims [1] : tensor<3xf32> -> tensor<10x3xf32>
    %2 = weft.sub %x, %1 : tensor<10x3xf32>
    %3 = weft.mul %2, %2 : tensor<10x3xf32>
    %4 = weft.reduce sum %3 dims [0] : tensor<10x3xf32> -> tensor<3xf32>
    return %4 : tensor<3xf32>"""),
}
TOLERANCE, NARROW = 2e-6, 2e-3  # of the largest value of an array; NARROW: of steps in bfloat16


class Runs:
    def __init__(self, weft, fixtures, scratch):
        self.weft, self.fixtures, self.scratch, self.failures = weft, fixtures, scratch, 0

    def run(self, *words):
        done = subprocess.run([str(word) for word in (self.weft, *words)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def expect(self, what, holds):
        self.failures += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {what}")

    def trained(self, model, data, size, *flags):
        """Variables and the history of a training, as one dict of lists."""
        values, history = self.scratch / "values.npz", self.scratch / "history.json"
        self.run("fit", model, "--data", data, "--batch-size", size, "--no-shuffle", "--seed", 1337, "--verbose", 0,
                 "--save-weights", values, "--history", history, *flags)
        found = {name: numbers for name, (_, numbers) in npz_values.read(values).items()}
        said = json.loads(history.read_text())
        for name, numbers in said.get("history", said).items():
            found[f"history {name}"] = [one for number in numbers for one in (number if isinstance(number, list) else [number])]
        return found

    def compare(self, what, found, wanted, tolerance):
        worst = {name: npz_values.worst_difference(found[name], numbers, 1e-3) for name, numbers in wanted.items()}
        bad = {name: difference for name, difference in worst.items() if not difference <= tolerance}
        self.expect(f"{what}: {max(worst.values()):.2g} {bad or ''}", not bad)

    def layers(self):
        for family, names in CASES.items():
            cases = {case["name"]: case for case in json.loads((self.fixtures / "layers" / f"{family}.json").read_text())}
            arrays = npz_values.read(self.fixtures / "layers" / f"{family}.npz")
            for name in names:
                own = {key.removeprefix(f"{name}/"): value for key, value in arrays.items() if key.startswith(f"{name}/")}
                data = {key: value for key, value in own.items() if key.split("/")[0] in ("x", "y", "sample_weight")}
                if sum(key.startswith("x/") for key in data) == 1:  # its name is that of the layer
                    data = {"x" if key.startswith("x/") else key: value for key, value in data.items()}
                model, file = self.scratch / "model.json", self.scratch / "data.npz"
                model.write_text(json.dumps(cases[name]["model"]))
                npz_values.write(file, data)
                size = data["y"][0][0] if "y" in data else next(iter(data.values()))[0][0]
                steps = ("--epochs", cases[name].get("steps", 1))
                self.compare(name, self.trained(model, file, size, *steps, "--microbatches", min(size, 2)),
                             self.trained(model, file, size, *steps), NARROW if "bfloat16" in name else TOLERANCE)

    def statistics(self):
        """Microbatches of their own statistics have the gradients that Keras accumulates."""
        draw, size, rounds = random.Random(3), 16, 4
        rows = [[draw.gauss(0, 1) for _ in range(6)] for _ in range(3 * size)]
        labels = [draw.randrange(3) for _ in rows]
        layers = [("Dense", {"name": "d", "units": 5}), ("BatchNormalization", {"name": "n"}), ("Activation", {"name": "a", "activation": "tanh"}),
                  ("Dense", {"name": "e", "units": 3, "activation": "softmax"})]
        model, data = self.scratch / "norm.json", self.scratch / "norm.npz"
        model.write_text(json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": [
            {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": [None, 6]}},
            *({"class_name": kind, "config": config} for kind, config in layers)]}}))

        def trained(order, size, steps, *flags):
            npz_values.write(data, {"x": ((len(rows), 6), array.array("f", [value for i in order for value in rows[i]])),
                                    "y": ((len(rows),), array.array("i", [labels[i] for i in order]))})
            optimizer = json.dumps({"class_name": "SGD", "config": {"learning_rate": 0.1, "gradient_accumulation_steps": steps}})
            found = self.trained(model, data, size, "--loss", "sparse_categorical_crossentropy", "--optimizer", optimizer, *flags)
            return {name: values for name, values in found.items() if name.startswith("m/") and "moving" not in name}

        # The rows k, k + 4, ... of each batch, one microbatch after the other.
        apart = [first + i for first in range(0, len(rows), size) for k in range(rounds) for i in range(k, size, rounds)]
        self.compare("batch normalization", trained(range(len(rows)), size, None, "--microbatches", rounds, "--allow-microbatch-statistics"),
                     trained(apart, size // rounds, rounds), TOLERANCE)

    def uneven(self):
        """The squares of distances from the mean of each microbatch of 10 values, of which two have three and two have two."""
        values = [((7 * i) % 11) / 3 for i in range(10)]
        program, inputs, outputs = (self.scratch / name for name in ("u.mlir", "in.npz", "out.npz"))
        program.write_text("""module attributes {weft.microbatches = 4 : i64, weft.microbatch_statistics} {
  func.func @main(%w: tensor<1xf32> {weft.role = "weight", weft.name = "w"}, %x: tensor<10xf32> {weft.role = "input", weft.name = "x"})
      -> (tensor<f32> {weft.name = "spread"}) {
    %0 = weft.reshape %w : tensor<1xf32> -> tensor<f32>
    %1 = weft.broadcast %0 dims [] : tensor<f32> -> tensor<10xf32>
    %2 = weft.mul %x, %1 : tensor<10xf32>
    %3 = weft.reduce sum %2 dims [0] : tensor<10xf32> -> tensor<f32>
    %4 = weft.constant dense<10.0> : tensor<f32>
    %5 = weft.div %3, %4 : tensor<f32>
    %6 = weft.broadcast %5 dims [] : tensor<f32> -> tensor<10xf32>
    %7 = weft.sub %2, %6 : tensor<10xf32>
    %8 = weft.mul %7, %7 : tensor<10xf32>
    %9 = weft.reduce sum %8 dims [0] : tensor<10xf32> -> tensor<f32>
    return %9 : tensor<f32>
  }
}
""")
        npz_values.write(inputs, {"w": ((1,), array.array("f", [2])), "x": ((10,), array.array("f", values))})
        self.run("run", program, "--inputs", inputs, "--outputs", outputs)
        parts = [[2 * value for value in values[k::4]] for k in range(4)]
        wanted = sum((value - sum(part) / len(part)) ** 2 for part in parts for value in part)
        found = npz_values.read(outputs)["spread"][1][0]
        self.expect(f"uneven statistics: {found:.6f}, by the formula {wanted:.6f}", abs(found - wanted) <= 1e-5 * wanted)

    def programs(self):
        """Programs of 10 rows in 1, 2, 3, 4 and 10 microbatches, which have the rows and counts of the whole batch."""
        inputs, outputs, program = (self.scratch / name for name in ("in.npz", "out.npz", "program.mlir"))
        npz_values.write(inputs, {"x": ((10, 3), array.array("f", [((5 * i) % 13) / 4 - 1 for i in range(30)])),
                                  "key": ((2,), array.array("I", [7, 9]))})
        for name, (results, body) in PROGRAMS.items():
            found = {}
            for rounds in (1, 2, 3, 4, 10):
                types = ", ".join(f'{type} {{weft.name = "r{i}"}}' for i, type in enumerate(results))
                program.write_text(f"""module attributes {{weft.microbatches = {rounds} : i64}} {{
  func.func @main(%key: tensor<2xui32> {{weft.role = "state", weft.name = "key"}}, %x: tensor<10x3xf32> {{weft.role = "input", weft.name = "x"}}) -> ({types}) {{
{body}
  }}
}}
""")
                self.run("run", program, "--inputs", inputs, "--outputs", outputs)
                found[rounds] = npz_values.read(outputs)
            worst = max(npz_values.worst_difference(values, found[1][result][1], 1e-3)
                        for one in found.values() for result, (_, values) in one.items())
            self.expect(f"{name}: {worst:.2g}", worst <= TOLERANCE)

    def sizes(self):
        model = self.fixtures / "gpt-tiny" / "model.json"
        sizes, memory, sums = {}, {}, {}
        for rounds in (1, 16, 64):
            flags = (model, "--batch-size", 64, "--microbatches", rounds)
            sizes[rounds] = len(self.run("compile", *flags, "--seed", 1, "--emit", "plan"))
            said = json.loads(self.run("explain", *flags, "--batch-size", 128, "--data-parallel", "--devices", "cpu:2", "--json"))
            memory[rounds] = said["memory"]["total"]
            sums[rounds] = [(one["kind"], one["bytes"]) for one in said["collectives"]]
        self.expect(f"plans of {sizes} characters", sizes[64] <= 1.05 * sizes[16])
        self.expect(f"devices of {memory} bytes", memory[64] < memory[16] < memory[1] / 4)
        self.expect(f"collectives {sums}", sums[64] == sums[1] and len(sums[64]) == 1)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        runs = Runs(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(scratch))
        runs.layers()
        runs.statistics()
        runs.uneven()
        runs.programs()
        runs.sizes()
        return runs.failures > 0


if __name__ == "__main__":
    sys.exit(main())
