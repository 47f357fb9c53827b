"""DTensor's vocabulary on JAX: meshes, layouts, and arrays with them.

    from weft import dtensor                                # was: from tensorflow.experimental import dtensor
    mesh = dtensor.create_mesh([("batch", 8)], devices=[f"CPU:{i}" for i in range(8)])
    layout = dtensor.Layout.batch_sharded(mesh, "batch", rank=2)
    images = dtensor.pack(numpy.split(images, mesh.num_local_devices()), layout)   # a jax.Array
    parts = dtensor.unpack(images)
    whole = dtensor.relayout(images, dtensor.Layout.replicated(mesh, rank=2))

Devices are those of JAX's platform, with JAX_PLATFORMS=weft Weft's. weft.dtensor.keras has the vocabulary's
additions to Keras: layouts of layers, LayoutMap, and optimizers and metrics with a mesh.
"""

import jax
import numpy
from jax.sharding import NamedSharding, PartitionSpec

UNSHARDED = "unsharded"


class Mesh:
    """Devices in a grid of named dimensions."""

    def __init__(self, dim_names, devices):
        self.jax_mesh = jax.sharding.Mesh(devices, tuple(dim_names))

    @property
    def dim_names(self):
        return list(self.jax_mesh.axis_names)

    @property
    def size(self):
        return self.jax_mesh.size

    def shape(self):
        return list(self.jax_mesh.devices.shape)

    def dim_size(self, name):
        if name not in self.jax_mesh.shape:
            raise ValueError(f"the mesh has no dimension {name!r}; its dimensions are {self.dim_names}")
        return self.jax_mesh.shape[name]

    def local_devices(self):
        return list(self.jax_mesh.local_devices)

    def num_local_devices(self):
        return len(self.local_devices())

    def __eq__(self, other):
        return isinstance(other, Mesh) and self.jax_mesh == other.jax_mesh

    def __hash__(self):
        return hash(self.jax_mesh)

    def __repr__(self):
        return f"Mesh({', '.join(f'{name}={size}' for name, size in self.jax_mesh.shape.items())})"


class Layout:
    """A layout: for each dimension of a tensor the mesh's dimension over which it is split, or UNSHARDED."""

    def __init__(self, sharding_specs, mesh):
        used = [spec for spec in sharding_specs if spec != UNSHARDED]
        for spec in used:
            mesh.dim_size(spec)
            if used.count(spec) > 1:
                raise ValueError(f"the layout {sharding_specs} splits two dimensions over {spec!r}; a dimension of the mesh splits one")
        self.sharding_specs, self.mesh = list(sharding_specs), mesh

    @classmethod
    def replicated(cls, mesh, rank):
        return cls([UNSHARDED] * rank, mesh)

    @classmethod
    def batch_sharded(cls, mesh, batch_dim, rank, axis=0):
        if not -rank <= axis < rank:
            raise ValueError(f"axis is {axis}; a tensor of rank {rank} has axes 0 to {rank - 1}")
        specs = [UNSHARDED] * rank
        specs[axis] = batch_dim
        return cls(specs, mesh)

    inner_sharded = classmethod(lambda cls, mesh, inner_dim, rank: cls.batch_sharded(mesh, inner_dim, rank, axis=-1))

    @property
    def rank(self):
        return len(self.sharding_specs)

    @property
    def sharding(self):
        """The layout as JAX's sharding."""
        return NamedSharding(self.mesh.jax_mesh, PartitionSpec(*[None if spec == UNSHARDED else spec for spec in self.sharding_specs]))

    def num_shards(self, dim):
        spec = self.sharding_specs[dim]
        return 1 if spec == UNSHARDED else self.mesh.dim_size(spec)

    def is_fully_replicated(self):
        return all(self.num_shards(dim) == 1 for dim in range(self.rank))

    def __eq__(self, other):
        return isinstance(other, Layout) and (self.sharding_specs, self.mesh) == (other.sharding_specs, other.mesh)

    def __hash__(self):
        return hash((tuple(self.sharding_specs), self.mesh))

    def __repr__(self):
        return f"Layout({self.sharding_specs}, {self.mesh})"


def _devices(names):
    """JAX's devices by names as CPU:3; the number counts them."""
    found, numbers = jax.devices(), []
    for name in names:
        number = str(name).rpartition(":")[2]
        if not number.isdecimal() or int(number) >= len(found):
            raise ValueError(f"device {name!r} is not there; JAX's platform has {len(found)} devices, 'CPU:0' to 'CPU:{len(found) - 1}'")
        numbers.append(int(number))
    return [found[number] for number in numbers]


def create_mesh(mesh_dims, devices=None, device_type=None):
    """A mesh of [(name, size), ...] over the named devices, or all."""
    if not all(isinstance(dim, (tuple, list)) for dim in mesh_dims):
        mesh_dims = [(name, -1) for name in mesh_dims]
    names, sizes = zip(*mesh_dims)
    chosen = jax.devices() if devices is None else _devices(devices)
    try:
        grid = numpy.array(chosen, dtype=object).reshape(sizes)
    except ValueError:
        raise ValueError(f"the mesh {list(mesh_dims)} does not fit {len(chosen)} devices; name as many as it has places") from None
    return Mesh(names, grid)


create_distributed_mesh = create_mesh


def _fits(value, layout):
    if value.ndim != layout.rank:
        raise ValueError(f"a tensor of shape {value.shape} has rank {value.ndim}, the layout {layout.sharding_specs} has rank {layout.rank}")


def pack(tensors, layout):
    """Joins the parts of each device of the mesh to one array; dimensions that are not split are complete in each
    part."""
    parts, places = [numpy.asarray(tensor) for tensor in tensors], layout.mesh.local_devices()
    if len(parts) != len(places):
        raise ValueError(f"{len(parts)} tensors are packed on {len(places)} devices; give one for each")
    for part in parts:
        _fits(part, layout)
        if part.shape != parts[0].shape:
            raise ValueError(f"the parts have shapes {parts[0].shape} and {part.shape}; all devices have parts of one shape")
    shape = tuple(size * layout.num_shards(dim) for dim, size in enumerate(parts[0].shape))
    placed = [jax.device_put(part, place) for part, place in zip(parts, places)]
    return jax.make_array_from_single_device_arrays(shape, layout.sharding, placed)


def unpack(array):
    """The shard of each device, in the order of the mesh."""
    order = {device: i for i, device in enumerate(fetch_layout(array).mesh.local_devices())}
    return [shard.data for shard in sorted(array.addressable_shards, key=lambda shard: order[shard.device])]


def fetch_layout(array):
    """The layout of an array that this module, or JAX with a named mesh, has made."""
    sharding = getattr(array, "sharding", None)
    if not isinstance(sharding, NamedSharding):
        raise ValueError(f"an array of {type(array).__name__} lies on no mesh; put it there with copy_to_mesh")
    mesh = Mesh(sharding.mesh.axis_names, sharding.mesh.devices)
    spec = list(sharding.spec) + [None] * (array.ndim - len(sharding.spec))
    single = [entry[0] if isinstance(entry, tuple) and len(entry) == 1 else entry for entry in spec]
    return Layout([UNSHARDED if entry is None else entry for entry in single], mesh)


def copy_to_mesh(tensor, layout):
    """Copies the tensor, or its parts, to the devices of a mesh."""
    value = jax.numpy.asarray(tensor)
    _fits(value, layout)
    return jax.device_put(value, layout.sharding)


def relayout(array, layout):
    """Moves the same elements to another layout; also in a function that JAX traces."""
    _fits(array, layout)
    if isinstance(array, jax.core.Tracer):
        return jax.lax.with_sharding_constraint(array, layout.sharding)
    return jax.device_put(array, layout.sharding)


def call_with_layout(function, layout, *args, **kwargs):
    """Calls the function so that its result is made with the layout: no device has more than its part."""
    return jax.jit(lambda: function(*args, **kwargs), out_shardings=None if layout is None else layout.sharding)()


def num_local_devices(device_type=None):
    return jax.local_device_count()


def num_global_devices(device_type=None):
    return jax.device_count()


def local_devices(device_type=None):
    return jax.local_devices()


def num_clients():
    return jax.process_count()


def client_id():
    return jax.process_index()


def initialize_accelerator_system(device_type=None, **options):
    """Checks that the platform has devices, and returns its name."""
    return device_type or jax.devices()[0].platform


initialize_multi_client = initialize_accelerator_system
