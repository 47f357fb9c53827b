"""JAX's linear algebra for CPUs on Weft's devices: calls of LAPACK's routines, SciPy's, as jaxlib takes them.

JAX's rules for its CPU write `custom_call @lapack_sgetrf_ffi`. The runtime calls the routine by its address, which is one of
scipy.linalg.cython_lapack and cython_blas: every environment with JAX has them. SciPy is imported when a program first needs it. With
WEFT_LAPACK_LIBRARIES the runtime opens the files that it names; "none" turns these rules off.
"""

import contextlib
import ctypes
import functools
import os

# Matrices of at most this many rows are factored and solved by ops of Weft, where it has one: their code is part of a loop's function.
SMALL = 16

_library = None  # libWeftPjrt.so, in a process whose client is Weft's


def register(library):
    global _library
    _library = ctypes.CDLL(library)
    set_lapack = _library.weft_pjrt_set_lapack
    set_lapack.restype = None
    set_lapack.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]


def is_on():
    return os.environ.get("WEFT_LAPACK_LIBRARIES") != "none"


def _addresses():
    """The addresses of SciPy's routines by name."""
    from scipy.linalg import cython_blas, cython_lapack

    name_of, address_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return {name: address_of(capsule, name_of(capsule)) for module in (cython_blas, cython_lapack)
            for name, capsule in module.__pyx_capi__.items()}


@functools.cache
def provide():
    """Gives the runtime SciPy's routines, once, unless the environment names other libraries."""
    if _library is None or os.environ.get("WEFT_LAPACK_LIBRARIES"):
        return
    import scipy

    found = _addresses()
    names = (ctypes.c_char_p * len(found))(*(name.encode() for name in found))
    addresses = (ctypes.c_void_p * len(found))(*found.values())
    _library.weft_pjrt_set_lapack(f"SciPy {scipy.__version__}".encode(), names, addresses, len(found))


def _has_sizes(ctx):
    from jax._src import core

    return all(core.is_constant_shape(aval.shape) for aval in ctx.avals_in)


def _is_better(ctx, parameters):
    """Whether a call of LAPACK is possible, which perturbed pivots have not, and faster than an op of Weft."""
    from jax._src.lax import linalg

    if parameters.get("perturb_singular") or not _has_sizes(ctx):
        return False
    return ctx.primitive not in (linalg.cholesky_p, linalg.triangular_solve_p) or ctx.avals_in[0].shape[-1] > SMALL


def call(rule):
    """JAX's rule for its CPU, with plain types: it writes the calls."""
    def lower(ctx, *operands, **parameters):
        from jax._src import core

        results = rule(ctx.replace(avals_out=[core.ShapedArray(aval.shape, aval.dtype) for aval in ctx.avals_out]), *operands,
                       **parameters)
        with contextlib.suppress(ImportError):  # then the runtime looks for the system's
            provide()
        return results

    return lower


def by_library(call, own):
    """A rule that calls LAPACK where that is possible. Files get the program of `own`, which needs no library where they run,
    unless there is none."""
    def lower(ctx, *operands, **parameters):
        in_file = ctx.module_context.lowering_parameters.for_export
        if own is not None and (in_file or not is_on() or not _is_better(ctx, parameters)):
            return own(ctx, *operands, **parameters)
        if not is_on():
            raise NotImplementedError(f"Weft: {ctx.primitive} needs LAPACK, and WEFT_LAPACK_LIBRARIES is none; unset it")
        if not _has_sizes(ctx):
            raise NotImplementedError(f"Weft: {ctx.primitive} is a call of LAPACK, which has no symbolic sizes; export it for known sizes")
        try:
            return call(ctx, *operands, **parameters)
        except NotImplementedError:  # a type, an algorithm or a part of the values that LAPACK does not have
            if own is None:
                raise
            return own(ctx, *operands, **parameters)

    return lower


def rules_of_jax():
    """Primitives that JAX's linear algebra lowers for its CPU, with their rules."""
    from jax._src.interpreters import mlir

    def module_of(rule):
        while isinstance(rule, functools.partial):
            rule = rule.func
        return getattr(rule, "__module__", "")

    return [(primitive, entry) for primitive, entry in mlir._platform_specific_lowerings["cpu"].items()
            if module_of(entry.rule) == "jax._src.lax.linalg"]
