"""Tensor and sequence parallelism: between the parts of the block the sequence is sharded. All-reduces become gathers in
front of a part and reduce-scatters behind it, forward and backward: the bytes of tensor_parallel.py, 8(p-1)/p BSD, and an
eighth of the memory between. The biases that are added to a shard of the sequence have gradients to sum:
2(p-1)/p of 2 * 32 * 4 bytes."""

import steps
from transformer_block import MEGATRON, block

EXPECT = "all_gather=4, reduce_scatter=4, bytes<=29120"
FORMULA = "8(p-1)/p BSD + 2(p-1)/p of two biases"
SEQUENCE = (None, "model", None)
HEADS = (None, None, "model", None)


def step():
    steps.model_parallel({"data": 1, "model": 8}, MEGATRON | {
        "(norm1|attention|sum1|norm2|down|sum2)/output": SEQUENCE,
        "attention/(query|key|value)/output": HEADS,
    })
    return steps.gradients(block(), steps.noise((2, 16, 32), None, "model"))
