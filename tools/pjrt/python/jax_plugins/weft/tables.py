"""Private tables of JAX that must contain a platform. Each is checked before it is changed."""

import warnings

ALIASES = ("gpu", "tpu")


def alias(names):
    """WEFT_ALIAS=gpu: jax.devices("gpu") and keras.distribution.list_devices("gpu") return Weft's devices."""
    from jax._src import xla_bridge

    for name in filter(None, names.split(",")):
        if name not in ALIASES:
            raise ValueError(f"Weft: WEFT_ALIAS is {names}; set it to gpu or tpu")
        table = getattr(xla_bridge, "_alias_to_platforms", None)
        if not (isinstance(table, dict) and all(isinstance(value, list) for value in table.values())):
            raise RuntimeError(f"Weft: WEFT_ALIAS={names} needs jax._src.xla_bridge._alias_to_platforms, which has "
                               f"moved in JAX {_version()}; use JAX 0.10 or 0.11, "
                               "or unset it and name no platform in jax.devices()")
        platforms = table.setdefault(name, [])
        if "weft" not in platforms:
            platforms.insert(0, "weft")


def keep_cpu():
    """Makes JAX's CPU a platform beside Weft's, as it is beside GPUs: jax.devices("cpu"), and callbacks, which get arrays on it.
    JAX holds the lock of its table while it creates a client. The default platform is Weft's."""
    from jax._src import xla_bridge

    clients = getattr(xla_bridge, "_backends", None)
    make = getattr(xla_bridge, "_init_backend", None)
    if not isinstance(clients, dict) or not callable(make):
        warnings.warn("Weft: this JAX has no table of clients; set JAX_PLATFORMS=weft,cpu for jax.devices('cpu') and callbacks. "
                      "Weft is tested with JAX 0.10 and 0.11")
    elif "cpu" not in clients:
        clients["cpu"] = make("cpu")


def let_donate():
    """Adds weft to the platforms whose arrays may be donated."""
    from jax._src.interpreters import mlir

    platforms = getattr(mlir, "_platforms_with_donation", None)
    if not isinstance(platforms, list):
        warnings.warn("Weft: this JAX has no list of platforms with donation; donated arrays are copied. "
                      "Weft is tested with JAX 0.10 and 0.11")
    elif "weft" not in platforms:
        platforms.append("weft")


def let_cache():
    """Adds weft to the platforms of JAX's persistent compilation cache (jax_compilation_cache_dir)."""
    from jax._src import compilation_cache

    theirs = getattr(compilation_cache, "is_cache_used", None)
    enabled = getattr(compilation_cache, "is_persistent_cache_enabled", None)
    if not callable(theirs) or not callable(enabled):
        return  # nothing is kept; programs are compiled again

    def is_cache_used(backend):
        return enabled() if backend.platform == "weft" else theirs(backend)

    compilation_cache.is_cache_used = is_cache_used


def _version():
    import jax

    return jax.__version__
