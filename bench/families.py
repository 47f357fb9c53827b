#!/usr/bin/env python3
"""Families of models at real size on 64 devices: the bytes that Weft sends with and without an expert's constraints, and XLA with them.

    python3 bench/families.py --weft build/bin/weft [--cases 'llama *'...] [--layers N] [--json FILE] [--keep DIR] [--no-xla]

For a Python with bench/requirements.txt. A case is a family (family_models.py) and a layout of its weights and batch: "llama, fully
sharded x tensor". Its train step (gradients and Adam, in f32) is lowered without arrays and compiled; nothing runs. NAME may have
wildcards. A row has

  bytes      that the busiest device sends in a step: Weft with the layouts of weights and batch alone, Weft with an expert's
             constraints on activations too, XLA with these (hlo_traffic.py)
  gap        of the price of Weft's layouts without constraints, what other layouts may save at most
  s          seconds of `weft explain` without constraints and of XLA's compilation, each by itself

Each case's figures are added to FILE as a line of JSON when they are there. Exits with 1 if Weft sends more without constraints
than 1.01 of its bytes with them, or more than XLA.
"""

import argparse
import fnmatch
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

os.environ.update(JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3",
                  XLA_FLAGS="--xla_force_host_platform_device_count=64 --xla_backend_optimization_level=0")

import hlo_traffic
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from family_models import FAMILIES, Array

DEVICES = 64


class Layout(NamedTuple):
    mesh: dict
    weights: dict  # the mesh's axis of a name of a weight's dimension
    values: dict   # of a name of an activation's


DATA, MODEL = {"embed": "data", "rows": "data"}, {"heads": "model", "mlp": "model", "vocab": "model", "rows": "model"}
BATCH, TWO, EXPERT = {"batch": "data", "group": "data"}, {"data": 8, "model": 8}, {"data": 8, "expert": 8}
SENT = {"batch": ("data", "expert"), "experts": "expert", "group": "data"}
LAYOUTS = {
    "data": Layout({"data": DEVICES}, {}, BATCH),
    "fully sharded": Layout({"data": DEVICES}, DATA, BATCH),
    "tensor": Layout(TWO, MODEL, BATCH | MODEL),
    "fully sharded x tensor": Layout(TWO, DATA | MODEL | {"rows": ("data", "model")}, BATCH | MODEL),
    "sequence": Layout({"data": 8, "seq": 8}, {}, BATCH | {"length": "seq"}),
    "expert": Layout(EXPERT, {"experts": "expert"}, SENT),
    "fully sharded x expert": Layout(EXPERT, {"experts": "expert", "embed": "data"}, SENT),
}


def lowered_step(family, layout, layers, constraints):
    """The train step of a family, lowered for the layout."""
    layout = LAYOUTS[layout]
    auto = (jax.sharding.AxisType.Auto,) * len(layout.mesh)
    mesh = jax.make_mesh(tuple(layout.mesh.values()), tuple(layout.mesh), axis_types=auto)
    placed = lambda axes, names: NamedSharding(mesh, PartitionSpec(*(axes.get(name) for name in names)))
    keep = lambda x, *names: jax.lax.with_sharding_constraint(x, placed(layout.values, names)) if constraints else x
    weights, inputs, loss = FAMILIES[family].build(keep, layers or FAMILIES[family].layers)
    arrays = lambda tree, axes: jax.tree.map(lambda one: jax.ShapeDtypeStruct(one.shape, one.dtype, sharding=placed(axes, one.names)),
                                             tree, is_leaf=lambda one: isinstance(one, Array))

    def step(p, m, v, inputs):
        value, g = jax.value_and_grad(loss)(p, inputs)
        m = jax.tree.map(lambda s, d: 0.9 * s + 0.1 * d, m, g)
        v = jax.tree.map(lambda s, d: 0.95 * s + 0.05 * d * d, v, g)
        return jax.tree.map(lambda w, s, t: w - 3e-4 * s / (jnp.sqrt(t) + 1e-8), p, m, v), m, v, value

    p = arrays(weights, layout.weights)
    where = jax.tree.map(lambda one: one.sharding, p)
    compiled = jax.jit(step, donate_argnums=(0, 1, 2), out_shardings=(where, where, where, None))
    return compiled.lower(p, p, p, arrays(inputs, layout.values))


def lower(args):
    """The child: writes the program, or compiles it by XLA and prints its bytes and seconds."""
    family, layout = args.child.split(", ")
    lowered = lowered_step(family, layout, args.layers, args.constraints)
    if args.write:
        args.write.write_text(lowered.as_text())
        return
    begin = time.perf_counter()
    text = lowered.compile().as_text()
    print(json.dumps({"bytes": hlo_traffic.bytes_in_rounds(text, DEVICES), "seconds": time.perf_counter() - begin}))


def child(args, case, *more):
    """Runs this script for one program, as a compiler may abort: its output, or raises RuntimeError."""
    return output([sys.executable, __file__, "--child", case, "--layers", str(args.layers), *more], args.timeout)


def output(command, timeout):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"over {timeout} s") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "rror: " in line] or done.stderr.strip().splitlines()
        raise RuntimeError((said or [f"exit {done.returncode}"])[-1])
    return done.stdout


def by_weft(args, case, folder, constraints):
    file = folder / f"{case.replace(', ', '-').replace(' ', '_')}{'-constrained' if constraints else ''}.mlir"
    child(args, case, "--write", str(file), *["--constraints"] * constraints)
    begin = time.perf_counter()
    told = json.loads(output([args.weft, "explain", file, "--json", "--fix-seconds", "0", "--target", args.target], args.timeout))
    found = {"bytes": told["total"]["bytes"], "seconds": time.perf_counter() - begin, "gap": (told["layouts"] or {}).get("gap", 0)}
    if args.keep:
        file.with_suffix(".json").write_text(json.dumps(told))
    return found


def figures(args, case, folder):
    row = {"case": case, "layers": args.layers or FAMILIES[case.split(", ")[0]].layers}
    for key, measure in (("free", lambda: by_weft(args, case, folder, False)), ("kept", lambda: by_weft(args, case, folder, True)),
                         ("xla", lambda: None if args.no_xla else json.loads(child(args, case, "--constraints").splitlines()[-1]))):
        try:
            row[key] = measure()
        except RuntimeError as failure:
            row[key] = {"failure": str(failure)[:300]}
    return row


def cell(found, key, form):
    if found is None or found.get(key) is None:
        return (found or {}).get("failure", "")[:60]
    return form(found[key])


def printed(row):
    bytes_of = lambda value: f"{value / 1e9:.4g} GB" if value >= 1e9 else f"{value / 1e6:.4g} MB"
    cells = [cell(row[key], "bytes", bytes_of) for key in ("free", "kept", "xla")]
    cells += [f"{ratio:.3f}" if (ratio := ratio_of(row, key)) is not None else "" for key in ("kept", "xla")]
    cells += [cell(row["free"], "gap", str), cell(row["free"], "seconds", "{:.1f}".format), cell(row["xla"], "seconds", "{:.1f}".format)]
    return f"| {row['case']} | {' | '.join(cells)} |"


def ratio_of(row, key):
    """Weft's bytes without constraints over those of `key`, where both are known."""
    ours, theirs = ((row[one] or {}).get("bytes") for one in ("free", key))
    return None if ours is None or theirs is None else (ours + 1) / (theirs + 1)


def worse(row):
    """Whether the case misses what it must show, or failed."""
    limits = {"kept": 1.01, "xla": 1.0}
    failed = any("failure" in (row[key] or {}) for key in ("free", "kept", "xla"))
    return failed or any((ratio := ratio_of(row, key)) is not None and ratio > limit for key, limit in limits.items())


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="build/bin/weft")
    parser.add_argument("--cases", nargs="+", metavar="NAME", help="all but those of smoke if absent")
    parser.add_argument("--layers", type=int, default=0, help="layers to compile, those of family_models.py if 0")
    parser.add_argument("--target", default="cuda:sm_90a", help="whose rates layouts are priced by")
    parser.add_argument("--timeout", type=int, default=900, help="seconds of a compilation")
    parser.add_argument("--no-xla", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for programs and reports")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="a file for the figures")
    for name, more in (("--child", {}), ("--write", {"type": pathlib.Path}), ("--constraints", {"action": "store_true"})):
        parser.add_argument(name, help=argparse.SUPPRESS, **more)
    return parser.parse_args()


def main():
    args = parsed()
    if args.child:
        lower(args)
        return
    known = [f"{name}, {layout}" for name, family in FAMILIES.items() for layout in family.layouts]
    for form in args.cases or []:
        if not fnmatch.filter(known, form):
            sys.exit(f"no case is called {form}; there are {'; '.join(known)}")
    cases = [case for case in known if (any(fnmatch.fnmatch(case, form) for form in args.cases) if args.cases else "smoke" not in case)]
    print("| case | Weft, free | Weft, constrained | XLA, constrained | free/constrained | free/XLA | gap | Weft s | XLA s |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases:
            rows.append(figures(args, case, folder))
            print(printed(rows[-1]), flush=True)
            if args.json:
                with args.json.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    beside = [ratio for row in rows if (ratio := ratio_of(row, "xla")) is not None]
    if beside:
        print(f"\n{len(rows)} cases: Weft without constraints sends {math.exp(sum(map(math.log, beside)) / len(beside)):.2f} of XLA's bytes with them "
              f"(geometric mean), at most {max(beside):.2f}")
    sys.exit(any(map(worse, rows)))


if __name__ == "__main__":
    main()
