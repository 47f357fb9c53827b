"""Keras' own tests of layers, losses, metrics and optimizers as cases with Keras' figures.

    KERAS_BACKEND=jax python record_tests.py OUT [FILE...]
    python record_tests.py OUT --select FOLDER --every N

FILE is one of the installed keras/src (layers/core/dense_test.py); without one all files are taken that call
run_layer_test, and the tests of losses, metrics and optimizers (about 15 minutes). --select copies every Nth case of
FOLDER. The tests run under pytest with these calls replaced:

    run_layer_test(...)       a model of the layer: predictions, and the weights after a step of SGD at a rate of 1
    Loss.__call__             the loss of a model that gives the predictions of the test
    Metric.update_state       the metric of such a model, for the first update of each object
    Optimizer.build           five steps of a Dense layer, for each different config

OUT/cases.json has for each case the file and test that it is from, its group (layers, preprocessing, losses, metrics,
optimizers), the model (to_json), the batch size and the number of steps. OUT/cases.npz has the figures: CASE/x/INPUT, y or
y/OUTPUT, sample_weight, initial/PATH, predict or predict/OUTPUT, evaluate/METRIC, final/PATH. OUT/skipped.json has the
reason for each call that makes no case. check_tests.py runs the cases.
"""

import argparse
import inspect
import json
import pathlib
import re
import sys
import types
import unittest.mock

import keras
import numpy as np
import pytest
from keras.src import testing, tree
from keras.src.api_export import get_name_from_symbol
from keras.src.utils import module_utils

SOURCES = pathlib.Path(keras.__file__).parent / "src"
GROUPS = ("losses", "metrics", "optimizers")


def without_tensorflow():
    """Lets the tests import TensorFlow, which is not installed; Keras itself knows that it is not."""
    assert not module_utils.tensorflow.available

    class Absent(types.ModuleType):
        def __getattr__(self, name):
            return unittest.mock.MagicMock()

    sys.modules["tensorflow"] = Absent("tensorflow")


class NoCase(Exception):
    """The reason why a call of a test is no case."""


def files_with_cases():
    out = []
    for path in sorted(SOURCES.rglob("*_test.py")):
        name = str(path.relative_to(SOURCES))
        if name.split("/")[0] in GROUPS or "run_layer_test(" in path.read_text():
            out.append(name)
    return out


def numeric(array):
    array = np.asarray(array)
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind not in "fiu" and array.dtype.name != "bfloat16":
        raise NoCase(f"input of {array.dtype.name}")
    if array.dtype.kind in "iu":
        return array.astype("int32")
    return array if array.dtype.name in ("float16", "bfloat16") else array.astype("float32")


def random_input(shape, dtype, seed):
    random = np.random.RandomState(seed)
    if not all(isinstance(size, int) and size > 0 for size in shape):
        raise NoCase("unknown or empty input shape")
    if dtype in ("string", "complex64"):
        raise NoCase(f"input of {dtype}")
    if dtype == "bool":
        return random.randint(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        return random.randint(0, 2, shape).astype("int32")
    return random.normal(size=shape).astype("float32")


def exported(thing):
    """Whether the object is of a class that Keras exports."""
    return get_name_from_symbol(type(thing)) is not None


class Recorder:
    """The cases of one run of pytest."""

    def __init__(self):
        self.where, self.busy = None, False
        self.cases, self.values, self.skipped, self.seen = [], {}, [], {}

    def skip(self, reason):
        self.skipped.append({**self.where, "why": reason})

    def attempt(self, make, *arguments):
        """Records a case, or the reason why there is none."""
        self.busy = True
        try:
            make(*arguments)
        except NoCase as reason:
            self.skip(str(reason))
        except Exception as failure:  # any error that Keras raises for a model that it does not build
            self.skip(f"Keras: {type(failure).__name__}: {str(failure).strip().splitlines()[0][:160] if str(failure) else ''}")
        finally:
            self.busy = False

    def write(self, model, x, y=None, sample_weight=None, steps=0, data=None):
        """Runs the model as a reader of its JSON sees it."""
        text = model.to_json()
        if "QuantizedDTypePolicy" in text or "Float8DTypePolicy" in text or re.search(r'"quantization_config": \{', text):
            raise NoCase("quantised layer")
        if re.search(r'"module": "[\w.]*_test"', text):
            raise NoCase("class of the test itself")
        if re.search(r'"lora_rank": \d', text):
            raise NoCase("low-rank adapter")
        keras.backend.clear_session()
        keras.utils.set_random_seed(1337)
        try:
            model = keras.models.model_from_json(text)
        except Exception as failure:
            raise NoCase("Keras does not read its own JSON") from failure
        if data:
            for variable, value in zip(model.variables, data, strict=True):
                variable.assign(value)
        values = {f"x/{layer.name}": value for layer, value in zip(model.inputs, x, strict=True)}
        values |= {f"initial/{variable.path}": np.asarray(variable.value) for variable in model.variables}
        named = lambda kind, found: {kind: found[0]} if len(found) == 1 else {
            f"{kind}/{name}": each for name, each in zip(model.output_names, found, strict=True)}
        batch, whole = len(x[0]), x if len(x) > 1 else x[0]
        predicted = [np.asarray(each) for each in tree.flatten(model.predict(whole, batch_size=batch, verbose=0))]
        values |= named("predict", predicted)
        self.restore(model, values)  # recurrent layers draw numbers when they predict, too
        if steps and y is None:
            y = [np.random.RandomState(7 + i).normal(size=each.shape).astype("float32") for i, each in enumerate(predicted)]
        if y is not None:
            values |= named("y", y)
            labels = y if len(y) > 1 else y[0]
            if sample_weight is not None:
                values["sample_weight"] = sample_weight
            found = model.evaluate(whole, labels, sample_weight=sample_weight, batch_size=batch, verbose=0, return_dict=True)
            values |= {f"evaluate/{name}": np.asarray(value, "float32") for name, value in found.items()}
        if steps:
            self.restore(model, values)
            model.fit(whole, labels, sample_weight=sample_weight, batch_size=batch, epochs=steps, shuffle=False, verbose=0)
            values |= {f"final/{variable.path}": np.asarray(variable.value) for variable in model.variables}
        self.save(text, values, batch, steps)

    @staticmethod
    def restore(model, values):
        for variable in model.variables:
            variable.assign(values[f"initial/{variable.path}"])

    def save(self, text, values, batch, steps):
        stem = re.sub(r"[^A-Za-z0-9]+", "-", f"{self.where['file'].removesuffix('_test.py')}-{self.where['test']}").strip("-")
        if not all(np.isfinite(value).all() for name, value in values.items() if name.startswith("final/")):
            raise NoCase("Keras' step gives no finite numbers")
        if sum(np.asarray(value).nbytes for value in values.values()) > 4_000_000:
            raise NoCase("figures of more than 4 MB")
        number = self.seen[stem] = self.seen.get(stem, 0) + 1
        name = f"{stem}-{number}"
        self.cases.append({"name": name, **self.where, "batch_size": batch, "steps": steps, "model": json.loads(text)})
        for key, value in values.items():
            value = np.asarray(value)
            self.values[f"{name}/{key}"] = value.astype("float32") if value.dtype.name in ("bfloat16", "float16") else value

    def write_files(self, out):
        out.mkdir(parents=True, exist_ok=True)
        for name, lines in (("cases", self.cases), ("skipped", self.skipped)):
            (out / f"{name}.json").write_text("[\n" + ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines) + "\n]\n")
        np.savez_compressed(out / "cases.npz", **self.values)

    def select(self, folder, every):
        self.cases = json.loads((folder / "cases.json").read_text())[::every]
        names = {case["name"] for case in self.cases}
        with np.load(folder / "cases.npz") as figures:
            self.values = {key: figures[key] for key in figures.files if key.partition("/")[0] in names}

    def layer(self, layer_cls, init_kwargs, input_shape=None, input_dtype=None, input_sparse=False, input_ragged=False,
              input_data=None, call_kwargs=None, **_):
        if input_sparse or input_ragged:
            raise NoCase("sparse or ragged input")
        if input_shape is None and input_data is None:
            raise NoCase("test of the config alone")
        is_random = input_data is None
        if is_random:
            dtypes = input_dtype or tree.map_shape_structure(lambda _: "float32", input_shape)
            shapes = tree.map_shape_structure(lambda shape: list(shape), input_shape)
            counter = iter(range(1, 1000))
            make = lambda shape, dtype: random_input(tuple(shape), keras.backend.standardize_dtype(dtype), next(counter))
            input_data = structure(make, shapes, dtypes)
        inputs, values = [], []

        def as_input(array):
            array = numeric(array)
            shape = {"batch_shape": array.shape} if (init_kwargs or {}).get("stateful") else {"shape": array.shape[1:]}
            if not array.ndim:
                raise NoCase("scalar input")
            tensor = keras.Input(**shape, dtype=array.dtype.name, name=f"input_{len(inputs)}")
            inputs.append(tensor)
            values.append(array)
            if is_random and array.ndim > 1 and array.dtype == np.float32 and self.where["group"] != "preprocessing":
                return keras.layers.Dense(array.shape[-1], name=f"before_{len(inputs) - 1}")(tensor)
            return tensor

        layer = layer_cls(**(init_kwargs or {}))
        if not exported(layer):
            raise NoCase("class of the test itself")
        tensors = tree.map_structure(as_input, input_data)
        given = {key: tree.map_structure(as_input, value) if any(hasattr(v, "shape") for v in tree.flatten(value)) else value
                 for key, value in (call_kwargs or {}).items()}
        outputs = layer(**tensors, **given) if isinstance(tensors, dict) else layer(tensors, **given)
        model = keras.Model(inputs, outputs)
        if len({len(value) for value in values}) > 1:
            raise NoCase("inputs of different batch sizes")
        floats = all(keras.backend.is_float_dtype(tensor.dtype) for tensor in model.outputs)
        trains = floats and bool(model.trainable_variables)
        if floats:
            model.compile(keras.optimizers.SGD(1.0), "mse")
        self.write(model, values, steps=int(trains))

    def of_predictions(self, y_true, y_pred, sample_weight, **compiled):
        """A model whose predictions are those of the test."""
        y_true, y_pred = numeric(y_true), numeric(y_pred)
        if not y_pred.ndim or not y_true.ndim or len(y_true) != len(y_pred):
            raise NoCase("labels and predictions of different batch sizes")
        if y_pred.dtype.kind != "f":
            y_pred = y_pred.astype("float32")
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, "float32")
            if not sample_weight.ndim:
                sample_weight = np.full(len(y_pred), sample_weight)
            if len(sample_weight) != len(y_pred):
                raise NoCase("weights of another batch size")
        x = keras.Input(y_pred.shape[1:], name="input", dtype=y_pred.dtype.name)
        trains = y_pred.ndim > 1 and "loss" in compiled
        if trains:
            size = y_pred.shape[-1]
            out = keras.layers.Dense(size, kernel_initializer="identity", use_bias=False, name="same", dtype=y_pred.dtype.name)(x)
        else:
            out = keras.layers.Identity()(x)
        model = keras.Model(x, out)
        model.compile(keras.optimizers.SGD(1.0), **compiled)
        self.write(model, [y_pred], [y_true], sample_weight, steps=int(trains))

    def loss(self, loss, y_true, y_pred, sample_weight=None):
        if not exported(loss) or isinstance(loss, keras.metrics.Metric):
            raise NoCase("class of the test itself")
        if loss.reduction in (None, "none"):
            raise NoCase("loss without a reduction")
        if any(key in str(type(y)) for y in (y_true, y_pred) for key in ("Sparse", "Ragged")) or getattr(y_pred, "_keras_mask", None) is not None:
            raise NoCase("sparse, ragged or masked predictions")
        self.of_predictions(y_true, y_pred, sample_weight, loss=loss.__class__.from_config(loss.get_config()))

    def metric(self, metric, y_true, y_pred, sample_weight=None):
        if not exported(metric):
            raise NoCase("class of the test itself")
        fresh = metric.__class__.from_config(metric.get_config())
        kind = "metrics" if sample_weight is None else "weighted_metrics"
        self.of_predictions(y_true, y_pred, sample_weight, **{kind: [fresh]})

    def optimizer(self, optimizer):
        if not exported(optimizer):
            raise NoCase("class of the test itself")
        config = optimizer.get_config()
        key = json.dumps([type(optimizer).__name__, config], default=str, sort_keys=True)
        if key in self.seen:
            raise NoCase("the same optimizer again")
        self.seen[key] = 1
        x = keras.Input((4,), name="input")
        model = keras.Model(x, keras.layers.Dense(3, name="d")(x))
        model.compile(optimizer.__class__.from_config(config), "mse")
        random = np.random.RandomState(5)
        self.write(model, [random.normal(size=(6, 4)).astype("float32")], [random.normal(size=(6, 3)).astype("float32")], steps=5)


def structure(make, shapes, dtypes):
    """Arrays in the structure of shapes: a list of sizes, or a list or dict of those."""
    if isinstance(shapes, dict):
        return {key.removesuffix("_shape"): structure(make, shapes[key], dtypes[key]) for key in shapes}
    if shapes and isinstance(shapes[0], (list, tuple)):
        return [structure(make, shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    return make(shapes, dtypes)


class Hooks:
    """Hooks of pytest, and the functions that the tests call instead of Keras'."""

    def __init__(self, recorder):
        self.recorder = recorder

    def pytest_collection_modifyitems(self, items):
        def has_case(item):
            if self.place(item)["group"] in GROUPS:
                return True
            try:
                return "run_layer_test" in inspect.getsource(inspect.unwrap(getattr(item.cls, item.originalname)))
            except (AttributeError, OSError, TypeError):
                return True
        items[:] = [item for item in items if has_case(item)]

    @staticmethod
    def place(item):
        file = str(pathlib.Path(item.path).relative_to(SOURCES))
        first = file.split("/")[0]
        group = first if first in GROUPS else "preprocessing" if "preprocessing" in file else "layers"
        return {"file": file, "test": item.name, "group": group}

    def pytest_runtest_setup(self, item):
        self.recorder.where = self.place(item)

    def pytest_runtest_teardown(self, item):
        self.recorder.where = None

    def install(self):
        recorder = self.recorder

        def run_layer_test(test, layer_cls, init_kwargs, **options):
            recorder.attempt(lambda: recorder.layer(layer_cls, init_kwargs, **options))

        testing.TestCase.run_layer_test = run_layer_test
        self.before(keras.losses, "__call__", "losses", recorder.loss)
        self.before(keras.metrics, "update_state", "metrics", recorder.metric)
        self.before(keras.optimizers, "build", "optimizers", lambda optimizer, _: recorder.optimizer(optimizer))

    def before(self, module, name, group, make):
        """Replaces a method of the module's classes by one that records a case once for each object, and then does as before."""
        for owner in [value for value in vars(module).values() if inspect.isclass(value) and name in vars(value)]:
            setattr(owner, name, self.recording(getattr(owner, name), group, make))

    def recording(self, original, group, make):
        recorder = self.recorder

        def call(thing, *arguments, **options):
            if not recorder.busy and (recorder.where or {}).get("group") == group and not vars(thing).get("_is_recorded"):
                object.__setattr__(thing, "_is_recorded", True)
                recorder.attempt(lambda: make(thing, *arguments, **options))
            return original(thing, *arguments, **options)

        return call


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--select", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=9)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    recorder = Recorder()
    if options.select:
        recorder.select(options.select, options.every)
        recorder.write_files(options.out)
        return
    hooks = Hooks(recorder)
    hooks.install()
    without_tensorflow()
    files = [str(SOURCES / file) for file in options.files or files_with_cases()]
    # Tests that need TensorFlow fail; the others go on.
    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", "--tb=no", "-W", "ignore", "--continue-on-collection-errors", *files],
                plugins=[hooks])
    recorder.write_files(options.out)
    print(f"{len(recorder.cases)} cases, {len(recorder.skipped)} calls that are none, in {options.out}")


if __name__ == "__main__":
    main()
