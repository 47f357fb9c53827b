"""An embedding table of 1,024 words, split by words: each device looks up its own words, and the sum over the
devices is the result: at most an all-reduce of BSD = 4 * 8 * 16 * 4 bytes, 2(p-1)/p BSD. Weft sends less, as the sum is
scattered and the dense layer works on its shards. The table's gradient needs no collective."""

import keras
import numpy as np

import steps

EXPECT = "all_reduce=1, bytes<=3584"
FORMULA = "2(p-1)/p BSD"


def step():
    steps.model_parallel({"data": 1, "model": 8}, {".*words/embeddings": ("model", None)})
    model = keras.Sequential([
        keras.Input((8,), dtype="int32"),
        keras.layers.Embedding(1024, 16, name="words"),
        keras.layers.Dense(4),
    ])
    words = np.random.default_rng(0).integers(0, 1024, (4, 8), dtype="int32")
    return steps.training(model, keras.optimizers.SGD(0.01), steps.lay(words))
