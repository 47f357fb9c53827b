"""Compiled programs as bytes: given to another executable, and kept in JAX's compilation cache.

    serialized.py CACHE        prints how many programs came from the cache
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import serialize_executable, topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
events = []
jax.monitoring.register_event_listener(lambda event, **_: events.append(event))

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
x = np.arange(32, dtype=np.float32).reshape(8, 4)
xs = jax.device_put(x, NamedSharding(mesh, P("a", "b")))


def double(x):
    return x * 2 + x.sum()


compiled = jax.jit(double).lower(xs).compile()
loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
np.testing.assert_allclose(np.asarray(loaded(xs)), double(x))
assert loaded(xs).sharding.is_equivalent_to(compiled(xs).sharding, 2)
memory = compiled.memory_analysis()
assert memory.argument_size_in_bytes == x.nbytes // 4, memory
costs = compiled.cost_analysis()  # the costs of one device
assert costs["bytes accessed"] >= 2 * x.nbytes // 4 and costs["collectives"] >= 1, costs

calling = jax.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)).lower(x).compile()
try:
    serialize_executable.serialize(calling)
    raise AssertionError("a callback was serialized")
except jax.errors.JaxRuntimeError as error:
    assert "a program with host callbacks cannot be serialized" in str(error), error
client = jax.devices()[0].client
text = compiled.runtime_executable().serialize()
assert text.count(b"WEFTEXE2") == 1
try:
    client.deserialize_executable(text.replace(b"WEFTEXE2", b"WEFTEXE0"), executable_devices=client.devices())
    raise AssertionError("something was deserialized")
except jax.errors.JaxRuntimeError as error:
    assert "the bytes are no program that Weft serialized" in str(error), error
# A program can be compiled for devices that are only described.
ahead = topologies.get_topology_desc("cpu:4", platform="weft")
sharding = NamedSharding(Mesh(np.array(ahead.devices).reshape(2, 2), ("a", "b")), P("a", "b"))
described = jax.jit(double, in_shardings=sharding).lower(jax.ShapeDtypeStruct(x.shape, x.dtype)).compile()
assert b"WEFTEXE2" in serialize_executable.serialize(described)[0]
print("from the cache:", events.count("/jax/compilation_cache/cache_hits"))
