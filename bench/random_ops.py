#!/usr/bin/env python3
"""Programs of one to three ops under layouts drawn at random: the bytes that XLA and Weft send.

    python3 bench/random_ops.py --weft build/bin/weft [--seed 1 ...] [--count 490] [--keep DIR]

For a Python with bench/requirements.txt. A program applies one to three ops of FORMS to an array of one to three dimensions on
eight devices; the array and the other operands lie in layouts drawn over the mesh's axes, and so does the result in half of the
programs. beside_xla.py says what is counted and printed.
"""

import sys

from beside_xla import arguments, draw_layout, draw_mesh, survey

import jax
import jax.numpy as jnp
from jax import lax

SIZES = (8, 16, 32, 64)


def window(x, dim, size):
    sizes = [size if at == dim else 1 for at in range(x.ndim)]
    return lax.reduce_window(x, 0.0, lax.add, sizes, (1,) * x.ndim, "SAME")


def blocks(x, dim):
    """The dimension split in two, whose order changes: a transposition within it."""
    shape = x.shape[:dim] + (4, x.shape[dim] // 4) + x.shape[dim + 1:]
    return jnp.swapaxes(x.reshape(shape), dim, dim + 1).reshape(x.shape)


def mean_of_groups(x, dim):
    return x.reshape(x.shape[:dim] + (x.shape[dim] // 2, 2) + x.shape[dim + 1:]).mean(dim + 1)


# Ops of the array and one of its dimensions.
FORMS = {
    "tanh": lambda x, dim: jnp.tanh(x),
    "sum": lambda x, dim: jnp.sum(x, dim),
    "max": lambda x, dim: jnp.max(x, dim),
    "argmax": lambda x, dim: jnp.argmax(x, dim).astype(x.dtype),
    "softmax": lambda x, dim: jax.nn.softmax(x, dim),
    "logsumexp": lambda x, dim: jax.nn.logsumexp(x, dim),
    "norm": lambda x, dim: (x - x.mean(dim, keepdims=True)) * lax.rsqrt(x.var(dim, keepdims=True) + 1e-5),
    "sort": lambda x, dim: jnp.sort(x, dim),
    "argsort": lambda x, dim: jnp.argsort(x, dim).astype(x.dtype),
    "sort with values": lambda x, dim: lax.sort_key_val(x, -x, dim)[1],
    "top 5": lambda x, dim: jnp.moveaxis(lax.top_k(jnp.moveaxis(x, dim, -1), 5)[0], -1, dim),
    "top half": lambda x, dim: jnp.moveaxis(lax.top_k(jnp.moveaxis(x, dim, -1), x.shape[dim] // 2)[0], -1, dim),
    "median": lambda x, dim: jnp.median(x, dim),
    "quantile": lambda x, dim: jnp.quantile(x, 0.3, dim),
    "fft": lambda x, dim: jnp.abs(jnp.fft.fft(x, axis=dim)),
    "rfft": lambda x, dim: jnp.real(jnp.fft.rfft(x, axis=dim)),
    "permutation": lambda x, dim: jax.random.permutation(jax.random.key(0), x, dim),
    "independent permutation": lambda x, dim: jax.random.permutation(jax.random.key(0), x, dim, independent=True),
    "cumsum": lambda x, dim: jnp.cumsum(x, dim),
    "cummax": lambda x, dim: lax.cummax(x, dim),
    "reverse cumsum": lambda x, dim: lax.cumsum(x, dim, reverse=True),
    "associative scan": lambda x, dim: lax.associative_scan(jnp.multiply, x, axis=dim),
    "flip": lambda x, dim: jnp.flip(x, dim),
    "roll 3": lambda x, dim: jnp.roll(x, 3, dim),
    "roll half": lambda x, dim: jnp.roll(x, x.shape[dim] // 2, dim),
    "first half": lambda x, dim: lax.slice_in_dim(x, 0, x.shape[dim] // 2, axis=dim),
    "interior": lambda x, dim: lax.slice_in_dim(x, 1, x.shape[dim] - 1, axis=dim),
    "every second": lambda x, dim: lax.slice_in_dim(x, 0, x.shape[dim], 2, axis=dim),
    "one row": lambda x, dim: lax.index_in_dim(x, 3, dim, keepdims=False),
    "last row": lambda x, dim: lax.index_in_dim(x, x.shape[dim] - 1, dim, keepdims=False),
    "row subtracted": lambda x, dim: x - lax.slice_in_dim(x, 0, 1, axis=dim),
    "two rows": lambda x, dim: jnp.take(x, jnp.array([1, x.shape[dim] - 2]), dim),
    "row set": lambda x, dim: jnp.moveaxis(jnp.moveaxis(x, dim, 0).at[2].set(0.0), 0, dim),
    "pad": lambda x, dim: jnp.pad(x, [(2, 2) if at == dim else (0, 0) for at in range(x.ndim)]),
    "wrap": lambda x, dim: jnp.pad(x, [(1, 1) if at == dim else (0, 0) for at in range(x.ndim)], mode="wrap"),
    "with itself": lambda x, dim: jnp.concatenate([x, x * 2], dim),
    "repeat": lambda x, dim: jnp.repeat(x, 2, dim),
    "tile": lambda x, dim: jnp.tile(x, [2 if at == dim else 1 for at in range(x.ndim)]),
    "diff": lambda x, dim: jnp.diff(x, axis=dim),
    "window of 3": lambda x, dim: window(x, dim, 3),
    "groups": mean_of_groups,
    "blocks": blocks,
    "transpose": lambda x, dim: jnp.moveaxis(x, dim, 0),
    "flatten": lambda x, dim: x.reshape(-1),
    "one hot": lambda x, dim: jax.nn.one_hot(jnp.argmax(x, dim), x.shape[dim]),
    "outer": lambda x, dim: jnp.expand_dims(x, dim) * jnp.expand_dims(x, dim + 1) if x.ndim < 3 else x * x,
}
# Ops with a second operand: its shape for the array's, and the function. A first letter "i" is an operand of indices.
PAIRS = {
    "dot": (lambda shape, dim: (shape[dim], 32), lambda x, w, dim: jnp.tensordot(x, w, ((dim,), (0,)))),
    "dot of batches": (lambda shape, dim: shape, lambda x, w, dim: jnp.sum(x * w, dim)),
    "gram": (lambda shape, dim: shape, lambda x, w, dim: jnp.tensordot(x, w, ((dim,), (dim,)))),
    "add": (lambda shape, dim: shape, lambda x, w, dim: x + w),
    "bias": (lambda shape, dim: shape[dim:dim + 1], lambda x, w, dim: x + w.reshape([-1 if at == dim else 1 for at in range(x.ndim)])),
    "concatenate": (lambda shape, dim: shape, lambda x, w, dim: jnp.concatenate([x, w], dim)),
    "where": (lambda shape, dim: shape, lambda x, w, dim: jnp.where(x > 0, x, w)),
    "take": (lambda shape, dim: ("i", 16), lambda x, i, dim: jnp.take(x, i, dim)),
    "take along": (lambda shape, dim: ("i", *shape), lambda x, i, dim: jnp.take_along_axis(x, i, dim)),
    "scatter add": (lambda shape, dim: ("i", shape[0]), lambda x, i, dim: jnp.zeros((32, *x.shape[1:])).at[i].add(x)),
    "segment sum": (lambda shape, dim: ("i", shape[0]), lambda x, i, dim: jax.ops.segment_sum(x, i, 16)),
    "dynamic row": (lambda shape, dim: ("i",), lambda x, i, dim: lax.dynamic_index_in_dim(x, i, dim, False)),
    "dynamic roll": (lambda shape, dim: ("i",), lambda x, i, dim: jnp.roll(x, i, dim)),
    "update": (lambda shape, dim: tuple(size // 2 if at == dim else size for at, size in enumerate(shape)),
               lambda x, w, dim: lax.dynamic_update_slice_in_dim(x, w, 0, dim)),
}


def draw_op(chance, value):
    """A random op of a value: (its name, the shape of a second operand or None, the function of both)"""
    dim = chance.randrange(len(value.shape))
    name = chance.choice([*FORMS, *PAIRS])
    if name in FORMS:
        return f"{name} {dim}", None, lambda x, _: FORMS[name](x, dim)
    shape, function = PAIRS[name]
    return f"{name} {dim}", shape(value.shape, dim), lambda x, other: function(x, other, dim)


def struct(shape):
    if shape[:1] == ("i",):
        return jax.ShapeDtypeStruct(shape[1:], jnp.int32)
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def draw_program(chance):
    mesh = draw_mesh(chance)
    first = struct(tuple(chance.choice(SIZES) for _ in range(chance.choice((1, 2, 2, 2, 3)))))
    inputs, value, ops, names = [first], first, [], []
    while len(ops) < chance.choice((1, 2, 3)):
        name, second, function = draw_op(chance, value)
        other = None if second is None else struct(second)
        try:
            result = jax.eval_shape(function, value, other)
        except (TypeError, ValueError, IndexError):
            continue  # the dimension is too small for the op
        if not 1 <= len(result.shape) <= 3 or min(result.shape) < 2 or max(result.shape) > 4096:
            continue
        ops.append((function, None if other is None else len(inputs)))
        inputs += [] if other is None else [other]
        names.append(name)
        value = result

    def program(*arrays):
        x = arrays[0]
        for function, other in ops:
            x = function(x, None if other is None else arrays[other])
        return x

    layouts = [draw_layout(chance, mesh, one.shape) for one in inputs]
    out = draw_layout(chance, mesh, value.shape) if chance.random() < 0.5 else None
    lowered = jax.jit(program, in_shardings=tuple(layouts), out_shardings=out).lower(*inputs)
    given = ", ".join(f"{list(one.shape)} {tuple(layout.spec)}" for one, layout in zip(inputs, layouts, strict=True))
    return lowered, f"{' | '.join(names)} of {given} to {list(value.shape)} {out and tuple(out.spec)} on {dict(mesh.shape)}"


if __name__ == "__main__":
    sys.exit(survey(arguments(__doc__, count=490).parse_args(), draw_program))
