"""jax.debug.inspect_array_sharding and visualize_array_sharding on Weft's devices.

A program requests a value's layout under a name (weft.observe); it is in the compiled program, and the script's
function gets it whenever JAX gets the program: compiled, or found in memory or on disk. A name is a number and the
function's place in the script, so that it is the same in the next process that runs the script.
"""

import ctypes
import itertools
import traceback

import numpy as np
from jax._src import debugging, sharding_impls
from jax._src import mesh as mesh_lib
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.sharding_impls import NamedSharding, PartitionSpec, parse_flatten_op_sharding

_numbers = itertools.count(1)
_functions = {}  # by name, as long as the process lives, as JAX may keep programs
_library = None  # libWeftPjrt.so


def _name(function):
    code = getattr(function, "__code__", None)
    where = f"{code.co_filename}:{code.co_firstlineno}" if code else type(function).__name__
    return f"{next(_numbers)}:{where}"


def _sharding_of_xla(dims, devices, last_is_replicated):
    if not dims:
        return sharding_impls.replicated_hlo_sharding
    sharding = xla_client.OpSharding()
    sharding.type = xla_client.OpSharding.Type.OTHER
    sharding.tile_assignment_dimensions = dims
    sharding.tile_assignment_devices = devices
    sharding.replicate_on_last_tile_dim = last_is_replicated
    return xla_client.HloSharding.from_proto(sharding)


@ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t,
                  ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t, ctypes.c_int)
def _answer(name, dims, dim_count, devices, device_count, last_is_replicated):
    function = _functions.get(name.decode())
    if function is None:
        return  # a program of another process, whose function is not here
    try:
        function(_sharding_of_xla(dims[:dim_count], devices[:device_count], bool(last_is_replicated)))
    except BaseException:  # JAX raises it where the program is compiled
        _library.weft_pjrt_set_failure(traceback.format_exc().encode(errors="backslashreplace"))


def _surroundings(context):
    """The devices, the mesh by whose axes layouts are given, and whether the code is one device's."""
    if isinstance(context, sharding_impls.SPMDAxisContext):
        mesh = context.mesh
        return mesh._flat_devices_tuple, mesh, set(context.manual_axes) >= set(mesh.axis_names)
    if not isinstance(context, sharding_impls.ShardingContext):
        raise NotImplementedError(f"Weft: inspect_array_sharding inside {type(context).__name__}")
    mesh, devices = mesh_lib.thread_resources.env.physical_mesh, context.device_assignment
    if context.abstract_mesh is not None:
        mesh = mesh_lib.Mesh(np.array(devices).reshape(context.abstract_mesh.axis_sizes),
                             context.abstract_mesh.axis_names)
    return devices, mesh, False


def inspect_sharding(ctx, value, *, callback):
    devices, mesh, is_manual = _surroundings(ctx.module_context.axis_context)

    def tell(sharding):
        if mesh.empty:
            return callback(sharding_impls.GSPMDSharding(devices, sharding))
        spec = PartitionSpec() if is_manual else parse_flatten_op_sharding(sharding, mesh)[0]
        return callback(NamedSharding(mesh, spec))

    if len(devices) == 1 or is_manual:  # the layout is known without the compiler
        tell(sharding_impls.replicated_hlo_sharding)
        return []
    name = _name(callback)
    _functions[name] = tell
    mlir.custom_call("weft.observe", result_types=[], operands=[value], has_side_effect=True, backend_config=name,
                     api_version=2)
    return []


def register(library):
    global _library
    _library = ctypes.CDLL(library)
    _library.weft_pjrt_set_failure.restype, _library.weft_pjrt_set_failure.argtypes = None, [ctypes.c_char_p]
    set_observer = _library.weft_pjrt_set_observer
    set_observer.restype, set_observer.argtypes = None, [ctypes.c_void_p]
    set_observer(ctypes.cast(_answer, ctypes.c_void_p))
    mlir.register_lowering(debugging.inspect_sharding_p, inspect_sharding, platform="weft", cacheable=False)
