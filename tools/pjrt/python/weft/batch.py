"""The parts of a batch that a step takes: inputs, labels and sample weights, with their names, shapes and types.

    batch = describe(model, 32, options)
    batch.x, batch.y, batch.sample_weight     # in the model's structure, of jax.ShapeDtypeStruct
    batch.ports                               # [Port("x", "input"), Port("y", "label")], in the order of the leaves

One input is called x, several x/NAME; labels y or y/NAME after the outputs, sample weights likewise.
"""

import dataclasses
import re

import jax
import keras
from keras import tree
from keras.src import backend

from .refusal import Refusal


@dataclasses.dataclass
class Port:
    name: str
    role: str
    facts: dict = dataclasses.field(default_factory=dict)  # by the names of base/PortFacts.def
    axes: tuple = None  # axes of the mesh, one entry (None, a name or several) a dimension


@dataclasses.dataclass
class Batch:
    x: object
    y: object
    sample_weight: object
    output_names: list
    ports: list


def parse_shape(text, flag):
    """Parses [NAME=]28x28[:int32] to (name or None, shape or None, dtype or None)."""
    match = re.fullmatch(r"(?:([^=:]*)=)?((?:\d+(?:x\d+)*)?)(?::(\w+))?", text)
    if not match or not (match[2] or match[3]):
        raise Refusal(f"{flag} {text}: is not [NAME=]SHAPE[:DTYPE]; write, for example, {flag} x=28x28 or {flag} x=128:int32")
    name, shape, dtype = match.groups()
    try:
        dtype = dtype and keras.backend.standardize_dtype(dtype)
    except ValueError:
        raise Refusal(f"{flag} {text}: {dtype} is no type of Keras; write, for example, float32 or int32") from None
    return name or None, tuple(int(size) for size in shape.split("x")) if shape else None, dtype


class Overrides:
    """The arguments of --input or --label, by name."""

    def __init__(self, texts, flag, names):
        self.flag, self.said = flag, {}
        for text in texts:
            name, shape, dtype = parse_shape(text, flag)
            if name is None and len(names) == 1:
                name = names[0]
            if name not in names and names:
                raise Refusal(f"{flag} {text}: the model has {', '.join(names)}; write {flag} {names[0]}=...")
            self.said[name] = (shape, dtype)

    def of(self, name, shape, dtype):
        said_shape, said_dtype = self.said.get(name, (None, None))
        return tuple(said_shape if said_shape is not None else shape), said_dtype or dtype


def _leaf_names(structure, known):
    """A name for each leaf: the keys of a dict, those that the model knows, else the position."""
    count = len(tree.flatten(structure))
    if isinstance(structure, dict) and len(structure) == count:
        return [str(key) for key in sorted(structure)]
    return list(known) if known and len(known) == count else [str(position) for position in range(count)]


def _input_structure(model, options):
    """The inputs as KerasTensors: a Functional model's own, else those it was built with, else those of --input."""
    functional = getattr(model, "_functional", None) or model
    structure = getattr(functional, "_inputs_struct", None)
    if structure is not None:
        return structure, [tensor.name for tensor in tree.flatten(structure)]
    shapes = getattr(model, "_build_shapes_dict", None) or {}
    if len(shapes) == 1:
        shape = next(iter(shapes.values()))
        if isinstance(shape, dict):
            return {name: backend.KerasTensor(each) for name, each in shape.items()}, sorted(shape)
        if shape and isinstance(shape[0], (list, tuple)):
            return [backend.KerasTensor(each) for each in shape], None
        return backend.KerasTensor(tuple(shape)), None
    if not options.input:
        raise Refusal(f"{options.model}: the model has no input shape; add --input [NAME=]SHAPE[:DTYPE], for "
                      "example --input 28x28")
    named = {}
    for text in options.input:
        name, shape, dtype = parse_shape(text, "--input")
        named[name or "x"] = backend.KerasTensor((None, *(shape or ())), dtype=dtype or "float32")
    return (named if len(named) > 1 else next(iter(named.values()))), sorted(named)


def _inputs(model, size, options):
    structure, known = _input_structure(model, options)
    names = _leaf_names(structure, known)
    overrides = Overrides(options.input, "--input", names)
    leaves = []
    for name, tensor in zip(names, tree.flatten(structure)):
        shape, dtype = overrides.of(name, tensor.shape[1:], tensor.dtype)
        if None in shape:
            raise Refusal(f"{options.model}: input {name} has samples of shape {list(shape)}; fix the open dimensions with "
                          f"--input {name}={'x'.join('16' if each is None else str(each) for each in shape)}")
        if dtype == "string":
            raise Refusal(f"{options.model}: input {name} takes strings, which no device does; give the model's part behind them")
        leaves.append(jax.ShapeDtypeStruct((size, *shape), dtype))
    return tree.pack_sequence_as(structure, leaves), names


def _of_output(described, name, position):
    """The part of compile()'s losses or metrics for an output."""
    if isinstance(described, dict):
        return described.get(name)
    if isinstance(described, (list, tuple)):
        return described[position] if position < len(described) else None
    return described


def _is_sparse(loss):
    """Whether a label is a class, not the class's vector."""
    while isinstance(loss, (list, tuple)) and loss:
        loss = loss[0]
    if loss is None:
        return False
    try:
        loss = keras.losses.get(loss)
    except ValueError:
        return False
    return "sparse" in (getattr(loss, "__name__", "") or type(loss).__name__).lower()


def _labels(model, outputs, names, size, options):
    overrides = Overrides(options.label, "--label", names)
    loss = getattr(model._compile_loss, "_user_loss", None) if model.compiled and model._compile_loss else None
    leaves = []
    for position, (name, output) in enumerate(zip(names, tree.flatten(outputs))):
        is_sparse = _is_sparse(_of_output(loss, name, position))
        shape = tuple(output.shape[1:-1] if is_sparse else output.shape[1:])
        shape, dtype = overrides.of(name, shape, "int32" if is_sparse else "float32")
        leaves.append(jax.ShapeDtypeStruct((size, *shape), dtype))
    return tree.pack_sequence_as(outputs, leaves)


def _facts(name, names, **facts):
    """With the layer's name, which a command line may use, if the array is the only one of its kind."""
    return facts | ({"layer": name} if len(names) == 1 else {})


def _classes(model, outputs, names, position):
    loss = model._compile_loss._user_loss if model.compiled and model._compile_loss else None
    output = tree.flatten(outputs)[position]
    is_sparse = _is_sparse(_of_output(loss, names[position], position))
    return {"classes": output.shape[-1]} if is_sparse and len(output.shape) > 1 else {}


def _named(stem, names):
    return [stem] if len(names) == 1 else [f"{stem}/{name}" for name in names]


def describe(model, size, options):
    x, input_names = _inputs(model, size, options)
    as_tensors = tree.map_structure(lambda leaf: backend.KerasTensor(leaf.shape, str(leaf.dtype)), x)
    outputs = backend.compute_output_spec(model, as_tensors, training=False) if model._call_has_training_arg else \
        backend.compute_output_spec(model, as_tensors)
    names = _leaf_names(outputs, getattr(model, "output_names", None))
    y = _labels(model, outputs, names, size, options)
    weight = tree.map_structure(lambda leaf: jax.ShapeDtypeStruct((size,), "float32"), y) if options.sample_weight else None
    ports = [Port(port, "input", _facts(name, input_names)) for port, name in zip(_named("x", input_names), input_names)]
    ports += [Port(port, "label", _facts(name, names, **_classes(model, outputs, names, position)))
              for position, (port, name) in enumerate(zip(_named("y", names), names))]
    if weight is not None:
        ports += [Port(port, "sample_weight", _facts(name, names)) for port, name in zip(_named("sample_weight", names), names)]
    distribution = keras.distribution.distribution()
    if distribution is not None:
        for port, leaf in zip(ports, tree.flatten([x, y] + ([weight] if weight is not None else []))):
            port.axes = tuple(distribution.get_data_layout(leaf.shape).axes)
    return Batch(x, y, weight, names, ports)
