"""ZeRO-1 and 2: weights are copies, the optimizer's slots are sharded over the axis of the batch. The gradient is
reduce-scattered to the layout of its slot, and the updated weight is gathered: 2(p-1)/p P of P = 64 * 32 * 4 bytes.

A layout map cannot shard the slots alone: Keras gives a slot the layout of its weight, which precedes the map. Hence this
optimizer gives its slots a layout."""

import keras
from keras import layers

import steps

EXPECT = "reduce_scatter=1, all_gather=1, bytes<=14336"
FORMULA = "2(p-1)/p P"


class ShardedAdam(keras.optimizers.Adam):
    def add_variable_from_reference(self, reference_variable, name=None, initializer="zeros"):
        return self.add_variable(shape=reference_variable.shape, initializer=initializer, name=name,
                                 dtype=reference_variable.dtype, layout=steps.layout("data", None))


def step():
    steps.model_parallel({"data": 8}, {})
    model = keras.Sequential([keras.Input((64,)), layers.Dense(32, use_bias=False, activation="relu")])
    return steps.training(model, ShardedAdam(0.01), steps.noise((512, 64), "data"))
