"""Compares weights in every kind of file with real Keras and the safetensors package.

    check_weight_files.py WEFT FIXTURES SCRATCH

Weft trains and writes .npz, .safetensors, .weights.h5, .weights.json (in parts) and .keras; Keras and safetensors read the same
numbers from them, and Keras predicts the same. Weft trains on from each, with the same bits. Weft reads the files that Keras and
safetensors write, and predicts as Keras does; it trains on from Nadam's state in both orders that Keras' files have, and takes the
weights of whole models in .h5 files. Variables have 32 bits, and 16 (bfloat16, float16).
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import h5py
import keras
import ml_dtypes
import numpy
import safetensors
import safetensors.numpy

KINDS = ("npz", "safetensors", "weights.h5", "weights.json")
TYPES = {"F32": numpy.float32, "BF16": ml_dtypes.bfloat16, "F16": numpy.float16, "I32": numpy.int32, "I64": numpy.int64,
         "U32": numpy.uint32}


class Checker:
    def __init__(self, weft, scratch, data):
        self.weft, self.scratch, self.data, self.bad, self.count = weft, scratch, data, 0, 0

    def say(self, name, isGood):
        self.bad += not isGood
        self.count += 1
        print(f"{name}: {'ok' if isGood else 'WRONG'}")

    def run(self, *words):
        done = subprocess.run([str(word) for word in (self.weft, *words)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{words}: {done.stderr}")

    def fit(self, model, *flags):
        self.run("fit", model, "--data", self.data, "--seed", 5, "--verbose", 0, "--batch-size", 16, *flags)

    def predict(self, model, weights):
        out = self.scratch / "p.npy"
        self.run("predict", model, "--x", f"{self.data}:x", "--weights", weights, "--batch-size", 16, "--verbose", 0, "--out", out)
        return numpy.load(out)


def read_tensors(path):
    found = safetensors.deserialize(path.read_bytes())
    return {name: numpy.frombuffer(bytes(said["data"]), TYPES[said["dtype"]]).reshape(said["shape"]) for name, said in found}


def same_numbers(tensors, arrays):
    """Whether the numbers are equal; an .npz has bfloat16 as float32."""
    return tensors.keys() == set(arrays.files) and all(
        numpy.array_equal(tensors[name].astype(arrays[name].dtype), arrays[name]) for name in tensors)


def check_out(checker, name, model):
    """Checks files that Weft writes."""
    files = {}
    for kind in KINDS:
        files[kind] = checker.scratch / f"{name}.{kind}"
        checker.fit(model, "--save-weights", files[kind], "--max-shard-size", "1600")
    checker.fit(model, "--save", checker.scratch / f"{name}.keras")
    arrays = numpy.load(files["npz"])
    checker.say(f"{name}: safetensors reads the numbers of the .npz", same_numbers(read_tensors(files["safetensors"]), arrays))
    parts = set()
    for names in json.loads(files["weights.json"].read_text())["weight_map"].values():
        parts.update([names] if isinstance(names, str) else names)
    checker.say(f"{name}: {len(parts)} parts", len(parts) > 2 and all((checker.scratch / part).exists() for part in parts))
    x = numpy.load(checker.data)["x"][:8]
    whole = keras.saving.load_model(checker.scratch / f"{name}.keras")
    for kind in ("weights.h5", "weights.json"):
        fresh = keras.saving.load_model(checker.scratch / f"{name}.keras")
        for variable in fresh.weights:
            variable.assign(numpy.zeros(variable.shape))
        fresh.load_weights(files[kind])
        checker.say(f"{name}: Keras predicts the same from .{kind}", numpy.array_equal(fresh.predict(x, verbose=0), whole.predict(x, verbose=0)))
    ends = []
    for kind in (*KINDS, "keras"):
        end = checker.scratch / "end.safetensors"
        checker.fit(model, "--weights", checker.scratch / f"{name}.{kind}", "--save-weights", end)
        # bfloat16 moments and weights come back unchanged from every kind of file
        ends.append(end.read_bytes())
    checker.say(f"{name}: trained on from each, the same bits", len(set(ends)) == 1)
    return whole


def check_in(checker, name, model, whole):
    """Checks files that Keras and safetensors write."""
    draw = numpy.random.default_rng(1)
    for variable in whole.weights:
        variable.assign(draw.normal(size=variable.shape).astype("float32") / 2)
    x = numpy.load(checker.data)["x"]
    wanted = whole.predict(x, batch_size=16, verbose=0)
    whole.save_weights(checker.scratch / "k.weights.h5")
    whole.save_weights(checker.scratch / "k.weights.json", max_shard_size=1600 / 1024**3)
    values = {variable.path: numpy.asarray(variable.value) for variable in whole.weights}
    safetensors.numpy.save_file({key: value.astype("float32") for key, value in values.items()}, checker.scratch / "k.safetensors")
    for kind in ("weights.h5", "weights.json", "safetensors"):
        found = checker.predict(model, checker.scratch / f"k.{kind}")
        checker.say(f"{name}: Keras' .{kind}", numpy.allclose(found, numpy.asarray(wanted, "float32"), rtol=1e-5, atol=1e-5)
                    if name == "float32" else numpy.allclose(found, numpy.asarray(wanted, "float32"), rtol=2e-2, atol=2e-2))


def as_before_310(path, to):
    """A copy of Nadam's weights in Keras' order before 3.10: u_product, now the last, stood before the moments."""
    shutil.copy(path, to)
    with h5py.File(to, "r+") as file:
        group = file["optimizer/vars"]
        count = len(group)
        group.move(str(count - 1), "u_product")
        for place in reversed(range(2, count - 1)):
            group.move(str(place), str(place + 1))
        group.move("u_product", "2")


def check_orders(checker, text):
    """Checks that Weft trains on as Keras does from Nadam's weights in both orders, with archives in both orders."""
    said = json.loads(text)
    config = said.pop("compile_config", {})
    model = keras.saving.deserialize_keras_object(said)
    loss = config.get("loss", "sparse_categorical_crossentropy")
    model.compile("nadam", loss if isinstance(loss, str) else keras.saving.deserialize_keras_object(loss))
    data = numpy.load(checker.data)
    train = {"batch_size": 16, "epochs": 2, "shuffle": False, "verbose": 0}
    model.fit(data["x"], data["y"], **train)
    since, before, file = (checker.scratch / name for name in ("since.weights.h5", "before.weights.h5", checker.scratch / "nadam.keras"))
    model.save_weights(since)
    model.save(file)
    as_before_310(since, before)
    wanted = model.fit(data["x"], data["y"], **train).history["loss"]
    old = checker.scratch / "old.keras"
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(old, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "metadata.json":
                content = json.dumps(json.loads(content) | {"keras_version": "3.9.2"})
            elif name == "model.weights.h5":
                content = before.read_bytes()
            copy.writestr(name, content)
    for source in (file, old):
        for weights in (since, before):
            history = checker.scratch / "h.json"
            checker.fit(source, "--weights", weights, "--epochs", 2, "--no-shuffle", "--history", history)
            found = json.loads(history.read_text())["history"]["loss"]
            checker.say(f"{weights.name} to {source.name}: trained on as Keras, {found} and {wanted}",
                        numpy.allclose(found, wanted, rtol=1e-4, atol=0))


def check_whole_models(checker):
    """Whole models in .h5 files: Keras and Weft give their weights to a model whose layers have other names, by position; a file
    as save_weights of Keras 2 writes it has the layers alone. Weft trains on as from the .keras file, from Keras 3's optimizer."""
    def made(*names):
        inner = keras.Sequential([keras.Input((5,)), keras.layers.Dense(4), keras.layers.BatchNormalization()], name=names[1])
        inputs = keras.Input((12,))
        x = keras.layers.Activation("tanh")(keras.layers.Dense(5, name=names[0])(inputs))
        model = keras.Model(inputs, keras.layers.Dense(10, activation="softmax", name=names[2])(inner(x)))
        model.compile("adam", "sparse_categorical_crossentropy")
        return model
    data, (file, alone, twin, archive, end) = numpy.load(checker.data), (
        checker.scratch / name for name in ("whole.h5", "alone.h5", "twin.json", "whole.keras", "end.npz"))
    x, y = data["x"], data["y"]
    model, other = made("a", "b", "c"), made("p", "q", "r")
    model.fit(x, y, verbose=0)
    model.save(archive)
    model.save(file)  # takes the optimizer out of the model's compile_config
    with h5py.File(file) as whole, h5py.File(alone, "w") as copy:
        for name in whole["model_weights"]:
            whole.copy(whole["model_weights"][name], copy)
        copy.attrs.update(whole["model_weights"].attrs)
    twin.write_text(other.to_json())
    other.load_weights(file)
    wanted = other.predict(x, batch_size=16, verbose=0)
    for weights in (file, alone):
        checker.say(f"{weights.name} by position", numpy.allclose(checker.predict(twin, weights), wanted, rtol=1e-5, atol=1e-5))
    step = checker.scratch / "twin.weft"
    checker.run("compile", twin, "--step", "predict", "--batch-size", 16, "-o", step)
    checker.say(f"{file.name} of compiled steps", numpy.allclose(checker.predict(step, file), wanted, rtol=1e-5, atol=1e-5))
    ends = []
    for words in ((twin, "--weights", file), (archive,)):
        checker.fit(*words, "--no-shuffle", "--save-weights", end)
        ends.append([value for key, value in numpy.load(end).items()])
    checker.say(f"{file.name}: trained on as from a .keras file", all(map(numpy.array_equal, *ends)))


def check_byte_orders(checker, model, weights):
    """Checks that HDF5 arrays of both byte orders are read as the same numbers."""
    x, found = numpy.load(checker.data)["x"], {}
    for kind in ("f2", "f4", "f8"):
        for order in "<>":
            file = checker.scratch / f"{kind}{'le' if order == '<' else 'be'}.h5"
            with h5py.File(file, "w") as made:
                made["x"] = x.astype(order + kind)
            out = checker.scratch / "order.npy"
            checker.run("predict", model, "--x", f"{file}:x", "--weights", weights, "--batch-size", 16, "--verbose", 0, "--out", out)
            found[order + kind] = numpy.load(out)
        checker.say(f"{kind} of both byte orders", numpy.array_equal(found["<" + kind], found[">" + kind]))
    checker.say("f2 and f4 of one array", numpy.allclose(found["<f2"], found["<f4"], rtol=1e-2, atol=1e-2))


def main():
    weft, fixtures, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    scratch.mkdir(parents=True, exist_ok=True)
    checker = Checker(weft, scratch, fixtures / "callbacks" / "data.npz")
    text = (fixtures / "callbacks" / "model.json").read_text()
    for name in ("float32", "bfloat16", "float16"):
        model = scratch / f"{name}.json"
        policy = re.sub(r'"dtype": \{[^{}]*"config": \{"name": "float32"\}[^{}]*\}', f'"dtype": "{name}"', text)
        model.write_text(policy)
        whole = check_out(checker, name, model)
        if name == "float32" or whole.weights[0].dtype == name:
            check_in(checker, name, model, whole)
            if name == "float32":
                check_byte_orders(checker, model, checker.scratch / "float32.npz")
        else:
            checker.say(f"{name}: the model's weights are {whole.weights[0].dtype}", False)
    check_orders(checker, text)
    check_whole_models(checker)
    print(f"{checker.count} checks, {checker.bad} bad")
    return 1 if checker.bad or not checker.count else 0


if __name__ == "__main__":
    sys.exit(main())
