"""Weft as a platform of JAX: found by JAX as a plugin, chosen with JAX_PLATFORMS=weft.

WEFT_DEVICES=cpu:8 gives it eight devices (cpu:1 without it); WEFT_ALIAS=gpu makes them the devices of
jax.devices("gpu"). WEFT_PJRT_LIBRARY names another library than the one of the package weft.

JAX calls `initialize` in every process whose environment has this package. It registers two
functions and nothing more: the library is loaded, and JAX's functions are replaced, when a script
has asked for Weft and JAX creates the client.
"""

import ctypes
import functools
import os

from weft import libraries

from . import tables


def initialize():
    from jax._src import xla_bridge

    # Failures are quiet: if JAX_PLATFORMS is unset JAX tries every platform, and this one declines.
    xla_bridge.register_backend_factory("weft", _create_client, priority=0, fail_quietly=True,
                                        experimental=_is_asked_for(), make_topology=_describe_devices)


def _is_asked_for():
    """Whether the script names weft as a platform, in the environment or by jax.config."""
    from jax._src import config, xla_bridge

    one = getattr(xla_bridge, "_PLATFORM_NAME", None)  # jax_platform_name, which is older than jax_platforms
    names = (config.jax_platforms.value, one.value if one is not None else "")
    return "weft" in ",".join(filter(None, names)).split(",")


def _create_client():
    from jax._src import xla_bridge

    if not _is_asked_for():
        raise RuntimeError("Weft: weft is not among JAX_PLATFORMS; set JAX_PLATFORMS=weft, or weft,cpu")
    _load()
    client = xla_bridge.make_pjrt_c_api_client("weft")
    tables.keep_cpu()
    return client


def _describe_devices(name="", **options):
    """Makes devices without a client, for programs that are compiled ahead of time."""
    from jax._src.lib import xla_client

    return xla_client.make_c_api_device_topology(_load(), name, **options)


@functools.cache
def _load():
    """Loads the library and adapts JAX's tables, once. Returns PJRT's table of functions."""
    from jax._src.lib import _profiler, xla_client

    from . import callbacks, dlpack, known_programs, lapack, lowerings, observations, program_text, versions

    versions.check()
    tables.alias(os.environ.get("WEFT_ALIAS", ""))
    library = _open_library()
    functions = xla_client.load_pjrt_plugin_dynamically("weft", library)
    _profiler.register_plugin_profiler(functions)
    tables.let_donate()
    tables.let_cache()
    lowerings.register()
    callbacks.register(library)
    lapack.register(library)
    observations.register(library)
    known_programs.register(library)
    program_text.register(library)
    dlpack.register()
    return functions


def _open_library():
    """Opens the library before JAX does, so that global symbols of other libraries do not replace its own, such as
    those of TensorFlow's MLIR. Returns its path."""
    library = os.environ.get("WEFT_PJRT_LIBRARY") or str(libraries.plugin())
    if not os.path.exists(library):
        raise RuntimeError(f"Weft: {library} does not exist; install the wheel again, or set WEFT_PJRT_LIBRARY")
    try:
        ctypes.CDLL(library, mode=os.RTLD_LAZY | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
    except OSError as error:
        raise RuntimeError(f"Weft: {library} cannot be loaded: {error}; it needs LLVM's and MLIR's shared libraries, "
                           "version 22.1, from the system: on Debian apt-get install libllvm22 libmlir-22") from None
    return library
