"""The chains of bench/moving_chains.py, run on eight virtual devices: values as on JAX, bytes no more than a direct movement sends.

    python moving_chains.py weft
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import moving_chains as chains
import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

DEVICES = np.array(jax.devices()[:8])
ABOVE = []  # bytes and bound, where all devices that have or lack an element send as much as the bound without it
MESHES = [Mesh(DEVICES.reshape(2, 4), ("y", "x")), Mesh(DEVICES.reshape(4, 2), ("y", "x"))]


def lowered(chain, shapes, mesh, spec, to=None):
    given, wanted = (NamedSharding(mesh, PartitionSpec(*one)) for one in (spec, to or spec))
    return jax.jit(lambda *arrays: lax.with_sharding_constraint(chain(*arrays), wanted), in_shardings=given).lower(
        *(jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes)).as_text()


def report(weft, file):
    return json.loads(subprocess.run([weft, "explain", file, "--json", "--fix-seconds", "0"], check=True, capture_output=True, text=True).stdout)


def run(weft, folder, name, chain, shapes, mesh, spec, to=None):
    """Compares values and bytes. Strides that overlap may send an element twice; then the bytes are at most twice the bound."""
    file = folder / "p.mlir"
    file.write_text(lowered(chain, shapes, mesh, spec, to))
    random_numbers = np.random.default_rng(1)
    given = [random_numbers.standard_normal(shape).astype(np.float32) for shape in shapes]
    np.savez(folder / "in.npz", **{f"in/{n:03}": x for n, x in enumerate(given)})
    subprocess.run([weft, "run", file, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--devices", "cpu:8"],
                   check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "out.npz") as out:
        np.testing.assert_array_equal(out["out/000"], jax.jit(chain)(*given), err_msg=name)
    told = report(weft, file)
    least, direct = chains.bound(chain, shapes, mesh, spec, to)
    # Between layouts, devices may pass on what they received where that sends less.
    assert len(told["collectives"]) <= 1 or (to and told["total"]["bytes"] < direct), f"{name}: {len(told['collectives'])} collectives"
    assert told["total"]["bytes"] <= direct, f"{name}: {told['total']['bytes']} bytes, a direct movement {direct}"
    if not to and told["total"]["bytes"] > least:
        ABOVE.append((told["total"]["bytes"], least))


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder, count = pathlib.Path(name), 0
        for name, chain in chains.CHAINS.items():
            run(weft, folder, name, chain, [(chains.NZ, chains.NY, chains.NX)], MESHES[0], (None, "y", "x"))
            count += 1
        for number in range(30):
            chain, shape = chains.draw_chain(random.Random(f"test {number}"))
            run(weft, folder, f"random {number}", chain, [shape], MESHES[number % 2], ("y", "x"))
            count += 1
        for number in range(30):
            chain, shapes = chains.draw_pair(random.Random(f"pair {number}"))
            run(weft, folder, f"pair {number}", chain, shapes, MESHES[number % 2], ("y", "x"))
            count += 1
        assert len(ABOVE) <= count / 20 and all(sent <= 1.15 * least for sent, least in ABOVE), ABOVE
        print(f"{count} chains are one movement")
        for number in range(12):
            chain, shape = chains.draw_chain(random.Random(f"between {number}"))
            run(weft, folder, f"between {number}", chain, [shape], MESHES[number % 2], ("y", "x"), ("x", "y"))
        print("12 chains between layouts send no more")
        # A border of 8 of 4096 x 4096: two rows of blocks on 2 x 4 devices, in y and then in x, and the corners once.
        border = (lambda u: chains.edge_y(chains.periodic_x(u)), lambda u: chains.fold_north(chains.periodic_x(u)))
        sent = []
        for chain in border:
            (folder / "p.mlir").write_text(lowered(chain, [(1, 4096, 4096)], MESHES[0], (None, "y", "x")))
            told = report(weft, folder / "p.mlir")
            assert len(told["collectives"]) == 1
            sent.append(told["total"]["bytes"])
        print(f"2 chains of 4096 x 4096 send {sent} bytes")


if __name__ == "__main__":
    main()
