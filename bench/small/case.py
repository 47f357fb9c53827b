"""What a small program is: a function of JAX, its arguments and how eight devices split them."""

import dataclasses
import typing

import numpy as np


@dataclasses.dataclass
class Case:
    """`splits` has for each argument the dimension that the devices divide, or None for a copy on each; without it the
    program runs on one device only. A donated argument is replaced by the result (or its first part) after each call."""

    function: typing.Callable
    arguments: list
    splits: tuple | None = None
    donated: tuple = ()
    wide: bool = False  # 64-bit types
    tolerance: float = 2e-3  # relative to the largest element of a result


def real(*shape, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape, np.float32).astype(dtype)


def numbers(below, *shape, seed=1, dtype=np.int32):
    return np.random.default_rng(seed).integers(0, below, shape).astype(dtype)
