"""Programs that were compiled before, found without jaxlib.

For each compilation jaxlib writes the program as a portable artifact before it asks a plugin: two thirds of the time
of x + 1 if the plugin has it in memory. Here it is found by a digest of the lowered program, from any line of a script:

    digest of (build and processor, jaxlib, compile options, devices, bytecode)  ->  jaxlib's LoadedExecutable

The programs asked for last stay in memory; on disk they lie among the compiler's entries (CodeCache.h), as jaxlib
serializes them. Several functions of JAX may share an executable: it has no state between runs, and its donated
arguments are part of the program. jaxlib compiles programs that call this process, and all while WEFT_EXPLAIN is set.
"""

import atexit
import collections
import ctypes
import hashlib
import inspect
import io
import os
import threading

PARAMETERS = ["backend", "module", "executable_devices", "options", "host_callbacks"]
MOST = 512
_library = None  # libWeftPjrt.so, which stores the entries


class KnownPrograms:
    """A function that replaces jax._src.compiler.backend_compile_and_load, and calls it for unknown programs."""

    def __init__(self, compile_and_load):
        self._compile = compile_and_load
        self._lock = threading.Lock()
        self._programs = collections.OrderedDict()  # the last requested one last
        atexit.register(self._programs.clear)  # before JAX frees the devices

    def __call__(self, backend, module, executable_devices, options, host_callbacks):
        key = None if host_callbacks else _key(backend, module, executable_devices, options)
        if key is None:
            return self._compile(backend, module, executable_devices, options, host_callbacks)
        with self._lock:
            program = self._programs.get((key, executable_devices))
        if program is None:
            program = _read(key, backend, executable_devices, options)
        if program is None:
            program = self._compile(backend, module, executable_devices, options, host_callbacks)
            _write(key, program)
        with self._lock:
            self._programs[key, executable_devices] = program
            self._programs.move_to_end((key, executable_devices))
            if len(self._programs) > MOST:
                self._programs.popitem(last=False)
        return program


def _key(backend, module, devices, options):
    """The key of a program; None if jaxlib must compile it each time."""
    from jax._src.lib import version_str, xla_client

    has_devices = type(backend) is xla_client.Client  # false for a described topology
    if not has_devices or backend.platform != "weft" or os.environ.get("WEFT_EXPLAIN"):
        return None
    bytecode = _without_places(module)
    if b"weft.host_call" in bytecode or b"weft.observe" in bytecode:
        return None
    digest = hashlib.sha256()
    ids = ",".join(str(device.id) for device in devices)
    for part in (backend.platform_version, version_str, ids):
        digest.update(part.encode() + b"\0")
    for part in (options.SerializeAsString(), bytecode):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _without_places(module):
    from jax._src.lib.mlir import passmanager

    with module.context:
        copy = module.operation.clone()
        passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(copy)
        out = io.BytesIO()
        copy.write_bytecode(file=out)
    return out.getvalue()


def _read(key, backend, devices, options):
    """Reads an entry; None if there is none, or jaxlib cannot read it."""
    from jax.errors import JaxRuntimeError

    size = ctypes.c_size_t()
    memory = _library.weft_pjrt_read_cached(key.encode(), ctypes.byref(size))
    if not memory:
        return None
    entry = ctypes.string_at(memory, size.value)
    _library.weft_pjrt_free_cached(memory)
    try:
        return backend.deserialize_executable(entry, devices, options)
    except JaxRuntimeError:
        return None


def _write(key, program):
    code = program.serialize()
    _library.weft_pjrt_write_cached(key.encode(), code, len(code))


def register(library):
    """Replaces JAX's function; False if JAX has moved it, so jaxlib writes every program."""
    from jax._src import compiler

    global _library
    _library = ctypes.CDLL(library)
    for name, result, arguments in (
            ("read", ctypes.c_void_p, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)]),
            ("free", None, [ctypes.c_void_p]),
            ("write", None, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t])):
        function = getattr(_library, f"weft_pjrt_{name}_cached")
        function.restype, function.argtypes = result, arguments
    theirs = getattr(compiler, "backend_compile_and_load", None)
    if isinstance(theirs, KnownPrograms):
        return True
    if not callable(theirs) or list(inspect.signature(theirs).parameters) != PARAMETERS:
        return False
    compiler.backend_compile_and_load = KnownPrograms(theirs)
    return True
