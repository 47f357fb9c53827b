"""Each reader is given one member, key, array or attribute that it does not know: it is refused or warned of by name.

    check_unknown_members.py WEFT FIXTURES SCRATCH
"""

import array
import copy
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import zipfile

import npz_values
import patience

NAME = "zeal"


class Readers:
    def __init__(self, weft, fixtures, scratch):
        self.weft, self.scratch = weft, scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        self.model, self.data = fixtures / "callbacks" / "model.json", fixtures / "callbacks" / "data.npz"
        self.said = json.loads(self.model.read_text())
        self.fit = ["--data", self.data, "--seed", 1, "--verbose", 0, "--max-steps", 1]
        for name in ("w.npz", "w.safetensors", "w.weights.json", "w.weights.h5"):
            self.run("fit", self.model, "--init-only", "--seed", 1, "--save-weights", scratch / name)
        self.run("fit", self.model, "--init-only", "--seed", 1, "--save", scratch / "m.keras")
        self.run("compile", self.model, "--step", "all", "-o", scratch / "steps.weft")

    def run(self, *words):
        return subprocess.run([str(word) for word in (self.weft, *words)], capture_output=True, text=True, timeout=patience.HANG)

    def write(self, name, made):
        path = self.scratch / name
        path.write_text(made if isinstance(made, str) else json.dumps(made))
        return path

    def models(self):
        def changed(place, change):
            made = copy.deepcopy(self.said)
            change(made)
            return place, ["fit", self.write("model.json", made), *self.fit]

        def dense(**values):
            return lambda m: m["config"]["layers"][1]["config"].update(values)
        yield changed("model", lambda m: m.update({NAME: 1}))
        yield changed("config", lambda m: m["config"].update({NAME: 1}))
        yield changed("layer", lambda m: m["config"]["layers"][1].update({NAME: 1}))
        yield changed("layer's config", dense(**{NAME: 1}))
        yield changed("initializer", dense(kernel_initializer={"class_name": "GlorotUniform", "config": {NAME: 1}}))
        yield changed("initializer's entry", dense(kernel_initializer={"class_name": "GlorotUniform", "config": {}, NAME: 1}))
        yield changed("compile_config", lambda m: m["compile_config"].update({NAME: 1}))
        for kind, name in (("optimizer", "Adam"), ("loss", "MeanSquaredError"), ("metrics", "MeanSquaredError")):
            for made in ({"class_name": name, "config": {NAME: 1}}, {"class_name": name, "config": {}, NAME: 1}):
                yield changed(kind, lambda m, kind=kind, made=made: m["compile_config"].update(
                    {kind: [made] if kind == "metrics" else made}))

    def flags(self):
        layouts = {"class_name": "ModelParallel", "config": {"device_mesh": {"shape": [2], "axis_names": ["data"], "devices": None},
                                                             "layout_map": {}, "batch_dim_name": "data"}}
        for place in ((), ("config",), ("config", "device_mesh"), ("config", "layout_map")):
            at = made = copy.deepcopy(layouts)
            for key in place:
                at = at[key]
            at[NAME] = ["data"]
            yield f"distribution {place}", ["explain", self.model, "--distribution", self.write("layouts.json", made)]
        for made in ({"class_name": "TerminateOnNaN", "config": {NAME: 1}}, {"class_name": "TerminateOnNaN", "config": {}, NAME: 1}):
            yield "callback", ["fit", self.model, *self.fit, "--callback", json.dumps(made)]
        yield "fit.json", ["fit", "--config", self.write("fit.json", {"model": str(self.model), NAME: 1})]
        yield "--shape", ["explain", self.model, "--shape", f"{NAME}=3"]
        yield "--metrics", ["explain", self.model, "--metrics", json.dumps({"class_name": "MeanSquaredError", "config": {NAME: 1}})]

    def with_member(self, source, name, content):
        path = self.scratch / f"other-{source.name}"
        shutil.copy(source, path)
        with zipfile.ZipFile(path, "a") as file:
            file.writestr(name, content)
        return path

    def arrays(self):
        with zipfile.ZipFile(self.scratch / "w.npz") as file:
            one = file.read(file.namelist()[0])
        yield "--data", ["fit", self.model, *self.fit, "--data", self.with_member(self.data, f"{NAME}.npy", one)]
        yield "weights .npz", self.weights(self.with_member(self.scratch / "w.npz", f"{NAME}.npy", one))
        data = (self.scratch / "w.safetensors").read_bytes()
        size, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + size]) | {NAME: {"dtype": "F32", "shape": [0], "data_offsets": [len(data) - 8 - size] * 2}}
        text = json.dumps(header).encode()
        (self.scratch / "other.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size:])
        yield "weights .safetensors", self.weights(self.scratch / "other.safetensors")
        shards = json.loads((self.scratch / "w.weights.json").read_text())
        yield "weights .weights.json", self.weights(self.write("w2.weights.json", shards | {NAME: 1}))
        yield "--weights of a .keras file", self.weights(self.with_member(self.scratch / "m.keras", f"{NAME}.json", "{}"))
        yield "model .keras", ["summary", self.with_member(self.scratch / "m.keras", f"{NAME}.json", "{}")]
        yield "steps.weft", ["fit", self.with_member(self.scratch / "steps.weft", f"{NAME}.txt", "x"), *self.fit]
        program = self.write("p.mlir", "func.func @main(%x: tensor<2xf32> {weft.name = \"x\"}) -> tensor<2xf32> {\n"
                                       "  %0 = weft.relu %x : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n")
        values = {name: ((2,), array.array("f", [1, 2])) for name in ("x", NAME)}
        npz_values.write(self.scratch / "in.npz", values)
        yield "--inputs", ["run", program, "--inputs", self.scratch / "in.npz", "--outputs", self.scratch / "out.npz"]
        yield "attribute", ["explain", self.write("a.mlir", program.read_text().replace("weft.name", f"weft.{NAME}"))]
        yield "attribute of the module", ["explain", self.write(
            "m.mlir", f"module attributes {{weft.{NAME} = 1 : i64}} {{\n{program.read_text()}}}\n")]

    def weights(self, path):
        return ["fit", self.model, *self.fit, "--weights", path]


def main():
    readers, silent, count = Readers(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()), [], 0
    for name, command in (*readers.models(), *readers.flags(), *readers.arrays()):
        done = readers.run(*command)
        count += 1
        lines = [line for line in done.stderr.splitlines() if line.startswith(("weft: error: ", "weft: warning: "))]
        if not any(NAME in line for line in lines) or done.returncode not in (0, 1, 2):
            silent.append(f"{name}: status {done.returncode}, {done.stderr.strip()!r}")
    print("\n".join(silent) or f"{count} readers name what they do not know")
    return bool(silent)


if __name__ == "__main__":
    sys.exit(main())
