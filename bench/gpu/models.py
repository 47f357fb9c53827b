#!/usr/bin/env python3
"""Writes the programs of a check on a GPU as StableHLO, by JAX and Keras; pack.py runs it.

    python models.py PROJECT OUT_FOLDER [--tiny]

OUT_FOLDER/NAME.mlir, and programs.json: {name: how to draw its inputs, and what it is for}.
"""

import argparse
import json
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp

F32, BF16, I32 = "float32", "bfloat16", "int32"
ROWS = ("NHWC", "HWIO", "NHWC")


def S(*shape, kind=F32):
    return jax.ShapeDtypeStruct(shape, kind)


# ------------------------------------------------------------------- small programs, at least one for each way to run a kernel

def attention(q, k, v):
    p = jax.nn.softmax(jnp.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5)
    return jnp.einsum("bhij,bjhd->bihd", p, v)


def layer_norm(x, scale, offset):
    return jax.nn.standardize(x, epsilon=1e-3) * scale + offset


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def conv(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=ROWS)


def newton(x):
    """A loop whose end the numbers decide."""
    def step(state):
        y, _ = state
        return (y + x / y) / 2, y

    def is_far(state):
        return jnp.abs(state[0] - state[1]).max() > 1e-4
    return jax.lax.while_loop(is_far, step, (jnp.ones_like(x), jnp.zeros_like(x)))[0]


def tf32_product(x, w):
    return jax.lax.dot_general(x, w, (((1,), (0,)), ((), ())), precision=jax.lax.DotAlgorithmPreset.TF32_TF32_F32)


def small(tiny):
    """At least one for each way to run a kernel: (name, function, shapes, options); tolerance is relative to the largest number."""
    n = 4 if tiny else 1
    exact, sums, half, tf32 = {"tolerance": 2e-6}, {"tolerance": 2e-5}, {"tolerance": 1.6e-2}, {"tolerance": 2e-3}
    return [
        ("elements", lambda x, b: jax.nn.gelu(x + b), [S(256 // n, 1024), S(1024)], exact),
        ("elements-bf16", lambda x, b: jax.nn.gelu(x + b), [S(256 // n, 2048, kind=BF16), S(2048, kind=BF16)], half),
        ("transposed", lambda x, y: (x.T + y) * 2, [S(384 // n, 512), S(512, 384 // n)], exact),
        ("rows-warp", jax.nn.softmax, [S(512 // n, 768)], exact),
        ("rows-block", layer_norm, [S(64 // n, 4096), S(4096), S(4096)], sums),
        ("rows-gradient", lambda x, s, o, d: jax.vjp(layer_norm, x, s, o)[1](d),
         [S(256 // n, 768), S(768), S(768), S(256 // n, 768)], sums),
        ("columns", lambda x: (x.sum(0), x.max(0)), [S(8192 // n, 96)], sums),
        ("whole-sum", lambda x: (x * x).sum(), [S((1 << 20) // n // n)], sums),
        ("windows", lambda x, d: (max_pool(x), jax.vjp(max_pool, x)[1](d)[0]),
         [S(8 // n, 33, 33, 64), S(8 // n, 17, 17, 64)], exact),
        ("tiles-bf16", lambda x, w: jax.nn.gelu(x @ w), [S(256, 512, kind=BF16), S(512, 384 // n, kind=BF16)], half),
        ("tiles-tf32", tf32_product, [S(256, 512 // n), S(512 // n, 192)], tf32),
        ("convolution", lambda x, w, b: jax.nn.relu(conv(x, w) + b), [S(8 // n, 28, 28, 32), S(3, 3, 32, 64), S(64)], sums),
        ("convolution-bf16", conv, [S(8 // n, 28, 28, 32, kind=BF16), S(3, 3, 32, 64, kind=BF16)], half),
        ("convolution-gradient", lambda x, w, d: jax.vjp(conv, x, w)[1](d),
         [S(8 // n, 14, 14, 32), S(3, 3, 32, 64), S(8 // n, 14, 14, 64)], sums),
        ("attention", attention, [S(4 // n, 128, 4, 32)] * 3, sums),
        ("scatter", lambda i, u: jnp.zeros((1000, 64)).at[i].add(u), [S(4096 // n, kind=I32), S(4096 // n, 64)],
         sums | {"integers": 1000}),
        ("sort", lambda x: (jnp.sort(x), jnp.argsort(x)), [S(64 // n, 2048 // n)], exact),
        ("top-k", lambda x: (jnp.argmax(x, -1), *jax.lax.top_k(x, 5)), [S(64 // n, 5000)], exact),
        ("scan", lambda x: jnp.cumsum(x, 1), [S(256 // n, 2048 // n)], sums),
        ("loop", newton, [S(3000)], sums | {"low": 0.5, "high": 4.0}),
        ("random", lambda key: jax.random.uniform(jax.random.wrap_key_data(key), (4096,)), [S(2, kind="uint32")],
         exact | {"integers": 1 << 31}),
    ]


def product(m, k, n, kind="f32", bias=True, relu=True):
    """relu(x @ w + b) in Weft's own text, whose bias and relu a library computes with the product; JAX's relu is a maximum."""
    x, w, b, y = (f"tensor<{'x'.join(map(str, shape))}x{kind}>" for shape in ((m, k), (k, n), (n,), (m, n)))
    lines = [f"%p = weft.dot %x, %w contract [1] x [0] : {x}, {w} -> {y}"]
    if bias:
        lines += [f"%bb = weft.broadcast %b dims [1] : {b} -> {y}", f"%s = weft.add %p, %bb : {y}"]
    if relu:
        lines += [f"%r = weft.relu {'%s' if bias else '%p'} : {y}"]
    last = lines[-1].split()[0]
    arguments = ", ".join(f"%{name}: {type} {{weft.name = \"{name}\"}}" for name, type in (("x", x), ("w", w), ("b", b)))
    body = "".join(f"  {line}\n" for line in [*lines, f"return {last} : {y}"])
    return f"func.func @main({arguments}) -> ({y} {{weft.name = \"y\"}}) {{\n{body}}}\n"


def products(tiny):
    """NaN must come through an activation that a library computes: every so many numbers of x are NaN."""
    nan = {"tolerance": 2e-5, "nan_every": 4001}
    yield "tiles-fma", product(128 if tiny else 512, 784, 200), {"tolerance": 2e-5}
    yield "relu-nan", product(128, 128, 128, bias=False), nan
    yield "relu-bias-nan", product(128, 128, 128), nan
    yield "f64-bias", product(128, 256, 64, "f64", relu=False), {"tolerance": 1e-12}


# --------------------------------------------------------------------------------------------------------------- GPT-2 with Adam

def gpt2(tiny, batch, kind):
    """Radford et al., 2019, 124,439,808 weights; kept in f32, multiplied in `kind`."""
    layers, width, heads, tokens, words = (2, 64, 4, 16, 97) if tiny else (12, 768, 12, 1024, 50257)

    def normalized(x, its):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * its[0] + its[1]

    def block(x, its):
        qkv = (normalized(x, its["norm1"]) @ its["qkv"] + its["qkv_bias"]).reshape(batch, tokens, 3, heads, width // heads)
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        scores = jnp.einsum("bihd,bjhd->bhij", q, k) / (width // heads) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -1e9)
        mixed = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores), v).reshape(batch, tokens, width)
        x = x + mixed @ its["out"] + its["out_bias"]
        hidden = jax.nn.gelu(normalized(x, its["norm2"]) @ its["up"] + its["up_bias"], approximate=True)
        return x + hidden @ its["down"] + its["down_bias"]

    def loss(weights, text):
        its = jax.tree.map(lambda w: w.astype(kind), weights)
        x = its["words"][text[:, :-1]] + its["places"]
        for layer in its["layers"]:
            x = block(x, layer)
        logits = (normalized(x, its["norm"]) @ its["words"].T).astype(F32)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), text[:, 1:, None], axis=-1).mean()

    def step(weights, m, v, text):
        value, g = jax.value_and_grad(loss)(weights, text)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, v, g)
        return value, jax.tree.map(lambda w, m, v: w - 3e-4 * m / (jnp.sqrt(v) + 1e-8), weights, m, v), m, v

    layer = {"norm1": S(2, width), "qkv": S(width, 3 * width), "qkv_bias": S(3 * width), "out": S(width, width),
             "out_bias": S(width), "norm2": S(2, width), "up": S(width, 4 * width), "up_bias": S(4 * width),
             "down": S(4 * width, width), "down_bias": S(width)}
    weights = {"words": S(words, width), "places": S(tokens, width), "norm": S(2, width), "layers": [layer] * layers}
    lowered = jax.jit(step, donate_argnums=(0, 1, 2)).lower(weights, weights, weights, S(batch, tokens + 1, kind=I32))
    return lowered.as_text(), {"integers": words, "low": 0.0, "high": 0.04, "loss": 0, "tokens": batch * tokens}


# ------------------------------------------------------------------------------------------------ train steps of Keras' models

def keras_step(project, name, batch):
    """A model's own train step, as Weft's tracer describes it, but as plain StableHLO."""
    sys.path.insert(0, str(project / "tools" / "pjrt" / "python"))
    from weft import batch as batches
    from weft import models, steps, trace
    file = str(project / "test" / "fixtures" / name / "model.keras")
    options = trace.parse([file, "-o", "unused.mlir", "--batch-size", str(batch), "--seed", "1"])
    model = models.load(options, None)
    its = next(step for step in steps.make_steps(model, batches.describe(model, batch, options), options) if step.kind == "train")
    jax.eval_shape(its.function, *its.avals)  # fills its.results
    state = tuple(range(sum(port.role not in ("input", "label") for port in its.arguments)))
    text = jax.jit(its.function, donate_argnums=state, keep_unused=True).lower(*its.avals).as_text()
    loss = [port.name for port in its.results].index("metrics/loss")
    return text, {"integers": 10, "low": 0.0, "high": 0.04, "loss": loss, "samples": batch}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tiny, listed = options.tiny, {}

    def add(name, text, part, its):
        (options.out / f"{name}.mlir").write_text(text)
        listed[name] = {"part": part, **its}

    def add_step(name, made):
        text, its = made
        add(name, text, "steps", its)
    for name, function, shapes, its in small(tiny):
        platform = "cuda" if function is tf32_product else "cpu"  # JAX has no TF32 on CPUs
        text = jax.jit(function).trace(*shapes).lower(lowering_platforms=(platform,)).as_text()
        add(name, text, "answers", its)
    for name, text, its in products(tiny):
        add(name, text, "answers", its)
    add_step("mlp", keras_step(options.project, "seed-functional-mlp", 16 if tiny else 128))
    if not tiny:
        add_step("cnn", keras_step(options.project, "seed-cnn", 256))
    add_step("gpt2-bf16", gpt2(tiny, 2 if tiny else 16, BF16))
    if not tiny:
        add_step("gpt2-f32", gpt2(tiny, 1, F32))
    (options.out / "programs.json").write_text(json.dumps(listed, indent=1))
    print(f"{len(listed)} programs in {options.out}")


if __name__ == "__main__":
    main()
