"""Keys that are split one after the other under vmap: a kernel that computes a key again for each of its readers
grows ninefold with each split.

    JAX_PLATFORMS=weft,cpu WEFT_DEVICES=cpu:1 python chained_keys.py
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random

SEED, SPLITS = 0, range(3, 11)


def split(key, times):
    for _ in range(times):
        key = random.split(key)[0]
    return key


def rounds(key, times):
    """A split and a draw in each round of a loop."""
    def body(_, state):
        key, total = state
        key, used = random.split(key)
        return key, total + random.uniform(used, (5,))
    return lax.fori_loop(0, times, body, (key, jnp.zeros(5)))


def unrolled(key):
    total = jnp.zeros(5)
    for _ in range(6):
        key, used = random.split(key)
        total += random.uniform(used, (5,))
    return key, total


def threefry(key):
    """random.split(key)[0] in NumPy: 20 rounds on the counts 0 and 0, words 0 and 1 (Salmon et al., 2011)."""
    def block(key, high, low):
        k = [key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA)]
        x, y = high + k[0], low + k[1]
        for group in range(5):
            for by in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
                x = x + y
                y = (y << np.uint32(by) | y >> np.uint32(32 - by)) ^ x
            x, y = x + k[(group + 1) % 3], y + k[(group + 2) % 3] + np.uint32(group + 1)
        return x, y
    return np.array(block(key, np.uint32(0), np.uint32(0)), np.uint32)


def chained(key, times):
    with np.errstate(over="ignore"):
        for _ in range(times):
            key = threefry(key)
    return key


keys = random.split(random.PRNGKey(SEED), 3)
spent = {}
for n in SPLITS:
    program = jax.jit(jax.vmap(lambda key, n=n: split(key, n)))
    start = time.process_time()
    compiled = program.lower(keys).compile()
    spent[n] = time.process_time() - start
    np.testing.assert_array_equal(np.asarray(compiled(keys)), [chained(key, n) for key in np.asarray(keys)])
# Ninefold, the last one would take a million times as long as the first.
assert spent[10] < 10 * spent[3] + 10, spent
print("chained keys are compiled in linear time", {n: round(seconds, 2) for n, seconds in spent.items()})

expected = [(chained(key, 6), None) for key in np.asarray(keys)]
for function in (lambda key: rounds(key, 6), unrolled):
    found, total = jax.jit(jax.vmap(function))(keys)
    np.testing.assert_array_equal(np.asarray(found), [key for key, _ in expected])
    assert total.shape == (3, 5) and np.all(np.asarray(total) > 0) and np.all(np.asarray(total) < 6)
print("rounds of a loop give the keys that NumPy computes")
