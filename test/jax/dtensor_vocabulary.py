"""Runs the calls of TensorFlow's tutorial "Using DTensors with Keras" through weft.dtensor; compares with NumPy
and with Keras without a mesh.

    JAX_PLATFORMS=weft WEFT_DEVICES=cpu:8 python dtensor_vocabulary.py
"""

import jax
import numpy as np

from weft import dtensor
from weft.dtensor import keras


def refused(call, *words):
    try:
        call()
    except ValueError as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError(f"accepted; expected a refusal with {words}")


keras.utils.set_random_seed(1337)
dtensor.initialize_accelerator_system("CPU")
mesh = dtensor.create_mesh([("batch", 8)], devices=[f"CPU:{i}" for i in range(8)])
assert (mesh.dim_names, mesh.shape(), mesh.num_local_devices(), dtensor.num_local_devices("CPU")) == (["batch"], [8], 8, 8)
replicated, sharded = dtensor.Layout.replicated(mesh, rank=2), dtensor.Layout.batch_sharded(mesh, "batch", rank=2)
assert dtensor.Layout([dtensor.UNSHARDED, dtensor.UNSHARDED], mesh) == replicated
assert dtensor.Layout(["batch", dtensor.UNSHARDED], mesh) == sharded != replicated

# pack, unpack, relayout, copy_to_mesh, call_with_layout: elements stay equal, their devices change.
whole = np.arange(16 * 6, dtype="float32").reshape(16, 6)
packed = dtensor.pack(np.split(whole, 8), sharded)
np.testing.assert_array_equal(np.asarray(packed), whole)
assert dtensor.fetch_layout(packed) == sharded
np.testing.assert_array_equal(np.concatenate(dtensor.unpack(packed)), whole)
copies = dtensor.relayout(packed, replicated)
assert all((np.asarray(part) == whole).all() for part in dtensor.unpack(copies)) and len(dtensor.unpack(copies)) == 8
np.testing.assert_array_equal(np.asarray(dtensor.copy_to_mesh(whole, layout=sharded)), whole)
made = dtensor.call_with_layout(jax.numpy.zeros, sharded, (16, 3))
assert dtensor.fetch_layout(made) == sharded and dtensor.unpack(made)[0].shape == (2, 3)
refused(lambda: dtensor.pack(np.split(whole, 4), sharded), "4 tensors", "8 devices")
refused(lambda: dtensor.copy_to_mesh(whole, dtensor.Layout.replicated(mesh, 1)), "rank 2", "rank 1")
refused(lambda: dtensor.create_mesh([("batch", 3)]), "8 devices")
refused(lambda: dtensor.Layout(["model"], mesh), "'model'", "batch")


def build(**layouts):
    keras.utils.set_random_seed(1337)
    return keras.models.Sequential([
        keras.layers.Flatten(input_shape=(6, 6)),
        keras.layers.Dense(16, activation="relu", name="d1", **layouts),
        keras.layers.Dense(10, name="d2", **layouts)])


def train(model, optimizer, metric, put):
    """Trains by the tutorial's loop, whose loss is a sum over the whole batch; returns the figures of each step."""
    def compute_loss(trainable, fixed, x, y):
        logits, fixed = model.stateless_call(trainable, fixed, x, training=True)
        return keras.ops.sum(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)), logits

    @jax.jit
    def train_step(trainable, fixed, slots, seen, x, y):
        (loss, logits), gradients = jax.value_and_grad(compute_loss, has_aux=True)(trainable, fixed, x, y)
        trainable, slots = optimizer.stateless_apply(slots, gradients, trainable)
        return loss / len(x), trainable, slots, metric.stateless_update_state(seen, y, logits)

    optimizer.build(model.trainable_variables)
    trainable, fixed, slots, seen = ([v.value for v in group] for group in (
        model.trainable_variables, model.non_trainable_variables, optimizer.variables, metric.variables))
    random, figures = np.random.RandomState(0), []
    for _ in range(3):
        x, y = random.normal(size=(32, 6, 6)).astype("float32"), random.randint(0, 10, 32).astype("int32")
        loss, trainable, slots, seen = train_step(trainable, fixed, slots, seen, *put(x, y))
        figures.append([float(loss), float(metric.stateless_result(seen))])
    return np.array(figures)


image_layout, label_layout = dtensor.Layout.batch_sharded(mesh, "batch", rank=3), dtensor.Layout.batch_sharded(mesh, "batch", rank=1)
model = build(kernel_layout=replicated, bias_layout=dtensor.Layout.replicated(mesh, 1))
assert model.weights[0].layout == replicated, model.weights[0].layout
figures = train(model, keras.dtensor.experimental.optimizers.Adam(0.01, mesh=mesh), keras.metrics.SparseCategoricalAccuracy(mesh=mesh),
                lambda x, y: (dtensor.pack(np.split(x, 8), image_layout), dtensor.pack(np.split(y, 8), label_layout)))
plain = train(build(), keras.optimizers.Adam(0.01), keras.metrics.SparseCategoricalAccuracy(), lambda x, y: (x, y))
np.testing.assert_allclose(figures, plain, rtol=2e-5)


class SubclassedModel(keras.Model):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.feature = keras.layers.Dense(16)
        self.feature_2 = keras.layers.Dense(24)
        self.dropout = keras.layers.Dropout(0.1)

    def call(self, inputs, training=None):
        return self.feature_2(self.dropout(self.feature(inputs), training=training))


layout_map = keras.dtensor.experimental.LayoutMap(mesh=mesh)
layout_map["feature.*kernel"] = sharded
layout_map["feature.*bias"] = dtensor.Layout.batch_sharded(mesh, "batch", rank=1)
with layout_map.scope():
    subclassed = SubclassedModel()
    inputs = keras.Input((16,), batch_size=16)
    x = keras.layers.Dense(16, name="feature")(inputs)
    functional = keras.Model(inputs, keras.layers.Dense(32, name="feature_2")(keras.layers.Dropout(0.1)(x)))
    sequential = keras.Sequential([keras.Input((16,)), keras.layers.Dense(16, name="feature"), keras.layers.Dense(3, name="other")])
subclassed(dtensor.copy_to_mesh(np.zeros((16, 16), "float32"), layout=replicated))  # the first call makes the weights
assert subclassed.feature.kernel.layout == subclassed.feature_2.kernel.layout == sharded
assert functional.layers[1].kernel.layout == sequential.layers[0].kernel.layout == sharded
assert sequential.layers[1].kernel.layout == replicated  # no rule fits: replicated on the map's mesh
print("all as expected")
