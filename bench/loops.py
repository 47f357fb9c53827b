#!/usr/bin/env python3
"""Loops on values of one device, on JAX's CPU and on Weft, in one run: a loop per form, time of a call and of a round.

    python3 bench/loops.py --python VENV/bin/python --library build/lib/libWeftPjrt.so [--cases NAME...] [--rounds 3] [--calls 20]

VENV holds bench/requirements.txt. The platforms take turns, a process a measurement; a cell is the median over the
rounds of the least time of --calls calls. The results of both are compared.
"""

import argparse
import json
import time

import numpy as np

import two_platforms

ROUNDS = {"scalar": 100_000, "collatz": 20_000, "mandelbrot": 50_000, "mandelbrot-grid": 2_000, "rnn": 1_000,
          "gru-batch": 200, "runge-kutta": 20_000, "metropolis": 10_000, "newton": 10_000, "table": 100_000, "nested": 300,
          "scan-stack": 10_000, "branches": 50_000, "kalman": 5_000}


def real(*shape, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) * 0.1).astype(np.float32)


def loops_of_numbers():
    """{case: (function, arguments)}, as in the other two functions."""
    import jax.numpy as jnp
    from jax import lax
    f32 = np.float32

    def scalar(x):
        return lax.fori_loop(0, ROUNDS["scalar"], lambda i, x: x * f32(0.999) + f32(0.5), x)

    def collatz(n):
        def body(state):
            n, longest, of = state
            steps = lax.while_loop(lambda s: s[0] != 1,
                                   lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, jnp.int32(0)))[1]
            return n + 1, jnp.maximum(longest, steps), jnp.where(steps > longest, n, of)
        return lax.while_loop(lambda s: s[0] < ROUNDS["collatz"], body, (n, jnp.int32(0), jnp.int32(0)))[1:]

    def mandelbrot(x, y):
        def body(state):
            i, a, b = state
            return i + 1, a * a - b * b + x, 2 * a * b + y
        return lax.while_loop(lambda s: (s[0] < ROUNDS["mandelbrot"]) & (s[1] * s[1] + s[2] * s[2] < 4), body,
                              (jnp.int32(0), f32(0), f32(0)))

    def nested(a):
        n = ROUNDS["nested"]
        return lax.fori_loop(0, n, lambda i, s: s + lax.fori_loop(0, n, lambda j, r: r * f32(0.99) + j.astype(f32) * a, s) * f32(1e-3), f32(0))

    def stack(x):
        return lax.scan(lambda x, i: (x * f32(0.9) + i, x), x, jnp.arange(ROUNDS["scan-stack"], dtype=f32))

    def branches(x):
        def step(i, x):
            return lax.switch(i % 3, [lambda x: x * f32(0.5), lambda x: x + 1, lambda x: jnp.sin(x)], x)
        return lax.fori_loop(0, ROUNDS["branches"], step, x)

    return {"scalar": (scalar, [f32(1)]), "collatz": (collatz, [np.int32(1)]),
            "mandelbrot": (mandelbrot, [f32(-0.5), f32(0.3)]), "nested": (nested, [f32(1)]),
            "scan-stack": (stack, [f32(0)]), "branches": (branches, [f32(1)])}


def loops_of_arrays():
    import jax.numpy as jnp
    from jax import lax
    f32 = np.float32

    def grid(c):
        def body(state):
            i, z, count = state
            z = z * z + c
            return i + 1, jnp.where(jnp.abs(z) < 2, z, 2), count + (jnp.abs(z) < 2)
        return lax.while_loop(lambda s: s[0] < ROUNDS["mandelbrot-grid"], body,
                              (jnp.int32(0), jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[2]

    def newton(a):
        return lax.fori_loop(0, ROUNDS["newton"], lambda i, x: x - (x * x * x - a) / (3 * x * x + f32(1e-3)), jnp.ones_like(a))

    def table(t, x):
        def step(i, c):
            t, x = c
            at = i % t.shape[0]
            return t.at[at].add(x), x * f32(0.5) + t[(at * 7) % t.shape[0]]
        return lax.fori_loop(0, ROUNDS["table"], step, (t, x))

    # All orbits converge, so that roundings do not grow.
    def lorenz(v):
        x, y, z = v
        return jnp.stack([f32(10) * (y - x), x * (f32(10) - z) - y, x * y - f32(8 / 3) * z])

    def runge_kutta(v):
        h = f32(0.001)

        def step(_, v):
            a = lorenz(v)
            b = lorenz(v + h / 2 * a)
            c = lorenz(v + h / 2 * b)
            d = lorenz(v + h * c)
            return v + h / 6 * (a + 2 * b + 2 * c + d)
        return lax.fori_loop(0, ROUNDS["runge-kutta"], step, v)

    rng = np.random.default_rng(1)
    points = (rng.uniform(-0.2, 0.2, (64, 64)) + 1j * rng.uniform(-0.2, 0.2, (64, 64))).astype(np.complex64)
    return {"mandelbrot-grid": (grid, [points]), "newton": (newton, [np.abs(real(256)) + 1]),
            "table": (table, [real(1024), f32(1)]), "runge-kutta": (runge_kutta, [np.asarray([1, 1, 1], f32)])}


def loops_of_models():
    import jax
    import jax.numpy as jnp
    from jax import lax
    f32 = np.float32

    def rnn(h, w, u, xs):
        return lax.scan(lambda h, x: (jnp.tanh(h @ w + x @ u), h[:4]), h, xs)[0]

    def gru(h, w, u, xs):
        def cell(h, x):
            z, r, n = jnp.split(x @ u, 3, -1)
            a, b, c = jnp.split(h @ w, 3, -1)
            z, r = jax.nn.sigmoid(z + a), jax.nn.sigmoid(r + b)
            return z * h + (1 - z) * jnp.tanh(n + r * c), None
        return lax.scan(cell, h, xs)[0]

    def metropolis(seed):
        def step(state, _):
            key, x, accepted = state
            key, move, choice = jax.random.split(key, 3)
            proposal = x + f32(0.5) * jax.random.normal(move, x.shape)
            takes = jnp.log(jax.random.uniform(choice)) < (jnp.sum(x * x) - jnp.sum(proposal * proposal)) / 2
            return (key, jnp.where(takes, proposal, x), accepted + takes), x[0]
        state = (jax.random.PRNGKey(seed), jnp.zeros(3, f32), jnp.int32(0))
        (_, x, accepted), chain = lax.scan(step, state, None, length=ROUNDS["metropolis"])
        return x, accepted, chain

    def kalman(x, p, zs):
        f = jnp.asarray([[1, 0.1], [0, 1]], f32)
        q, h, r = jnp.eye(2, dtype=f32) * f32(0.01), jnp.asarray([[1, 0]], f32), f32(0.1)

        def step(state, z):
            x, p = state
            x, p = f @ x, f @ p @ f.T + q
            gain = p @ h.T / (h @ p @ h.T + r)
            return (x + gain @ (z - h @ x), (jnp.eye(2, dtype=f32) - gain @ h) @ p), x[0]
        return lax.scan(step, (x, p), zs)

    return {"rnn": (rnn, [real(128), real(128, 128, seed=2), real(128, 128, seed=3), real(ROUNDS["rnn"], 128)]),
            "gru-batch": (gru, [real(32, 128), real(128, 384, seed=2), real(128, 384, seed=3), real(ROUNDS["gru-batch"], 32, 128)]),
            "metropolis": (metropolis, [np.int32(3)]),
            "kalman": (kalman, [real(2, 1), np.eye(2, dtype=f32), real(ROUNDS["kalman"], 1, 1)])}


def programs():
    return {**loops_of_numbers(), **loops_of_arrays(), **loops_of_models()}


def measure(case, calls):
    """Measures in a process of its own."""
    import jax
    function, arguments = programs()[case]
    arguments = [jax.device_put(argument) for argument in arguments]
    begin = time.perf_counter()
    compiled = jax.jit(function).lower(*arguments).compile()
    compile_s = time.perf_counter() - begin
    result, least = None, float("inf")
    for _ in range(calls + 1):
        begin = time.perf_counter()
        result = jax.block_until_ready(compiled(*arguments))
        least = min(least, time.perf_counter() - begin)
    values = [np.asarray(value, np.float64).ravel()[:8].tolist() for value in jax.tree.leaves(result)]
    return {"compile": compile_s, "call": least * 1e3, "values": values}


def main():
    parser = two_platforms.arguments(__doc__, "an interpreter with JAX", rounds=3, calls=20)
    parser.add_argument("--cases", nargs="+", choices=list(ROUNDS), default=list(ROUNDS))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure(args.child, args.calls)))
        return
    print("| loop | rounds | compile s, XLA | Weft | call ms, XLA | Weft | ns a round, XLA | Weft | XLA / Weft |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in args.cases:
        words = ["--child", case, "--calls", args.calls]
        found = two_platforms.in_turn(args.rounds, lambda platform: two_platforms.figures(args, platform, 1, words))
        same = all(np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True)
                   for a, b in zip(found["cpu"][0]["values"], found["weft"][0]["values"], strict=True))
        (xc, x), (wc, w) = (two_platforms.medians(runs, ("compile", "call")).values() for runs in found.values())
        rounds = ROUNDS[case]
        print(f"| {case}{'' if same else ' (results differ)'} | {rounds:,} | {xc:.2f} | {wc:.2f} | {x:.3g} | {w:.3g} "
              f"| {x * 1e6 / rounds:.3g} | {w * 1e6 / rounds:.3g} | {x / w:.2f} |", flush=True)


if __name__ == "__main__":
    main()
