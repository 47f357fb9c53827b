"""The private tables and functions of JAX that the plugin changes: each is there, is changed when Weft is asked for, and works.

    WEFT_ALIAS=gpu python private_tables.py

A JAX that has moved one of them fails here by its name; the plugin itself does without some of them, and says so for others.
"""

import importlib
import os
import tempfile

os.environ["JAX_PLATFORMS"] = "weft,cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import callback, compilation_cache, compiler, debugging, stages, xla_bridge
from jax._src.custom_partitioning import custom_partitioning_p
from jax._src.interpreters import mlir
from jax._src.lax import linalg, parallel
from jax_plugins.weft import known_programs, lapack, lowerings

BEFORE = {"as_text": stages.Executable.as_text, "is_cache_used": compilation_cache.is_cache_used,
          "compile": compiler.backend_compile_and_load}
assert "weft" not in mlir._platforms_with_donation and not mlir._platform_specific_lowerings["weft"]
weft, cpu = jax.devices("weft")[0], jax.devices("cpu")[0]


def aliases():
    assert xla_bridge._alias_to_platforms["gpu"][0] == "weft"
    assert jax.devices("gpu") == jax.devices("weft")


def donation():
    assert "weft" in mlir._platforms_with_donation
    given = jax.device_put(jnp.ones(1000), weft)
    jax.jit(lambda x: x + 1, donate_argnums=0)(given)
    assert given.is_deleted()


def cache():
    assert compilation_cache.is_cache_used.__module__ == "jax_plugins.weft.tables"
    assert compilation_cache.is_cache_used(cpu.client) == BEFORE["is_cache_used"](cpu.client)
    assert not compilation_cache.is_cache_used(weft.client)  # no folder is set yet
    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_compilation_cache_dir", folder)
        assert compilation_cache.is_cache_used(weft.client)
        jax.config.update("jax_compilation_cache_dir", None)


def compiled_programs():
    assert isinstance(compiler.backend_compile_and_load, known_programs.KnownPrograms)
    assert compiler.backend_compile_and_load._compile is BEFORE["compile"]


def program_text():
    assert stages.Executable.as_text.__module__ == "jax_plugins.weft.program_text"
    for device in (weft, cpu):
        compiled = jax.jit(lambda x: jnp.sin(x) @ x).lower(jax.device_put(jnp.ones((4, 4)), device)).compile()
        assert "ENTRY" in compiled.as_text(), device
    assert compiled.as_text() == BEFORE["as_text"](compiled._executable)


def rules():
    ours = mlir._platform_specific_lowerings["weft"]
    wanted = [callback.pure_callback_p, callback.io_callback_p, debugging.debug_callback_p, debugging.debug_print_p,
              debugging.inspect_sharding_p, custom_partitioning_p, linalg.cholesky_p]
    wanted += [getattr(importlib.import_module("jax._src." + row[0]), name) for name, row in lowerings.FUNCTIONS.items()]
    wanted += [primitive for primitive, _ in lowerings._programs_of_jax()]
    wanted += [primitive for primitive, _ in lapack.rules_of_jax()]
    wanted += [getattr(parallel, name) for name in lowerings.BROADCASTS if hasattr(parallel, name)]
    missing = [primitive.name for primitive in wanted if primitive not in ours]
    assert not missing, f"no rules for {missing}"
    assert linalg.lu_p in ours and set(wanted) == set(ours), f"{len(ours)} rules, of which {len(set(wanted))} were expected"


def rules_give_jax_figures():
    matrix = np.cov(np.random.default_rng(1).normal(size=(6, 20))).astype(np.float32)
    for function in (jnp.linalg.cholesky, jnp.linalg.qr, jnp.linalg.eigvalsh, jnp.linalg.det):
        found, wanted = (jax.tree.leaves(jax.jit(function)(jax.device_put(matrix, device))) for device in (weft, cpu))
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(np.abs(one), np.abs(other), rtol=2e-4, atol=2e-4)


for check in (aliases, donation, cache, compiled_programs, program_text, rules, rules_give_jax_figures):
    check()
    print(check.__name__)
