"""compiled.as_text(): each device's program and the collectives that run, in XLA's syntax.

jaxlib would print the module from which JAX reads shardings (HloSkeleton.h), a dozen times a program: that has no
instructions. The library makes this text on request, from the program that JAX passed to it.
"""

import ctypes


def _ask(library):
    """The text of an executable's program, by its fingerprint."""
    ask = library.weft_pjrt_hlo_text
    ask.restype, ask.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_int)]
    free = library.weft_pjrt_free
    free.restype, free.argtypes = None, [ctypes.c_void_p]

    def text_of(fingerprint):
        size, failed = ctypes.c_size_t(), ctypes.c_int()
        text = ask(fingerprint, ctypes.byref(size), ctypes.byref(failed))
        if not text:
            return None
        try:
            found = ctypes.string_at(text, size.value).decode()
        finally:
            free(text)
        if failed.value:
            raise RuntimeError(f"Weft: no text of the program can be made: {found}")
        return found

    return text_of


def register(library):
    """Replaces jax._src.stages.Executable.as_text for programs on Weft's devices."""
    from jax._src import stages
    from jax._src.lib import xla_client

    theirs = getattr(getattr(stages, "Executable", None), "as_text", None)
    if not callable(theirs):
        return  # in another JAX the text has no instructions
    text_of = _ask(ctypes.CDLL(library))

    def as_text(self):
        executable = self.xla_extension_executable()
        loaded = isinstance(executable, xla_client.LoadedExecutable)
        text = text_of(executable.fingerprint) if loaded and executable.client.platform == "weft" else None
        return theirs(self) if text is None else text

    stages.Executable.as_text = as_text
