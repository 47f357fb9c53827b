#!/usr/bin/env python3
"""Runs rows on the eight devices of this process's platform and, on Weft, holds each to its budget.

    JAX_PLATFORMS=weft WEFT_DEVICES=cpu:8 python examples/parallelism/keras/run.py [ROW ...] [--values FILE.npz] [--json]

Prints the collectives and bytes that one device sends in a step: on Weft as its runtime counts them while the step runs; on
JAX's own devices (JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=8) from the text of the compiled
program. --values writes the results of the steps to a file.
"""

import argparse
import importlib
import json
import operator
import os
import pathlib
import re
import sys
import tempfile

ROWS = ["data_parallel", "zero_1", "fully_sharded", "tensor_parallel", "sequence_parallel", "ulysses", "two_dimensional",
        "expert_parallel", "vocabulary_embedding", "vocabulary_cross_entropy", "spatial_convolution", "top_k",
        "cumulative_sum", "reshard"]
HERE = pathlib.Path(__file__).resolve().parent
RELATIONS = {"=": operator.eq, "<=": operator.le, "<": operator.lt}
ON_WEFT = "weft" in os.environ.get("JAX_PLATFORMS", "")


def counted(reports, name):
    """Figures of a program's newest report: collectives by kind, the bytes counted in its last run, memory."""
    text = max(reports.glob(f"*-jit_{name}.txt")).read_text()
    communication, memory = text.split("Memory of the fullest device")
    kinds = {}
    for kind in re.findall(r"^  (\w+) .*[\d,]+  \S", communication, re.M):
        if kind not in ("at", "why", "total"):
            kinds[kind] = kinds.get(kind, 0) + 1
    total = re.search(r"in (\d+) collective", communication)
    if total and int(total[1]) != sum(kinds.values()):
        sys.exit(f"{name}: {total[1]} collectives, of which {sum(kinds.values())} are understood:\n{text}")
    moved = int(re.search(r"each device moved (\d+) bytes", text)[1])
    held = int(re.search(r"^  total +([\d,]+)", memory, re.M)[1].replace(",", ""))
    return {"kinds": kinds, "bytes": moved, "memory": held, "report": text}


def compiled_by_xla(step):
    """The same figures of XLA's program, read by bench/hlo_traffic.py."""
    sys.path.insert(0, str(HERE.parents[2] / "bench"))
    import hlo_traffic

    found = hlo_traffic.collectives(step.as_text(), 8)
    return {"kinds": {kind.replace("-", "_"): entry["count"] for kind, entry in found.items()},
            "bytes": sum(entry["bytes"] for entry in found.values())}


def over_budget(expect, found):
    """The limits that are exceeded (the grammar is that of docs/explain.md)."""
    for limit in expect.split(", "):
        subject, relation, value = re.fullmatch(r"(\w+)(=|<=|<)(\d+)", limit).groups()
        cost = found["bytes"] if subject == "bytes" else found["kinds"].get(subject, 0)
        if not RELATIONS[relation](cost, int(value)):
            yield f"{limit}, but the step has {cost}"


def sent(found):
    return ", ".join(f"{kind} {count}" for kind, count in sorted(found["kinds"].items())) + f": {found['bytes']:,} bytes"


def run(name, reports):
    import jax
    import keras

    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    row = importlib.import_module(name)
    function, arguments = row.step()
    compiled = function.lower(*arguments).compile()
    values = [jax.numpy.asarray(value) for value in jax.tree.leaves(jax.device_get(compiled(*arguments)))]
    if not ON_WEFT:
        return {"formula": row.FORMULA, **compiled_by_xla(compiled)}, values
    found = counted(reports, function.__name__)
    return {"formula": row.FORMULA, **found, "failed": list(over_budget(row.EXPECT, found))}, values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}; all")
    parser.add_argument("--values", help="a file for the results of the steps")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--explain", action="store_true", help="print Weft's reports")
    options = parser.parse_args()
    os.environ.setdefault("KERAS_BACKEND", "jax")
    passing = tempfile.TemporaryDirectory()
    reports = pathlib.Path(os.environ.setdefault("WEFT_EXPLAIN", passing.name))
    import numpy as np

    table, kept = {}, {}
    for name in options.rows or ROWS:
        table[name], values = run(name, reports)
        kept.update({f"{name}/{i}": value for i, value in enumerate(values)})
        report = table[name].pop("report", "")
        if options.explain:
            print(report)
        if not options.json:
            print(f"{name}: {sent(table[name])}", *table[name].get("failed", []), sep="; over: ", flush=True)
    if options.json:
        print(json.dumps(table))
    if options.values:
        np.savez(options.values, **kept)
    sys.exit(any(entry.get("failed") for entry in table.values()))


if __name__ == "__main__":
    main()
