"""Reductions that JAX lowers specially on some platforms, as programs of JAX."""

import itertools

import jax.numpy as jnp
import numpy as np
from jax import lax


def approx_top_k(operand, *, k, reduction_dimension, is_max_k, **_):
    """Returns the exact result, as all candidates are compared."""
    moved = jnp.moveaxis(operand, reduction_dimension, -1)
    values, places = lax.top_k(moved if is_max_k else -moved, k)
    values = values if is_max_k else -values
    return [jnp.moveaxis(result, -1, reduction_dimension) for result in (values, places)]


def select_and_gather_add(tangents, operand, *, select_prim, window_dimensions, window_strides, padding, base_dilation,
                          window_dilation):
    """The tangent at the largest (or smallest) operand of each window, computed element by element for all windows."""
    outside = np.array(-np.inf if select_prim is lax.ge_p else np.inf, operand.dtype)
    borders = [(low, high, base - 1) for (low, high), base in zip(padding, base_dilation)]
    operand, tangents = lax.pad(operand, outside, borders), lax.pad(tangents, np.zeros((), tangents.dtype), borders)
    best = gathered = None
    for place in itertools.product(*map(range, window_dimensions)):
        start = [at * step for at, step in zip(place, window_dilation)]
        reach = [(size - 1) * step for size, step in zip(window_dimensions, window_dilation)]
        end = [size - last + first for size, last, first in zip(operand.shape, reach, start)]
        value, tangent = (lax.slice(array, start, end, window_strides) for array in (operand, tangents))
        if best is None:
            best, gathered = value, tangent
            continue
        keep = select_prim.bind(best, value)
        best, gathered = lax.select(keep, best, value), lax.select(keep, gathered, tangent)
    return gathered
