"""A result that no memory holds is an error that says so, and the devices go on working."""

import jax
import jax.numpy as jnp

try:
    jax.block_until_ready(jax.jit(lambda: jnp.zeros((1 << 48,), jnp.uint8))())  # more than an address space
    raise SystemExit("256 TiB are there")
except jax.errors.JaxRuntimeError as error:
    said = str(error)
assert "RESOURCE_EXHAUSTED" in said and "no memory for the results of the program" in said, said
assert float(jax.jit(jnp.sum)(jnp.ones(8))) == 8
print("said")
