"""Loads with Keras the files that keras-archive-test wrote: check-archive.py FOLDER.

    WEFT_ARCHIVE_OUT=FOLDER build/bin/keras-archive-test
    KERAS_BACKEND=jax python test/keras/check-archive.py FOLDER
"""

import os
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

folder = sys.argv[1]
fixtures = os.path.join(os.path.dirname(__file__), "..", "fixtures")
original = keras.saving.load_model(
    os.path.join(fixtures, "seed-functional-mlp", "model.keras")
)
written = keras.saving.load_model(os.path.join(folder, "written.keras"))
weights = keras.models.clone_model(original)
weights.load_weights(os.path.join(folder, "written.weights.h5"))

for model in (written, weights):
    assert len(model.weights) == len(original.weights)
    for ours, theirs in zip(model.weights, original.weights):
        expected = np.array(theirs)
        if theirs.path == "d2/bias":
            expected[0] = 42
        np.testing.assert_array_equal(np.array(ours), expected, err_msg=theirs.path)
print("ok: Keras", keras.__version__, "loads both files")
