"""Runs small programs after reports about other partitioners on a mesh of Weft's devices, and compares with one device of JAX's CPU.

    public_reports.py FILE...       files of programs; JAX_PLATFORMS is "weft"

A program is a function with @report (below). Each prints one line; the last line has the number of programs.
"""

import contextlib
import dataclasses
import math
import re
import runpy
import sys
import typing

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

DEVICES = jax.devices("weft")
COLLECTIVE = re.compile(r"= \S+ (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|ragged-all-to-all)\(|custom_call_target=\"coll\.(?!slice|coordinate)")


def mesh(*sizes, devices=None, explicit=False):
    """A mesh of Weft's devices with axes "a", "b", ..."""
    count = math.prod(sizes)
    kind = jax.sharding.AxisType.Explicit if explicit else jax.sharding.AxisType.Auto
    return Mesh(np.array((devices or DEVICES)[:count]).reshape(sizes), tuple("abc"[:len(sizes)]), axis_types=(kind,) * len(sizes))


@dataclasses.dataclass
class Case:
    """One program: `function` of `arguments` in the layouts `specs`, with the result in the layout `out`."""
    function: typing.Callable
    arguments: typing.Sequence
    specs: typing.Sequence
    out: object = None
    on: Mesh = dataclasses.field(default_factory=lambda: mesh(2, 4))
    expected: object = None     # figures, or a function without mesh for JAX's CPU; None: `function` on JAX's CPU
    silent: bool = False        # no device sends anything
    donated: tuple = ()
    tolerance: float = 1e-5


reports = []


def report(*names):
    """Marks a function that yields cases of these reports."""
    return lambda function: reports.append((names, function)) or function


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def on_host(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def expected(case):
    """The figures of one device of JAX's CPU."""
    if case.expected is not None and not callable(case.expected):
        return on_host(case.expected)
    with jax.default_device(jax.devices("cpu")[0]):
        return on_host(jax.jit(case.expected or case.function)(*case.arguments))


def actual(case):
    """The figures of the mesh, and the collectives of the compiled program."""
    place = lambda spec: NamedSharding(case.on, spec)
    arguments = [jax.device_put(value, place(spec)) for value, spec in zip(case.arguments, case.specs, strict=True)]
    options = {} if case.out is None else {"out_shardings": jax.tree.map(place, case.out, is_leaf=lambda x: isinstance(x, P))}
    scope = jax.set_mesh(case.on) if jax.sharding.AxisType.Explicit in case.on.axis_types else contextlib.nullcontext()
    with scope:
        compiled = jax.jit(case.function, donate_argnums=case.donated, **options).lower(*arguments).compile()
        return on_host(compiled(*arguments)), COLLECTIVE.findall(compiled.as_text())


def check(case):
    """Raises an error unless the case is as it should be."""
    figures, collectives = actual(case)
    wanted = expected(case)
    assert len(figures) == len(wanted), f"{len(figures)} results, expected {len(wanted)}"
    for got, want in zip(figures, wanted):
        assert got.dtype == want.dtype and got.shape == want.shape, f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
        if want.dtype.kind not in "biufc":
            got, want = got.astype(np.float32), want.astype(np.float32)
        np.testing.assert_allclose(got, want, rtol=case.tolerance, atol=case.tolerance)
    assert not (case.silent and collectives), f"sends something: {collectives}"


def main():
    for file in sys.argv[1:]:
        runpy.run_path(file)
    failed = 0
    for names, function in reports:
        try:
            for case in function() or ():
                check(case)
            print("ok", ", ".join(names))
        except Exception as error:  # each program is reported
            failed += 1
            print("FAILED", ", ".join(names), f"{type(error).__name__}: {error}")
    print(f"{len(reports)} reports, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.modules["public_reports"] = sys.modules["__main__"]  # for the files
    sys.exit(main())
