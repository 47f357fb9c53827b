"""Arrays in the file of --data: weights of samples, arrays with the names of inputs and outputs, and arrays that none takes.

    check_data_names.py WEFT SCRATCH

What a file gives must have the bits of the same arrays given by flags. An array that no port takes is an error if its
name says for which port it is, else it is named.
"""

import array
import json
import pathlib
import shutil
import subprocess
import sys

import npz_values
import patience


def dense(name, units, source):
    tensor = {"class_name": "__keras_tensor__", "config": {"shape": [None, 4], "dtype": "float32", "keras_history": [source, 0, 0]}}
    return {"class_name": "Dense", "name": name, "config": {"name": name, "units": units, "activation": "sigmoid"},
            "inbound_nodes": [{"args": [tensor], "kwargs": {}}]}


def model(outputs):
    entry = {"class_name": "InputLayer", "name": "pixels", "config": {"name": "pixels", "batch_shape": [None, 4]},
             "inbound_nodes": []}
    ends = [[name, 0, 0] for name in outputs]
    return {"class_name": "Functional", "compile_config": {"optimizer": "sgd", "loss": "mse"},
            "config": {"name": "m", "layers": [entry] + [dense(name, 1, "pixels") for name in outputs],
                       "input_layers": ["pixels", 0, 0], "output_layers": ends if len(ends) > 1 else ends[0]}}


def floats(shape, start):
    count = 1
    for size in shape:
        count *= size
    return shape, array.array("f", [((start + 7 * i) % 11) / 10 for i in range(count)])


class Check:
    def __init__(self, weft, scratch):
        self.weft, self.scratch = weft, scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        for name, outputs in (("one", ["price"]), ("two", ["price", "kind"])):
            (scratch / f"{name}.json").write_text(json.dumps(model(outputs)))
        self.x, self.y, self.w, self.v = floats((12, 4), 1), floats((12, 1), 3), floats((12,), 5), floats((12,), 2)
        self.separate = self.npz("separate", a=self.x, b=self.y, c=self.w, d=self.v)

    def npz(self, name, **arrays):
        path = self.scratch / f"{name}.npz"
        npz_values.write(path, {key.replace("__", "/"): value for key, value in arrays.items()})
        return path

    def run(self, command, *words, status=0):
        done = subprocess.run([str(word) for word in (self.weft, command, *words)], capture_output=True, text=True,
                              timeout=patience.HANG)
        if done.returncode != status:
            sys.exit(f"{command} {words}: status {done.returncode}: {done.stderr}")
        return done

    def train(self, name, *words):
        """History and weights of a run, and what it says."""
        out = self.scratch / "w.npz"
        done = self.run("fit", self.scratch / f"{name}.json", *words, "--seed", 1, "--batch-size", 5, "--epochs", 2,
                        "--json", "--save-weights", out)
        return done.stdout, out.read_bytes(), done.stderr

    def same(self, name, data, flags, *more):
        found, wanted = self.train(name, "--data", data, *more), self.train(name, *flags, *more)
        if found[:2] != wanted[:2]:
            sys.exit(f"{name} {data}: {found[0]}, not {wanted[0]}")

    def weights(self):
        s = self.separate
        plain = ["--x", f"{s}:a", "--y", f"{s}:b"]
        weighed = [*plain, "--sample-weight", f"{s}:c"]
        data = self.npz("weighed", x=self.x, y=self.y, sample_weight=self.w)
        self.same("one", data, weighed)
        if self.train("one", *plain)[0] == self.train("one", *weighed)[0]:
            sys.exit("weights change nothing")
        self.same("one", self.npz("named", x=self.x, y=self.y, sample_weight__price=self.w), weighed)
        self.same("one", self.npz("train", x_train=self.x, y_train=self.y, sample_weight_train=self.w), weighed)
        outputs = ["--x", f"{s}:a", "--y", f"price={s}:b", "--y", f"kind={s}:b", "--sample-weight", f"price={s}:c",
                   "--sample-weight", f"kind={s}:d"]
        self.same("two", self.npz("several", x=self.x, y__price=self.y, y__kind=self.y, sample_weight__price=self.w,
                                  sample_weight__kind=self.v), outputs)
        # Validation, and evaluate.
        validation = ["--validation-x", f"{s}:a", "--validation-y", f"{s}:b", "--validation-sample-weight", f"{s}:d"]
        own = self.npz("validation", x=self.x, y=self.y, sample_weight=self.v)
        found = self.train("one", *weighed, "--validation-data", own)
        if found[0] != self.train("one", *weighed, *validation)[0]:
            sys.exit("weights of validation samples")
        model = self.scratch / "one.json"
        words = ["--seed", 1, "--json"]
        if self.run("evaluate", model, "--data", data, *words).stdout != self.run("evaluate", model, *weighed, *words).stdout:
            sys.exit("weights of evaluate")

    def names(self):
        s = self.separate
        self.same("one", self.npz("ports", pixels=self.x, price=self.y), ["--x", f"{s}:a", "--y", f"{s}:b"])
        self.same("two", self.npz("outputs", pixels=self.x, price=self.y, kind=self.y),
                  ["--x", f"{s}:a", "--y", f"price={s}:b", "--y", f"kind={s}:b"])
        out = self.scratch / "p.npy"
        self.run("predict", self.scratch / "one.json", "--data", self.npz("inputs", pixels=self.x), "--seed", 1, "--out", out)
        named = out.read_bytes()
        self.run("predict", self.scratch / "one.json", "--x", f"{s}:a", "--seed", 1, "--out", out)
        if out.read_bytes() != named:
            sys.exit("predictions of an array with the input's name")

    def says(self, text, name, data, *words, command="fit", status=1):
        done = self.run(command, self.scratch / f"{name}.json", "--data", data, "--seed", 1, *words, status=status)
        if text not in done.stderr + done.stdout:
            sys.exit(f"{data.name} {words}: {text!r} is not in {done.stdout + done.stderr!r}")

    def same_file(self, x, y):
        """What flags name in the file of --data is read."""
        parts = self.npz("parts", x_train=x, y_train=y, x_val=x, y_val=y, x_test=x, y_test=y, held=x, extra=x)
        others = "x_test, y_test: not read; for weft evaluate\n"
        unknown = "parts.npz: held, extra: not read, as no input"
        self.says(others, "one", parts, "--validation-data", parts, status=0)
        self.says(unknown, "one", parts, "--validation-data", parts, status=0)
        self.says("parts.npz: extra: not read, as no input", "one", parts, "--x", f"{parts}:held[0:]", status=0)
        self.says("x_train: not read; --x names another\n", "one", parts, "--x", f"{parts}:held", status=0)
        self.says("x_val, y_val: not read; for --validation-data\n", "one", parts, status=0)
        self.says("x_train, y_train: not read; for weft fit\n", "one", self.npz("train", x=x, y=y), "--validation-data", parts,
                  status=0)

    def unread(self):
        x, y, w = self.x, self.y, self.w
        self.says("extra, zeal: not read, as no input and no output has that name", "one",
                  self.npz("extra", x=x, y=y, extra=w, zeal=w), status=0)
        self.says("x_test, y_test: not read; for --validation-data\n", "one", self.npz("others", x=x, y=y, x_test=x, y_test=y), status=0)
        self.same_file(x, y)
        self.says("y/pryce: the model has no pryce; did you mean price?", "one", self.npz("pryce", x=x, y=y, y__pryce=y))
        self.says("y is one array, and the model has several such: kind, price; name it y/kind", "two",
                  self.npz("single", x=x, y__price=y, y__kind=y, y=y))
        self.says("has neither sample_weight/price nor sample_weight_train/price, but", "two",
                  self.npz("weight", x=x, y__price=y, y__kind=y, sample_weight=w))
        self.says("no array of it is read, as other flags name all arrays", "one", self.npz("unused", x=x, y=y), "--x",
                  f"{self.separate}:a", "--y", f"{self.separate}:b")
        self.says("--class-weight and sample_weight of", "one", self.npz("both", x=x, y=y, sample_weight=w), "--class-weight",
                  "0:1")
        self.says("--image-seed has no effect on", "one", self.npz("images", x=x, y=y), "--image-seed", 1)
        self.says("--inputs has no effect on", "one", self.npz("table", x=x, y=y), "--inputs", "x")
        self.says("y: not read\n", "one", self.npz("labels", x=x, y=y), "--out", self.scratch / "p.npy", command="predict",
                  status=0)
        step = self.scratch / "step.weft"
        self.run("compile", self.scratch / "one.json", "--batch-size", 4, "-o", step)
        done = self.run("fit", step, "--data", self.npz("weft", x=x, y=y, sample_weight=w), status=1)
        if "takes no weights of samples" not in done.stderr:
            sys.exit(done.stderr)


def main():
    check = Check(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
    check.weights()
    check.names()
    check.unread()
    print("files and flags give the same bits; other arrays are named")


if __name__ == "__main__":
    main()
