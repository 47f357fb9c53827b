"""Constraints that do not divide a shape, on Weft and on JAX's own CPU devices: same values, and arrays that JAX can have.

    WEFT_DEVICES=cpu:8 python uneven.py CACHE

JAX has no arrays with padding, so a result whose sharding the program leaves open has full blocks. jaxlib ends the process when
it serializes a program with other blocks, so each program is serialized, and kept in JAX's compilation cache too.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "weft,cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import serialize_executable
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
LINE, GRID = ((8,), ("x",)), ((4, 2), ("x", "y"))


def constrain(mesh, *spec):
    return lambda value: jax.lax.with_sharding_constraint(value, NamedSharding(mesh, P(*spec)))


def scanned(mesh):
    spread = constrain(mesh, "x")

    def body(carry, x):
        carry = spread(carry + x)
        return carry, carry[:3] * 2

    return lambda x: jax.lax.scan(body, x, jnp.stack([x, 2 * x]))


def branched(mesh):
    spread = constrain(mesh, None, "x")
    return lambda x: jax.lax.cond(x.sum() > 3, lambda x: spread(x.T) * 2, lambda x: spread(x.T + 1), x)


CASES = [
    ("fewer elements than devices", LINE, lambda mesh: lambda x: constrain(mesh, "x")(x * 2), (4,)),
    ("one element", LINE, lambda mesh: lambda x: constrain(mesh, "x")(x * 2), (1,)),
    ("none", LINE, lambda mesh: lambda x: constrain(mesh, "x")(x * 2), (0,)),
    ("ten over eight", LINE, lambda mesh: lambda x: (constrain(mesh, "x")(x), x.sum(), constrain(mesh, "x")(jnp.cumsum(x))), (10,)),
    ("one of two dimensions", GRID, lambda mesh: lambda x: constrain(mesh, "x", "y")(x) + 1, (8, 3)),
    ("a part of two axes", GRID, lambda mesh: lambda x: constrain(mesh, ("x", "y"))(x) * 3, (4, 5)),
    ("a reshape", GRID, lambda mesh: lambda x: constrain(mesh, "x", "y")(x.reshape(6, 4)).reshape(-1), (24,)),
    ("a loop", LINE, scanned, (7,)),
    ("a branch", GRID, branched, (5, 3)),
    ("a gradient", LINE, lambda mesh: jax.grad(lambda x: (constrain(mesh, "x")(jnp.sin(x)) ** 2).sum()), (9,)),
    ("an argument that is closer to the result", LINE, lambda mesh: lambda x: constrain(mesh, "x")(x @ x.T), (6, 6)),
]


def on(platform, function, sizes, names, shape):
    mesh = Mesh(np.array(jax.devices(platform)[:np.prod(sizes)]).reshape(sizes), names)
    whole = NamedSharding(mesh, P())
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    found = []
    for argument in (jax.device_put(x, whole), x):  # an argument with a layout, and one without
        found += jax.tree.leaves(jax.jit(function(mesh))(argument))
        if platform == "weft":
            compiled = jax.jit(function(mesh)).lower(argument).compile()
            again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
            for one, other in zip(found[-len(jax.tree.leaves(again(argument))):], jax.tree.leaves(again(argument)), strict=True):
                np.testing.assert_array_equal(one, other, err_msg=name)
    for array in found:
        array.addressable_shards  # JAX raises an error if blocks differ in size
    return [np.asarray(array) for array in found]


def expected_values(function, sizes, names, shape):
    try:
        return on("cpu", function, sizes, names, shape)
    except ValueError as error:  # JAX 0.11 has no such arrays on CPU: take those of one device
        assert jax.__version_info__ >= (0, 11) and "is not divisible" in str(error), error
        return on("cpu", function, [1] * len(sizes), names, shape)


for name, (sizes, names), function, shape in CASES:
    expected, found = expected_values(function, sizes, names, shape), on("weft", function, sizes, names, shape)
    for array, value in zip(expected, found, strict=True):
        np.testing.assert_allclose(value, array, rtol=2e-6, atol=1e-6, err_msg=name)
    print(f"{name}: equal")
