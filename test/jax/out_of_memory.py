"""A result that no memory holds is an error that says so, and the devices go on working."""

import jax
import jax.numpy as jnp

# More than the machine has, and more than an address space, in the result and in the program alone.
for name, compute, message in (
        ("32 TiB", lambda: jnp.zeros((1 << 45,), jnp.uint8), "no memory for the results of the program, 35184372088832 bytes"),
        ("256 TiB", lambda: jnp.zeros((1 << 48,), jnp.uint8), 'no memory for buffer 0 "out/000" of shape [281474976710656], which '
         "exceeds 70368744177664 bytes")):
    try:
        jax.block_until_ready(jax.jit(compute)())
    except jax.errors.JaxRuntimeError as error:
        said = str(error)
    else:
        raise SystemExit(f"{name} are there")
    assert "RESOURCE_EXHAUSTED" in said and message in said, said
    assert float(jax.jit(jnp.sum)(jnp.ones(8))) == 8
print("said")
