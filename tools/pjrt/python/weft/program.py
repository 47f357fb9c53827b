"""Steps as functions of one StableHLO module.

    text = trace_steps(model, options)
    # module { sdy.mesh @mesh = <["data"=2, "model"=4]>
    #   func.func public @train(%arg0: tensor<784x10xf32> {weft.name = "d1/kernel", weft.role = "weight", ...}) ...
    #   func.func public @evaluate ... func.func public @predict ... func.func private @train_relu ... }

`weft.step` and `weft.batch` on a function are its kind and batch size; tf.aliasing_output, as in JAX, is the result that reuses
an argument's memory; sdy.sharding lays variables and batches out as the distribution does. Arguments that a step does not need
are left out, and so are variables that it does not change.
"""

import json
import re

import jax
import keras
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir

from jax_plugins.weft import lowerings

from . import batch as batches
from . import steps
from .refusal import Refusal


def _is_passed_on(jaxpr):
    """Whether each result is an unchanged argument."""
    arguments = {id(var): position for position, var in enumerate(jaxpr.invars)}
    return [arguments.get(id(var)) for var in jaxpr.outvars]


def _lower(step):
    """The module's text, and the ports of its arguments and results."""
    passed = _is_passed_on(jax.make_jaxpr(step.function)(*step.avals).jaxpr)
    results = list(step.results)
    is_state = [position < len(step.arguments) and results[position] is step.arguments[position]
                for position in range(len(results))]
    kept = [position for position in range(len(results)) if not (is_state[position] and passed[position] == position)]

    def pruned(*arguments):
        found = step.function(*arguments)
        return [found[position] for position in kept]

    pruned.__name__ = step.kind  # the first part of ops' locations: jit(train)/d1/dot_general
    lowered = jax.jit(pruned).trace(*step.avals).lower(lowering_platforms=("weft",))
    try:
        used = sorted(lowered._lowering.compile_args["kept_var_idx"])
    except (AttributeError, KeyError):
        raise Refusal(f"JAX {jax.__version__} does not say which arguments a step needs; use JAX 0.10 or 0.11") from None
    return lowered.as_text(debug_info=True), [step.arguments[position] for position in used], [results[position] for position in kept]


def _sharding(axes):
    """#sdy.sharding of a value over @mesh."""
    dims = []
    for axis in axes:
        names = [axis] if isinstance(axis, str) else list(axis or ())
        dims.append("{" + ", ".join(f'"{name}"' for name in names) + "}")
    return ir.Attribute.parse(f"#sdy.sharding<@mesh, [{', '.join(dims)}]>")


def _port_attributes(port):
    said = {"weft.name": ir.StringAttr.get(port.name), "weft.role": ir.StringAttr.get(port.role)}
    if port.facts:
        said["weft.facts"] = ir.StringAttr.get(json.dumps(port.facts, allow_nan=False))
    if port.axes is not None:
        said["sdy.sharding"] = _sharding(port.axes)
    return said


def describe_ports(function, kind, size, arguments, results):
    """Sets the attributes of the function's arguments and results."""
    places = {id(port): position for position, port in enumerate(results)}
    attributes = []
    for port in arguments:
        said = _port_attributes(port)
        if id(port) in places:
            said["tf.aliasing_output"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), places[id(port)])
        attributes.append(ir.DictAttr.get(said))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    outcome = []
    for port in results:
        said = _port_attributes(port)
        if port.role != "metric":
            said.pop("weft.facts", None)
        outcome.append(ir.DictAttr.get(said))
    function.attributes["res_attrs"] = ir.ArrayAttr.get(outcome)
    function.attributes["weft.step"] = ir.StringAttr.get(kind)
    function.attributes["weft.batch"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size)


def _name_of(op):
    return ir.StringAttr(op.attributes["sym_name"]).value


def add_function(merged, text, name, describe):
    """Adds the functions of a step, with names of their own: NAME for @main, NAME_... for called ones."""
    module = ir.Module.parse(text)
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    for op in functions:
        old = _name_of(op)
        new = name if old == "main" else f"{name}_{old}"
        ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
        op.attributes["sym_name"] = ir.StringAttr.get(new)
        if old == "main":
            describe(op)
    with ir.InsertionPoint(merged.body):
        for op in functions:
            op.operation.clone()
        has_mesh = any(op.operation.name == "sdy.mesh" for op in merged.body.operations)
        for op in module.body.operations:
            if op.operation.name == "sdy.mesh" and not has_mesh:
                op.operation.clone(ip=ir.InsertionPoint.at_block_begin(merged.body))


def _add_mesh(merged):
    """Adds the distribution's mesh, which JAX writes only if a step has constraints."""
    distribution = keras.distribution.distribution()
    if distribution is None:
        return
    mesh = distribution.device_mesh
    if not any(op.operation.name == "sdy.mesh" for op in merged.body.operations):
        axes = ", ".join(f'"{name}"={size}' for name, size in zip(mesh.axis_names, mesh.shape))
        one = ir.Module.parse(f"sdy.mesh @mesh = <[{axes}]>")
        one.body.operations[0].operation.clone(ip=ir.InsertionPoint.at_block_begin(merged.body))
    merged.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(
        ir.IntegerType.get_signless(32), int(mesh.devices.size))


def _without_files(text):
    """Removes lines of Keras' own files from locations; ops keep the names of their layers, which weft explain shows.
    """
    return re.sub(r'^(#loc\d*) = loc\("[^"]*":\d+:\d+.*\)$', r"\1 = loc(unknown)", text, flags=re.M)


def _traced(model, size, options):
    """The steps of one size with their programs. Any exception of Keras becomes a Refusal with its message."""
    try:
        described = batches.describe(model, size, options)
        return [(step, *_lower(step)) for step in steps.make_steps(model, described, options)]
    except Refusal:
        raise
    except Exception as error:  # a layer, loss or metric may raise any exception
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise Refusal(f"{options.model}: Keras does not trace its steps: {type(error).__name__}: {' '.join(lines[:3])}; fix the "
                      "model, or describe it with --loss, --metrics, --input or --label") from error


def text_of(fill):
    """The text of a module to which `fill` adds functions."""
    with mlir.make_ir_context() as context, ir.Location.unknown(context):
        context.allow_unregistered_dialects = True
        merged = ir.Module.parse("module @steps {}")
        fill(merged)
        merged.operation.verify()
        return _without_files(merged.operation.get_asm(enable_debug_info=True)) + "\n"


def trace_steps(model, options):
    """The text of all steps for all batch sizes."""
    lowerings.register()
    traced = {size: _traced(model, size, options) for size in options.batch_size}

    def fill(merged):
        for number, (size, found) in enumerate(traced.items()):
            for step, text, arguments, results in found:
                name = step.kind if number == 0 else f"{step.kind}_{size}"
                add_function(merged, text, name, lambda function: describe_ports(function, step.kind, size, arguments, results))
        _add_mesh(merged)

    return text_of(fill)
