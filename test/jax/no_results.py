"""Programs that give nothing back, on eight devices and on one: they are run for their effects.

    WEFT_DEVICES=cpu:8 python no_results.py
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

devices = np.array(jax.devices())
heard = []


def hear(x):
    jax.debug.callback(lambda value: heard.append(np.sort(np.ravel(value)).tolist()), x)


def check(name, function, array, expected):
    heard.clear()
    assert not jax.tree.leaves(function(array)), name
    jax.effects_barrier()
    assert sorted(heard) == sorted(expected), (name, heard, expected)


for count in (8, 1):
    mesh = Mesh(devices[:count], ("x",))
    x = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, P("x")))
    whole, blocks = [list(range(8))], np.arange(8).reshape(count, -1).tolist()

    def mapped(function):
        return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("x"), out_specs=P("x")))

    check("unused argument", jax.jit(lambda x: None, keep_unused=True), x, [])
    check("donated argument", jax.jit(lambda x: None, keep_unused=True, donate_argnums=0), x + 0, [])
    check("callback", jax.jit(hear), x, whole)
    check("io_callback", jax.jit(lambda x: io_callback(lambda v: heard.append(v.tolist()), None, x, ordered=True)), x,
          whole)
    check("scan", lambda x: jax.lax.scan(lambda c, v: (c, hear(v)), (), x), x, [[i] for i in range(8)])
    check("scan in jit", jax.jit(lambda x: jax.lax.scan(lambda c, v: (c, hear(v)), (), x)), x, [[i] for i in range(8)])
    check("shard_map", mapped(hear), x, blocks)
    check("scan in shard_map", mapped(lambda x: jax.lax.scan(lambda c, v: (c, hear(v)), (), x)), x,
          [[i] for i in range(8)])
    compiled = jax.jit(hear).lower(x).compile()
    check("compiled ahead", compiled, x, whole)
    assert compiled.output_shardings is None, compiled.output_shardings
    explicit = jax.make_mesh((count,), ("x",), axis_types=(AxisType.Explicit,), devices=devices[:count].tolist())
    with jax.set_mesh(explicit):
        check("explicit", jax.jit(hear), jax.device_put(x, P("x")), whole)
print("nothing comes back from all of them")
