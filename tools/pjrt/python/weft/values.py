"""The facts of a variable's port, as base/PortFacts.def lists them: its initial value and its places in files.

    {"initializer": {"class_name": "GlorotUniform", "config": {}}, "seed": 12, "saved": "layers/dense/vars/0"}

Without `initializer` and `seed`, or `value`, the weights have to come from a file (docs/keras-trace.md).
"""

import math

import jax
import keras
import numpy as np
from keras.src.saving import saving_lib

from . import models

LARGEST_VALUE = 1024  # elements that a port lists one by one


class _Entry(dict):
    """A group of the file that records the places of values instead of writing them."""

    def __init__(self, path, noted):
        super().__init__()
        self.path, self.noted = path, noted

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        self.noted[id(value)] = (f"{self.path}/vars/{name}".lstrip("/"), value)


class _Places(saving_lib.NpzIOStore):
    """A weight file that is never written, whose datasets are recorded."""

    def __init__(self):
        self.noted = {}

    def make(self, path, metadata=None):
        return _Entry(path, self.noted)


def saved_places(model):
    """The dataset of a .keras file, by id of a variable. Layers with save methods of their own have none."""
    store = _Places()
    saving_lib._save_state(model, weights_store=store, assets_store=None, inner_path="", visited_saveables=set())
    places = {key: place for key, (place, _) in store.noted.items()}
    if getattr(model, "optimizer", None) is not None:  # the optimizer saves copies of its variables, in order
        for position, variable in enumerate(model.optimizer.variables):
            places[id(variable)] = f"optimizer/vars/{position}"
    return places


def h5_positions(model):
    """The facts of the position in an .h5 file, by id of a variable: layer, layers, weight, weights of the layer."""
    kept = [(layer, layer.trainable_weights + layer.non_trainable_weights) for layer in getattr(model, "layers", [])]
    kept = [(layer, weights) for layer, weights in kept if weights]
    return {id(weight): {"h5": [at, len(kept), position, len(weights)], "h5_layer": layer.name}
            for at, (layer, weights) in enumerate(kept) for position, weight in enumerate(weights)}


def _is_plain(initializer):
    return isinstance(initializer, (keras.initializers.Zeros, keras.initializers.Ones, keras.initializers.Constant))


def _rule(initializer, dtype):
    """The rule by which the runtime makes Keras' values; None if it has none."""
    if not isinstance(initializer, keras.initializers.Initializer):
        return None
    if not type(initializer).__module__.startswith("keras.src.initializers."):
        return None
    seed = getattr(initializer, "seed", None)
    if not (_is_plain(initializer) or (dtype == "float32" and isinstance(seed, int))):
        return None
    config = {name: value for name, value in initializer.get_config().items() if name != "seed"}
    if _is_plain(initializer) and not all(isinstance(value, (int, float)) for value in config.values()):
        return None
    rule = {"initializer": {"class_name": type(initializer).__name__, "config": config}}
    return rule | ({"seed": seed} if isinstance(seed, int) else {})


def _value(variable):
    """The value itself, if it is short or all elements are equal."""
    value = np.asarray(variable.value).astype("float64" if variable.dtype != "bool" else "int64").reshape(-1)
    if value.size and (value == value[0]).all():
        value = value[:1]
    if not value.size or value.size > LARGEST_VALUE or not all(math.isfinite(number) for number in value):
        return None
    numbers = [int(number) if number == int(number) else float(number) for number in value]
    return {"value": numbers[0] if len(numbers) == 1 else numbers}


def _draw(variable, said, draws):
    """The position, among the numbers that Keras draws, of the seed of an initial value or of a random state."""
    number = said.get("seed")
    if variable.name == "seed_generator_state" and isinstance(said.get("value"), list):
        number = said["value"][0]
    return draws.get(number)


def facts(variable, places, is_in_file, average=None, rate=None, weight=None, draws=(), positions=()):
    """The facts of a variable's port. `is_in_file`: a .keras file has its value, so there is no rule. `average`: the
    variable whose value it takes when fit ends. `rate`: the optimizer whose learning rate it is. `weight`: the variable
    that it is an optimizer's slot of. `draws`: the positions of drawn seeds, `positions` those of weights in .h5
    files."""
    rule = None if is_in_file else _rule(models.initializer_of(variable), variable.dtype)
    start = None if is_in_file and id(variable) in places else rule or _value(variable)
    known = dict(start or {})
    draw = _draw(variable, known, dict(draws))
    if draw is not None:
        known["draw"] = draw
    if id(variable) in places:
        known["saved"] = places[id(variable)]
    known |= dict(positions).get(id(variable), {})
    if average is not None:
        known["average"] = average.path
    if rate is not None:
        known["rate"] = rate
    if weight is not None:
        known["weight"] = weight.path
    return known


def aval(variable):
    """A variable's shape and type."""
    return jax.ShapeDtypeStruct(tuple(variable.shape), variable.dtype)
