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
    "approx_top_k_p": ("lax.ann", "reductions", "approx_top_k", True),
    "select_and_gather_add_p": ("lax.windowed_reductions", "reductions", "select_and_gather_add", False),
}


def _later(module, function, several):
    def rule(ctx, *operands, **parameters):
        from jax._src.interpreters import mlir

        found = getattr(importlib.import_module("." + module, __package__), function)
        return mlir.lower_fun(found, multiple_results=several)(ctx, *operands, **parameters)

    return rule


def register():
    from jax._src.interpreters import mlir

    for name, (theirs, ours, function, several) in FUNCTIONS.items():
        primitive = getattr(importlib.import_module("jax._src." + theirs), name)
        # What calls the host is another call each time.
        mlir.register_lowering(primitive, _later(ours, function, several), platform="weft",
                               cacheable=ours != "host_linear_algebra")
