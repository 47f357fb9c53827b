#!/usr/bin/env python3
"""Train steps under layouts drawn at random: the bytes that XLA and Weft send.

    python3 bench/layout_survey.py --weft build/bin/weft [--seed 1] [--count 100] [--keep DIR]

For a Python with bench/requirements.txt. A step is of two dense layers or of attention, its gradients and SGD, on a mesh
of 4 x 2; each weight, and in three of ten steps the batch, lies in a layout drawn over "data" and "model". Bytes are those
that one device sends by the ring formula: XLA's from its HLO (hlo_traffic.py), Weft's as `weft explain` counts them. Prints a
line for each step that sends more on Weft, whose StableHLO is kept in DIR, and the geometric mean of the ratios.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile

os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_force_host_platform_device_count=8", TF_CPP_MIN_LOG_LEVEL="3")

import hlo_traffic
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def dense(weights, x, y):
    hidden = jax.nn.relu(x @ weights[0] + weights[2])
    return jnp.mean((hidden @ weights[1] + weights[3] - y) ** 2)


def attention(weights, x, y):
    q, k, v = (jnp.einsum("bsd,dhe->bshe", x, weight) for weight in weights[:3])
    scores = jax.nn.softmax(jnp.einsum("bshe,bthe->bhst", q, k), -1)
    heads = jnp.einsum("bhst,bthe->bshe", scores, v)
    return jnp.mean((x + jnp.einsum("bshe,hed->bsd", heads, weights[3]) - y) ** 2)


def draw_layout(chance, rank):
    """A random layout: each axis shards some dimension, in seven of ten cases."""
    dims = [()] * rank
    for axis in chance.sample(["data", "model"], 2):
        if chance.random() < 0.7:
            dims[chance.randrange(rank)] += (axis,)
    return PartitionSpec(*(dim or None for dim in dims))


def draw_step(chance, mesh):
    """A random step: (lowered step, its description)"""
    if chance.random() < 0.6:
        inner, hidden, outer, batch = (chance.choice(sizes) for sizes in ((32, 64), (64, 128), (32, 64), (64, 256)))
        loss, shapes = dense, [(inner, hidden), (hidden, outer), (hidden,), (outer,)]
        x, y = (batch, inner), (batch, outer)
    else:
        loss, shapes, x = attention, [(32, 8, 8)] * 3 + [(8, 8, 32)], (8, 16, 32)
        y = x
    layouts = [draw_layout(chance, len(shape)) for shape in shapes]
    if loss is attention:
        layouts[1] = layouts[2] = layouts[0]
    data = PartitionSpec("data") if chance.random() < 0.7 else draw_layout(chance, len(x))

    def step(weights, x, y):
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        return [w - 0.1 * g for w, g in zip(weights, gradients)], value

    weights, batch, whole = [NamedSharding(mesh, p) for p in layouts], NamedSharding(mesh, data), NamedSharding(mesh, PartitionSpec())
    compiled = jax.jit(step, in_shardings=(weights, batch, batch), out_shardings=(weights, whole), donate_argnums=0)
    array = lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    lowered = compiled.lower([array(shape) for shape in shapes], array(x), array(y))
    return lowered, f"{loss.__name__} {[*shapes, x]} {[*map(str, layouts), str(data)]}"


def sent_by_weft(weft, lowered, file):
    file.write_text(lowered.as_text())
    found = subprocess.run([weft, "explain", file, "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(found)["total"]["bytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="build/bin/weft")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the steps that send more on Weft")
    options = parser.parse_args()
    chance, mesh = random.Random(options.seed), Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
    ratios = []
    with tempfile.TemporaryDirectory() as scratch:
        for index in range(options.count):
            lowered, what = draw_step(chance, mesh)
            file = pathlib.Path(scratch) / "step.mlir"
            weft = sent_by_weft(options.weft, lowered, file)
            xla = sum(kind["bytes"] for kind in hlo_traffic.collectives(lowered.compile().as_text(), 8).values())
            ratios.append((weft + 1) / (xla + 1))
            if weft > xla:
                print(f"{index}: XLA {xla:,.0f}, Weft {weft:,}: {what}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    file.rename(options.keep / f"{options.seed}-{index}.mlir")
    more = sum(ratio > 1 for ratio in ratios)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} steps: Weft sends {mean:.2f} of XLA's bytes (geometric mean), more in {more}, at most {max(ratios):.2f} of them")


if __name__ == "__main__":
    main()
