"""Decompositions on Weft, on XLA's CPU and by SciPy, in turn in one process.

    JAX_PLATFORMS=weft WEFT_PJRT_LIBRARY=$PWD/build/lib/libWeftPjrt.so PYTHONPATH=$PWD/tools/pjrt/python \\
        .venv/bin/python bench/decompositions.py [--rounds 3] [--sizes 64 256 1024] [--batch 64] [--only svd eigh]

A cell is the median of the rounds; a round is the least of some calls, about a third of a second of them. "XLA / Weft" and "SciPy / Weft"
above 1: Weft is faster. SciPy computes the matrices of a batch one by one. With WEFT_LAPACK_LIBRARIES=none Weft runs its own
programs.
"""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg


def programs():
    """name: (function of JAX, function of SciPy for one matrix, whether the matrix is positive definite)."""
    return {
        "cholesky": (jnp.linalg.cholesky, lambda a: scipy.linalg.cholesky(a, lower=True, check_finite=False), True),
        "lu": (jax.scipy.linalg.lu_factor, lambda a: scipy.linalg.lu_factor(a, check_finite=False), False),
        "solve": (lambda a: jnp.linalg.solve(a, a[..., :8]), lambda a: scipy.linalg.lu_solve(
            scipy.linalg.lu_factor(a, check_finite=False), a[:, :8], check_finite=False), False),
        "qr": (jnp.linalg.qr, lambda a: scipy.linalg.qr(a, mode="economic", check_finite=False), False),
        "eigh": (jnp.linalg.eigh, lambda a: scipy.linalg.eigh(a, driver="evd", check_finite=False), True),
        "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), lambda a: scipy.linalg.svd(
            a, full_matrices=False, check_finite=False), False),
        "eig": (jnp.linalg.eig, lambda a: scipy.linalg.eig(a, check_finite=False), False),
    }


def least(call, seconds):
    """The shortest of as many calls as fit in the time, at least two."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--sizes", type=int, nargs="*", default=[64, 256, 1024])
    parser.add_argument("--batch", type=int, default=64, help="the number of matrices of 32 x 32, or 0")
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    cpu, weft = jax.devices("cpu")[0], jax.devices("weft")[0]
    shapes = [(n, n) for n in args.sizes] + ([(args.batch, 32, 32)] if args.batch else [])
    print("| program | matrices (f32) | XLA ms | SciPy ms | Weft ms | XLA / Weft | SciPy / Weft |\n|---|---|---|---|---|---|---|")
    for name, (function, of_scipy, is_definite) in programs().items():
        if args.only and name not in args.only:
            continue
        for shape in shapes:
            a = np.random.default_rng(1).normal(size=shape).astype("float32")
            if is_definite:
                a = a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1], dtype="float32")
            step, calls = jax.jit(function), {}
            for key, device in (("xla", cpu), ("weft", weft)):
                x = jax.device_put(a, device)
                calls[key] = lambda x=x: jax.block_until_ready(step(x))
            calls["scipy"] = lambda: [of_scipy(one) for one in a.reshape(-1, *shape[-2:])]
            for call in calls.values():
                call()
            rounds = [{key: least(call, args.seconds) for key, call in calls.items()} for _ in range(args.rounds)]
            xla, its, scipy_ms = (statistics.median(r[key] for r in rounds) for key in ("xla", "weft", "scipy"))
            print(f"| {name} | {'x'.join(map(str, shape))} | {xla:.3g} | {scipy_ms:.3g} | {its:.3g} | {xla / its:.2f} | {scipy_ms / its:.2f} |",
                  flush=True)


if __name__ == "__main__":
    main()
