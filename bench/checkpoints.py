#!/usr/bin/env python3
"""Train steps of transformer layers with jax.checkpoint, on JAX's CPU and on Weft, in one run: compile time, temporaries, step.

    python3 bench/checkpoints.py --python VENV/bin/python --library build/lib/libWeftPjrt.so
        [--forms scan fori loop] [--save nothing dots everything] [--devices 8 1] [--layers 24] [--width 256] [--rounds 3]

VENV holds bench/requirements.txt. The platforms take turns, a process a measurement; a cell is the median over the rounds.
Eight devices are data 2 x model 4, with the weights of attention and MLP along "model".

  form         the layers are scanned, a fori_loop, or a loop of Python that repeats them
  save         what jax.checkpoint keeps from the forward pass; everything: without jax.checkpoint
  temporaries  `memory_analysis().temp_size_in_bytes` of the compiled step, of one device
  step         the least time of --calls calls
"""

import argparse
import json
import time

import two_platforms

BATCH, TOKENS, HEADS = 8, 64, 8


def layer_of(width):
    import jax
    import jax.numpy as jnp

    def norm(x, gain):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain

    def heads(x):
        return x.reshape(BATCH, TOKENS, HEADS, width // HEADS).transpose(0, 2, 1, 3)

    def layer(x, w):
        query, key, value = (heads(part) for part in jnp.split(norm(x, w["norm1"]) @ w["qkv"], 3, -1))
        scores = query @ key.swapaxes(2, 3) / (width // HEADS) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), scores, -1e9)
        seen = jax.nn.softmax(scores, -1) @ value
        x = x + seen.transpose(0, 2, 1, 3).reshape(BATCH, TOKENS, width) @ w["out"]
        return x + jax.nn.gelu(norm(x, w["norm2"]) @ w["up"]) @ w["down"], None
    return layer


def checkpointed(layer, save):
    import jax
    if save == "everything":
        return layer
    policies = {"nothing": None, "dots": jax.checkpoint_policies.dots_saveable}
    return jax.checkpoint(layer, policy=policies[save])


def step_of(args):
    """A step of SGD with momentum, and the shapes of the weights of all layers."""
    import jax
    import jax.numpy as jnp
    layers, width = args.layers, args.width
    layer = checkpointed(layer_of(width), args.save[0])

    def at(w, i):
        return jax.tree.map(lambda a: a[i], w)

    def through(w, x):
        if args.forms[0] == "scan":
            return jax.lax.scan(layer, x, w)[0]
        if args.forms[0] == "fori":
            return jax.lax.fori_loop(0, layers, lambda i, x: layer(x, at(w, i))[0], x)
        for i in range(layers):
            x = layer(x, at(w, i))[0]
        return x

    def step(w, momentum, x, y):
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((through(w, x) - y) ** 2))(w)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
        return jax.tree.map(lambda w, m: w - 0.01 * m, w, momentum), momentum, loss
    return step, {"norm1": (layers, width), "norm2": (layers, width), "qkv": (layers, width, 3 * width),
                  "out": (layers, width, width), "up": (layers, width, 4 * width), "down": (layers, 4 * width, width)}


def measure(args):
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P
    count = args.devices[0]
    mesh = Mesh(np.array(jax.devices()).reshape((2, 4) if count == 8 else (1, 1)), ("data", "model"))
    rows, columns = P(None, "model", None), P(None, None, "model")
    layout = {"qkv": columns, "up": columns, "out": rows, "down": rows}
    step, shapes = step_of(args)
    chance = np.random.default_rng(1)

    def put(array, spec):
        return jax.device_put(array.astype(np.float32), NamedSharding(mesh, spec))

    def fill(name, shape):
        return put(np.ones(shape) if name.startswith("norm") else chance.standard_normal(shape) * 0.02, layout.get(name, P()))
    weights = {name: fill(name, shape) for name, shape in shapes.items()}
    momentum = {name: put(np.zeros(shape), layout.get(name, P())) for name, shape in shapes.items()}
    x, y = (put(chance.standard_normal((BATCH, TOKENS, args.width)), P("data")) for _ in range(2))
    shardings = jax.tree.map(lambda a: a.sharding, weights)
    lowered = jax.jit(step, donate_argnums=(0, 1), out_shardings=(shardings, shardings, None)).lower(weights, momentum, x, y)
    start = time.perf_counter()
    compiled = lowered.compile()
    seconds = time.perf_counter() - start
    times, losses = [], []
    for _ in range(args.calls):
        start = time.perf_counter()
        weights, momentum, loss = compiled(weights, momentum, x, y)
        losses.append(float(loss))
        times.append(time.perf_counter() - start)
    return {"compile": seconds, "temporaries": compiled.memory_analysis().temp_size_in_bytes / 2 ** 20,
            "step": min(times[1:]) * 1e3, "losses": losses}


def row(args, form, save, devices):
    words = ["--child", "--forms", form, "--save", save, "--devices", devices, "--layers", args.layers, "--width", args.width,
             "--calls", args.calls]
    found = two_platforms.in_turn(args.rounds, lambda platform: two_platforms.figures(args, platform, devices, words))
    losses = zip(found["cpu"][0]["losses"], found["weft"][0]["losses"], strict=True)
    apart = max(abs(a - b) / abs(a) for a, b in losses)
    cells = [f"{form}, {save}", devices]
    digits_of = {"compile": 2, "temporaries": 1, "step": 0}
    xla_medians, weft_medians = (two_platforms.medians(runs, digits_of) for runs in found.values())
    for name, digits in digits_of.items():
        xla, weft = xla_medians[name], weft_medians[name]
        cells += [f"{xla:.{digits}f}", f"{weft:.{digits}f}", f"{weft / xla:.2f}"]
    print("| " + " | ".join(map(str, cells)) + f" | {apart:.0e} |", flush=True)


def main():
    parser = two_platforms.arguments(__doc__, "an interpreter with JAX", layers=24, width=256, rounds=3, calls=5)
    parser.add_argument("--forms", nargs="+", choices=["scan", "fori", "loop"], default=["scan", "fori", "loop"])
    parser.add_argument("--save", nargs="+", choices=["nothing", "dots", "everything"], default=["nothing", "dots", "everything"])
    parser.add_argument("--devices", type=int, nargs="+", choices=[8, 1], default=[8, 1])
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure(args)))
        return
    print("| layers, saved | devices | compile s, XLA | Weft | ratio | temporaries MiB, XLA | Weft | ratio "
          "| step ms, XLA | Weft | ratio | losses apart |")
    print("|" + "---|" * 12)
    for form in args.forms:
        for save in args.save:
            for devices in args.devices:
                row(args, form, save, devices)


if __name__ == "__main__":
    main()
