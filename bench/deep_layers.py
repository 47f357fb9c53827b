#!/usr/bin/env python3
"""A Llama-like train step at many depths: the bytes that a device sends beside the least that its layouts need.

    python3 bench/deep_layers.py --weft build/bin/weft [--layers 2 8 12 16 20 32 64 128] [--meshes 8x8 1x64 2x32 4x4x4] [--xla] [--json FILE]

For a Python with bench/requirements.txt; 64 devices, compile-only. The model has 7B parameters at 32 layers (bf16, Adam in f32, a
batch of 8 rows a device of "data", 2,048 tokens). A mesh is data x model or data x fsdp x model; weights are sharded over "model"
and over "fsdp", or "data" where there is no such axis, and the batch over all but "model"; data 64 is 64x1. Each depth is compiled
with the layouts of weights and batch alone and with one constraint, on the activations after the embedding. "least" is

  for each weight    gathered once over its second axis, its gradient reduced and scattered there, and summed over "data"
                     where that is another axis
  for each layer     four sums of the activations over "model": after attention and after the block, forward and backward
  for the ends       the sum of embedded rows and that of the head's gradient over "model"

Exits with 1 if a step sends more than 1.05 of it, or if its bytes with and without the constraint differ by more than 1 %.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.update(JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3",
                  XLA_FLAGS="--xla_force_host_platform_device_count=64 --xla_backend_optimization_level=0")

import hlo_traffic
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

WIDTH, HIDDEN, HEADS, WORDS, LENGTH, ROWS = 4096, 11008, 32, 32000, 2048, 8
SIZE = WIDTH // HEADS
# The dimensions of a weight by the axis that shards them: w by the second axis of weights, m by "model".
LAYER = {"norm1": ((WIDTH,), "-"), "norm2": ((WIDTH,), "-"), "out": ((HEADS, SIZE, WIDTH), "m-w"), "down": ((HIDDEN, WIDTH), "mw"),
         "query": ((WIDTH, HEADS, SIZE), "wm-"), "key": ((WIDTH, HEADS, SIZE), "wm-"), "value": ((WIDTH, HEADS, SIZE), "wm-"),
         "gate": ((WIDTH, HIDDEN), "wm"), "up": ((WIDTH, HIDDEN), "wm")}
ENDS = {"embedding": ((WORDS, WIDTH), "mw"), "norm": ((WIDTH,), "-"), "head": ((WIDTH, WORDS), "wm")}


def axes_of(mesh):
    """The mesh's axes by name, and those of the batch and of weights."""
    sizes = [int(size) for size in mesh.split("x")]
    names = ("data", "model") if len(sizes) == 2 else ("data", "fsdp", "model")
    axes = {name: size for name, size in zip(names, sizes, strict=True) if size > 1}
    return axes, tuple(name for name in names[:-1] if name in axes), names[-2] if names[-2] in axes else None


def least_bytes(mesh, layers):
    axes, batch, second = axes_of(mesh)
    model, shards, data = axes.get("model", 1), axes.get(second, 1), axes.get("data", 1)
    count = lambda shapes: sum(math.prod(shape) for shape, dims in shapes.values() if "m" in dims)
    weights = 2 * (count(LAYER) * layers + count(ENDS)) / model
    gathered = 2 * (shards - 1) / shards * weights
    summed = 2 * (data - 1) / data * weights / shards if second == "fsdp" else 0
    activations = ROWS * LENGTH * WIDTH * 2
    return gathered + summed + (4 * layers + 2) * 2 * (model - 1) / model * activations


def norm(x, gain):
    return x * lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-5).astype(x.dtype) * gain


def rotate(x):
    angles = jnp.arange(LENGTH)[:, None] / 10000 ** (jnp.arange(0, SIZE, 2) / SIZE)
    c, s = (f(angles)[None, :, None].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    return jnp.stack([x[..., ::2] * c - x[..., 1::2] * s, x[..., ::2] * s + x[..., 1::2] * c], -1).reshape(x.shape)


def layer(x, p):
    h = norm(x, p["norm1"])
    q, k, v = (jnp.einsum("btw,whd->bthd", h, p[name]) for name in ("query", "key", "value"))
    scores = jnp.einsum("bthd,bshd->bhts", rotate(q), rotate(k)).astype(jnp.float32) / SIZE**0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
    mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, -1).astype(x.dtype), v)
    x = x + jnp.einsum("bthd,hdw->btw", mixed, p["out"])
    h = norm(x, p["norm2"])
    return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]


def lowered_step(mesh, layers, constraint):
    axes, batch, second = axes_of(mesh)
    devices = jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))
    axis = {"w": second, "m": "model" if "model" in axes else None, "-": None}
    placed = lambda dims: NamedSharding(devices, P(*(axis[dim] for dim in dims)))

    def loss(p, tokens):
        x = p["embedding"][tokens]
        if constraint:
            x = lax.with_sharding_constraint(x, NamedSharding(devices, P(batch)))
        for q in p["layers"]:
            x = layer(x, q)
        logits = (norm(x, p["norm"]) @ p["head"]).astype(jnp.float32)
        wanted = jnp.take_along_axis(logits, jnp.roll(tokens, -1, 1)[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - wanted)

    def step(p, m, v, tokens):
        value, g = jax.value_and_grad(loss)(p, tokens)
        m = jax.tree.map(lambda s, d: 0.9 * s + 0.1 * d.astype(jnp.float32), m, g)
        v = jax.tree.map(lambda s, d: 0.95 * s + 0.05 * jnp.square(d.astype(jnp.float32)), v, g)
        p = jax.tree.map(lambda w, s, t: (w.astype(jnp.float32) - 3e-4 * s / (jnp.sqrt(t) + 1e-8)).astype(w.dtype), p, m, v)
        return p, m, v, value

    def arrays(kind):
        one = lambda shapes: {name: jax.ShapeDtypeStruct(shape, kind, sharding=placed(dims)) for name, (shape, dims) in shapes.items()}
        return one(ENDS) | {"layers": [one(LAYER) for _ in range(layers)]}

    p, m = arrays(jnp.bfloat16), arrays(jnp.float32)
    where = jax.tree.map(lambda x: x.sharding, (p, m, m))
    rows = ROWS * math.prod(axes[name] for name in batch)
    tokens = jax.ShapeDtypeStruct((rows, LENGTH), jnp.int32, sharding=NamedSharding(devices, P(batch)))
    return jax.jit(step, donate_argnums=(0, 1, 2), out_shardings=(*where, None)).lower(p, m, m, tokens)


def measure(options, mesh, layers, constraint):
    """Weft's report of a step, its CPU seconds, and XLA's bytes or None."""
    lowered = lowered_step(mesh, layers, constraint)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "step.mlir"
        path.write_text(lowered.as_text())
        begin = os.times()
        done = subprocess.run([options.weft, "explain", path, "--target", options.target, "--json", "--fix-seconds", "0"],
                              capture_output=True, text=True, check=True)
        seconds = sum(os.times()[2:4]) - sum(begin[2:4])
    xla = hlo_traffic.bytes_in_rounds(lowered.compile().as_text(), 64) if options.xla else None
    return json.loads(done.stdout), seconds, xla


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="build/bin/weft")
    parser.add_argument("--target", default="cpu:avx512")
    parser.add_argument("--layers", type=int, nargs="+", default=[2, 8, 12, 16, 20, 32, 64, 128])
    parser.add_argument("--meshes", nargs="+", default=["64x1", "8x8", "2x32", "4x4x4"])
    parser.add_argument("--xla", action="store_true")
    parser.add_argument("--json", type=pathlib.Path, help="a file to which each row is added")
    options = parser.parse_args()
    bad = False
    print("| mesh | layers | GB | with the constraint | least | ratio | gap | memory GB | s |" + (" XLA GB |" if options.xla else ""))
    print("|---|---|---|---|---|---|---|---|---|" + ("---|" if options.xla else ""))
    for mesh in options.meshes:
        for layers in options.layers:
            (free, seconds, xla), (told, _, _) = (measure(options, mesh, layers, constraint) for constraint in (False, True))
            sent, other, least = free["total"]["bytes"], told["total"]["bytes"], least_bytes(mesh, layers)
            gap = f"{free['layouts']['gap']:.2%}" if free["layouts"] else "-"
            bad |= sent > 1.05 * least or abs(sent - other) > 0.01 * other
            row = {"mesh": mesh, "layers": layers, "bytes": sent, "constrained": other, "least": least, "gap": gap,
                   "memory": free["memory"]["total"], "seconds": seconds, "xla": xla, "date": time.strftime("%Y-%m-%d")}
            if options.json:
                with options.json.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            print(f"| {mesh} | {layers} | {sent / 1e9:.2f} | {other / 1e9:.2f} | {least / 1e9:.2f} | {sent / least:.2f} | {gap} | "
                  f"{free['memory']['total'] / 1e9:.1f} | {seconds:.1f} |" + (f" {xla / 1e9:.1f} |" if xla else ""), flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(main())
