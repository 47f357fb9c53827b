"""The additions of DTensor's vocabulary to Keras, on JAX.

    from weft import dtensor
    from weft.dtensor import keras                          # was: keras = tf.keras
    keras.layers.Dense(10, kernel_layout=dtensor.Layout.replicated(mesh, 2))
    layout_map = keras.dtensor.experimental.LayoutMap(mesh=mesh)
    layout_map["feature.*kernel"] = dtensor.Layout.batch_sharded(mesh, "batch", rank=2)
    with layout_map.scope():
        model = ...                                         # model.layers[1].kernel.layout
    keras.dtensor.experimental.optimizers.Adam(0.01, mesh=mesh)
    keras.metrics.SparseCategoricalAccuracy(mesh=mesh)

Everything else is Keras itself. A weight's name for a LayoutMap is the path of attributes that leads to it
(feature.kernel of model.feature.kernel), or its layer's name and its own.
"""

import contextlib
import contextvars
import functools
import os
import re
import types

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras as _keras
from keras import distribution as _distribution
from keras.src.distribution import distribution_lib as _base  # Keras exports no base class

from . import UNSHARDED, Layout, Mesh, fetch_layout

_scope = contextvars.ContextVar("layout_map", default=None)


class _OneLayout(_base.Distribution):
    """A distribution in whose scope variables have one layout."""

    def __init__(self, layout):
        mesh = layout.mesh.jax_mesh
        names = [f"{device.platform}:{device.id}" for device in mesh.devices.flat]
        super().__init__(_distribution.DeviceMesh(mesh.devices.shape, mesh.axis_names, names))
        self.layout = _distribution.TensorLayout([None if spec == UNSHARDED else spec for spec in layout.sharding_specs], self.device_mesh)

    def get_variable_layout(self, variable):
        return self.layout

    def get_tensor_layout(self, path):
        return None


class LayoutMap(dict):
    """Layouts by regular expressions, tried in order; replicated on the mesh if none matches."""

    def __init__(self, mesh=None):
        super().__init__()
        self.mesh = mesh

    def get_default_mesh(self):
        return self.mesh

    def __setitem__(self, key, layout):
        if key in self:
            raise ValueError(f"the layout map has {key!r} already: {self[key]}")
        if not isinstance(layout, Layout):
            raise ValueError(f"the layout of {key!r} is {layout!r}; it must be a dtensor.Layout")
        super().__setitem__(key, layout)

    def find(self, name, rank):
        """The layout of a weight, or None."""
        for key, layout in self.items():
            if key == name or re.match(key, name):
                if layout.rank != rank:
                    raise ValueError(f"the weight {name!r} has rank {rank}, its layout {layout.sharding_specs} for {key!r} has rank {layout.rank}")
                return layout
        return Layout.replicated(self.mesh, rank) if self.mesh else None

    @contextlib.contextmanager
    def scope(self):
        """A scope in which constructed layers get their weights' layouts from the map."""
        token = _scope.set(self)
        try:
            yield self
        finally:
            _scope.reset(token)


def layout_map_scope(layout_map):
    return layout_map.scope()


def _path(layer):
    """The path `feature` for model.feature; the layer's name if no attribute holds it."""
    holder = layer.__dict__.get("_dtensor_holder")
    if holder is None:
        return layer.name
    parent, attribute = holder
    above = parent.__dict__.get("_dtensor_holder")
    return f"{_path(parent)}.{attribute}" if above else attribute


def _extend_layers():
    """Makes layers take `kernel_layout=` and so on, and remember the scope of their construction."""
    layer = _keras.layers.Layer
    construct, assign, add_weight = layer.__init__, layer.__setattr__, layer.add_weight

    @functools.wraps(construct)
    def constructed(self, *args, **kwargs):
        layouts = {key.removesuffix("_layout"): kwargs.pop(key) for key in list(kwargs) if key.endswith("_layout")}
        object.__setattr__(self, "_dtensor_layouts", layouts)
        object.__setattr__(self, "_dtensor_map", _scope.get())
        construct(self, *args, **kwargs)

    @functools.wraps(assign)
    def assigned(self, name, value):
        assign(self, name, value)
        if isinstance(value, layer) and not name.startswith("_") and "_dtensor_holder" not in value.__dict__:
            object.__setattr__(value, "_dtensor_holder", (self, name))

    @functools.wraps(add_weight)
    def added(self, *args, shape=None, **kwargs):
        name, rank = kwargs.get("name"), len(shape or ())
        layout = self.__dict__.get("_dtensor_layouts", {}).get(name)
        layouts = self.__dict__.get("_dtensor_map")
        if layout is None and layouts is not None:
            layout = layouts.find(f"{_path(self)}.{name}", rank)
        if layout is None:
            return add_weight(self, *args, shape=shape, **kwargs)
        if layout.rank != rank:
            raise ValueError(f"{self.name}.{name} has rank {rank}, its layout {layout.sharding_specs} has rank {layout.rank}")
        one = _OneLayout(layout)
        with one.scope():
            weight = add_weight(self, *args, shape=shape, **kwargs)
        if weight._layout is None:  # Keras sets its value later
            weight._layout = one.layout
        return weight

    layer.__init__, layer.__setattr__, layer.add_weight = constructed, assigned, added
    _keras.Variable.layout = property(lambda self: fetch_layout(self.value))


@contextlib.contextmanager
def _replicated_on(mesh):
    """A scope in which variables have a copy on each device of the mesh."""
    if mesh is None:
        yield
        return
    devices = [f"{device.platform}:{device.id}" for device in mesh.jax_mesh.devices.flat]
    whole = _distribution.DeviceMesh((len(devices),), ["all"], devices)
    with _distribution.DataParallel(device_mesh=whole, auto_shard_dataset=False).scope():
        yield


def _with_mesh(cls):
    """The class with an argument `mesh`, for its variables."""

    def init(self, *args, mesh=None, **kwargs):
        object.__setattr__(self, "_dtensor_mesh", mesh)
        with _replicated_on(mesh):
            cls.__init__(self, *args, **kwargs)

    body = {"__init__": init, "__module__": cls.__module__}
    if hasattr(cls, "build"):
        def build(self, variables):
            with _replicated_on(self._dtensor_mesh):
                cls.build(self, variables)
        body["build"] = build
    return type(cls.__name__, (cls,), body)


class _WithMesh(types.ModuleType):
    """A module of Keras whose classes take a mesh."""

    def __init__(self, module, base):
        super().__init__(module.__name__)
        self._module, self._base, self._made = module, base, {}

    def __getattr__(self, name):
        value = getattr(self._module, name)
        if not isinstance(value, type) or not issubclass(value, self._base):
            return value
        return self._made.setdefault(name, _with_mesh(value))


_extend_layers()
metrics = _WithMesh(_keras.metrics, _keras.metrics.Metric)
dtensor = types.SimpleNamespace(experimental=types.SimpleNamespace(
    LayoutMap=LayoutMap, layout_map_scope=layout_map_scope, optimizers=_WithMesh(_keras.optimizers, _keras.optimizers.Optimizer)))


def __getattr__(name):
    return getattr(_keras, name)
