"""Lowerings for Weft's devices of primitives that JAX lowers for its own platforms only.

The modules with the programs are imported when a program first needs them.
"""

import importlib

# primitive: (its module in jax._src, module and function here, whether it has several results)
FUNCTIONS = {
    "geqrf_p": ("lax.linalg", "linear_algebra", "geqrf", True),
    "geqp3_p": ("lax.linalg", "linear_algebra", "geqp3", True),
    "householder_product_p": ("lax.linalg", "linear_algebra", "householder_product", False),
    "eigh_p": ("lax.linalg", "linear_algebra", "eigh", True),
    "svd_p": ("lax.linalg", "linear_algebra", "svd", True),
    "eig_p": ("lax.linalg", "host_linear_algebra", "eig", True),
    "schur_p": ("lax.linalg", "host_linear_algebra", "schur", True),
    "hessenberg_p": ("lax.linalg", "host_linear_algebra", "hessenberg", True),
    "tridiagonal_p": ("lax.linalg", "host_linear_algebra", "tridiagonal", True),
    "ragged_all_to_all_p": ("lax.parallel", "collectives", "ragged_all_to_all", False),
    "approx_top_k_p": ("lax.ann", "reductions", "approx_top_k", True),
    "select_and_gather_add_p": ("lax.windowed_reductions", "reductions", "select_and_gather_add", False),
}


def _without_types(rule):
    """A rule that traces a program of JAX, for operands of any type: shardings under an explicit mesh and the axes
    along which values vary inside shard_map. The program's own zeros and indices have neither, and JAX refuses to
    mix them. Lowered programs are neither differentiated nor checked, so the program is traced without these types; its results
    get the shardings of the primitive's results."""
    def untyped(ctx, *operands, **parameters):
        from jax._src import config, core, mesh
        from jax._src.interpreters import mlir

        avals = [core.ShapedArray(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in ctx.avals_in]
        with core.extend_axis_env_nd(_axes(ctx)), mesh.use_abstract_mesh(mesh.empty_abstract_mesh), \
                config._check_vma(False):
            results = rule(ctx.replace(avals_in=avals), *operands, **parameters)
        return [mlir.lower_with_sharding_in_types(ctx, result, aval) for result, aval in zip(results, ctx.avals_out)]

    return untyped


def _later(module, function, several):
    def rule(ctx, *operands, **parameters):
        from jax._src.interpreters import mlir

        found = getattr(importlib.import_module("." + module, __package__), function)
        return mlir.lower_fun(found, multiple_results=several)(ctx, *operands, **parameters)

    return _without_types(rule)


def _axes(ctx):
    """Names that a shard_map binds, which a program of its device may use."""
    context = ctx.module_context.axis_context
    names = getattr(context, "manual_axes", ())
    return [(name, context.mesh.shape[name]) for name in names]


def _custom_partitioning(ctx, *operands, call, **_):
    """Lowers to the function itself, whose ops Weft lays out by their own rules."""
    from jax._src import core
    from jax._src.interpreters import mlir

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


def register():
    from jax._src.interpreters import mlir

    for primitive, entry in _programs_of_jax():
        mlir.register_lowering(primitive, _without_types(entry.rule), platform="weft", inline=entry.inline)
    for name, (theirs, ours, function, several) in FUNCTIONS.items():
        primitive = getattr(importlib.import_module("jax._src." + theirs), name)
        # Lowerings with calls of the host are not shared, as each call has its own number.
        mlir.register_lowering(primitive, _later(ours, function, several), platform="weft",
                               cacheable=ours != "host_linear_algebra")
    from jax._src.custom_partitioning import custom_partitioning_p
    from jax._src.lax import linalg

    mlir.register_lowering(linalg.cholesky_p, _cholesky, platform="weft")
    mlir.register_lowering(custom_partitioning_p, _custom_partitioning, platform="weft")
