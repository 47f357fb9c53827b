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
MESHES = [Mesh(DEVICES.reshape(2, 4), ("y", "x")), Mesh(DEVICES.reshape(4, 2), ("y", "x"))]


def lowered(chain, shape, mesh, spec, to=None):
    given, wanted = (NamedSharding(mesh, PartitionSpec(*one)) for one in (spec, to or spec))
    return jax.jit(lambda u: lax.with_sharding_constraint(chain(u), wanted), in_shardings=given).lower(
        jax.ShapeDtypeStruct(shape, np.float32)).as_text()


def report(weft, file):
    return json.loads(subprocess.run([weft, "explain", file, "--json", "--fix-seconds", "0"], check=True, capture_output=True, text=True).stdout)


def run(weft, folder, name, chain, shape, mesh, spec, to=None):
    """Compares values and bytes. Strides that overlap may send an element twice; then the bytes are at most twice the bound."""
    file = folder / "p.mlir"
    file.write_text(lowered(chain, shape, mesh, spec, to))
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    np.savez(folder / "in.npz", **{"in/000": x})
    subprocess.run([weft, "run", file, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--devices", "cpu:8"],
                   check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "out.npz") as out:
        np.testing.assert_array_equal(out["out/000"], jax.jit(chain)(x), err_msg=name)
    told = report(weft, file)
    direct = chains.bound(chain, shape, mesh, spec, to)[1]
    # Between layouts, devices may pass on what they received where that sends less.
    assert len(told["collectives"]) <= 1 or (to and told["total"]["bytes"] < direct), f"{name}: {len(told['collectives'])} collectives"
    assert told["total"]["bytes"] <= direct, f"{name}: {told['total']['bytes']} bytes, a direct movement {direct}"


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder, count = pathlib.Path(name), 0
        for name, chain in chains.CHAINS.items():
            run(weft, folder, name, chain, (chains.NZ, chains.NY, chains.NX), MESHES[0], (None, "y", "x"))
            count += 1
        for number in range(30):
            chain, shape = chains.draw_chain(random.Random(f"test {number}"))
            run(weft, folder, f"random {number}", chain, shape, MESHES[number % 2], ("y", "x"))
            count += 1
        print(f"{count} chains are one movement")
        for number in range(12):
            chain, shape = chains.draw_chain(random.Random(f"between {number}"))
            run(weft, folder, f"between {number}", chain, shape, MESHES[number % 2], ("y", "x"), ("x", "y"))
        print("12 chains between layouts send no more")
        # A border of 8 of 4096 x 4096: two rows of blocks on 2 x 4 devices, in y and then in x, and the corners once.
        border = (lambda u: chains.edge_y(chains.periodic_x(u)), lambda u: chains.fold_north(chains.periodic_x(u)))
        sent = []
        for chain in border:
            (folder / "p.mlir").write_text(lowered(chain, (1, 4096, 4096), MESHES[0], (None, "y", "x")))
            told = report(weft, folder / "p.mlir")
            assert len(told["collectives"]) == 1
            sent.append(told["total"]["bytes"])
        print(f"2 chains of 4096 x 4096 send {sent} bytes")


if __name__ == "__main__":
    main()
