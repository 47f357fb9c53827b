"""Reductions that JAX lowers specially on some platforms, as programs of JAX."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import ann


def approx_top_k(operand, **parameters):
    """Returns the exact result, as all candidates are compared. Without aggregation JAX asks for more results than k."""
    reduction_dimension, is_max_k = parameters["reduction_dimension"], parameters["is_max_k"]
    wanted = jax.eval_shape(functools.partial(ann.approx_top_k_p.bind, **parameters), operand)[0].shape[reduction_dimension]
    moved = jnp.moveaxis(operand, reduction_dimension, -1)
    values, places = lax.top_k(moved if is_max_k else -moved, min(wanted, moved.shape[-1]))
    missing = [(0, 0)] * (moved.ndim - 1) + [(0, wanted - values.shape[-1])]
    values = jnp.pad(values if is_max_k else -values, missing, constant_values=-np.inf if is_max_k else np.inf)
    places = jnp.pad(places, missing, constant_values=-1)
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
