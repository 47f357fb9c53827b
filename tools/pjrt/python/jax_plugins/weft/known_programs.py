"""Programs that were compiled before, found without jaxlib.

For each compilation jaxlib writes the program as a portable artifact before it asks a plugin: two thirds of the
time that x + 1 takes where the plugin has it in memory. Here it is known by what JAX lowered, wherever in a script:

    digest of (build and processor, jaxlib, compile options, devices, bytecode)  ->  jaxlib's LoadedExecutable

The programs asked for last stay in memory; on disk they lie among the compiler's entries (CodeCache.h), as jaxlib
serializes them. Several functions of JAX may share an executable: it has no state between runs, and what may be
donated is part of the program. jaxlib compiles programs that call this process, and all while WEFT_EXPLAIN is set.
"""

import atexit
import collections
import hashlib
import inspect
import io
import os
import pathlib
import tempfile
import threading

PARAMETERS = ["backend", "module", "executable_devices", "options", "host_callbacks"]
MOST = 512


class KnownPrograms:
    """Stands before jax._src.compiler.backend_compile_and_load."""

    def __init__(self, compile_and_load):
        self._compile = compile_and_load
        self._lock = threading.Lock()
        self._programs = collections.OrderedDict()  # the last one asked for last
        atexit.register(self._programs.clear)  # before JAX lets go of the devices

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
    """None for what jaxlib compiles each time."""
    from jax._src.lib import version_str, xla_client

    has_devices = type(backend) is xla_client.Client  # not a topology that is described only
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


def _file(key):
    cache, home = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    if not cache and not home:
        raise FileNotFoundError("neither XDG_CACHE_HOME nor HOME is set: there is no cache")
    return pathlib.Path(cache or home + "/.cache", "weft", "llvmcache-" + key)


def _read(key, backend, devices, options):
    """None where there is no entry, or one that is damaged."""
    from jax.errors import JaxRuntimeError

    try:
        entry = _file(key).read_bytes()
        if hashlib.sha256(entry[32:]).digest() != entry[:32]:
            return None
        return backend.deserialize_executable(entry[32:], devices, options)
    except (OSError, JaxRuntimeError):
        return None


def _write(key, program):
    """Under another name first: readers never see half of it. A folder that cannot be written is no cache."""
    temporary = None
    code = program.serialize()
    try:
        with tempfile.NamedTemporaryFile(dir=_file(key).parent, suffix=".tmp", delete=False) as file:
            temporary = file.name
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(temporary, _file(key))
    except OSError:
        if temporary:
            os.unlink(temporary)


def register():
    """False where JAX has moved the function: then jaxlib writes every program."""
    from jax._src import compiler

    theirs = getattr(compiler, "backend_compile_and_load", None)
    if isinstance(theirs, KnownPrograms):
        return True
    if not callable(theirs) or list(inspect.signature(theirs).parameters) != PARAMETERS:
        return False
    compiler.backend_compile_and_load = KnownPrograms(theirs)
    return True
