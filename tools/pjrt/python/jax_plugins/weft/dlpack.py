"""Arrays on Weft's devices for other libraries: np.from_dlpack(x), torch.from_dlpack(x).

jaxlib packs memory of its own CPU and of GPUs only. So the array is copied to JAX's CPU, which packs the copy: what the other
library writes does not change the array.
"""


def _on_cpu(array):
    from jax._src import api, xla_bridge

    return api.device_put(array, xla_bridge.local_devices(backend="cpu")[0])


def _is_ours(array):
    return array.platform() == "weft" and len(array.sharding.device_set) == 1  # JAX refuses arrays on several devices


def register():
    """Replaces two methods of JAX's arrays, for arrays on one of Weft's devices."""
    from jax._src.array import ArrayImpl
    from jax._src.dlpack import DLDeviceType

    pack, place = ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__

    def __dlpack__(self, *, copy=None, **options):
        if not _is_ours(self):
            return pack(self, copy=copy, **options)
        if copy is not None and not copy:
            raise BufferError("Weft: an array is copied for DLPack; leave copy=False out")
        return pack(_on_cpu(self), **options)

    def __dlpack_device__(self):
        return (DLDeviceType.kDLCPU, 0) if _is_ours(self) else place(self)

    ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__ = __dlpack__, __dlpack_device__
