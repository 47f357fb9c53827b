"""Checks the shardings that callbacks get from jax.debug.inspect_array_sharding and visualize_array_sharding on Weft devices."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices()
mesh = Mesh(np.array(devices).reshape(-1, min(2, len(devices))), ("a", "b"))
told = []


def look(value):
    jax.debug.inspect_array_sharding(value, callback=lambda sharding: told.append(sharding))


def heard(*specs):
    """Checks that exactly these shardings of a matrix were reported since the last call."""
    assert len(told) == len(specs), told
    for sharding, spec in zip(told, specs):
        if not isinstance(spec, jax.sharding.Sharding):
            spec = NamedSharding(mesh, spec)
        assert sharding.is_equivalent_to(spec, 2), f"told {sharding}, expected {spec}"
    told.clear()


def put(spec, shape=(16, 8)):
    return jax.device_put(jnp.arange(np.prod(shape), dtype=jnp.float32).reshape(shape), NamedSharding(mesh, spec))


def product(x):
    y = jnp.sin(x)
    look(y)
    z = y @ y.T
    look(z)
    return z.sum()


def scan(x, rounds):
    def body(carry, _):
        look(carry * 2)
        return jnp.cos(carry), carry.sum()

    return jax.lax.scan(body, x, None, length=rounds)


def constrained(x):
    y = jax.lax.with_sharding_constraint(x + 1, NamedSharding(mesh, P(None, "a")))
    look(y)
    return y * 2


def everywhere(x):
    """Checks reports on any number of devices, of a matrix over both axes."""
    look(x)
    heard(P("a", "b"))
    jax.jit(product)(x)
    heard(P("a", "b"), P())  # the product is a sum over both axes: it is reported as it would lie when added up
    jax.jit(jax.grad(product))(x)  # the product itself is not needed: it is reported where it would lie
    assert len(told) == 2 and told[0].is_equivalent_to(NamedSharding(mesh, P("a", "b")), 2), told
    told.clear()
    jax.jit(jax.vmap(lambda row: (look(row * 2), row.sum())[1]))(x)
    heard(P("a", "b"))
    for rounds in 3, 100:  # unrolled or a loop: the body is one place
        jax.jit(lambda v: scan(v, rounds))(x)
        heard(P("a", "b"))
    jax.jit(constrained)(x)
    heard(P(None, "a"))
    jax.jit(lambda v: (look((v, v.T)), v)[1])(x)
    heard(P("a", "b"), P("b", "a"))
    jax.jit(lambda v: jax.lax.cond(v[0, 0] > 0, lambda u: (look(u), u)[1], lambda u: -u, v))(x)
    heard(P("a", "b"))
    jax.jit(jax.checkpoint(lambda v: (look(v + 3), v)[1]))(x)
    heard(P("a", "b"))


def in_shard_map(x):
    for axes, spec in ({"a", "b"}, P()), ({"a"}, P(None, "b")):
        given = P(*(name if name in axes else None for name in ("a", "b")))
        mapped = jax.shard_map(lambda v: (look(v), v * 2)[1], mesh=mesh, in_specs=given, out_specs=given, axis_names=axes)
        jax.jit(mapped)(x)
        heard(spec)


def when(x):
    """Checks that callbacks are called at compile time, also for a known program, and that their errors are the compilation's."""
    lowered = jax.jit(lambda v: (look(v - 1), v)[1]).lower(x)
    if len(devices) == 1:
        heard(P())  # on one device the sharding is known without the compiler
    else:
        for options in {}, {"weft_target": "native"}:  # JAX asks for the program again, which is in memory
            heard()
            lowered.compile(compiler_options=options)
            heard(P("a", "b"))

    def refuse(sharding):
        raise ValueError("not this one")

    try:
        jax.jit(lambda v: (jax.debug.inspect_array_sharding(v + 2, callback=refuse), v)[1])(x)
    except Exception as error:
        assert "not this one" in str(error), error
    else:
        raise AssertionError("an error of the callback is lost")


def same_in_the_next_process(x):
    """Checks that a second process finds the program of the first on disk: the observation keeps its number."""
    jax.jit(lambda v: (look(v * 7), v)[1])(x)
    heard(P("a", "b"))


x = put(P("a", "b"))
if len(sys.argv) > 1:
    same_in_the_next_process(x)
else:
    everywhere(x)
    in_shard_map(x)
    when(x)
    jax.debug.visualize_sharding(x.shape, x.sharding)
    jax.jit(lambda v: (jax.debug.visualize_array_sharding(v + 1), v)[1])(x)
print("all that was asked was told")
