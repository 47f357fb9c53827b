"""Bad input around steps that Keras traced and steps that were compiled."""

import array
import json
import pathlib
import subprocess
import zipfile

import npz_values

STEPS = pathlib.Path(__file__).resolve().parent / "Inputs" / "steps.mlir"


class StepCases:
    def changed_steps(self, name, *replacements):
        text = STEPS.read_text()
        for old, new in replacements:
            assert old in text, old
            text = text.replace(old, new)
        return self.write(name, text)

    def step_flags(self):
        yield "step", ["explain", self.model_file, "--step", "trian"]
        yield "matmul precision", ["explain", self.model_file, "--matmul-precision", "f16"]
        yield "step of a file", ["compile", self.model_file, "--step", "al"]
        yield "all steps as text", ["compile", self.model_file, "--step", "all", "--emit", "plan"]
        yield "sizes as text", ["compile", self.model_file, "--batch-size", "1,8", "--emit", "plan"]
        for sizes in ("1,x", "0,1", "8,1,8"):
            yield f"sizes {sizes}", ["compile", self.model_file, "--batch-size", sizes, "-o", "steps.weft"]

    def steps(self):
        npz_values.write(self.scratch / "linear.npz", {"x": ((8, 3), array.array("f", range(24))),
                                                       "y": ((8, 1), array.array("f", range(8)))})
        data = ["--data", self.scratch / "linear.npz", "--verbose", "0"]
        fit = ["fit", STEPS, *data]
        plain = self.changed_steps("plain.mlir", ("weft.batch = 4 : i64", "other = 4 : i64"), ("@train", "@main"))
        yield "no steps", ["fit", plain, *data]
        yield "all steps of a program", ["compile", plain, "--step", "all", "-o", self.scratch / "plain.weft"]
        yield "sizes of a program", ["compile", plain, "--batch-size", "1,8", "-o", self.scratch / "plain.weft"]
        yield "sizes that were not traced", ["compile", STEPS, "--batch-size", "4,9", "-o", self.scratch / "sizes.weft"]
        yield "another batch", [*fit, "--batch-size", "5"]
        yield "another step", ["evaluate", STEPS, *data]
        yield "another loss", [*fit, "--loss", "mse"]
        config = {"device_mesh": {"shape": [2], "axis_names": ["data"], "devices": None}, "batch_dim_name": "data",
                  "layout_map": {"d/kernel": ["data", None, None]}}
        yield "layouts of too many dimensions", [*fit, "--distribution", self.write("rank.json", json.dumps(
            {"class_name": "ModelParallel", "config": config}))]
        yield "step of a model's layouts", ["layout", self.model_file, "--step", "predict"]
        yield "weights of samples", [*fit, "--sample-weight", f"{self.scratch}/linear.npz:y"]
        yield "a seed of traced steps", ["compile", STEPS, "--seed", "3", "-o", self.scratch / "seed.weft"]
        yield "no model to save", [*fit, "--save", self.scratch / "trained.keras"]
        yield "verified", [*fit, "--verify"]
        yield "no initial value", ["predict", STEPS, *data, "--out", self.scratch / "p.npz"]
        npz_values.write(self.scratch / "w.npz", {"d/kernel": ((3, 1), array.array("f", range(3)))})
        yield "two outputs", ["predict", STEPS, *data, "--weights", self.scratch / "w.npz", "--out", self.scratch / "p.npy"]
        yield "role", ["compile", self.changed_steps("role.mlir", ('"weight"', '"wait"')), "-o", self.scratch / "role.weft"]
        for name in ("weft.rule", "weft.nothing_like_it"):
            yield f"annotation {name}", ["explain", self.changed_steps("annotation.mlir", ("weft.role", name))]
        yield "two of a name", ["explain", self.changed_steps("names.mlir", ('weft.name = "y"', 'weft.name = "x"'))]
        yield "facts and an order", ["explain", self.changed_steps(
            "order.mlir", ('weft.name = "d/kernel"', 'mhlo.layout_mode = "{0,1}", weft.name = "d/kernel"'))]
        yield "steps of an older version", ["explain", self.changed_steps("older.mlir", ("weft.facts", "weft.metadata"))]
        yield "a fact that is none", ["explain", self.changed_steps("fact.mlir", ("\\22saved\\22", "\\22savd\\22"))]
        yield "a fact of another type", ["explain", self.changed_steps("type.mlir", ("\\22saved\\22: ", "\\22h5\\22: "))]
        compiled = self.scratch / "steps.weft"
        subprocess.run([self.weft, "compile", STEPS, "-o", compiled], check=True)
        yield "which step", ["run", compiled, "--list"]
        yield "a batch that is not compiled", ["fit", compiled, *data, "--batch-size", "5"]
        yield "compiled for other layouts", ["fit", compiled, *data, "--data-parallel"]
        yield "no step at all", ["fit", self.no_step(), *data]
        with zipfile.ZipFile(self.scratch / "none.zip", "w"):
            pass
        yield "no member", ["fit", self.write("none.weft", b"PK\x03\x04" + (self.scratch / "none.zip").read_bytes()), *data]
        with zipfile.ZipFile(self.scratch / "foreign.weft", "w") as file:
            file.writestr("train-4.weft", b"nothing")
        yield "foreign member", ["fit", self.scratch / "foreign.weft", *data]

    def no_step(self):
        """A program that takes no batch and gives no metric."""
        sum_of = self.write("sum.mlir", "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.add %a, %a : tensor<f32>\n"
                            "  return %0 : tensor<f32>\n}\n")
        subprocess.run([self.weft, "compile", sum_of, "-o", self.scratch / "sum.weft"], check=True)
        return self.scratch / "sum.weft"
