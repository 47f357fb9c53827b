"""The versions of JAX whose private tables this package knows (tables.py, callbacks.py, known_programs.py)."""

SERIES = ("0.10", "0.11")


def check():
    """Refuses an untested version of JAX, by name and version, before anything of it is changed."""
    import jax

    if ".".join(jax.__version__.split(".")[:2]) not in SERIES:
        newest = SERIES[-1].split(".")
        raise RuntimeError(f"Weft: JAX {jax.__version__} is installed, Weft works with JAX {' and '.join(SERIES)}; "
                           f"pip install 'jax>={SERIES[0]},<{newest[0]}.{int(newest[1]) + 1}'")
