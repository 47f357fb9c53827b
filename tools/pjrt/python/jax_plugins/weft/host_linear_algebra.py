"""Decompositions of general matrices by LAPACK on the host: SciPy's, on which JAX depends.

The steps of these algorithms depend on the values of each matrix. So the devices call the host, as jax.pure_callback does, with
whole values, or with their own shard inside shard_map. A matrix that is not finite, or for which LAPACK does not converge, gives
NaN.

    eig(a) -> w, vl, vr     schur(a) -> t, z     hessenberg(a) -> h, taus     tridiagonal(a) -> a, d, e, taus
"""

import jax
import numpy as np


def _complex(dtype):
    return np.result_type(dtype, np.complex64)


def _real(dtype):
    return np.zeros((), dtype).real.dtype


def _each(function, a, results):
    """Applies `function` to each matrix of a batch; `results` are shapes and dtypes of one matrix's."""
    import scipy.linalg

    batch = a.shape[:-2]
    arrays = [np.full(batch + shape, np.nan, dtype) for shape, dtype in results]
    for index in np.ndindex(*batch):
        if not a.shape[-1] or not np.isfinite(a[index]).all():
            continue
        try:
            for array, value in zip(arrays, function(scipy.linalg, np.array(a[index], order="F"))):
                array[index] = value
        except scipy.linalg.LinAlgError:
            pass
    return arrays


def _call(function, a, results):
    shapes = [jax.ShapeDtypeStruct(a.shape[:-2] + shape, dtype) for shape, dtype in results]
    return jax.pure_callback(lambda x: _each(function, np.asarray(x), results), shapes, a)


def eig(a, *, compute_left_eigenvectors, compute_right_eigenvectors, **_):
    n, dtype = a.shape[-1], _complex(a.dtype)
    wanted = [True, compute_left_eigenvectors, compute_right_eigenvectors]

    def one(linalg, matrix):
        found = linalg.eig(matrix, left=True, right=True, check_finite=False)
        return [x for x, is_wanted in zip(found, wanted) if is_wanted]

    results = [((n,), dtype), ((n, n), dtype), ((n, n), dtype)]
    return _call(one, a, [x for x, is_wanted in zip(results, wanted) if is_wanted])


def schur(a, *, compute_schur_vectors, sort_eig_vals, **_):
    if sort_eig_vals:
        raise NotImplementedError("Weft: schur does not sort eigenvalues; sort its result")

    def one(linalg, matrix):
        output = "complex" if np.iscomplexobj(matrix) else "real"
        return linalg.schur(matrix, output=output, check_finite=False)[:1 + compute_schur_vectors]

    return _call(one, a, [(a.shape[-2:], a.dtype)] * (1 + compute_schur_vectors))


def hessenberg(a):
    def one(linalg, matrix):
        gehrd = linalg.get_lapack_funcs("gehrd", (matrix,))
        return gehrd(matrix)[:2]

    return _call(one, a, [(a.shape[-2:], a.dtype), ((max(a.shape[-1] - 1, 0),), a.dtype)])


def tridiagonal(a, *, lower):
    n = a.shape[-1]

    def one(linalg, matrix):
        reduce = linalg.get_lapack_funcs("hetrd" if np.iscomplexobj(matrix) else "sytrd", (matrix,))
        return reduce(matrix, lower=lower)[:4]

    few = (max(n - 1, 0),)
    return _call(one, a, [(a.shape[-2:], a.dtype), ((n,), _real(a.dtype)), (few, _real(a.dtype)), (few, a.dtype)])
