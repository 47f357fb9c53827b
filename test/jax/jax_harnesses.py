"""Runs JAX's own harnesses of its primitives, some 5,600 small programs, on a Weft device and on JAX's CPU device.

    jax_harnesses.py [--every 20 [--first 7]] [--only REGEX] [--least 97]      a table of the groups, the classes of failure

The harnesses come with JAX (jax._src.internal_test_util.test_harnesses, which its tests of export and of other compilers use).
"""

import argparse
import collections
import os
import re
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "weft,cpu"  # cpu to compare with

import jax
import numpy as np
from jax._src.internal_test_util import test_harnesses

warnings.filterwarnings("ignore")
TOLERANCE = {"float64": 1e-5, "complex128": 1e-5, "float32": 1e-4, "complex64": 1e-4, "float16": 5e-3, "bfloat16": 3e-2}


def difference(expected, found):
    """The reason why two arrays differ, or nothing."""
    if jax.dtypes.issubdtype(expected.dtype, jax.dtypes.prng_key):
        expected, found = jax.random.key_data(expected), jax.random.key_data(found)
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return f"is {found.dtype}{found.shape}, JAX has {expected.dtype}{expected.shape}"
    name = expected.dtype.name
    exact = np.issubdtype(expected.dtype, np.integer) or name == "bool" or expected.dtype.itemsize == 0
    a, b = (np.asarray(x) for x in (expected, found))
    if not exact:
        wide = np.complex128 if np.issubdtype(a.dtype, np.complexfloating) else np.float64
        a, b = a.astype(wide), b.astype(wide)
    tolerance = 0 if exact else TOLERANCE.get(name, 0.3)
    if np.allclose(b, a, rtol=tolerance, atol=tolerance, equal_nan=not exact):
        return ""
    where = np.unravel_index(np.argmin(np.isclose(b, a, rtol=tolerance, atol=tolerance, equal_nan=not exact)), a.shape)
    return f"the result is {b[where]}, JAX has {a[where]}"


def what_is_unique(group, results):
    """The unique parts of results: singular values or eigenvalues and the product of the factors, as vectors have any sign; of a
    Cholesky factor the lower triangle."""
    arrays = [np.asarray(x) for x in results]
    if group == "cholesky":
        return [np.tril(arrays[0])]
    if group == "svd" and len(arrays) == 3:
        s, u, vt = arrays
        return [s, (u[..., :s.shape[-1]] * s[..., None, :]) @ vt[..., :s.shape[-1], :]]
    if group == "eigh" and len(arrays) == 2:
        v, w = arrays if arrays[0].ndim > arrays[1].ndim else arrays[::-1]
        return [w, (v * w[..., None, :]) @ np.conj(np.swapaxes(v, -1, -2))]
    return results


def run(harness, device, arguments):
    arguments = [jax.device_put(x, device) if hasattr(x, "dtype") or isinstance(x, (int, float)) else x for x in arguments]
    with jax.default_device(device):
        results = jax.tree.leaves(jax.jit(harness.dyn_fun)(*arguments))
    return what_is_unique(harness.group_name, results)


def failure(harness, weft, cpu):
    """The reason why a harness fails, or nothing; None if it does not run on JAX's CPU device."""
    try:
        arguments = harness.dyn_args_maker(np.random.RandomState(42))
        expected = run(harness, cpu, arguments)
    except Exception:  # JAX itself refuses some harnesses
        return None
    try:
        for a, b in zip(expected, run(harness, weft, arguments), strict=True):
            why = difference(a, b)
            if why:
                return why
    except Exception as error:
        message = str(error)
        return message[max(message.find("Weft: "), 0):].splitlines()[0] if message else type(error).__name__
    return ""


def reason_class(why):
    text = re.sub(r"\S+\.py:\d+:\d+: |tensor<[^>]*>", "", why)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", text)[:110]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="of each so many")
    parser.add_argument("--only", default="")
    parser.add_argument("--least", type=float, default=0)
    options = parser.parse_args()
    weft, cpu = jax.devices("weft")[0], jax.devices("cpu")[0]
    groups, classes, examples = collections.defaultdict(collections.Counter), collections.Counter(), {}
    chosen = [h for h in test_harnesses.all_harnesses if re.search(options.only, h.fullname)]
    for harness in chosen[options.first::options.every]:
        why = failure(harness, weft, cpu) if harness.filter("cpu") else None
        if why is None:
            continue
        group = groups[harness.group_name]
        group["run"] += 1
        group["agree"] += not why
        if why:
            classes[reason_class(why)] += 1
            examples.setdefault(reason_class(why), (harness.fullname, why))
            print(f"{harness.fullname}: {why[:200]}", file=sys.stderr, flush=True)
    for name, group in sorted(groups.items()):
        if group["agree"] < group["run"]:
            print(f"{name}: {group['agree']} of {group['run']}")
    for reason, count in classes.most_common():
        print(f"{count:5}  {reason}\n       {examples[reason][0]}: {examples[reason][1][:300]}")
    agree, all_run = (sum(group[key] for group in groups.values()) for key in ("agree", "run"))
    print(f"{all_run} harnesses run on JAX's CPU, {agree} agree on Weft: {100 * agree / max(all_run, 1):.1f} %")
    return 1 if 100 * agree / max(all_run, 1) < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
