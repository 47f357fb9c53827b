"""Arrays of several devices that have one memory behave as arrays of their own.

    WEFT_DEVICES=cpu:8 [WEFT_SHARE=off] python shared_memory.py

The last line is the bits of the weights, for runs with shared memory and without.
"""

import hashlib
import os

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

MESH = Mesh(np.array(jax.devices()), ("data",))
WHOLE, ROWS = NamedSharding(MESH, P()), NamedSharding(MESH, P("data"))
STARTED = np.random.default_rng(1).normal(size=(256, 512)).astype(np.float32)
BATCH = jax.device_put(np.random.default_rng(2).normal(size=(64, 256)).astype(np.float32), ROWS)


def update(w, m, x):
    gradient = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    m = 0.9 * m + gradient
    return w - 0.1 * m, m


donating = jax.jit(update, donate_argnums=(0, 1), out_shardings=(WHOLE, WHOLE))
keeping = jax.jit(update, out_shardings=(WHOLE, WHOLE))


def start():
    return jax.device_put(STARTED, WHOLE), jax.device_put(np.zeros_like(STARTED), WHOLE)


def addresses(array):
    """The number of memories that the devices of an array have."""
    return len({shard.data.unsafe_buffer_pointer() for shard in array.addressable_shards})


def values(array):
    """What each device has."""
    return [np.array(shard.data) for shard in array.addressable_shards]


def expect(condition, what):
    print(("ok   " if condition else "FAIL ") + what)


MEMORIES = 8 if os.environ.get("WEFT_SHARE") == "off" else 1
w, m = start()
expect(addresses(w) == 8, "arrays from the host have a copy for each device")
for _ in range(3):
    old, (w, m) = w, donating(w, m, BATCH)
expect(old.is_deleted(), "a donated array is deleted")
expect((addresses(w), addresses(m)) == (MEMORIES, MEMORIES), "donated arrays are shared from the first step on")
expect(all((value == values(w)[0]).all() for value in values(w)), "all devices have equal values")

kept = keeping(w, m, BATCH)
before = values(w)
donated = donating(w, m, BATCH)
expect(all((a == b).all() for a, b in zip(values(kept[0]), values(donated[0]))), "with and without donation")
expect(addresses(kept[0]) == MEMORIES, "results that take no argument's memory are shared")

# The shard of one device is donated: the other devices keep the old value.
whole = kept[0]
expected, shards = values(whole), [shard.data for shard in whole.addressable_shards]
grown = jax.jit(lambda a: a + 1, donate_argnums=0)(shards[3])
expect((np.array(grown) == expected[3] + 1).all(), "the shard of one device is donated")
expect(all((np.array(shards[d]) == expected[d]).all() for d in (0, 2, 4, 7)), "others keep its value")

# A view for NumPy keeps the memory as it is.
w, m = donated
seen = np.asarray(w.addressable_shards[5].data)
copied = seen.copy()
w, m = donating(w, m, BATCH)
expect((seen == copied).all(), "a view of one device's memory stays")

# A program that updates on each device, of its coordinate, does not share.
own = jax.jit(jax.shard_map(lambda a: a + jax.lax.axis_index("data"), mesh=MESH, in_specs=P(), out_specs=P("data"),
                            check_vma=False), donate_argnums=0)
rows = own(w)
expect(all((np.array(shard.data) == np.array(rows.addressable_shards[0].data) + d).all() for d, shard in
           enumerate(rows.addressable_shards)), "values of a coordinate differ")

w, m = start()
for _ in range(20):
    w, m = donating(w, m, BATCH)
print("bits", hashlib.sha256(np.array(w).tobytes() + np.array(m).tobytes()).hexdigest())
