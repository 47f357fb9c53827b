"""Communication that JAX leaves to a platform's library, as programs of JAX."""

import jax.numpy as jnp
from jax import lax


def ragged_all_to_all(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *, axis_name,
                      axis_index_groups):
    """Each device sends all rows of the operand to each device, as sizes are known at run time only. Received rows contain their
    positions, so that `recv_sizes` are not needed."""
    def exchange(values):
        return lax.all_to_all(values, axis_name, 0, 0, axis_index_groups=axis_index_groups, tiled=True)

    rows, places = jnp.arange(operand.shape[0]), jnp.arange(output.shape[0])
    received = exchange(jnp.take(operand, input_offsets[:, None] + rows, axis=0, mode="clip"))
    starts, sizes = exchange(output_offsets), exchange(send_sizes)
    for block in range(received.shape[0]):
        within = places - starts[block]
        here = ((within >= 0) & (within < sizes[block])).reshape((-1,) + (1,) * (output.ndim - 1))
        output = jnp.where(here, jnp.take(received[block], within, axis=0, mode="clip"), output)
    return output
