"""The common part of the rows: the mesh, arrays on it, and the two kinds of steps that the rows measure.

A row is a file with EXPECT, the budget of its step (docs/explain.md), and step(), which sets the distribution and
returns a jitted function with its arguments.
"""

import jax
import keras
import numpy as np
from keras.distribution import DeviceMesh, LayoutMap, ModelParallel, TensorLayout, distribute_tensor


def model_parallel(mesh, layouts):
    """Sets the distribution: `mesh` is {"data": 4, "model": 2}, `layouts` {"d1/kernel": ("data", None)}."""
    layout_map = LayoutMap(DeviceMesh(tuple(mesh.values()), tuple(mesh)))
    for path, axes in layouts.items():
        layout_map[path] = axes
    keras.distribution.set_distribution(ModelParallel(layout_map=layout_map, batch_dim_name=next(iter(mesh))))


def layout(*axes):
    return TensorLayout(axes, keras.distribution.distribution().device_mesh)


def noise(shape, *axes):
    """A seeded array on the devices, one axis (or None) for each of its first dimensions."""
    values = np.random.default_rng(len(shape)).standard_normal(shape, dtype="float32")
    return lay(values, *axes)


def lay(values, *axes):
    return distribute_tensor(jax.numpy.asarray(values), layout(*axes, *[None] * (values.ndim - len(axes))))


def loss(model, weights, inputs):
    outputs, _ = model.stateless_call(weights, [], inputs)
    return keras.ops.sum(keras.ops.square(outputs))


def shardings(tree):
    return jax.tree.map(lambda array: array.sharding, tree)


def training(model, optimizer, inputs):
    """A step of the optimizer; each result has the layout of the argument that it replaces."""

    def train(weights, slots, inputs):
        gradients = jax.grad(loss, argnums=1)(model, weights, inputs)
        return optimizer.stateless_apply(slots, gradients, weights)

    optimizer.build(model.trainable_variables)
    variables = [[v.value for v in group] for group in (model.trainable_variables, optimizer.variables)]
    return jax.jit(train, donate_argnums=(0, 1), out_shardings=shardings(tuple(variables))), [*variables, inputs]


def gradients(model, inputs):
    """Gradients of the weights and of the inputs, each with the layout of its value."""

    def both(weights, inputs):
        return jax.grad(loss, argnums=(1, 2))(model, weights, inputs)

    weights = [v.value for v in model.trainable_variables]
    return jax.jit(both, out_shardings=shardings((weights, inputs))), [weights, inputs]
