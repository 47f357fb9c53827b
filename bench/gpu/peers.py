#!/usr/bin/env python3
"""Times of PyTorch or JAX for the figures of run.py, where they are installed: one line of JSON, milliseconds by name.

    python3 peers.py torch|jax NAME...

Medians of 20 runs behind 3 that are not measured, each waited for; the arrays are random, and new for each figure.
"""

import importlib.util
import json
import statistics
import sys
import time

import figures

WARM, RUNS = 3, 20


def torch_call(figure):
    import torch
    *sizes, kind = figure.full
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[kind]
    torch.backends.cuda.matmul.allow_tf32 = False  # products of f32 are not rounded to TF32, as in Weft

    def draw(*shape):
        return torch.rand(*shape, device="cuda", dtype=torch.float32).to(dtype)
    if figure.make is figures.gemm:
        m, n, k = sizes
        a, b = draw(m, k), draw(k, n)
        return lambda: a @ b
    if figure.make is figures.softmax:
        x = draw(*sizes)
        return lambda: torch.softmax(x, 1)
    if figure.make is figures.softmax_gradient:
        y, dy = torch.softmax(draw(*sizes), 1), draw(*sizes)
        return lambda: torch.ops.aten._softmax_backward_data(dy, y, 1, dtype)
    if figure.make in (figures.layer_norm, figures.layer_norm_gradient):
        x, scale, offset = draw(*sizes).requires_grad_(), draw(sizes[1]).requires_grad_(), draw(sizes[1]).requires_grad_()
        y = torch.nn.functional.layer_norm(x, sizes[1:], scale, offset, figures.EPSILON)
        if figure.make is figures.layer_norm_gradient:
            dy = draw(*sizes)
            return lambda: torch.autograd.grad(y, (x, scale, offset), dy, retain_graph=True)
        return torch.no_grad()(lambda: torch.nn.functional.layer_norm(x, sizes[1:], scale, offset, figures.EPSILON))
    if figure.make is figures.moments:
        x = draw(*sizes)
        call = torch.compile(lambda x: torch.var_mean(x, 0, correction=0))
        return lambda: call(x)
    if figure.make is figures.column_sums:
        x = draw(*sizes)
        return lambda: x.sum(0)
    if figure.make is figures.bias_gelu:
        x, bias = draw(*sizes), draw(sizes[1])
        call = torch.compile(lambda x, bias: torch.nn.functional.gelu(x + bias, approximate="tanh"))
        return lambda: call(x, bias)
    if figure.make is figures.residual_mul:
        x, y, z = draw(*sizes), draw(*sizes), draw(*sizes)
        call = torch.compile(lambda x, y, z: (x + y) * z)
        return lambda: call(x, y, z)
    if figure.make is figures.adam:
        weight = torch.nn.Parameter(draw(*sizes))
        weight.grad = draw(*sizes)
        return torch.optim.Adam([weight], fused=True).step
    return None


def jax_call(figure):
    import jax
    import jax.numpy as jnp
    *sizes, kind = figure.full
    dtype = {"f32": jnp.float32, "bf16": jnp.bfloat16}[kind]
    keys = iter(jax.random.split(jax.random.key(0), 8))

    def draw(*shape):
        return jax.random.uniform(next(keys), shape, jnp.float32).astype(dtype)
    if figure.make is figures.gemm:
        m, n, k = sizes
        function, arrays = lambda a, b: jnp.matmul(a, b, precision="highest"), (draw(m, k), draw(k, n))
    elif figure.make is figures.softmax:
        function, arrays = jax.nn.softmax, (draw(*sizes),)
    elif figure.make is figures.softmax_gradient:
        function = lambda y, dy: y * (dy - (y * dy).sum(1, keepdims=True))
        arrays = jax.nn.softmax(draw(*sizes)), draw(*sizes)
    elif figure.make in (figures.layer_norm, figures.layer_norm_gradient):
        def norm(x, scale, offset):
            return jax.nn.standardize(x, epsilon=figures.EPSILON) * scale + offset
        function, arrays = norm, (draw(*sizes), draw(sizes[1]), draw(sizes[1]))
        if figure.make is figures.layer_norm_gradient:
            function, arrays = lambda dy, *values: jax.vjp(norm, *values)[1](dy), (draw(*sizes), *arrays)
    elif figure.make is figures.moments:
        function, arrays = lambda x: (x.mean(0), (x * x).mean(0) - x.mean(0) ** 2), (draw(*sizes),)
    elif figure.make is figures.column_sums:
        function, arrays = lambda x: x.sum(0), (draw(*sizes),)
    elif figure.make is figures.bias_gelu:
        function, arrays = lambda x, b: jax.nn.gelu(x + b, approximate=True), (draw(*sizes), draw(sizes[1]))
    elif figure.make is figures.residual_mul:
        function, arrays = lambda x, y, z: (x + y) * z, (draw(*sizes), draw(*sizes), draw(*sizes))
    else:
        return None
    call = jax.jit(function)
    return lambda: jax.block_until_ready(call(*arrays))


def wait(library):
    if library == "torch":
        import torch
        torch.cuda.synchronize()


def milliseconds(library, call):
    times = []
    for i in range(WARM + RUNS):
        begin = time.perf_counter()
        call()
        wait(library)
        if i >= WARM:
            times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def main():
    library, *names = sys.argv[1:]
    found = {}
    if importlib.util.find_spec(library):
        for figure in figures.FIGURES:
            call = {"torch": torch_call, "jax": jax_call}[library](figure) if figure.name in names else None
            if call:
                found[figure.name] = milliseconds(library, call)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
