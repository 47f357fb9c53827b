"""TensorFlow's tutorial "Using DTensors with Keras", written for keras.distribution.

    JAX_PLATFORMS=weft WEFT_DEVICES=cpu:8 python examples/jax/dtensor_with_keras.py

A mesh is a DeviceMesh, a layout a TensorLayout, and the training loop the one that Keras has
for JAX: stateless_call, value_and_grad and stateless_apply, the batch put on its devices by
the distribution. MNIST=FILE names other images than those in examples/data.
"""

import os
import pathlib

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np
from keras import distribution

keras.utils.set_random_seed(1337)

# dtensor.create_mesh([("batch", 8)], devices=devices)
devices = distribution.list_devices()
mesh = distribution.DeviceMesh(shape=(8,), axis_names=["batch"], devices=devices)
example_weight_layout = distribution.TensorLayout([None, None], mesh)
example_data_layout = distribution.TensorLayout(["batch", None], mesh)

# dtensor.Layout.replicated for each kernel_layout and bias_layout: DataParallel's weights.
distribution.set_distribution(distribution.DataParallel(device_mesh=mesh))
model = keras.Sequential([
    keras.Input((28, 28)),
    keras.layers.Flatten(),
    keras.layers.Dense(128, activation="relu", name="d1"),
    keras.layers.Dense(10, name="d2"),
])
for weight in model.weights:
    print(f"Weight name: {weight.path} with layout: {weight.value.sharding.spec}")
    break

mnist = np.load(os.environ.get("MNIST", pathlib.Path(__file__).parent.parent / "data" / "mnist24k.npz"))
batch_size = 128


def batches(part):
    """Normalized images and labels; the last batch is as large as the mesh can split evenly."""
    images, labels = mnist[f"x_{part}"].astype("float32") / 255.0, mnist[f"y_{part}"].astype("int32")
    for start in range(0, len(images) - len(images) % 8, batch_size):
        yield images[start : start + batch_size], labels[start : start + batch_size]


optimizer = keras.optimizers.Adam(0.01)
optimizer.build(model.trainable_variables)
metrics = {"accuracy": keras.metrics.SparseCategoricalAccuracy()}
eval_metrics = {"eval_accuracy": keras.metrics.SparseCategoricalAccuracy()}


def compute_loss(trainable, non_trainable, x, y):
    logits, non_trainable = model.stateless_call(trainable, non_trainable, x, training=True)
    # The sum of the batch-sharded per-example losses is a replicated global loss.
    loss = keras.ops.sum(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True))
    return loss, (logits, non_trainable)


@jax.jit
def train_step(state, x, y):
    trainable, non_trainable, optimizer_state, metric_state = state
    (loss, (logits, non_trainable)), gradients = jax.value_and_grad(compute_loss, has_aux=True)(
        trainable, non_trainable, x, y)
    trainable, optimizer_state = optimizer.stateless_apply(optimizer_state, gradients, trainable)
    metric_state = metrics["accuracy"].stateless_update_state(metric_state, y, logits)
    return loss / len(x), (trainable, non_trainable, optimizer_state, metric_state)


@jax.jit
def eval_step(trainable, non_trainable, metric_state, x, y):
    logits, _ = model.stateless_call(trainable, non_trainable, x, training=False)
    loss = keras.ops.sum(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True))
    return loss / len(x), eval_metrics["eval_accuracy"].stateless_update_state(metric_state, y, logits)


def pack(images, labels):
    """dtensor.pack: each device gets its part of the batch."""
    layouts = [distribution.TensorLayout(["batch"] + [None] * (array.ndim - 1), mesh) for array in (images, labels)]
    return [distribution.distribute_tensor(array, layout) for array, layout in zip((images, labels), layouts)]


def values(variables):
    return [variable.value for variable in variables]


num_epochs = 3
state = [values(group) for group in (model.trainable_variables, model.non_trainable_variables, optimizer.variables,
                                     metrics["accuracy"].variables)]
for epoch in range(num_epochs):
    print("============================")
    print("Epoch: ", epoch)
    for metric in metrics.values():
        metric.reset_state()
    state[3] = values(metrics["accuracy"].variables)
    step, results = 0, {}
    progress = keras.utils.Progbar(target=None, stateful_metrics=[], verbose=2)
    for images, labels in batches("train"):
        results["loss"], state = train_step(state, *pack(images, labels))
        state = list(state)
        results["accuracy"] = metrics["accuracy"].stateless_result(state[3])
        progress.update(step, values=[(name, float(value)) for name, value in results.items()], finalize=False)
        step += 1
    eval_metrics["eval_accuracy"].reset_state()
    eval_state = values(eval_metrics["eval_accuracy"].variables)
    for images, labels in batches("test"):
        results["eval_loss"], eval_state = eval_step(state[0], state[1], eval_state, *pack(images, labels))
    results["eval_accuracy"] = eval_metrics["eval_accuracy"].stateless_result(eval_state)
    for name, value in results.items():
        print(f"{name}: {float(value)}")

# Layouts from a global point of view: a subclassed model, a functional and a Sequential one.


class SubclassedModel(keras.Model):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.feature = keras.layers.Dense(16, name="feature")
        self.feature_2 = keras.layers.Dense(24, name="feature_2")
        self.dropout = keras.layers.Dropout(0.1)

    def call(self, inputs, training=None):
        x = self.feature(inputs)
        x = self.dropout(x, training=training)
        return self.feature_2(x)


layout_map = distribution.LayoutMap(mesh)
layout_map["feature.*kernel"] = ("batch", None)  # dtensor.Layout.batch_sharded(mesh, 'batch', rank=2)
layout_map["feature.*bias"] = ("batch",)
distribution.set_distribution(distribution.ModelParallel(layout_map=layout_map, batch_dim_name="batch"))

subclassed_model = SubclassedModel()
subclassed_model(keras.ops.zeros((16, 16)))  # makes the weights
print(subclassed_model.feature.kernel.value.sharding.spec)

inputs = keras.Input((16,), batch_size=16)
x = keras.layers.Dense(16, name="feature")(inputs)
x = keras.layers.Dropout(0.1)(x)
output = keras.layers.Dense(32, name="feature_2")(x)
model = keras.Model(inputs, output)
print(model.layers[1].kernel.value.sharding.spec)

model = keras.Sequential([
    keras.Input((16,)),
    keras.layers.Dense(16, name="feature"),
    keras.layers.Dropout(0.1),
    keras.layers.Dense(32, name="feature_2"),
])
print(model.layers[2].kernel.value.sharding.spec)
print("loss: ", float(keras.ops.sum(model(keras.ops.ones((16, 16))) ** 2)))
