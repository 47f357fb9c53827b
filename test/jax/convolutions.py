"""Random convolutions and their derivatives on Weft and on XLA's CPU: argv is a seed and a count.

Sizes are those for which vectors, panels of the kernel and turned kernels are used; strides, padding, and both dilations, also together.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

TOLERANCE = {np.dtype("float32"): 1e-5, np.dtype(jnp.bfloat16): 2e-2, np.dtype("int32"): 0}


def draw(rng):
    """Operands and options of a convolution that has elements, or None."""
    def pair(least, most):
        return tuple(int(v) for v in rng.integers(least, most + 1, 2))

    batch, inputs, outputs = (int(rng.choice(of)) for of in ([1, 2, 4, 16], [3, 16, 24, 48, 64], [8, 16, 33, 48, 100, 130]))
    image, window = pair(4, 19), pair(1, 4)
    form = int(rng.integers(0, 4))
    # XLA's CPU reads outside of the input where a window of one element has negative padding (jax 0.10.2).
    padding = [tuple(int(v) for v in rng.integers(-1 if size > 1 else 0, 5, 2)) for size in window]
    options = {"window_strides": pair(1, 2), "padding": padding, "lhs_dilation": pair(1, 4) if form in (1, 3) else (1, 1),
               "rhs_dilation": pair(1, 3) if form in (2, 3) else (1, 1), "dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    dtype = np.dtype([np.float32, np.float32, np.float32, jnp.bfloat16, np.int32][rng.integers(0, 5)])
    x, kernel = (rng.standard_normal(shape).astype("float32") for shape in ((batch, *image, inputs), (*window, inputs, outputs)))
    if dtype == np.int32:
        x, kernel = np.round(3 * x), np.round(3 * kernel)
    x, kernel = x.astype(dtype), kernel.astype(dtype)
    try:
        shape = jax.eval_shape(lambda *operands: lax.conv_general_dilated(*operands, **options), x, kernel).shape
    except TypeError:
        return None
    return (x, kernel, options) if 0 not in shape else None


def functions(options, dtype):
    def convolve(x, kernel):
        return lax.conv_general_dilated(x, kernel, **options)

    def derivative(of):
        def function(x, kernel):
            result, pull = jax.vjp(convolve, x, kernel)
            return pull(jnp.broadcast_to(jnp.arange(result.shape[-1]) / 10, result.shape).astype(dtype))[of]
        return function

    return [convolve] if dtype == np.int32 else [convolve, derivative(0), derivative(1)]


def main():
    rng, count, compared = np.random.default_rng(int(sys.argv[1])), int(sys.argv[2]), 0
    platforms = [jax.devices(name)[0] for name in ("cpu", "weft")]
    while count > 0:
        drawn = draw(rng)
        if drawn is None:
            continue
        count -= 1
        x, kernel, options = drawn
        for which, function in enumerate(functions(options, x.dtype)):
            there, here = (np.asarray(jax.jit(function)(*jax.device_put((x, kernel), platform)), "float64") for platform in platforms)
            error = np.abs(there - here).max() / max(np.abs(there).max(), 1e-6)
            assert error <= TOLERANCE[x.dtype], (which, x.shape, kernel.shape, x.dtype, options, error)
            compared += 1
    print(f"{compared} functions agree")


main()
