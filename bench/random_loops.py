#!/usr/bin/env python3
"""Loops with layouts drawn at random: the bytes that XLA and Weft send, all rounds of each.

    python3 bench/random_loops.py --weft build/bin/weft [--seed 1 ...] [--count 70] [--keep DIR]

For a Python with bench/requirements.txt. A loop of 3 to 40 rounds, a scan or a fori_loop, carries an array and applies one of
STEPS to it in each round; it may read a weight that is the same in all rounds, take a slice of a stack and save what it
computes; a third of the programs are the gradients of such a loop. All arrays lie in layouts drawn over the mesh's axes.
beside_xla.py says what is counted and printed.
"""

import sys

from beside_xla import arguments, draw_layout, draw_mesh, survey

import jax
import jax.numpy as jnp
from jax import lax

SIZES = (16, 32, 64)


def attend(h, w):
    return h + jax.nn.softmax(h @ w @ h.T) @ h


# One round: the carried array [n, m], the weight [m, m] and, from a stack or fixed, a row [m].
STEPS = {
    "dense": lambda h, w, x: jnp.tanh(h @ w + x),
    "dense twice": lambda h, w, x: jnp.tanh(jax.nn.relu(h @ w) @ w.T + x),
    "residual": lambda h, w, x: h + jax.nn.relu(h @ w) * x,
    "attention": lambda h, w, x: attend(h, w) * x,
    "scale": lambda h, w, x: h * 0.9 + x,
    "normalise": lambda h, w, x: (h - h.mean(0)) / (1 + h.std(0)) + x,
    "softmax": lambda h, w, x: jax.nn.softmax(h, 1) + x,
    "roll": lambda h, w, x: jnp.roll(h, 1, 0) + jnp.roll(h, 1, 1) * x,
    "stencil": lambda h, w, x: h + 0.1 * (jnp.roll(h, 1, 1) + jnp.roll(h, -1, 1) - 2 * h) * x,
    "cumsum": lambda h, w, x: jnp.cumsum(h, 1) * 0.01 + x,
    "sort": lambda h, w, x: jnp.sort(h, 1) + x,
    "power": lambda h, w, x: (h @ w) / jnp.linalg.norm(h),
    "outer": lambda h, w, x: h * 0.5 + jnp.outer(h @ x, x),
    "gate": lambda h, w, x: jnp.where(h @ w > 0, h, x),
    "update row": lambda h, w, x: h.at[0].set(x),
}


def draw_loop(chance):
    mesh = draw_mesh(chance)
    n, m = chance.choice(SIZES), chance.choice(SIZES)
    rounds, name = chance.choice((3, 8, 16, 40)), chance.choice([*STEPS])
    step = STEPS[name]
    stacked, saves, scan = chance.random() < 0.5, chance.random() < 0.3, chance.random() < 0.6
    gradient = chance.random() < 0.33
    shapes = [(n, m), (m, m), (rounds, m) if stacked else (m,)]

    def by_scan(h, w, x):
        def body(h, row):
            h = step(h, w, x if row is None else row)
            return h, h.sum(1) if saves else None
        return lax.scan(body, h, x if stacked else None, length=rounds)

    def by_loop(h, w, x):
        return lax.fori_loop(0, rounds, lambda i, h: step(h, w, x[i] if stacked else x), h), None

    loop = by_scan if scan or gradient else by_loop

    def loss(h, w, x):
        return jnp.sum(loop(h, w, x)[0] ** 2)

    layouts = [draw_layout(chance, mesh, shape) for shape in shapes]
    out = None
    if gradient:
        out = tuple(layouts[:2])
    elif chance.random() < 0.5:
        out = (draw_layout(chance, mesh, shapes[0]), None)
    function = jax.grad(loss, (0, 1)) if gradient else loop
    lowered = jax.jit(function, in_shardings=tuple(layouts), out_shardings=out).lower(
        *(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes))
    form = ("gradients of a scan" if gradient else "scan" if scan else "fori_loop") + (" that saves" if saves and loop is by_scan else "")
    given = ", ".join(f"{list(shape)} {tuple(layout.spec)}" for shape, layout in zip(shapes, layouts, strict=True))
    out = out and [one and tuple(one.spec) for one in out]
    return lowered, f"{form} of {name}, {rounds} rounds, of {given} to {out} on {dict(mesh.shape)}"


if __name__ == "__main__":
    sys.exit(survey(arguments(__doc__, count=70).parse_args(), draw_loop))
