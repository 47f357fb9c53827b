"""Bad input by kind: (name, arguments of weft, options of subprocess.run)."""

import array
import copy
import json
import os
import pathlib
import re
import struct
import subprocess
import warnings
import zipfile

import distribution_cases
import fit_error_cases
import layer_error_cases
import layout_error_cases
import name_error_cases
import npz_values
import process_limits
import program_files
import source_error_cases
import step_cases
import whole_model_cases

DEVICE_KERNELS = pathlib.Path(__file__).resolve().parents[1] / "pipeline" / "Inputs" / "device-kernels.mlir"
OTHER_TARGET = "cpu:neon" if os.uname().machine == "x86_64" else "cpu:avx2"  # of another architecture


def npy(descr, shape, data, fortran=False):
    """The bytes of a .npy file that may be wrong in any way."""
    header = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def models_inside(count):
    """The layers of a model that holds `count` models, each inside the one before."""
    layers = []
    for level in range(count):
        layers = [{"class_name": "Sequential", "config": {"name": f"level{level}", "layers": layers}}]
    return layers


class Cases(fit_error_cases.FitCases, name_error_cases.NameCases, step_cases.StepCases, distribution_cases.DistributionCases,
            source_error_cases.SourceCases, layout_error_cases.LayoutCases):
    def __init__(self, weft, fixtures, scratch):
        self.weft, self.fixtures, self.scratch = weft, fixtures, scratch
        self.model_file = fixtures / "seed-sequential-mnist" / "model.json"
        self.model_json = json.loads(self.model_file.read_text())
        self.good_data = self.write_npz("good.npz", x=((8, 28, 28), bytes(8 * 784)), y=((8,), bytes(range(8))))

    def of(self, section):
        for case in getattr(self, section.replace("-", "_"))():
            name, command, *options = case
            yield name, command, options[0] if options else {}

    # Files.

    def write(self, name, content):
        path = self.scratch / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def write_npz(self, name, **arrays):
        npz_values.write(self.scratch / name, {key: (shape, array.array("B", data))
                                               for key, (shape, data) in arrays.items()})
        return self.scratch / name

    def fifo(self, name):
        """A pipe that nobody writes to: a process that opens it to read waits."""
        os.mkfifo(self.scratch / name)
        return self.scratch / name

    def squeezed(self, name, **members):
        with zipfile.ZipFile(self.scratch / name, "w", zipfile.ZIP_DEFLATED) as file:
            for member, data in members.items():
                file.writestr(member, data)
        return self.scratch / name

    def claiming(self, name, stored, size):
        """An archive of one member that says it grows from `stored` to `size` bytes."""
        good = self.squeezed(name, **{"x.npy": os.urandom(stored)}).read_bytes()
        at = good.rindex(b"PK\x01\x02")
        return self.write(name, good[:at + 24] + struct.pack("<I", size) + good[at + 28:])

    def zip(self, name, **members):
        with zipfile.ZipFile(self.scratch / name, "w") as file:
            for member, data in members.items():
                file.writestr(member, data)
        return self.scratch / name

    def model(self, name, change):
        """A model file that `change` made from a good one."""
        change(made := copy.deepcopy(self.model_json))
        return self.write(f"{name}.json", json.dumps(made))

    def layer(self, file, index, **values):
        """A model whose layer has other values in its config."""
        return self.model(file, lambda m: m["config"]["layers"][index]["config"].update(values))

    def program(self, step="predict"):
        path = self.scratch / f"{step}.weft"
        if not path.exists():
            subprocess.run([self.weft, "compile", self.model_file, "--step", step, "--batch-size", "2", "-o", path],
                           check=True, capture_output=True)
        return path

    def nested(self, name, layers):
        """A Sequential of 4 features that begins with a Sequential of these layers."""
        inner = {"class_name": "Sequential", "config": {"name": "inner", "layers": layers}}
        outer = {"name": "outer", "build_input_shape": [None, 4], "layers": [inner]}
        return self.write(f"{name}.json", json.dumps({"class_name": "Sequential", "config": outer}))

    @staticmethod
    def many_calls(text):
        """The nested fixture with its model "side" called 40,000 times in a chain."""
        model = json.loads(text)
        side = model["config"]["layers"][1]
        again = side["inbound_nodes"][1]
        for call in range(2, 40000):
            node = copy.deepcopy(again)
            node["args"][0]["config"]["keras_history"] = ["side", call - 1, 0]
            side["inbound_nodes"].append(node)
        return model

    # Sections of docs/errors.md.

    def command_line(self):
        yield "no command", []
        yield "unknown command", ["tarin"]
        yield "misspelt command", ["fti"]
        yield "no model", ["fit"]
        yield "misspelt flag", ["fit", self.model_file, "--epoch", "3"]
        yield "unknown flag", ["fit", self.model_file, "--colour", "--blue"]
        yield "no number", ["fit", self.model_file, "--epochs", "three"]
        yield "run without outputs", ["run", "p.weft", "--inputs", "in.npz"]
        fit = ["fit", self.model_file, "--data", self.good_data]
        for flag, value in (("--batch-size", "0"), ("--batch-size", "0x0"), ("--epochs", "-1"), ("--steps-per-epoch", "0"),
                            ("--max-steps", "-1"), ("--verbose", "3"), ("--divide-by", "0"), ("--divide-by", "inf"), ("--graphs", "sometimes"),
                            ("--share", "mostly"), ("--overlap", "partly"), ("--rings", "partly"),
                            ("--collectives", "exact"), ("--collectives", "mpi"),
                            ("--validation-split", "1.5"), ("--validation-split", "nan"), ("--learning-rate", "nan"),
                            ("--learning-rate", "-inf"), ("--learning-rate", "1e39"), ("--devices", "gpu:8"),
                            ("--devices", "cpu:0"), ("--devices", "cpu:65537"), ("--save", "trained.h5"),
                            ("--shape", "x=28by28"), ("--memory", "much"), ("--microbatches", "64"), ("--target", "cpu:avx1024"),
                            ("--target", OTHER_TARGET),
                            ("--expect", "speed<=3")):
            yield f"{flag} {value}", [*fit, flag, value]
        yield "no name of a folder", [*fit, "--backup", ""]
        yield "layouts twice", [*fit, "--distribution", "d.json", "--data-parallel"]
        yield "weights of classes and samples", [*fit, "--class-weight", "0:2", "--sample-weight", f"{self.good_data}:y"]
        yield "size of no validation", [*fit, "--validation-batch-size", "4"]
        yield "target of the environment", fit, {"env": {**os.environ, "WEFT_TARGET": "cpu:avx1024"}}
        yield "devices of a run", ["run", "p.weft", "--list", "--devices", "gpu:1"]
        yield from self.step_flags()
        yield "page", ["explain", self.model_file, "--html", "-"]
        yield "nowhere to write", ["compile", self.model_file]
        yield "stage to print", ["compile", self.model_file, "--emit", "shard"]
        yield "stage to start from", ["compile", self.model_file, "--emit", "plan", "--from", "shard"]
        yield "backwards", ["compile", self.model_file, "--from", "sharded", "--emit", "imported"]
        yield "layouts again", ["compile", self.model_file, "--emit", "plan", "--from", "sharded", "--data-parallel"]
        yield "kernel of a stage", ["compile", self.model_file, "--emit", "plan", "--kernel", "x"]

    def models(self):
        layout = ["layout"]
        yield "no file", [*layout, self.scratch / "nothing.json"]
        yield "a folder", [*layout, self.scratch]
        yield "cut JSON", [*layout, self.write("cut.json", self.model_file.read_text()[:100])]
        yield "NaN in JSON", [*layout, self.write("nan.json", '{"learning_rate": NaN}')]
        yield "deep JSON", [*layout, self.write("deep.json", "[" * 100000)]
        yield "deep JSON, closed", [*layout, self.write("deep2.json", "[" * 5000 + "]" * 5000)]
        yield "a pipe", [*layout, self.fifo("pipe.json")]
        yield "NUL", [*layout, self.layer("nul", 2, name="d1\0d2")]
        yield "much JSON", [*layout, self.write("much.json", b" " * ((64 << 20) + 1))]
        yield "key twice", [*layout, self.write("twice.json", '{"config": {}, "config": {}}')]
        yield from whole_model_cases.other_files(self)
        yield "model class", [*layout, self.model("class", lambda m: m.update(class_name="Wide"))]
        for name, wrong in (("layer class", "Conv9D"), ("no such class", "Wavelet")):
            yield name, [*layout, self.model(wrong, lambda m: m["config"]["layers"][2].update(class_name=wrong))]
        yield "layer option", [*layout, self.layer("option", 2, spikes=True)]
        yield "wrong type", [*layout, self.layer("type", 2, units="many")]
        yield "units", [*layout, self.layer("units", 2, units=0)]
        vast = self.layer("vast", 2, units=1 << 62)
        spread = ("--data-parallel", "--devices", "cpu:8", "--batch-size", "16")
        for command in (["layout", vast], ["explain", vast, *spread], ["explain", vast, *spread, "--expect", "memory<=1GiB"],
                        ["compile", vast, "-o", self.scratch / "vast.weft"], ["predict", vast, "--data", self.good_data, "--out", self.scratch / "out.npz"]):
            yield "sizes beyond 2^53: " + command[0], command
        again = {"class_name": "RepeatVector", "config": {"name": "again", "n": 1 << 50}}
        yield "an output beyond 2^53", [*layout, self.model("many", lambda m: m["config"]["layers"].insert(2, again))]
        yield "a kernel beyond 2^53", [*layout, self.layer("broad", 2, units=1 << 48)]
        yield "activation", [*layout, self.layer("activation", 2, activation="rleu")]
        yield "initializer", [*layout, self.layer("initializer", 2, kernel_initializer="glorot")]
        yield "no config", [*layout, self.write("empty.json", "{}")]
        yield "no object", [*layout, self.write("list.json", "[1, 2]")]
        for number, (name, text) in enumerate(layer_error_cases.cases()):
            yield name, [*layout, self.write(f"layer{number}.json", text)]
        text = (self.fixtures / "seed-functional-mlp" / "model.json").read_text()
        yield "frozen model", [*layout, self.write("frozen.json", text.replace("true", "false", 1))]
        functional = json.loads(text)
        functional["config"]["layers"][1]["inbound_nodes"][0]["args"][0]["config"]["keras_history"][0] = "nobody"
        yield "no such input", [*layout, self.write("graph.json", json.dumps(functional))]
        yield "layer twice", [*layout, self.layer("again", 2, name="d2")]
        yield "nested shape", [*layout, self.nested("shape", [{"class_name": "InputLayer", "config": {
            "name": "other", "batch_shape": [None, 5]}}])]
        nested = (self.fixtures / "nested" / "model.json").read_text()
        yield "nested inputs", [*layout, self.write("inputs.json", nested.replace(
            '"input_layers": ["side_in", 0, 0]', '"input_layers": [["side_in", 0, 0], ["side_in", 0, 0]]'))]
        yield "nested deep", [*layout, self.nested("deep", models_inside(40))]
        yield "nested calls", [*layout, self.write("calls.json", json.dumps(self.many_calls(nested)))]
        yield "optimizer", ["explain", self.model_file, "--optimizer", "adamm"]
        yield "loss", [*layout, self.model_file, "--loss", "mean_sq"]
        yield "metric", [*layout, self.model_file, "--metrics", "acuracy"]
        yield "no such metric", [*layout, self.model_file, "--metrics", "beauty"]
        yield "optimizer in the file", ["explain", self.model(
            "optimizer", lambda m: m["compile_config"].update(optimizer="adamm"))]
        yield from self.own_classes()
        yield from self.name_cases()
        rate = re.sub(r'"learning_rate": [^,]*', '"learning_rate": 1e39', json.dumps(self.model_json))
        yield "rate in the file", ["explain", self.write("rate.json", rate)]
        yield "no loss", ["compile", self.model("bare", lambda m: m.update(compile_config=None)), "-o", self.scratch / "p.weft"]

    def archives(self):
        layout = ["layout"]
        good = (self.fixtures / "remainder" / "model.keras").read_bytes()
        with zipfile.ZipFile(self.fixtures / "remainder" / "model.keras") as file:
            parts = {name: file.read(name) for name in file.namelist()}
        yield "cut", [*layout, self.write("cut.keras", good[:2000])]
        yield "altered", [*layout, self.write("bit.keras", good[:100] + bytes([good[100] ^ 255]) + good[101:])]
        for part in ("config.json", "model.weights.h5", "metadata.json"):
            yield f"no {part}", [*layout, self.zip("lacks.keras", **{k: v for k, v in parts.items() if k != part})]
        yield "bad config", [*layout, self.zip("config.keras", **{**parts, "config.json": b"{"})]
        yield "bad weights", [*layout, self.zip("h5.keras", **{**parts, "model.weights.h5": b"\x89HDF"})]
        bomb = self.zip("bomb.keras", **{**parts, "config.json": b"{}"}).read_bytes()
        at = bomb.rindex(b"PK\x01\x02", 0, bomb.index(b"config.json", bomb.index(b"PK\x01\x02")))
        spaces = self.squeezed("spaces.keras", **{**parts, "config.json": b" " * ((64 << 20) + 1)})
        assert spaces.stat().st_size < 1 << 20
        yield "much JSON", [*layout, spaces]
        yield "grows too much", [*layout, self.claiming("grows.keras", 2 << 20, 3 << 29)]
        with warnings.catch_warnings(action="ignore"):
            twice = self.scratch / "twice.keras"
            with zipfile.ZipFile(twice, "w") as file:
                for part in ("config.json", *parts):
                    file.writestr(part, parts[part])
        yield "a member twice", [*layout, twice]
        cut = self.zip("nul.keras", **{**parts, "config.json!old": b"{}"}).read_bytes()
        yield "a NUL", [*layout, self.write("nul.keras", cut.replace(b"config.json!old", b"config.json\0old"))]
        yield "a pipe", [*layout, self.fifo("pipe.keras")]
        yield "a moved directory", [*layout, self.write("moved.keras", b"PK\x03\x04" * 30 + good)]
        yield from whole_model_cases.altered_h5(self)
        yield "a member that claims too much", [*layout, self.write(
            "bomb.keras", bomb[:at + 20] + struct.pack("<II", 10, 1 << 31) + bomb[at + 28:])]

    def stages(self):
        sharded = self.scratch / "sharded.mlir"
        subprocess.run([self.weft, "compile", self.model_file, "--data-parallel", "--devices", "cpu:2", "--emit",
                        "sharded", "-o", sharded], check=True, capture_output=True)
        compiling = ["compile", sharded, "--emit", "plan", "--from"]
        yield "another stage", [*compiling, "partitioned"]
        yield "a program that is cut", ["compile", self.write("cut.mlir", "module {"), "--from", "sharded", "--emit",
                                        "plan"]
        yield "brackets", ["compile", self.write("deep.mlir", "weft.x " + "[" * 100000), "--from", "sharded", "--emit", "plan"]
        yield "no such tensor", ["layout", self.model_file, "--only", "d9/kernel"]
        yield "nothing to explain", ["explain", self.model_file, "--data-parallel", "--devices", "cpu:2", "--why", "nothing like it"]
        yield "misspelt tensor", ["explain", self.model_file, "--data-parallel", "--devices", "cpu:2", "--why", "d1/kernle"]
        vast = "tensor<4611686018427387904x4xf32>"
        program = self.write("vast.mlir", f"func.func @main(%x: {vast}) -> {vast} {{\n  return %x : {vast}\n}}")
        foreign = self.write("foreign.mlir", f"func.func public @main(%x: {vast}) -> {vast} {{\n  %0 = stablehlo.add %x, %x : {vast}\n"
                             f"  return %0 : {vast}\n}}")
        for file in (program, foreign):
            for command in (["explain", file], ["explain", file, "--expect", "memory<=1GiB"], ["compile", file, "-o", self.scratch / "vast.weft"]):
                yield f"sizes beyond 2^53 in {file.name}: {command[0]}", command
        large = "tensor<2251799813685248xf32>"
        arguments = ", ".join(f"%{i}: {large}" for i in range(9))
        yield "nine times 2^53", ["explain", self.write("nine.mlir", f"func.func @main({arguments}) -> {large} {{\n  return %0 : {large}\n}}")]

    def memory(self):
        limit = {"preexec_fn": lambda: process_limits.limit_memory(2 << 30)}
        wide, endless = (self.layer(name, 2, units=units) for name, units in (("wide", 1 << 20), ("endless", 1 << 40)))
        yield "weights", ["fit", wide, "--data", self.good_data, "--init-only"], limit
        yield "more than there is", ["compile", endless, "--emit", "plan"], limit
        vast, program = f"tensor<{1 << 47}xi8>", self.scratch / "vast.weft"
        text = f"func.func @main(%x: tensor<i8>) -> {vast} {{\n%0 = weft.broadcast %x dims [] : tensor<i8> -> {vast}\nreturn %0 : {vast}\n}}\n"
        subprocess.run([self.weft, "compile", self.write("vast.mlir", text), "-o", program], check=True)
        yield "more than an address space", ["run", program, "--list"]

    def data(self):
        def fit(*flags):
            return ["fit", self.model_file, "--seed", "1", "--max-steps", "1", *flags]
        yield "none", fit()
        yield "no file", fit("--data", self.scratch / "nothing.npz")
        yield "a pipe", fit("--data", self.fifo("pipe.npz"))
        complex_x = self.zip("complex.npz", **{"x.npy": npy("<c8", (8, 28, 28), bytes(8 * 8 * 784)),
                                               "y.npy": npy("|u1", (8,), bytes(8))})
        yield "complex", fit("--data", complex_x)
        yield "grows too much", fit("--data", self.claiming("grows.npz", 2 << 20, 3 << 29))
        yield "no zip", fit("--data", self.write("text.npz", "x = 1"))
        good = self.good_data.read_bytes()
        yield "cut zip", fit("--data", self.write("cut.npz", good[:-30]))
        yield "altered zip", fit("--data", self.write("bit.npz", good[:300] + b"\xff" + good[301:]))
        said = self.write("said.json", layer_error_cases.sequential((4, 3), ("Dense", {"units": 5})))
        labels = self.write_npz("said.npz", x=((8, 4, 3), bytes(96)), y=((8, 6), bytes(48)))
        yield "more labels than times", ["fit", said, "--loss", "CTC", "--optimizer", "sgd", "--seed", "1", "--data", labels]
        yield "no x", fit("--data", self.write_npz("other.npz", images=((1,), b"1")))
        yield "key", fit("--x", f"{self.good_data}:images", "--y", f"{self.good_data}:y")
        yield "no key", fit("--x", f"{self.good_data}", "--y", f"{self.good_data}:y")
        yield "slice", fit("--x", f"{self.good_data}:x[8:8]", "--y", f"{self.good_data}:y")
        bad = {"no array": b"hello", "cut": npy("|u1", (8, 28, 28), b"123"), "dtype": npy("<U5", (2,), bytes(40)),
               "structure": npy([("a", "<f4")], (2,), bytes(8)), "huge": npy("<f4", (1 << 40, 1 << 40), b""),
               "version": b"\x93NUMPY\x09\x00\x10\x00" + bytes(16), "shape": npy("<f4", "many", b"")}
        for name, content in bad.items():
            yield name, fit("--data", self.zip(f"{name}.npz".replace(" ", "-"), **{"x.npy": content, "y.npy": content}))
        wide = {"x": ((8, 28, 28, 1), bytes(8 * 784)), "y": ((8,), bytes(8))}
        yield "add-channel", ["fit", self.fixtures / "seed-functional-mlp" / "model.json", "--data", self.good_data]
        yield "shape of samples", fit("--data", self.write_npz("wide.npz", **{**wide, "x": ((8, 28, 2), bytes(448))}))
        yield "samples", fit("--data", self.write_npz("few.npz", x=((8, 28, 28), bytes(8 * 784)), y=((7,), bytes(7))))
        yield from self.unread_cases(fit)
        two = self.fixtures / "multi-io" / "model.json"
        x = f"a={self.good_data}:x"
        yield "no such input", ["fit", two, "--x", x, "--x", f"image={self.good_data}:x", "--y", f"price={self.good_data}:y"]
        yield "misspelt output", ["fit", two, "--x", x, "--y", f"prices={self.good_data}:y"]
        yield "split", fit("--data", self.good_data, "--validation-split", "0.99")
        yield "remainder", fit("--data", self.good_data, "--batch-size", "9", "--drop-remainder")

    def weight_file(self):
        """An HDF5 file as Keras writes it."""
        with zipfile.ZipFile(self.fixtures / "remainder" / "model.keras") as file:
            return file.read("model.weights.h5")

    def weights(self):
        def predict(path):
            return ["predict", self.model_file, "--data", self.good_data, "--batch-size", "8", "--weights", path,
                    "--out", self.scratch / "p.npy"]
        archive = self.fixtures / "remainder" / "model.keras"
        with zipfile.ZipFile(archive) as file:
            h5 = file.read("model.weights.h5")
            config = file.read("config.json")
        yield "no file", predict(self.scratch / "nothing.keras")
        yield "a pipe", predict(self.fifo("pipe.keras"))
        yield "no zip", predict(self.write("text.keras", "no archive"))
        yield "cut h5", predict(self.write("cut.weights.h5", h5[:1000]))
        yield "foreign h5", predict(self.write("foreign.weights.h5", h5))
        yield from whole_model_cases.weights(self, archive, predict)
        yield "bad h5 in archive", predict(self.zip("h5.keras", **{
            "config.json": config, "metadata.json": "{}", "model.weights.h5": b"nothing"}))
        yield "no h5 in archive", predict(self.zip("lacks.keras", **{"config.json": config, "metadata.json": "{}"}))
        yield "foreign npz", predict(self.good_data)
        shapes = {"d1/kernel": (3, 4), "d1/bias": (128,), "d2/kernel": (128, 10), "d2/bias": (10,)}
        yield "shape", predict(self.write_npz("shape.npz", **{
            name: (shape, bytes(shape[0] * (shape[1] if len(shape) > 1 else 1))) for name, shape in shapes.items()}))

    def targets(self):
        gpu = ["--target", "cuda:sm_90a", "--emit=assembly"]
        yield "unknown kernel", ["compile", self.fixtures / "seed-cnn" / "model.json", "--step", "predict", *gpu, "--kernel", "x"]
        yield "two launches", ["compile", self.fixtures.parent / "pipeline" / "Inputs" / "gpu-refused.mlir", "--from", "kernels", *gpu]

    def programs(self):
        image = self.program().read_bytes()

        def listing(name, content):
            return ["run", self.write(name, content), "--list"]
        trailer = struct.pack(program_files.TRAILER, len(image) - 48, 0, 0, 0, program_files.ABI_VERSION, 0, b"WEFTPROG")
        yield "no file", ["run", self.scratch / "nothing.weft", "--list"]
        yield "a folder", ["run", self.scratch, "--list"]
        yield "a pipe", ["run", self.fifo("pipe.weft"), "--list"]
        yield "empty", listing("empty.weft", b"")
        yield "explained for other devices", ["explain", self.program(), "--devices", "cpu:8"]
        no_code = self.write("code.weft", program_files.assemble(b"", program_files.plan_of(image)))
        yield "no code", ["run", no_code, "--inputs", self.good_data, "--outputs", self.scratch / "out.npz"]
        subprocess.run([self.weft, "compile", DEVICE_KERNELS, "--from", "plan", "-o", device := self.scratch / "device.weft"], check=True)
        fits = self.scratch / "sixteen.npz"
        npz_values.write(fits, {"x": ((16,), array.array("f", bytes(64)))})
        yield "of a device", ["run", device, "--inputs", fits, "--outputs", self.scratch / "out.npz"]
        yield "cut", listing("cut.weft", image[:-100])
        yield "cut before the trailer", listing("middle.weft", image[:2000] + image[-48:])
        yield "altered", listing("altered.weft", image[:1000] + bytes([image[1000] ^ 1]) + image[1001:])
        yield "newer", listing("newer.weft", image[:-16] + struct.pack("<I", 9) + image[-12:])
        yield "foreign", listing("foreign.weft", open("/bin/true", "rb").read())
        yield "foreign with a trailer", listing("trailer.weft", b"hello" * 100 + trailer)

    def run_inputs(self):
        program = self.program()
        names = {"d1/kernel": (784, 128), "d1/bias": (128,), "d2/kernel": (128, 10), "d2/bias": (10,),
                 "x": (2, 28, 28)}

        def run(name, *flags, outputs=None, **changes):
            arrays = {key: (shape, array.array("f", bytes(4 * _count(shape)))) for key, shape in names.items()}
            arrays.update(changes)
            npz_values.write(self.scratch / f"{name}.npz", {k: v for k, v in arrays.items() if v})
            return ["run", program, "--inputs", self.scratch / f"{name}.npz", "--outputs",
                    outputs or self.scratch / "out.npz", *flags]
        yield "missing", run("missing", x=None)
        yield "extra", run("extra", z=((1,), array.array("f", [0])))
        yield "shape", run("shape", x=((3, 28, 28), array.array("f", bytes(4 * 3 * 784))))
        yield "type", run("type", x=((2, 28, 28), array.array("d", bytes(8 * 2 * 784))))
        eight = self.scratch / "eight.weft"
        subprocess.run([self.weft, "compile", self.model_file, "--step", "predict", "--batch-size", "8",
                        "--data-parallel", "--devices", "cpu:8", "-o", eight], check=True, capture_output=True)
        command = run("mesh", "--devices", "cpu:2", x=((8, 28, 28), array.array("f", bytes(4 * 8 * 784))))
        yield "mesh", ["run", eight, *command[2:]]

    def saving(self):
        old = self.write("old.keras", "the old file")
        old_history = self.write("old-history.json", "{}")

        def fit(*flags):
            return ["fit", self.model_file, "--data", self.good_data, "--seed", "1", "--max-steps", "1", *flags]
        yield "no folder", fit("--save", self.scratch / "nowhere" / "m.keras")
        yield "a folder", fit("--save-weights", self.scratch)
        yield "full device", fit("--save-weights", "/dev/full")
        yield "full, history", fit("--history", "/dev/full")
        # The model is larger than a limit of 100 blocks; the old file survives.
        limit = {"preexec_fn": lambda: process_limits.limit_files(100 * 512)}
        yield "small limit", fit("--save", old), limit
        yield "small limit, weights", fit("--save-weights", self.write("old.npz", "the old file")), limit
        assert old.read_bytes() == b"the old file"
        assert not list(self.scratch.glob("*.tmp*"))
        locked = self.scratch / "locked"
        locked.mkdir()
        (locked / "m.keras").write_text("the old file")
        for path, mode in ((locked / "m.keras", 0o444), (locked, 0o555)):
            path.chmod(mode)
        yield "no permission", fit("--save", locked / "m.keras"), process_limits.unprivileged(self.scratch)
        yield "no permission, history", fit("--history", locked / "h.json"), process_limits.unprivileged(self.scratch)
        assert (locked / "m.keras").read_text() == "the old file"
        yield "full program", ["compile", self.model_file, "-o", "/dev/full"]
        yield "program over the limit", ["compile", self.model_file, "-o", old_history], {
            "preexec_fn": lambda: process_limits.limit_files(2048)}
        assert old_history.read_text() == "{}"

    def warnings(self):
        labels = self.write_npz("labels.npz", x=((8, 28, 28), bytes(8 * 784)), y=((8,), bytes(range(4, 12))))
        yield "labels", ["evaluate", self.model_file, "--data", labels]
        halves = self.scratch / "halves.npz"
        npz_values.write(halves, {"x": ((8, 28, 28), array.array("B", bytes(8 * 784))), "y": ((8,), array.array("f", [0.5] * 8))})
        yield "labels with a fraction", ["evaluate", self.model_file, "--data", halves]
        nan = self.scratch / "nan.npz"
        npz_values.write(nan, {"x": ((8, 28, 28), array.array("f", [0, float("nan")] * (4 * 784))),
                               "y": ((8,), array.array("B", bytes(8)))})
        yield "NaN", ["fit", self.model_file, "--data", nan, "--max-steps", "1"]
        open_cache = self.scratch / "cache"
        (open_cache / "weft").mkdir(parents=True)
        (open_cache / "weft").chmod(0o777)
        yield "a cache that others can write", ["layout", self.model_file], {
            "env": {**os.environ, "XDG_CACHE_HOME": str(open_cache)}}
        yield "dead rule", ["layout", self.model_file, "--distribution",
                            self.distribution("dead", layout_map={"d1/kernal": [None, "model"]})]
        yield from whole_model_cases.of_keras2(self)
        yield "devices without a distribution", ["layout", self.model_file, "--devices", "cpu:8"]
        right = self.write_npz("right.npz", x=((8, 28, 28), bytes(8 * 784)), y=((8,), bytes(8)))
        yield "tasks of srun", ["evaluate", self.model_file, "--data", right], {
            "env": {**os.environ, "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}}


def _count(shape):
    count = 1
    for size in shape:
        count *= size
    return count
