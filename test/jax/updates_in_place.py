"""Arrays that a program changes part by part: the results are those of JAX's CPU, and no plan copies the array.

    JAX_PLATFORMS=cpu  updates_in_place.py FILE.npz             writes the results
    JAX_PLATFORMS=weft updates_in_place.py FILE.npz WEFT DIR    compares, and looks for copies in the plans of `weft compile`

Named programs are what people write (caches, buffers, scans). Random ones change, read, swap and pass on two arrays of
integers in loops and branches, where one value too early or too late is another number.
"""

import argparse
import pathlib
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

N, M = 64, 64
SHAPE = (N, M)


def array(seed, *shape):
    return np.random.default_rng(seed).integers(-99, 99, shape or SHAPE).astype(np.int32)


def loop(body, rounds=40):
    return lambda *c: lax.fori_loop(0, rounds, lambda i, c: body(i, *c), c)


def row(c, i):
    return lax.dynamic_slice(c, (i % N, 0), (1, M))


def put(c, value, i):
    return lax.dynamic_update_slice(c, value, (i % N, 0))


# name: (function, number of arrays, copies of an array that the plan may have)
NAMED = {
    "set in a loop": (loop(lambda i, c: (c.at[i % N].set(i),)), 1, 0),
    "add in a loop": (loop(lambda i, c: (c.at[(i * 5) % N].add(c[(i * 7) % N] + i),)), 1, 0),
    "maximum, no loop": (lambda c: (c.at[jnp.array([3, 3, 30, -1])].max(50),), 1, 0),
    "two updates, no loop": (lambda c: (c.at[2].set(7).at[4].add(c[0]),), 1, 0),
    "a row moves": (loop(lambda i, c: (put(c, row(c, i), i + 1),)), 1, 0),
    "computed row": (loop(lambda i, c: (put(c, row(c, 3 * i) * 2 + 1, i),)), 1, 0),
    "cache": (loop(lambda i, c, q: (put(c, q[:1] + i, i), q + put(c, q[:1] + i, i).sum(0))), 2, 0),
    "branch": (loop(lambda i, c: (lax.cond(i % 3 == 0, lambda c: c.at[i % N].add(1), lambda c: c, c),)), 1, 0),
    "two branches": (loop(lambda i, c: (lax.cond(i % 3 == 0, lambda c: c.at[i % N].add(1), lambda c: put(c, row(c, i + 2), i), c),)), 1, 0),
    "switch": (loop(lambda i, c: (lax.switch(i % 3, [lambda c: c.at[0].add(i), lambda c: c.at[1].add(i), lambda c: c], c),)), 1, 0),
    "loop in a loop": (loop(lambda i, c: (lax.fori_loop(0, i, lambda j, c: c.at[(i + j) % N].add(j), c),)), 1, 0),
    "loop after an update": (loop(lambda i, c: (lax.fori_loop(0, 3, lambda j, c: c.at[j].add(c[j + 1]), c.at[i % N].set(0)).at[1].add(1),)), 1, 0),
    "while": (lambda c: lax.while_loop(lambda s: s[0] < 33, lambda s: (s[0] + 1, s[1].at[s[0] % N].add(s[0])), (0, c))[1:], 1, 0),
    "two arrays": (loop(lambda i, a, b: (a.at[i % N].set(b[(i + 1) % N]), b.at[i % N].add(a[i % N]))), 2, None),
    "read before": (loop(lambda i, a, b: (a.at[i % N].add(1), b + a.sum(0))), 2, 0),
    # The result replaces the donated array, which each round reads.
    "scan": (lambda c: (lax.scan(lambda h, x: (h + x, h * x), c[0], c)[1],), 1, 1),
    "scan backward": (lambda c: (lax.scan(lambda h, x: (h + x, h * x), c[0], c, reverse=True)[1],), 1, 1),
    "column": (loop(lambda i, c: (c.at[:, i % M].add(i),)), 1, 0),
    "elements": (loop(lambda i, c: (c.at[jnp.arange(5) * i % N, i % M].add(1),)), 1, 0),
    "outside": (loop(lambda i, c: (c.at[i].set(1, mode="drop"),)), 1, 0),
    "old value after": (loop(lambda i, c: (c.at[i % N].add((c.at[(i + 1) % N].set(3) * c)[i % N]),)), 1, None),
    "old value returned": (lambda c: (c.at[3].set(1), c * 2), 1, 0),
    "both returned": (lambda c: (c.at[3].set(1), c.at[4].set(2)), 1, None),
    "swapped": (loop(lambda i, a, b: (b, a.at[i % N].add(b[0]))), 2, 3),  # moved where the loop ends after odd rounds
    "swapped, odd": (loop(lambda i, a, b: (b, a.at[i % N].add(b[0])), 41), 2, 3),
    "leapfrog": (loop(lambda i, a, b: (b, 2 * b - a + i)), 2, 3),
    "circle": (loop(lambda i, a, b, d: (b, d.at[0].add(i), a.at[i % N].add(d[1]))), 3, 8),
    "circle, two more": (loop(lambda i, a, b, d: (b, d.at[0].add(i), a.at[i % N].add(d[1])), 42), 3, 8),
    "turned": (loop(lambda i, c: (c.T + i,), 41), 1, 3),
    "flat": (loop(lambda i, c: (c.reshape(-1).at[i * 7 % (N * M)].add(i).reshape(SHAPE),)), 1, 0),
    "flat, and rows": (loop(lambda i, c: (c.at[i % N].add(c[0]).reshape(-1).at[i * 7].set(c[i % N, 1]).reshape(SHAPE),)), 1, None),
    "flat, nested": (loop(lambda i, c: (lax.fori_loop(0, i % 3, lambda j, c: c.reshape(-1).at[i * j].add(c[j, 2]).reshape(SHAPE), c),)), 1, 0),
    "passed on": (loop(lambda i, a, b: (a.at[i % N].add(1), a)), 2, None),
    "same twice": (loop(lambda i, a, b: (lambda c: (c, c))(a.at[i % N].add(b[0]))), 2, None),
    "old carried": (loop(lambda i, a, b: (a.at[i % N].add(i), b + a)), 2, 0),
}


def random_program(seed):
    """A loop over two or three arrays, each round some ops of random kinds on random values made so far."""
    def body(i, *carried):
        draw = np.random.default_rng(seed)
        values = list(carried)
        for _ in range(draw.integers(2, 7)):
            kind = draw.integers(9)
            a, b = (values[draw.integers(len(values))] for _ in range(2))
            p, q = (int(draw.integers(1, 9)) for _ in range(2))
            if kind == 0:
                values.append(a.at[(i * p + q) % N].set(b[(i + q) % N]))
            elif kind == 1:
                values.append(a.at[(i * p + q) % N].add(i))
            elif kind == 2:
                values.append(put(a, row(b, i + p), i * q))
            elif kind == 3:
                values.append(put(a, row(a, i + p) + row(b, q), i))
            elif kind == 4:
                values.append(lax.cond((i + p) % 2 == 0, lambda a, b: a.at[p].add(b[q]), lambda a, b: (a, b)[p % 2], a, b))
            elif kind == 5:
                values.append(lax.fori_loop(0, i % 3, lambda j, s: (s[0].at[(j + p) % N].add(s[1][q]), s[1]), (a, b))[p % 2])
            elif kind == 6:
                values.append(a + b.sum() % 5)
            elif kind == 7:
                values.append(lax.fori_loop(0, 2, lambda j, s: (s[1], s[0].at[(j + p) % N].add(i)), (a, b))[q % 2])
            else:
                values.append(jnp.where(a > b, a, b.at[i % N].set(p)))
        return tuple(values[-1 - draw.integers(min(len(values), 4))] for _ in carried)

    count = 2 + seed % 2
    function = loop(body, rounds=7)
    if seed % 5 == 0:
        return lambda *c: (lambda r: (r[0].at[2].add(r[1][1]), *r[1:], c[0][0]))(function(*c)), count
    return function, count


def copied(text, weft, folder):
    """The number of copies of whole arrays in the plan that Weft makes of the program."""
    path = pathlib.Path(folder) / "program.mlir"
    path.write_text(text)
    plan = subprocess.run([weft, "compile", path, "--emit", "plan"], capture_output=True, text=True, check=True).stdout
    return len(re.findall(rf"plan\.copy .* : memref<{N}x{M}xi32>", plan))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("weft", nargs="?")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--random", type=int, default=16)
    flags = parser.parse_args()
    programs = dict(NAMED)
    for seed in range(flags.random):
        programs[f"random {seed}"] = (*random_program(seed), None)
    known = np.load(flags.file) if flags.weft else {}
    expected = {}
    wrong = copies = 0
    for name, (function, count, most) in programs.items():
        arrays = [array(k) for k in range(count)]
        jitted = jax.jit(function, donate_argnums=tuple(range(count)) if most is not None or name[-1] in "02468" else ())
        for k, value in enumerate(jitted(*(jnp.array(a) for a in arrays))):
            key = f"{name}/{k}"
            expected[key] = np.asarray(value)
            if flags.weft and not np.array_equal(expected[key], known[key]):
                print(f"{key} differs in {(expected[key] != known[key]).sum()} elements")
                wrong += 1
        if flags.weft and most is not None:
            number = copied(jitted.lower(*arrays).as_text(), flags.weft, flags.folder)
            if number > most:
                print(f"{name}: the plan copies an array {number} times")
                copies += 1
    if flags.weft:
        print(f"{len(expected)} results, {wrong} differ; {copies} plans copy")
    else:
        np.savez(flags.file, **expected)


if __name__ == "__main__":
    main()
