"""A function that jax.export wrote with a symbolic batch dimension, as predict steps of chosen batch sizes.

    exported = jax.export.export(jax.jit(f))(params, jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 28, 28"), "float32"))
    open("f.jax", "wb").write(exported.serialize())

Arguments whose first dimension is symbolic are the inputs, `x`, or `x/PATH` of several; others are the step's weights, named
by their path in the function's arguments. Results are the outputs, `y` or `y/PATH`.
"""

import jax
from jax import export
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir

from .batch import Port
from .program import add_function, describe_ports, text_of
from .refusal import Refusal


def _path(keys):
    """The path d1/kernel for (params["d1"]["kernel"]); the argument's position without names."""
    words = [str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key)))) for key in keys]
    return "/".join(words)


def _names(tree, count):
    """A path for each leaf of a tree of arguments or results."""
    paths = jax.tree_util.tree_flatten_with_path(jax.tree_util.tree_unflatten(tree, list(range(count))))[0]
    return [_path(keys) for keys, _ in paths]


def _argument_names(exported):
    """The name d1/kernel for f(params, x); with the argument's position before it, 0/d1/kernel, if two names would be
    equal."""
    paths = [path.split("/", 1)[1] for path in _names(exported.in_tree, len(exported.in_avals))]  # positional or by keyword
    short = [path.split("/", 1)[-1] for path in paths]
    return short if len(set(short)) == len(short) else paths


def _batch_variable(avals, file):
    """The symbol of the batch, which is the first dimension of the inputs and the only symbol."""
    symbols = {str(size) for aval in avals for size in aval.shape if not isinstance(size, int)}
    if len(symbols) != 1:
        said = f"the symbols {', '.join(sorted(symbols))}" if symbols else "no symbolic dimension"
        raise Refusal(f"{file}: its arguments have {said}; export it with one symbol, the first dimension of each input")
    for aval in avals:
        if any(not isinstance(size, int) for size in aval.shape[1:]):
            raise Refusal(f"{file}: an argument of shape ({', '.join(map(str, aval.shape))}) has its symbol behind the first "
                          "dimension; export it with the batch in front")
    return symbols.pop()


def _of_size(shape, size):
    return tuple(length if isinstance(length, int) else size for length in shape)


def _ports(exported, file):
    """Names and roles of arguments and results."""
    inputs = [bool(aval.shape) and not isinstance(aval.shape[0], int) for aval in exported.in_avals]
    paths = _argument_names(exported)
    alone = sum(inputs) == 1
    arguments = [Port("x" if alone else f"x/{path}", "input") if is_input else Port(path, "weight")
                 for path, is_input in zip(paths, inputs)]
    paths = _names(exported.out_tree, len(exported.out_avals))
    results = [Port("y" if len(paths) == 1 else f"y/{path}", "output") for path in paths]
    _batch_variable(exported.in_avals, file)
    return arguments, results


def _lower(exported, size):
    """The module for batches of this size, without symbols."""
    avals = [jax.ShapeDtypeStruct(_of_size(aval.shape, size), aval.dtype) for aval in exported.in_avals]
    arguments, named = jax.tree_util.tree_unflatten(exported.in_tree, avals)

    def predict(*arguments, **named):
        return exported.call(*arguments, **named)

    lowered = jax.jit(predict, keep_unused=True).trace(*arguments, **named).lower(lowering_platforms=(exported.platforms[0],))
    module = mlir.refine_polymorphic_shapes(lowered.compiler_ir("stablehlo"))
    with module.context:
        return str(module)


def trace_exported(options):
    """The text of a predict step for each batch size."""
    try:
        with open(options.model, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Refusal(f"{options.model}: cannot be read: {error.strerror}; check the path") from None
    try:
        exported = export.deserialize(bytearray(data))
    except ImportError:
        raise Refusal(f"{options.model}: files of jax.export need the package flatbuffers; pip install flatbuffers") from None
    except Exception as error:  # flatbuffers and jax raise errors of any type
        raise Refusal(f"{options.model}: is neither a Keras model (.keras, .json) nor a file of jax.export "
                      f"({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}); name one of them") from None
    arguments, results = _ports(exported, options.model)
    texts = {size: _lower(exported, size) for size in options.batch_size}

    def fill(merged):
        for number, (size, text) in enumerate(texts.items()):
            add_function(merged, text, "predict" if number == 0 else f"predict_{size}",
                         lambda function: describe_ports(function, "predict", size, arguments, results))

    return text_of(fill)
