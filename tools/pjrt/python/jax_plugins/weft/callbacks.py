"""pure_callback, io_callback, debug.callback and debug.print on Weft's devices.

A program calls functions of the script by number (weft.host_call), once for all devices and with
whole values, in the order in which they stand in the program; inside shard_map each device calls with its own shard. Where JAX
has CPU devices as well (JAX_PLATFORMS=weft,cpu) functions get arrays there, as on other platforms, else NumPy's.
"""

import atexit
import ctypes
import itertools
import traceback

import numpy as np
from jax._src import callback as jax_callback
from jax._src import config, core, debugging, dispatch, xla_bridge
from jax._src.interpreters import mlir

from . import lowerings

_numbers = itertools.count(1)
_functions = {}  # by number, as long as the process lives, as JAX may keep programs
_library = None  # libWeftPjrt.so


class _Function:
    """One callback with the types of its arguments and results."""

    def __init__(self, call, operands, results):
        self.call, self.operands, self.results = call, operands, results
        self.number = next(_numbers)
        _functions[self.number] = self

    def run(self, operands, results):
        arrays = [None if aval is core.abstract_token else _array(at, aval).copy()
                  for at, aval in zip(operands, self.operands)]
        values = [np.asarray(value) for value in _on_host(self.call, arrays)]
        if len(values) != len(self.results):
            raise RuntimeError(f"it gives {len(values)} results, expected {len(self.results)}")
        for at, aval, value in zip(results, self.results, values):
            if value.shape != aval.shape or config.enable_x64.value and value.dtype != aval.dtype:
                raise RuntimeError(f"it gives {value.dtype}{list(value.shape)}, expected {aval.dtype}{list(aval.shape)}")
            _array(at, aval)[...] = value.astype(aval.dtype)


def _array(address, aval):
    """The array of a type at an address."""
    dtype = np.dtype(aval.dtype)
    size = int(np.prod(aval.shape)) * dtype.itemsize
    if not size:
        return np.zeros(aval.shape, dtype)
    memory = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(memory, dtype=dtype).reshape(aval.shape)


def _on_host(call, arrays):
    from jax._src import api

    try:
        device = xla_bridge.local_devices(backend="cpu")[0]
    except RuntimeError:
        return call(*arrays)
    with config.default_device(device):
        return call(*api.device_put(arrays, device))


@ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t,
                  ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t)
def _answer(number, operands, operand_count, results, result_count):
    try:
        function = _functions.get(number)
        if function is None:
            raise RuntimeError(f"function {number} is gone; compile the program in this process")
        function.run(operands[:operand_count], results[:result_count])
    except BaseException:  # JAX raises it when the program's results are needed
        _library.weft_pjrt_set_failure(traceback.format_exc().encode(errors="backslashreplace"))


def _emit(ctx, operands, call, ordered_effect=None):
    lowerings.refuse_in_files(ctx)
    function = _Function(call, ctx.avals_in, ctx.avals_out)
    types = [mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out]
    op = mlir.custom_call("weft.host_call", result_types=types, operands=operands, has_side_effect=True,
                          backend_config=str(function.number), api_version=2)
    if ordered_effect is not None:  # calls keep their order without the token
        ctx.set_tokens_out(ctx.tokens_in)
    return op.results


def pure_callback(ctx, *operands, callback, **_):
    return _emit(ctx, operands, callback)


def io_callback(ctx, *operands, callback, ordered, **_):
    return _emit(ctx, operands, callback, ordered or None)


def debug_callback(ctx, *operands, effect, callback, **_):
    def call(*arrays):
        callback(*arrays)
        return ()

    ordered = debugging.effects.ordered_effects.contains(effect)
    return _emit(ctx, operands, call, ordered or None)


def debug_print(ctx, *operands, fmt, ordered, in_tree, static_args, np_printoptions, has_placeholders, logging_record,
                **_):
    from functools import partial

    show = partial(debugging._format_print_callback, fmt, dict(np_printoptions), has_placeholders, logging_record)
    effect = debugging.ordered_debug_effect if ordered else debugging.debug_effect
    return debug_callback(ctx, *operands, effect=effect,
                          callback=debugging._make_flat_callback(in_tree, show, static_args))


def _end_calls():
    """Waits for programs with effects, as JAX does, and for the calls that have begun. Programs that are still running then
    fail at their next call, as no thread may call the interpreter while it ends."""
    try:
        dispatch.runtime_tokens.block_until_ready()
    except Exception:
        pass  # JAX waits again, and reports it
    _library.weft_pjrt_end_host_calls()


def register(library):
    """Lowers JAX's primitives to calls of the host, and registers the function that answers them."""
    global _library
    _library = ctypes.CDLL(library)
    _library.weft_pjrt_set_failure.restype, _library.weft_pjrt_set_failure.argtypes = None, [ctypes.c_char_p]
    set_host = _library.weft_pjrt_set_host
    set_host.restype, set_host.argtypes = None, [ctypes.c_void_p]
    set_host(ctypes.cast(_answer, ctypes.c_void_p))
    atexit.register(_end_calls)
    for primitive, rule in ((jax_callback.pure_callback_p, pure_callback), (jax_callback.io_callback_p, io_callback),
                            (debugging.debug_callback_p, debug_callback), (debugging.debug_print_p, debug_print)):
        mlir.register_lowering(primitive, rule, platform="weft", cacheable=False)
