"""The Keras model of a file, with the start of each variable and the distribution in force.

    model = load(options, spec)
    starts(model)[id(variable)]      # the initializer that Keras gave the variable

Keras forgets a variable's initializer once it has run, so that each is noted while the model is made.
"""

import importlib
import importlib.util
import json
import pathlib
import random
import sys
import warnings

import jax
import keras
import numpy as np
from keras.src import backend

from .refusal import Refusal

_initializers = {}  # by id of the variable: its initializer, and the variable, which keeps the id in use


def _note_initializers():
    base = next(c for c in backend.Variable.__mro__ if c.__name__ == "Variable" and c.__module__.endswith("common.variables"))
    theirs = base.__init__

    def noting(self, initializer, *arguments, **named):
        theirs(self, initializer, *arguments, **named)
        _initializers[id(self)] = (initializer, self)

    base.__init__ = noting


def initializer_of(variable):
    """The initializer of a variable: a function, a number or an array; None if it is unknown."""
    return _initializers.get(id(variable), (None, None))[0]


def make_distribution(spec, path):
    api, config = keras.distribution, spec["config"]
    mesh = config["device_mesh"]
    if mesh.get("devices"):
        raise Refusal(f"{path}: device_mesh: devices is {mesh['devices']}; leave it null: weft --devices says where a "
                      "step runs")
    if config.get("regex", "fullmatch") != "fullmatch":
        raise Refusal(f"{path}: regex is {config['regex']}; Keras {keras.__version__} matches with fullmatch: write the "
                      "rules for it")
    devices = np.array(api.list_devices()).reshape(mesh["shape"])
    mesh = api.DeviceMesh(tuple(mesh["shape"]), mesh["axis_names"], devices)
    if spec["class_name"] == "DataParallel":
        return api.DataParallel(device_mesh=mesh)
    if spec["class_name"] != "ModelParallel":
        raise Refusal(f"{path}: class_name is {spec['class_name']}; use DataParallel or ModelParallel")
    layouts = api.LayoutMap(mesh)
    for key, axes in config.get("layout_map", {}).items():
        layouts[key] = tuple(tuple(axis) if isinstance(axis, list) else axis for axis in axes)
    return api.ModelParallel(layout_map=layouts, batch_dim_name=config.get("batch_dim_name"))


def _import(name):
    if not name.endswith(".py"):
        sys.path.insert(0, "")
        importlib.import_module(name)
        return
    spec = importlib.util.spec_from_file_location(pathlib.Path(name).stem, name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def _read(options):
    path = pathlib.Path(options.model)
    if path.suffix == ".keras":
        return keras.saving.load_model(path, safe_mode=not options.unsafe)
    return keras.models.model_from_json(path.read_text(encoding="utf-8"))


def _described(text):
    """A Keras name, or the object of its JSON."""
    return json.loads(text) if text.lstrip()[:1] in ("{", "[") else text


def _compile(model, options):
    """Compiles the model with the optimizer, loss and metrics of the command line, if any."""
    if not (options.optimizer or options.loss or options.metrics):
        return
    config = model.get_compile_config() if model.compiled else {}
    given = {"optimizer": options.optimizer, "loss": options.loss}
    made = {name: _described(text) for name, text in given.items() if text}
    if options.metrics:
        found = _described(options.metrics)
        made["metrics"] = found if isinstance(found, list) else found.split(",")
    kept = {name: value for name, value in (config or {}).items() if value is not None} | made
    model.compile_from_config(kept)


def draws(seed):
    """The position of each seed that Keras draws after keras.utils.set_random_seed(seed)."""
    source = random.Random(seed)
    return {source.randint(1, 10**9): position for position in range(4096)}


def load(options, spec):
    """The model, compiled if it can train. Any exception of Keras becomes a Refusal with its message."""
    _note_initializers()
    # Warnings on weights, which are not needed here, and on the 64 bits that Keras requests from JAX.
    warnings.filterwarnings("ignore", message="Skipping variable loading for optimizer|Explicitly requested dtype")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
        print(f"seed {options.seed}")
    try:
        jax.devices()
        if spec:
            keras.distribution.set_distribution(make_distribution(spec, options.distribution))
        for name in options.imports:
            _import(name)
        keras.utils.set_random_seed(options.seed)
        model = _read(options)
        _compile(model, options)
    except Refusal:
        raise
    except Exception as error:  # a file's contents and imports may raise anything
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise Refusal(f"{options.model}: Keras does not load it: {type(error).__name__}: {' '.join(lines[:3])}; where it "
                      "names a class of yours, add --import") from error
    return model
