#!/usr/bin/env python3
"""Chains of ops that only move elements: the bytes that XLA and Weft send, beside what a direct movement must send.

    python3 bench/moving_chains.py --weft build/bin/weft [--random 200] [--pairs 200] [--seed 1] [--only NAME...] [--no-xla]

For a Python with bench/requirements.txt. Twelve chains of slices, concatenations, pads, reverses and updates of a slice, as ocean
and weather models have them on a grid of 3 x 96 x 192 that is sharded over two dimensions of eight devices, and chains drawn at
random on two meshes, of one array or of two. A direct movement sends each element once: the bound is the most that one device lacks, or has alone while
others lack it. It is found by running the chain on the numbers of its elements. Bytes are those of the device that sends most;
nothing runs. Exits with 1 if a chain sends more than the bound, or more than one movement.
"""

import argparse
import json
import os
import random
import subprocess
import sys

os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_force_host_platform_device_count=8", TF_CPP_MIN_LOG_LEVEL="3")

import hlo_traffic
import jax
import jax.numpy as jnp
import numpy as np
from beside_xla import bytes_of_weft
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

DEVICES = 8
NY, NX, NZ, H = 96, 192, 3, 8


def periodic_x(u):
    return jnp.concatenate([u[:, :, -2 * H:-H], u[:, :, H:-H], u[:, :, H:2 * H]], axis=2)


def edge_y(u):
    return jnp.concatenate([jnp.repeat(u[:, H:H + 1], H, 1), u[:, H:-H], jnp.repeat(u[:, -H - 1:-H], H, 1)], axis=1)


def fold_north(u):
    """The tripolar grid's seam: the rows above the last one are the rows below it, turned around in x."""
    return jnp.concatenate([u[:, :-H], u[:, -2 * H:-H, ::-1][:, ::-1]], axis=1)


CHAINS = {
    "periodic halo in x": periodic_x,
    "edge halo in y": edge_y,
    "both halos": lambda u: edge_y(periodic_x(u)),
    "tripolar fold": fold_north,
    "interior of a padded grid, shifted": lambda u: u[:, 1:NY - 1, 8:NX - 8],
    "periodic concat of a shifted interior": lambda u: jnp.concatenate([u[:, 1:-1, -14:-8], u[:, 1:-1, 8:-8], u[:, 1:-1, 8:16]], axis=2),
    "rotate by 3 behind a slice": lambda u: jnp.roll(u[:, 4:-4, 16:-16], 3, 2),
    "update of the interior by the shifted interior": lambda u: u.at[:, H:-H, H:-H].set(u[:, H - 1:-H - 1, H + 1:NX - H + 1]),
    "pad of a slice": lambda u: jnp.pad(u[:, H:-H, H:-H], ((0, 0), (H, H), (2, 2 * H - 2))),
    "transposed halves": lambda u: jnp.concatenate([u[:, NY // 2:], u[:, :NY // 2]], axis=1),
    "every second column twice": lambda u: jnp.repeat(u[:, :, ::2], 2, axis=2),
    "upsampled grid, cropped": lambda u: jnp.repeat(jnp.repeat(u[:, 24:72, 48:144], 2, 1), 2, 2),
}


def draw_op(chance, shape):
    """An op of a chain, drawn at random, which leaves a dimension between 4 and 64 elements."""
    dim, n = (at := chance.randrange(2)), shape[at]
    kind = chance.choice(["crop", "stride", "pad", "wrap", "flip", "roll", "swap", "set", "edge"])
    a, b = chance.randint(1, 3), chance.randint(1, 3)
    if kind == "crop" and n > 12:
        return lambda u: lax.slice_in_dim(u, a, n - b, axis=dim)
    if kind == "stride" and n > 24:
        return lambda u: lax.slice_in_dim(u, a, n, 2, axis=dim)
    if kind == "pad" and n < 56:
        return lambda u: jnp.pad(u, [(a, b) if at == dim else (0, 0) for at in range(2)])
    if kind == "wrap" and n < 56:
        return lambda u: jnp.pad(u, [(a, b) if at == dim else (0, 0) for at in range(2)], mode="wrap")
    if kind == "edge" and n < 56:
        return lambda u: jnp.concatenate([lax.slice_in_dim(u, a, n, axis=dim)] +
                                         [lax.slice_in_dim(u, n - 1, n, axis=dim)] * b, axis=dim)
    if kind == "flip":
        return lambda u: jnp.flip(u, dim)
    if kind == "roll":
        return lambda u: jnp.roll(u, a * 5, dim)
    if kind == "swap" and n > 8:
        return lambda u: jnp.concatenate([lax.slice_in_dim(u, n - a, n, axis=dim), lax.slice_in_dim(u, a, n - a, axis=dim)], axis=dim)
    if kind == "set" and min(shape) > 8:
        starts = [a, b]
        return lambda u: lax.dynamic_update_slice(u, u[2:6, 1:7], starts)
    return draw_op(chance, shape)


def draw_chain(chance):
    shape = (chance.choice((16, 24, 32, 40)), chance.choice((16, 32, 48)))
    ops, now = [], shape
    for _ in range(chance.randint(2, 5)):
        op = draw_op(chance, now)
        ops.append(op)
        now = jax.eval_shape(op, jax.ShapeDtypeStruct(now, np.float32)).shape

    def chain(u):
        for op in ops:
            u = op(u)
        return u
    return chain, shape


def draw_pair(chance):
    """A chain of two arrays: the second one is put before or after the first, or takes the place of a block of it."""
    shape, dim, kind = (chance.choice((16, 24, 32, 40)), chance.choice((16, 32, 48))), chance.randrange(2), chance.choice(["before", "after", "put"])
    other = (4, 8) if kind == "put" else tuple(chance.choice((8, 16, 24)) if at == dim else n for at, n in enumerate(shape))
    starts = [chance.randint(0, 8), chance.randint(0, 8)]
    pair = {"before": lambda u, w: jnp.concatenate([w, u], dim), "after": lambda u, w: jnp.concatenate([u, w], dim),
            "put": lambda u, w: lax.dynamic_update_slice(u, w, starts)}[kind]
    ops, now = [], jax.eval_shape(pair, *(jax.ShapeDtypeStruct(each, np.float32) for each in (shape, other))).shape
    for _ in range(chance.randint(1, 4)):
        op = draw_op(chance, now)
        ops.append(op)
        now = jax.eval_shape(op, jax.ShapeDtypeStruct(now, np.float32)).shape

    def chain(u, w):
        u = pair(u, w)
        for op in ops:
            u = op(u)
        return u
    return chain, (shape, other)


def owners(shape, mesh, spec):
    """The device that holds each element."""
    numbers = np.zeros(shape, np.int64)
    for index, axis in zip(np.indices(shape), spec, strict=True):
        if axis is None:
            continue
        size = index.max() + 1
        numbers += index // -(-size // mesh.shape[axis]) * (DEVICES // int(np.prod([mesh.shape[a] for a in mesh.axis_names[:mesh.axis_names.index(axis) + 1]])))
    return numbers


def bound(chain, shapes, mesh, spec, to=None):
    """The most bytes of f32 that one device lacks, or that it alone holds while others lack them: each element once, and once for
    each device that lacks it (no device passes on what it received)."""
    numbers, owner = [], []
    for shape in shapes:
        numbers.append(np.arange(1, np.prod(shape) + 1, dtype=np.int32).reshape(shape) + sum(map(np.size, numbers)))
        owner.append(owners(shape, mesh, spec).reshape(-1))
    sources = np.asarray(jax.jit(chain)(*numbers))
    reader = owners(sources.shape, mesh, to or spec)
    owner = np.concatenate(owner)[np.maximum(sources, 1) - 1]
    lacks = (sources > 0) & (owner != reader)
    wanted = np.unique(np.stack([reader[lacks], sources[lacks], owner[lacks]]), axis=1)
    given = np.unique(wanted[1:], axis=1)
    most = max(max(int((wanted[0] == d).sum()), int((given[1] == d).sum())) for d in range(DEVICES))
    direct = max(max(int((wanted[0] == d).sum()), int((wanted[2] == d).sum())) for d in range(DEVICES))
    return 4 * most, 4 * direct


def measure(options, name, chain, shapes, mesh, spec):
    """Prints a line; returns whether the chain is one movement that sends no more than the bound."""
    sharding = NamedSharding(mesh, PartitionSpec(*spec))
    lowered = jax.jit(lambda *given: lax.with_sharding_constraint(chain(*given), sharding), in_shardings=sharding).lower(
        *(jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes))
    file, explain = bytes_of_weft(options.weft, lowered)
    xla = None if options.no_xla else hlo_traffic.bytes_in_rounds(lowered.compile().as_text(), DEVICES)
    out, error = explain.communicate()
    os.unlink(file)
    if explain.returncode:
        raise RuntimeError(f"weft explain: {error}")
    told, (least, direct) = json.loads(out), bound(chain, shapes, mesh, spec)
    weft, count = told["total"]["bytes"], len(told["collectives"])
    isBest = weft <= least and count <= 1
    if not isBest or not name.startswith("random"):
        print(f"{name:48} XLA {xla}  Weft {weft} in {count}  bound {least} (without relays {direct})  {f'{weft / least:.2f}' if least else ''}", flush=True)
    return isBest, weft <= direct and count <= 1, xla or 0, weft, least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="build/bin/weft")
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--no-xla", action="store_true")
    options = parser.parse_args()
    devices = np.array(jax.devices()[:DEVICES])
    meshes = [Mesh(devices.reshape(2, 4), ("y", "x")), Mesh(devices.reshape(4, 2), ("y", "x"))]
    found = []
    for name, chain in CHAINS.items():
        if not options.only or name in options.only:
            found.append(measure(options, name, chain, [(NZ, NY, NX)], meshes[0], (None, "y", "x")))
    for number in range(options.random):
        chain, shape = draw_chain(random.Random(f"{options.seed} {number}"))
        if not options.only or f"random {number}" in options.only:
            found.append(measure(options, f"random {number}", chain, [shape], meshes[number % 2], ("y", "x")))
    for number in range(options.pairs):
        chain, shapes = draw_pair(random.Random(f"pair {options.seed} {number}"))
        if not options.only or f"random pair {number}" in options.only:
            found.append(measure(options, f"random pair {number}", chain, shapes, meshes[number % 2], ("y", "x")))
    best, direct, xla, weft, least = (sum(column) for column in zip(*found, strict=True))
    print(f"{best} of {len(found)} chains are one movement that sends no more than the bound, {direct} without relays; bytes of all: XLA {xla:,}, Weft {weft:,}, bound {least:,}")
    return int(best < len(found))


if __name__ == "__main__":
    sys.exit(main())
