"""JAX's time to trace, lower and compile the forward pass of a deep MLP.

    VENV/bin/python bench/compile_peer.py --layers 512 --devices 8

Dense layers of width 64, batch 64, relu but for the last; kernels cut by columns
and by rows in turn on a mesh of devices/4 x 4, the batch over the rest: the case
of compile_scale.py. Prints one JSON object; the process's start is not counted.
"""

import argparse
import json
import os
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--layers", type=int, default=512)
parser.add_argument("--devices", type=int, default=8)
options = parser.parse_args()
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.devices}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(options.devices // 4, 4), ("data", "model"))


def forward(weights, x):
    for i, (kernel, bias) in enumerate(weights):
        x = x @ kernel + bias
        if i + 1 < len(weights):
            x = jax.nn.relu(x)
    return x


def placed(*axes):
    return NamedSharding(mesh, P(*axes))


columns, rows = (placed(None, "model"), placed("model")), (placed("model", None), placed(None))
shardings = [columns if i % 2 == 0 else rows for i in range(options.layers)]
shape = jax.ShapeDtypeStruct
weights = [(shape((64, 64), jnp.float32), shape((64,), jnp.float32))] * options.layers
step = jax.jit(forward, in_shardings=(shardings, placed("data", None)), out_shardings=placed("data", None))
times = [time.perf_counter()]
traced = step.trace(weights, shape((64, 64), jnp.float32))
times.append(time.perf_counter())
lowered = traced.lower()
times.append(time.perf_counter())
lowered.compile()
times.append(time.perf_counter())
trace, lower, compile_ = (b - a for a, b in zip(times, times[1:]))
print(json.dumps({"trace_s": trace, "lower_s": lower, "compile_s": compile_, "total_s": trace + lower + compile_}))
