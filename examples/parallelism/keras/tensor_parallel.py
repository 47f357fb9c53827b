"""Megatron's tensor parallelism of a block: one all-reduce for attention and one for the feed-forward part, forward and
backward, each of BSD = 2 * 16 * 32 * 4 bytes: 8(p-1)/p BSD."""

import steps
from transformer_block import MEGATRON, block

EXPECT = "all_reduce=4, bytes<=28672"
FORMULA = "8(p-1)/p BSD"


def step():
    steps.model_parallel({"data": 1, "model": 8}, MEGATRON)
    return steps.gradients(block(), steps.noise((2, 16, 32)))
