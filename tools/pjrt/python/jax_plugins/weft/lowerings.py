"""Lowerings for Weft's devices of primitives that JAX lowers for its own platforms only.

The modules with the programs are imported when a program first needs them.
"""

import contextlib
import functools
import importlib

from . import lapack

# primitive: (its module in jax._src, module and function here, whether it has several results)
FUNCTIONS = {
    "geqrf_p": ("lax.linalg", "linear_algebra", "geqrf", True),
    "geqp3_p": ("lax.linalg", "linear_algebra", "geqp3", True),
    "householder_product_p": ("lax.linalg", "linear_algebra", "householder_product", False),
    "eigh_p": ("lax.linalg", "linear_algebra", "eigh", True),
    "svd_p": ("lax.linalg", "linear_algebra", "svd", True),
    "tridiagonal_solve_p": ("lax.linalg", "linear_algebra", "tridiagonal_solve", False),
    "ragged_all_to_all_p": ("lax.parallel", "collectives", "ragged_all_to_all", False),
    "approx_top_k_p": ("lax.ann", "reductions", "approx_top_k", True),
    "select_and_gather_add_p": ("lax.windowed_reductions", "reductions", "select_and_gather_add", False),
}


# Primitives of JAX that its GPUs lower to StableHLO, and its CPU does not lower.
BROADCASTS = ("pbroadcast_p", "pbroadcast_start_p")


@contextlib.contextmanager
def _as_written():
    """JAX's settings of how functions are traced that a script may change: the programs here are written for the defaults, and
    need exact products."""
    from jax._src import config

    with config.numpy_dtype_promotion("standard"), config.numpy_rank_promotion("allow"), \
            config.default_matmul_precision("highest"), config._check_vma(False):
        yield


def _without_types(rule):
    """A rule that traces a program of JAX, for operands of any type: shardings under an explicit mesh and the axes
    along which values vary inside shard_map. The program's own zeros and indices have neither, and JAX refuses to
    mix them. Lowered programs are neither differentiated nor checked, so the program is traced without these types; its results
    get the shardings of the primitive's results."""
    def untyped(ctx, *operands, **parameters):
        from jax._src import core, mesh
        from jax._src.interpreters import mlir

        avals = [core.ShapedArray(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in ctx.avals_in]
        with core.extend_axis_env_nd(_axes(ctx)), mesh.use_abstract_mesh(mesh.empty_abstract_mesh), _as_written():
            results = rule(ctx.replace(avals_in=avals), *operands, **parameters)
        return [mlir.lower_with_sharding_in_types(ctx, result, aval) for result, aval in zip(results, ctx.avals_out)]

    return untyped


def refuse_in_files(ctx):
    """An error for a program that is lowered for a file, by jax.export or weft.compile, and calls functions of this process."""
    if ctx.module_context.lowering_parameters.for_export:
        raise NotImplementedError(f"Weft: {ctx.primitive} calls a function of this process, which a program in a file cannot; run the "
                                  "function with JAX_PLATFORMS=weft, or compute this part outside of the program")


def _calls_host(ctx, *_, **__):
    """A callback in a process whose client is not Weft's, which registers others (callbacks.py)."""
    refuse_in_files(ctx)
    raise NotImplementedError(f"Weft: {ctx.primitive} calls a function of this process, in which Weft is no platform; set "
                              "JAX_PLATFORMS=weft")


def _later(module, function, several):
    def rule(ctx, *operands, **parameters):
        from jax._src.interpreters import mlir

        found = getattr(importlib.import_module("." + module, __package__), function)
        return mlir.lower_fun(found, multiple_results=several)(ctx, *operands, **parameters)

    return _without_types(rule)


def _by_sizes(known, open_sizes):
    """A rule for operands of known sizes, and one for symbols of jax.export."""
    def rule(ctx, *operands, **parameters):
        from jax._src import core

        is_known = all(core.is_constant_shape(aval.shape) for aval in ctx.avals_in)
        return (known if is_known else open_sizes)(ctx, *operands, **parameters)

    return rule


def _axes(ctx):
    """Names that a shard_map binds, which a program of its device may use."""
    context = ctx.module_context.axis_context
    names = getattr(context, "manual_axes", ())
    return [(name, context.mesh.shape[name]) for name in names]


def _custom_partitioning(ctx, *operands, call, **parameters):
    """Lowers to the function itself, whose ops Weft lays out by their own rules. The script's rule and partition are
    checked as JAX checks them."""
    from jax._src import core
    from jax._src.interpreters import mlir

    from .partitions import check_partition

    check_partition(ctx, *operands, call=call, **parameters)
    return mlir.lower_fun(core.jaxpr_as_fun(call))(ctx, *operands)


def _cholesky(ctx, operand):
    """Lowers Cholesky with NaN for matrices that are not positive definite, as on JAX's other platforms, which scripts
    rely on."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    from .linear_algebra import nan_unless_positive

    factor = linalg._cholesky_lowering(ctx, operand)
    checked = _without_types(mlir.lower_fun(nan_unless_positive, multiple_results=False))
    return checked(ctx.replace(avals_in=ctx.avals_out), *factor)


def _programs_of_jax():
    """Primitives that are programs of JAX on platforms unlike its CPU, LU among them, with their rules: JAX never
    traces them for its CPU, and few of them handle the types of `_without_types`."""
    from jax._src.interpreters import mlir

    on_cpu = mlir._platform_specific_lowerings["cpu"]
    traced = mlir.lower_fun(tuple).__code__
    return [(primitive, entry) for primitive, entry in mlir._lowerings.items()
            if primitive in on_cpu and getattr(entry.rule, "__code__", None) is traced]


@functools.cache
def register():
    from jax._src import callback, debugging
    from jax._src.interpreters import mlir

    for primitive, entry in _programs_of_jax():
        mlir.register_lowering(primitive, _without_types(entry.rule), platform="weft", inline=entry.inline)
    for name, (theirs, ours, function, several) in FUNCTIONS.items():
        primitive = getattr(importlib.import_module("jax._src." + theirs), name)
        mlir.register_lowering(primitive, _later(ours, function, several), platform="weft")
    from jax._src.custom_partitioning import custom_partitioning_p
    from jax._src.lax import linalg, parallel

    mlir.register_lowering(linalg.cholesky_p, _cholesky, platform="weft")
    mlir.register_lowering(linalg.lu_p, _by_sizes(mlir._platform_specific_lowerings["weft"][linalg.lu_p].rule,
                                                  _later("linear_algebra", "lu", True)), platform="weft")
    mlir.register_lowering(custom_partitioning_p, _custom_partitioning, platform="weft")
    for name in BROADCASTS:
        primitive = getattr(parallel, name, None)
        if entry := mlir._platform_specific_lowerings["cuda"].get(primitive):
            mlir.register_lowering(primitive, entry.rule, platform="weft")
    # All that JAX's CPU lowers to calls of LAPACK calls it here, too; the rules above are for files and processes without one.
    for primitive, entry in lapack.rules_of_jax():
        own = mlir._platform_specific_lowerings["weft"].get(primitive) or mlir._lowerings.get(primitive)
        rule = lapack.by_library(_without_types(lapack.call(entry.rule)), own and own.rule)
        mlir.register_lowering(primitive, rule, platform="weft", inline=entry.inline)
    for primitive in (callback.pure_callback_p, callback.io_callback_p, debugging.debug_callback_p, debugging.debug_print_p):
        mlir.register_lowering(primitive, _calls_host, platform="weft", cacheable=False)
