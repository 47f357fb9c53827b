"""Checks that programs that were compiled before are found in memory and on disk, and never another one.

    known_programs.py FOLDER        FOLDER: the value of XDG_CACHE_HOME
"""

import hashlib
import pathlib
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import compiler
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices()
known = compiler.backend_compile_and_load
compiled = []  # names of programs that jaxlib compiled
theirs = known._compile


def count(backend, module, *rest):
    compiled.append(module.operation.attributes["sym_name"].value)
    return theirs(backend, module, *rest)


known._compile = count


def compilations(function, *args, **options):
    """The number of the function's programs that go to jaxlib, and its result."""
    before = len(compiled)
    result = jax.block_until_ready(jax.jit(function, **options)(*args))
    return len(compiled) - before, result


def f(x):
    return x * 2 + 1


def g(x):
    return x * 2 + 2


x = np.arange(32, dtype=np.float32).reshape(8, 4)
count_first, expected = compilations(f, x)
print("compiled at first:", count_first)
np.testing.assert_array_equal(expected, x * 2 + 1)

# Again from memory: after JAX has forgotten it, from another line and another thread.
for _ in range(2):
    jax.clear_caches()
    number, result = compilations(f, x)
    assert number == 0, "the plugin was asked for a program that this process has compiled"
    np.testing.assert_array_equal(result, expected)
results = []
threads = [threading.Thread(target=lambda: results.append(jax.jit(lambda x: x * 5 - 1)(x))) for _ in range(8)]
jax.clear_caches()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(results) == 8 and all(np.array_equal(result, x * 5 - 1) for result in results)

# Programs that differ in code, shapes, types, devices, options or shardings are not confused.
mesh = Mesh(np.array(devices).reshape(2, 4), ("a", "b"))
other = Mesh(np.array(devices[::-1]).reshape(2, 4), ("a", "b"))
arguments = [jax.device_put(value, place) for value, place in (
    (x, devices[0]), (x, devices[3]), (x[:4], devices[0]), (x.astype(np.int32), devices[0]), (x, NamedSharding(mesh, P("a"))),
    (x, NamedSharding(mesh, P("b"))), (x, NamedSharding(other, P("a"))), (x, NamedSharding(mesh, P())))]
for _ in range(2):
    jax.clear_caches()
    for argument in arguments:
        for function, plus in ((f, 1), (g, 2)):
            _, result = compilations(function, argument)
            assert result.devices() == argument.devices() and result.dtype == argument.dtype
            np.testing.assert_array_equal(result, np.asarray(argument) * 2 + plus)
    _, result = compilations(f, arguments[4], out_shardings=NamedSharding(mesh, P("b")))
    assert result.sharding.is_equivalent_to(NamedSharding(mesh, P("b")), 2)

# A donated array is deleted; the same program without donation keeps it.
for donate in ((0,), (), (0,)):
    jax.clear_caches()
    argument = jax.device_put(x, devices[1])
    compilations(f, argument, donate_argnums=donate)
    assert argument.is_deleted() == bool(donate)

# A callback calls this process's function, each time the right one.
for number in range(3):
    jax.clear_caches()
    seen = []
    call = lambda a: (seen.append(number), a + number)[1]
    result = jax.jit(lambda a: jax.pure_callback(call, jax.ShapeDtypeStruct(a.shape, a.dtype), a))(x)
    np.testing.assert_array_equal(result, x + number)
    assert seen == [number]

# A program is compiled again if its entry is damaged, or is intact but no program.
for code in (b"damaged", hashlib.sha256(b"no program").digest() + b"no program"):
    for key, _ in known._programs:
        pathlib.Path(sys.argv[1], "weft", "llvmcache-" + key).write_bytes(code)
    known._programs.clear()
    jax.clear_caches()
    number, result = compilations(f, x)
    assert number == 1, number
    np.testing.assert_array_equal(result, expected)
print("all programs are the ones that were meant")
