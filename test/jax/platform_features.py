"""What scripts expect of any platform of JAX, with JAX_PLATFORMS=weft alone.

    JAX_PLATFORMS=weft WEFT_DEVICES=cpu:2 python platform_features.py
"""

import concurrent.futures
import os

os.environ["JAX_PLATFORMS"] = "weft"

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.experimental.compute_on import compute_on
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("d",))
x = np.arange(32, dtype=np.float32).reshape(8, 4)


def refused(function, *words):
    try:
        function()
    except Exception as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError(f"nothing was refused, expected {words}")


def jax_cpu_is_a_second_platform():
    assert jax.default_backend() == "weft" and jax.devices("cpu")[0].platform == "cpu", jax.devices("cpu")
    assert {device.platform for device in jax.devices()} == {"weft"}
    jax.debug.print("outside of jit: {}", jnp.ones(2))
    jax.debug.callback(lambda v: print("called with", type(v).__name__, "on", v.platform()), jnp.ones(2))
    jax.effects_barrier()


def prints_keep_the_order_of_the_program():
    def body(i, value):
        jax.debug.print("x: {}", value)
        jax.debug.print("i: {}", i)
        return value + 1

    jax.jit(lambda: jax.lax.fori_loop(0, 3, body, jnp.float32(2)))()  # unrolled
    jax.effects_barrier()


def tokens_are_none_in_callbacks():
    seen = []
    jax.jit(lambda t, v: jax.debug.callback(lambda *given: seen.append(given), t, v))(jax.lax.create_token(), 3)
    jax.jit(lambda t: jax.debug.print("token: {}", t, ordered=True))(jax.lax.create_token())
    jax.effects_barrier()
    assert [(given[0], int(given[1])) for given in seen] == [(None, 3)], seen


def compiler_options():
    lowered = jax.jit(lambda a: a.sum() + 1).lower(jax.device_put(x, NamedSharding(mesh, P("d"))))
    refused(lambda: lowered.compile({"no_such_option": True}), "No such compile option: 'no_such_option'", "weft_target")
    refused(lambda: lowered.compile({"weft_target": "cpu:avx1024"}), "weft_target: unknown target 'cpu:avx1024'")
    refused(lambda: lowered.compile({"weft_target": 2}), "weft_target is 2; give it a text")
    refused(lambda: lowered.compile({"weft_expect": "all_reduce=0"}), "all_reduce")
    refused(lambda: jax.jit(lambda a: a * 3, compiler_options={"mine": 0.5})(x), "No such compile option: 'mine'")
    for options in ({"weft_target": "native"}, {"weft_expect": "all_gather=0"}, None):
        assert lowered.compile(options)(jax.device_put(x, NamedSharding(mesh, P("d")))) == x.sum() + 1


def memory_kinds():
    device = jax.devices()[0]
    assert [memory.kind for memory in device.addressable_memories()] == ["device", "pinned_host", "unpinned_host"]
    assert device.default_memory().kind == "device"
    for kind in ("pinned_host", "unpinned_host"):
        there = NamedSharding(mesh, P("d"), memory_kind=kind)
        array = jax.device_put(x, there)
        assert array.sharding.memory_kind == kind and (np.asarray(array * 2) == 2 * x).all()
        doubled = jax.jit(lambda a: jax.device_put(a * 2, there), out_shardings=there)(array)
        assert doubled.sharding.memory_kind == kind and doubled.addressable_shards[0].data.sharding.memory_kind == kind
        assert (np.asarray(doubled) == 2 * x).all()
        back = jax.device_put(doubled, NamedSharding(mesh, P("d")))
        assert back.sharding.memory_kind == "device" and (np.asarray(back) == 2 * x).all()

    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["h"], offload_src="device", offload_dst="pinned_host")
    kept = jax.checkpoint(lambda v: jnp.sum(jnp.sin(checkpoint_name(jnp.tanh(v), "h"))), policy=policy)
    plain = jax.grad(lambda v: jnp.sum(jnp.sin(jnp.tanh(v))))(x)
    np.testing.assert_allclose(jax.jit(jax.grad(kept))(x), plain, rtol=1e-5)

    @jax.jit
    def on_the_host(v):
        with compute_on("device_host"):
            v = v * 2
        return v + 1

    assert (np.asarray(on_the_host(x)) == 2 * x + 1).all()
    statistics = device.memory_stats()
    assert statistics["bytes_reservable_limit"] == statistics["bytes_limit"] > 0, statistics


def dlpack():
    for dtype in (np.float32, np.int8, bool, jnp.bfloat16, np.complex64):
        array = jnp.asarray(x > 3 if dtype == bool else x, dtype)
        back = jnp.from_dlpack(array)
        assert back.platform() == "cpu" and back.dtype == array.dtype and (np.asarray(back) == np.asarray(array)).all(), dtype
    taken = np.from_dlpack(jnp.asarray(x))
    assert (taken == x).all() and jnp.asarray(x).__dlpack_device__() == (1, 0)
    refused(lambda: jnp.asarray(x).__dlpack__(copy=False), "copy=False")
    refused(lambda: np.from_dlpack(jax.device_put(x, NamedSharding(mesh, P("d")))), "singular device")


def donations():
    add = jax.jit(lambda a, b: (a + b, a - b), donate_argnums=(0, 1))
    first, second = jnp.asarray(x), jnp.asarray(x) + 1
    assert (np.asarray(add(first, second)[1]) == -1).all() and first.is_deleted() and second.is_deleted()
    array = jnp.asarray(x)
    refused(lambda: add(array, array), "arguments 0 and 1 are one array", "f(donate(a), donate(a))")
    for donated, form in ((0, "f(donate(a), a)"), (1, "f(a, donate(a))")):
        refused(lambda: jax.jit(lambda a, b: a + b, donate_argnums=donated)(array, array), form)
    assert not array.is_deleted()


def costs():
    a, b = np.ones((8, 16), np.float32), np.ones((16, 4), np.float32)
    found = jax.jit(lambda a, b: jnp.exp(a @ b + 1)).lower(a, b).compile().cost_analysis()
    assert found["flops"] == 2 * 8 * 16 * 4 + 8 * 4 and found["transcendentals"] == 8 * 4, found
    rows = NamedSharding(mesh, P("d"))
    found = jax.jit(lambda a, b: a @ b, in_shardings=(rows, None)).lower(a, b).compile().cost_analysis()
    assert found["flops"] == 8 * 16 * 4, found  # of one device


def failures_have_their_own_text():
    """Programs whose callbacks fail in several threads, and on both devices."""
    def fail(value):
        raise ValueError(f"number {int(np.asarray(value).ravel()[0])}")

    called = jax.jit(jax.shard_map(lambda v: jax.pure_callback(fail, jax.ShapeDtypeStruct((4,), np.float32), v), mesh=mesh,
                                   in_specs=P("d"), out_specs=P("d")))

    def run(number):
        for _ in range(10):
            refused(lambda: jax.block_until_ready(called(np.full(8, number, np.float32))), f"ValueError: number {number}")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))


for check in (jax_cpu_is_a_second_platform, prints_keep_the_order_of_the_program, tokens_are_none_in_callbacks, compiler_options, memory_kinds, dlpack, donations,
              costs, failures_have_their_own_text):
    check()
print("all features are there")
