"""Small programs on eight devices: what a device sends is no more than a direct movement must, and the values are JAX's.

    python least_bytes.py weft [CASE ...]

A dimension that an op needs whole is exchanged against a free one: an all_to_all each way sends 7/8 of a shard, 1,792 bytes of
[64, 64]. One row for all devices is sent as a box of its own: 2 * 7/8 of the row. What each device has already is not sent.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("d",))
ROWS, COLUMNS, WHOLE = (NamedSharding(mesh, P(*spec)) for spec in (("d",), (None, "d"), ()))
two = Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b"))
BLOCKS, ROWS_A, COLUMNS_A, COLUMNS_BA, ONE_A = (NamedSharding(two, P(*spec)) for spec in
                                                (("a", "b"), ("a",), (None, "a"), (None, ("b", "a")), ("a",)))
X = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
SHARD = X.nbytes // 8
ONCE, ROW = SHARD * 7 // 8, 64 * 4 * 2 * 7 // 8


def sorted_rounds(x):
    return lax.fori_loop(0, 5, lambda i, v: jnp.sort(v, 1) + 1, x)


# name: function, layout of the operand, of the result, bytes at most
CASES = {
    "sort": (lambda x: jnp.sort(x, 1), COLUMNS, COLUMNS, 2 * ONCE),
    "sort, result by rows": (lambda x: jnp.sort(x, 1), COLUMNS, ROWS, ONCE),
    "argsort": (lambda x: jnp.argsort(x, 1), COLUMNS, COLUMNS, 2 * ONCE),
    "top half": (lambda x: lax.top_k(x, 32)[0], COLUMNS, COLUMNS, 2 * ONCE),
    "median": (lambda x: jnp.median(x, 1), COLUMNS, ROWS, ONCE),
    "fft": (lambda x: jnp.abs(jnp.fft.fft(x, axis=1)), COLUMNS, COLUMNS, 2 * ONCE),
    "sort in a loop": (sorted_rounds, COLUMNS, COLUMNS, 2 * ONCE),
    "one row": (lambda x: x[3] * 2, ROWS, WHOLE, ROW),
    # The last row goes to the first device before it goes to all.
    "last row": (lambda x: x[-1:] * 2, ROWS, WHOLE, 64 * 4 + ROW),
    "row subtracted": (lambda x: x - x[:1], ROWS, ROWS, ROW),
    "first part": (lambda x: x[:63], ROWS, WHOLE, 7 * SHARD),
    "rows of each shard": (lambda x: x.reshape(8, 8, 64)[:, ::2].reshape(32, 64), ROWS, ROWS, 0),
    "roll": (lambda x: jnp.roll(x, 3, 0), ROWS, ROWS, 3 * 64 * 4),
    "roll half, by columns": (lambda x: jnp.roll(x, 32, 1), COLUMNS, COLUMNS, SHARD),
    "two rolls": (lambda x: jnp.roll(jnp.roll(x, 5, 0), -4, 0), ROWS, ROWS, 64 * 4),
    # Moving ops and movements between layouts are one movement.
    "part of a row": (lambda x: x[:, 1:63][3], BLOCKS, ONE_A, 4 * 16 * 4),
    "row subtracted, replicated shards": (lambda x: jnp.pad(x - x[:1], ((0, 0), (2, 2))), ROWS_A, ROWS_A, 64 * 4),
    "half, with a border": (lambda x: jnp.pad(x[:32], ((0, 0), (1, 7)), mode="wrap"), COLUMNS_BA, BLOCKS, (8 + 2 * 7) * 16 * 4),
    "rows turned around": (lambda x: jnp.transpose(x[::-1, :32]), BLOCKS, BLOCKS, SHARD),
    # What each device has already is no message, whatever moves it.
    "rows copied": (lambda x: x.at[1].set(x[0]).at[62].set(x[63]), ROWS, ROWS, 0),
    "scan of a part": (lambda x: lax.associative_scan(jnp.multiply, x[0, :32]), COLUMNS, WHOLE, 32 + 32 * 4 * 7 // 8),
    "every second row": (lambda x: x[::2] + 1, ROWS, ROWS, 0),
}


def run(weft, folder, name):
    function, given, wanted, most = CASES[name]
    jitted = jax.jit(function, in_shardings=given, out_shardings=wanted)
    (folder / "p.mlir").write_text(jitted.lower(X).as_text())
    np.savez(folder / "in.npz", **{"in/000": X})
    subprocess.run([weft, "run", folder / "p.mlir", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--devices", "cpu:8"],
                   check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "out.npz") as out:
        np.testing.assert_allclose(out["out/000"], jax.jit(function)(X), rtol=1e-4, atol=1e-4, err_msg=name)
    report = json.loads(subprocess.run([weft, "explain", folder / "p.mlir", "--json", "--fix-seconds", "0"], check=True,
                                       capture_output=True, text=True).stdout)
    assert all(row["bytes"] > 0 for row in report["collectives"]), f"{name}: a message of no bytes"
    assert report["total"]["bytes"] <= most, f"{name}: {report['total']['bytes']} bytes, at most {most}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or CASES:
            run(sys.argv[1], pathlib.Path(folder), name)
    print(f"{len(CASES)} programs send the least")


if __name__ == "__main__":
    main()
