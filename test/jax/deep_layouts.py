"""A transformer's train step whose weights alone are annotated: bytes a layer, at 2 and at 20 layers.

Sizes are those of a model with 7 billion parameters at 32 layers, on 64 devices; weights are sharded over "data" and
"model". Nothing is run. The formula is the layout that a person would choose: for each layer four sums of the activations
over "model", the weights gathered over "data" and their gradients scattered. Gathering the weights of attention over both
axes instead, which are a third of the layer's, sends 0.78 of it. On three axes the batch is sharded over "data" and "fsdp",
the weights over "fsdp" and "model", and their gradients are also summed over "data".
"""

import json
import os
import subprocess
import sys
import tempfile

os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_force_host_platform_device_count=64")

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

WIDTH, HIDDEN, HEADS, WORDS, BATCH, LENGTH = 4096, 11008, 32, 32000, 64, 2048
SIZE = WIDTH // HEADS
Auto = jax.sharding.AxisType.Auto


def norm(x, gain):
    return x * lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-5).astype(x.dtype) * gain


def layer(x, p):
    h = norm(x, p["norm1"])
    q, k, v = (jnp.einsum("btw,whd->bthd", h, p[name]) for name in ("query", "key", "value"))
    scores = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k).astype(jnp.float32) / SIZE**0.5, -1)
    x = x + jnp.einsum("bthd,hdw->btw", jnp.einsum("bhts,bshd->bthd", scores.astype(x.dtype), v), p["out"])
    h = norm(x, p["norm2"])
    return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]


def lowered(layers, constraint, mesh, weights, batch):
    """The step: weights are sharded over `weights` and "model", the batch over `batch`."""
    def loss(p, tokens):
        x = p["embedding"][tokens]
        if constraint:
            x = lax.with_sharding_constraint(x, NamedSharding(mesh, P(batch)))
        for one in p["layers"]:
            x = layer(x, one)
        logits = (norm(x, p["norm"]) @ p["head"]).astype(jnp.float32)
        wanted = jnp.take_along_axis(logits, jnp.roll(tokens, -1, 1)[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - wanted)

    def step(p, tokens):
        value, gradients = jax.value_and_grad(loss)(p, tokens)
        return jax.tree.map(lambda w, g: (w - 1e-3 * g).astype(w.dtype), p, gradients), value

    one = dict(norm1=((WIDTH,), P()), norm2=((WIDTH,), P()), out=((HEADS, SIZE, WIDTH), P("model", None, weights)),
               down=((HIDDEN, WIDTH), P("model", weights)),
               **{n: ((WIDTH, HEADS, SIZE), P(weights, "model")) for n in ("query", "key", "value")},
               **{n: ((WIDTH, HIDDEN), P(weights, "model")) for n in ("gate", "up")})
    shapes = dict(embedding=((WORDS, WIDTH), P("model", weights)), layers=[one] * layers, norm=((WIDTH,), P()),
                  head=((WIDTH, WORDS), P(weights, "model")))
    p = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x[0], jnp.bfloat16, sharding=NamedSharding(mesh, x[1])), shapes,
                     is_leaf=lambda x: isinstance(x, tuple) and isinstance(x[1], P))
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32, sharding=NamedSharding(mesh, P(batch)))
    placed = jax.tree.map(lambda x: x.sharding, p)
    return jax.jit(step, donate_argnums=0, out_shardings=(placed, None)).lower(p, tokens).as_text()


def sent(weft, layers, constraint=False, fsdp=1):
    """The bytes that a device sends on data 8 x model 8, or on data x fsdp x model of 64 devices."""
    shape, axes = ((8, 8), ("data", "model")) if fsdp == 1 else ((4, fsdp, 16 // fsdp), ("data", "fsdp", "model"))
    mesh = jax.make_mesh(shape, axes, axis_types=(Auto,) * len(axes))
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(lowered(layers, constraint, mesh, axes[-2], axes[:-1]))
        file.flush()
        command = [weft, "explain", file.name, "--target", "cuda:sm_90a", "--json", "--fix-seconds", "0"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["total"]["bytes"]


def formula_of(model, weights, batch):
    """The bytes of a layer's sums over "model", its gathers over `weights` devices and the sums of its gradients."""
    activations = BATCH // batch * LENGTH * WIDTH * 2
    held = (4 * WIDTH * WIDTH + 3 * WIDTH * HIDDEN) * 2 // model
    summed = 2 * (batch // weights - 1) / (batch // weights) * held / weights
    return 4 * 2 * (model - 1) / model * activations + 2 * (weights - 1) / weights * held + summed


def main(weft):
    formula = formula_of(8, 8, 8)
    few, many = sent(weft, 2), sent(weft, 20)
    a_layer = (many - few) / 18
    print(f"at most 0.8 of the formula: {a_layer <= 0.8 * formula}")
    print(f"all layers alike: {many <= 10 * few}")
    print(f"as with a constraint: {abs(sent(weft, 20, constraint=True) - many) <= 0.02 * many}")
    print(f"three axes: {sent(weft, 12, fsdp=4) <= 12 * formula_of(4, 4, 16)}")
    print(f"2 layers {few:,}, 20 layers {many:,}, a layer {a_layer:,.0f}, by the formula {formula:,.0f}", file=sys.stderr)


main(sys.argv[1])
