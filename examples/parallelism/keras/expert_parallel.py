"""Experts on devices: each device sends the tokens of its shard of the batch to the experts that `chosen` names, and gets
them back: two all-to-alls forward and two backward, each (p-1)/p of the capacity, 8 * 2 * 16 * 4 = 1024 bytes."""

import keras
from keras import ops
from keras.distribution import distribute_tensor

import steps

EXPECT = "all_to_all=4, bytes<=3584"
FORMULA = "4(p-1)/p of the capacity"
TOKENS, WIDTH, EXPERTS, CAPACITY = 8, 16, 8, 2


class Experts(keras.layers.Layer):
    def build(self, shapes):
        self.kernel = self.add_weight(shape=(EXPERTS, WIDTH, WIDTH), name="kernel")

    def call(self, inputs):
        tokens, chosen = inputs  # [batch, token, width], [batch, token, expert, place]
        sent = ops.einsum("btec,btw->ebcw", ops.stop_gradient(chosen), tokens)
        sent = distribute_tensor(sent, steps.layout("expert", None, None, None))
        done = ops.relu(ops.einsum("ebcw,ewv->ebcv", sent, self.kernel))
        done = distribute_tensor(done, steps.layout(None, "expert", None, None))
        return ops.einsum("btec,ebcv->btv", ops.stop_gradient(chosen), done)


def step():
    steps.model_parallel({"expert": 8}, {"experts/kernel": ("expert", None, None)})
    inputs = [keras.Input((TOKENS, WIDTH)), keras.Input((TOKENS, EXPERTS, CAPACITY))]
    model = keras.Model(inputs, Experts(name="experts")(inputs))
    chosen = steps.noise((8, TOKENS, EXPERTS, CAPACITY), "expert")
    return steps.gradients(model, [steps.noise((8, TOKENS, WIDTH), "expert"), chosen])
