"""Checks that weft.compile of a Keras model and weft.Model give Keras' own predictions, for any number of samples.

    models.py SCRATCH
"""

import os
import pathlib
import signal
import sys

os.environ["KERAS_BACKEND"], os.environ["JAX_PLATFORMS"] = "jax", "cpu"
import keras
import numpy as np
import weft
import weft.command
from refusals import compare, refused, refused_by_weft
from weft import abi, programs, serving

scratch = pathlib.Path(sys.argv[1])
scratch.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(3)
image, mark = keras.Input((6, 6, 1), name="image"), keras.Input((2,), name="mark")
x = keras.layers.Flatten()(keras.layers.Conv2D(3, 3, activation="relu")(image))
x = keras.layers.Dense(8, activation="tanh")(keras.layers.Concatenate()([x, mark]))
x = keras.layers.BatchNormalization()(keras.layers.Dropout(0.5)(x))
two = keras.Model([image, mark], [keras.layers.Dense(4, name="kind")(x), keras.layers.Dense(1, name="price")(x)])
one = keras.Sequential([keras.Input((5,)), keras.layers.Dense(7, activation="relu"), keras.layers.Dense(3)])
random = np.random.default_rng(1)
samples = 13

x = random.normal(size=(samples, 5)).astype("float32")
wanted = np.asarray(one.predict(x, verbose=0))
for sizes in ([1, 4, 8], [4, 8], 32):  # 13 samples take the sizes 8 + 4 + 1; 8 + 4 + a padded 4; one padded 32
    model = weft.compile(one, batch_size=sizes)
    assert model.batch_sizes == tuple(sizes if isinstance(sizes, list) else [sizes])
    np.testing.assert_allclose(model.predict(x), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.predict(x[:1]), wanted[:1], rtol=1e-5, atol=1e-6)
np.testing.assert_allclose(model.predict(x.astype("float64")), wanted, rtol=1e-5, atol=1e-6)
refused(["(13, 4)", "(samples, 5)"], model.predict, x[:, :4])
refused(["at least one sample"], model.predict, x[:0])

inputs = {"image": random.normal(size=(samples, 6, 6, 1)).astype("float32"), "mark": random.normal(size=(samples, 2)).astype("float32")}
two.save(scratch / "two.keras")
weft.compile(two, batch_size=[2, 8], out=scratch / "two.weft")
model = weft.Model(scratch / "two.weft", weights=scratch / "two.keras")
names = [port.name for port in model.inputs]
results = model.predict(dict(zip(names, inputs.values())))
for (name, values), reference in zip(results.items(), two.predict(inputs, verbose=0), strict=True):
    np.testing.assert_allclose(values, reference, rtol=1e-5, atol=1e-5, err_msg=name)
# The C interface takes no NULL.
library, take = serving._library(), programs.pointers
inside = [take([1, 1]), take([1, None]), take([1] * len(model.outputs)), take([None] * len(model.outputs))]
for handle, given, outputs in ((None, inside[0], inside[2]), (model._model, None, inside[2]), (model._model, inside[0], None),
                               (model._model, inside[1], inside[2]), (model._model, inside[0], inside[3])):
    refused(["is NULL"], lambda: abi.check(library.weft_model_predict(handle, given, 1, outputs)))

# A forked process has none of the model's threads.
if not os.fork():
    signal.alarm(20)
    try:
        model.predict(dict(zip(names, inputs.values())))
    except weft.Error as error:
        (scratch / "forked.txt").write_text(str(error))
    os._exit(0)
assert os.wait()[1] == 0, "the forked process hangs"
def forked():
    raise weft.Error((scratch / "forked.txt").read_text())
refused(["forked without its threads", "spawn"], forked)

refused(["give a dict"], model.predict, inputs["image"])
refused(["name each"], model.predict, {"image": inputs["image"]})
refused(["different numbers"], model.predict, {names[0]: inputs["image"], names[1]: inputs["mark"][1:]})
refused_by_weft(["other.weft"], weft.Model, scratch / "other.weft")
one.save(scratch / "one.keras")
refused_by_weft(["one.keras"], weft.Model, scratch / "two.weft", weights=scratch / "one.keras")
weft.command.run("compile", scratch / "one.keras", "--step", "train", "--loss", "mse", "--optimizer", "sgd", "--out", scratch / "train.weft")
refused(["has no predict step", "train of 32", "with step=predict"], weft.Model, scratch / "train.weft")
refused(["give batch_size="], weft.compile, one, x)
compare("python-models")
print("models predict")
