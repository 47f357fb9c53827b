#!/usr/bin/env python3
"""Attention over sequence shards: plain softmax on Weft and XLA, beside a ring that is written by hand in JAX.

    python3 bench/ring_attention.py [--weft build/bin/weft] [--devices 8] [--words 4096] [--heads 2] [--size 64] [--rounds 5] [--json]

For a Python with bench/requirements.txt. The plain function is softmax(q k^T) v with a causal mask, queries, keys, values and
result sharded along the words, which the number of devices divides and the number of heads is not divided by, so that heads
cannot be sharded instead. The ring passes keys and values on by ppermute and keeps each row's greatest score and sum, as
published ("Ring attention with blockwise transformers", 2023). Bytes are those that a device sends (bench/hlo_traffic.py, weft
explain), memory what a device holds for arguments, results and temporaries, the time a median, systems in turn.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=ROOT / "build" / "bin" / "weft")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--words", type=int, default=4096)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def functions(args):
    """The plain function and the ring, jitted for the mesh, and the arguments' shape."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("x",))
    spec = PartitionSpec(None, "x", None)
    block = args.words // args.devices

    def plain(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k)
        at = jnp.arange(args.words)
        scores = jnp.where(at[:, None] >= at[None, :], scores, -jnp.inf)
        return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, axis=-1), v)

    def ring(q, k, v):
        own = jax.lax.axis_index("x")
        rows = own * block + jnp.arange(block)

        def visit(step, seen):
            k, v, most, total, out = seen
            columns = (own + step) % args.devices * block + jnp.arange(block)
            scores = jnp.where(rows[:, None] >= columns[None, :], jnp.einsum("hqd,hkd->hqk", q, k), -jnp.inf)
            new = jnp.maximum(most, scores.max(axis=-1))
            shift = jnp.where(new == -jnp.inf, 0, new)
            weights, scale = jnp.exp(scores - shift[..., None]), jnp.exp(most - shift)
            total = total * scale + weights.sum(axis=-1)
            out = out * scale[..., None] + jnp.einsum("hqk,hkd->hqd", weights, v)
            return new, total, out

        def round_of(step, seen):
            new = visit(step, seen)
            back = [(d, (d - 1) % args.devices) for d in range(args.devices)]
            return (jax.lax.ppermute(seen[0], "x", back), jax.lax.ppermute(seen[1], "x", back), *new)

        shape = q.shape[:2]
        start = (k, v, *jax.lax.pcast((jnp.full(shape, -jnp.inf), jnp.zeros(shape), jnp.zeros(q.shape)), "x", to="varying"))
        seen = jax.lax.fori_loop(0, args.devices - 1, round_of, start)
        _, total, out = visit(args.devices - 1, seen)
        return out / total[..., None]

    sharding = NamedSharding(mesh, spec)
    shape = jax.ShapeDtypeStruct((args.heads, args.words, args.size), jnp.float32)
    made = {"plain": jax.jit(plain, in_shardings=(sharding,) * 3, out_shardings=sharding),
            "ring": jax.jit(jax.shard_map(ring, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec))}
    return made, shape, sharding


def run_weft(args, folder, source, rings):
    file, stats, out = folder / f"{rings}.weft", folder / "stats.json", folder / "out.npz"
    subprocess.run([args.weft, "compile", source, "--rings", rings, "-o", file], check=True)
    told = json.loads(subprocess.run([args.weft, "explain", source, "--rings", rings, "--json", "--fix-seconds", "0"], check=True,
                                     capture_output=True, text=True).stdout)
    subprocess.run([args.weft, "run", file, "--inputs", folder / "in.npz", "--outputs", out, "--stats", stats, "--repeat", "3"], check=True)
    return told["total"]["bytes"], told["memory"]["total"], json.loads(stats.read_text())["execute_ms"]["median"], out


def main():
    args = arguments()
    os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={args.devices}", TF_CPP_MIN_LOG_LEVEL="3")
    sys.path.insert(0, str(ROOT / "bench"))
    import hlo_traffic
    import jax
    import numpy as np

    made, shape, sharding = functions(args)
    chance = np.random.default_rng(1)
    arrays = [chance.standard_normal(shape.shape, np.float32) for _ in range(3)]
    times, rows, results = {}, {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        source = folder / "attention.mlir"
        lowered = {name: function.lower(shape, shape, shape) for name, function in made.items()}
        source.write_text(lowered["plain"].as_text())
        np.savez(folder / "in.npz", **{f"in/{n:03}": array for n, array in enumerate(arrays)})
        compiled = {name: its.compile() for name, its in lowered.items()}
        placed = [jax.device_put(array, sharding) for array in arrays]
        for turn in range(args.rounds + 1):
            for name, its in compiled.items():
                start = time.perf_counter()
                results[f"XLA, {name}"] = jax.block_until_ready(its(*placed))
                if turn:
                    times.setdefault(f"XLA, {name}", []).append(1e3 * (time.perf_counter() - start))
            for rings in ("off", "on"):
                *told, ms, out = run_weft(args, folder, source, rings)
                rows[f"Weft, rings {rings}"] = told
                times.setdefault(f"Weft, rings {rings}", []).append(ms)
                with np.load(out) as file:
                    results[f"Weft, rings {rings}"] = file[file.files[0]]
        for name, its in compiled.items():
            memory = its.memory_analysis()
            held = memory.temp_size_in_bytes + memory.argument_size_in_bytes + memory.output_size_in_bytes
            rows[f"XLA, {name}"] = [hlo_traffic.bytes_in_rounds(its.as_text(), args.devices), held]
    expected = np.asarray(results["XLA, plain"])
    for name, (sent, held) in rows.items():
        row = {"system": name, "bytes": int(sent), "memory": int(held), "ms": statistics.median(times[name]),
               "difference": float(np.abs(np.asarray(results[name]) - expected).max())}
        if args.json:
            print(json.dumps(row), flush=True)
        else:
            print(f"{name:16} sends {row['bytes']:>13,} bytes, holds {row['memory']:>13,} bytes, {row['ms']:9.1f} ms, {row['difference']:.1e} from XLA", flush=True)


if __name__ == "__main__":
    main()
