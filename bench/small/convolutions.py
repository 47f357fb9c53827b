"""Convolutions, their gradients, and pooling; NHWC, filters HWIO."""

from .case import Case, real


def convolution(strides=(1, 1), padding="SAME", **options):
    from jax import lax

    def apply(x, w):
        return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)
    return apply


def gradients(function):
    """The gradients of the input and of the filter, each a function of (x, w, dy)."""
    import jax

    def of_input(x, w, dy):
        return jax.vjp(lambda x: function(x, w), x)[1](dy)

    def of_filter(x, w, dy):
        return jax.vjp(lambda w: function(x, w), w)[1](dy)
    return of_input, of_filter


def pairs(name, function, x, w):
    """A convolution and both gradients."""
    import jax
    dy = real(*jax.eval_shape(function, x, w).shape, seed=3)
    of_input, of_filter = gradients(function)
    return {name: Case(function, [x, w], (0, None)), f"{name}-to-input": Case(of_input, [x, w, dy], (0, None, 0)),
            f"{name}-to-filter": Case(of_filter, [x, w, dy], (0, None, 0))}


def forms():
    import jax.numpy as jnp
    from jax import lax

    def transposed(x, w):
        return lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def line(x, w):
        return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))

    def volume(x, w):
        return lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))

    both = convolution(padding=((2, 3), (2, 3)), lhs_dilation=(2, 2), rhs_dilation=(2, 2))
    image = real(16, 32, 32, 32)
    return {
        **pairs("conv-3x3", convolution(), image, real(3, 3, 32, 64, seed=2)),
        **pairs("conv-1x1", convolution(), real(16, 32, 32, 64), real(1, 1, 64, 128, seed=2)),
        **pairs("conv-strided", convolution((2, 2)), image, real(3, 3, 32, 64, seed=2)),
        **pairs("conv-depthwise", convolution(feature_group_count=128), real(16, 32, 32, 128), real(3, 3, 1, 128, seed=2)),
        **pairs("conv-grouped", convolution(feature_group_count=4), real(16, 32, 32, 64), real(3, 3, 16, 64, seed=2)),
        **pairs("conv-dilated", convolution(rhs_dilation=(2, 2)), image, real(3, 3, 32, 32, seed=2)),
        **pairs("conv-transposed", transposed, real(16, 16, 16, 64), real(3, 3, 64, 32, seed=2)),
        "conv-first-layer": Case(convolution((2, 2)), [real(8, 112, 112, 3), real(7, 7, 3, 64, seed=2)], (0, None)),
        "conv-both-dilations": Case(both, [real(16, 16, 16, 32), real(3, 3, 32, 32, seed=2)], (0, None)),
        "conv-line": Case(line, [real(16, 512, 64), real(5, 64, 64, seed=2)], (0, None)),
        "conv-volume": Case(volume, [real(8, 12, 12, 12, 16), real(3, 3, 3, 16, 32, seed=2)], (0, None)),
        "conv-bf16": Case(convolution(), [image.astype(jnp.bfloat16), real(3, 3, 32, 64, seed=2, dtype=jnp.bfloat16)], (0, None),
                          tolerance=2e-2),
    }


def pooling():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def largest(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def mean(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9

    image = real(16, 64, 64, 32)
    return {
        "max-pool": Case(largest, [image], (0,)),
        "max-pool-gradient": Case(jax.grad(lambda x: jnp.sum(largest(x) ** 2)), [image], (0,)),
        "mean-pool": Case(mean, [image], (0,)),
        "mean-pool-gradient": Case(jax.grad(lambda x: jnp.sum(mean(x) ** 2)), [image], (0,)),
    }


def cases():
    return {**forms(), **pooling()}
