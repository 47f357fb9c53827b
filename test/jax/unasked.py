"""Prints whether Weft is loaded in a JAX process that has the wheel installed, and whether it has replaced functions of JAX.

    unasked.py            JAX_PLATFORMS is not changed
    unasked.py cpu        jax.config asks for JAX's CPU
    unasked.py alone      JAX_PLATFORMS asks for Weft
    unasked.py beside     JAX_PLATFORMS asks for Weft and for JAX's CPU
    unasked.py config     jax.config asks for Weft
    unasked.py name       jax.config asks for Weft by another option
    unasked.py late       jax.config asks for Weft after JAX's CPU was used
    unasked.py named      the platform is named, but not asked for
"""

import os
import sys

way = sys.argv[1] if len(sys.argv) > 1 else ""
if way in ("alone", "beside"):
    os.environ["JAX_PLATFORMS"] = {"alone": "weft", "beside": "weft,cpu"}[way]

import jax
import jax.extend
from jax._src import compiler, xla_bridge
from jax._src.interpreters import mlir

if way in ("cpu", "config"):
    jax.config.update("jax_platforms", {"cpu": "cpu", "config": "weft"}[way])
if way == "name":
    jax.config.update("jax_platform_name", "weft")
if way == "late":
    print("before:", jax.devices())
    jax.extend.backend.clear_backends()
    jax.config.update("jax_platforms", "weft")
if way == "named":
    jax.devices("weft")
print("sum", jax.jit(lambda x: x + 1)(jax.numpy.ones(3)).sum(), "on", jax.default_backend())
with open("/proc/self/maps") as file:
    mapped = file.read()
print("mapped:", [name for name in ("libWeftPjrt", "libWeftRuntime", "libMLIR", "libLLVM") if name in mapped])
print("compiles with", compiler.backend_compile_and_load.__module__)
print("weft may donate:", "weft" in mlir._platforms_with_donation)
print("platforms:", ", ".join(sorted(xla_bridge.backends())))
