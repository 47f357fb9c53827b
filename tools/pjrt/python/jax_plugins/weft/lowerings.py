"""What JAX lowers for its own platforms only, lowered for Weft's devices.

The modules with the programs are imported when a program first needs them.
"""

import importlib

# primitive: its module in jax._src, module and function here, does it have several results
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


def _later(module, function, several):
    def rule(ctx, *operands, **parameters):
        from jax._src import core
        from jax._src.interpreters import mlir

        found = getattr(importlib.import_module("." + module, __package__), function)
        with core.extend_axis_env_nd(_axes(ctx)):
            return mlir.lower_fun(found, multiple_results=several)(ctx, *operands, **parameters)

    return rule


def _axes(ctx):
    """Names that a shard_map binds, which a program of its device may use."""
    context = ctx.module_context.axis_context
    names = getattr(context, "manual_axes", ())
    return [(name, context.mesh.shape[name]) for name in names]


def _custom_partitioning(ctx, *operands, call, **_):
    """The function itself: Weft lays its ops out by their own rules."""
    from jax._src import core
    from jax._src.interpreters import mlir

    return mlir.lower_fun(core.jaxpr_as_fun(call))(ctx, *operands)


def _cholesky(ctx, operand):
    """NaN where the matrix is not positive definite, as on JAX's other platforms: scripts ask for that."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    from .linear_algebra import nan_unless_positive

    factor = linalg._cholesky_lowering(ctx, operand)
    checked = mlir.lower_fun(nan_unless_positive, multiple_results=False)
    return checked(ctx.replace(avals_in=ctx.avals_out), *factor)


def register():
    from jax._src.interpreters import mlir

    for name, (theirs, ours, function, several) in FUNCTIONS.items():
        primitive = getattr(importlib.import_module("jax._src." + theirs), name)
        # What calls the host is another call each time.
        mlir.register_lowering(primitive, _later(ours, function, several), platform="weft",
                               cacheable=ours != "host_linear_algebra")
    from jax._src.custom_partitioning import custom_partitioning_p
    from jax._src.lax import linalg

    mlir.register_lowering(linalg.cholesky_p, _cholesky, platform="weft")
    mlir.register_lowering(custom_partitioning_p, _custom_partitioning, platform="weft")
