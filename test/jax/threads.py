"""Programs compiled and run by several threads at once, on shared and on own devices."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices()
problems = []


def work(number):
    try:
        mesh = Mesh(np.roll(np.array(devices), number)[:4].reshape(2, 2), ("a", "b"))
        x = np.arange(64, dtype=np.float32).reshape(8, 8) + number
        own = jax.jit(lambda a: (a @ a.T).sum(0) * (number + 1))
        shared = jax.jit(lambda a: jnp.tanh(a / 100))
        for step in range(10):
            xs = jax.device_put(x + step, NamedSharding(mesh, P("a", "b")))
            np.testing.assert_allclose(np.asarray(own(xs)), ((x + step) @ (x + step).T).sum(0) * (number + 1), rtol=1e-5)
            there = jax.device_put(x + step, devices[number])
            moved = jax.device_put(shared(there), devices[-1 - number])
            np.testing.assert_allclose(np.asarray(moved), np.tanh((x + step) / 100), rtol=1e-5)
    except BaseException as problem:
        problems.append(problem)


threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not problems, problems[0]
print("all threads agree")
