"""compiled.as_text(): local shapes, and as many collectives as run.

    WEFT_DEVICES=cpu:8 python program_text.py

Each program's collectives are those of its plan (cost_analysis), kind by kind; those of a shard_map are the same
on JAX's CPU. Parameters and results have the shapes of JAX's shards.
"""

import collections
import os
import re

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "weft,cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

KINDS = "all-reduce all-gather reduce-scatter all-to-all collective-permute".split()
PREFIX = {"float32": "f32", "int32": "s32", "bfloat16": "bf16", "bool": "pred"}


def mesh_of(platform):
    return Mesh(np.array(jax.devices(platform)[:8]).reshape(2, 4), ("x", "y"))


def collectives(text):
    """The number of instructions of each kind; a start and its end count as one."""
    found = collections.Counter()
    for kind in KINDS:
        found[kind] = len(re.findall(rf" {kind}(?:-start)?\(", text))
    return found


def communicating(text):
    return len(re.findall(r"channel_id=\d+", text))


def compiled(platform, function, *arguments):
    """The compiled function, and its arguments on the mesh; `arguments` are pairs of an array and a spec."""
    mesh = mesh_of(platform)
    placed = [jax.device_put(array, NamedSharding(mesh, spec)) for array, spec in arguments]
    return jax.jit(function(mesh)).lower(*placed).compile(), placed


def shape_text(array, sharding):
    return f"{PREFIX[array.dtype.name]}[{','.join(map(str, sharding.shard_shape(array.shape)))}]"


def check(name, function, *arguments, expected=None):
    program, placed = compiled("weft", function, *arguments)
    text = program.as_text()
    found = collectives(text)
    counted = program.cost_analysis()["collectives"]
    assert communicating(text) == counted, (name, communicating(text), counted, text)
    entry = text[text.index("ENTRY "):]
    shapes = re.findall(r" = (\w+\[[\d,]*\])\S* parameter\(\d+\)", entry)
    assert shapes == [shape_text(*pair) for pair in zip(placed, program.input_shardings[0], strict=True)], (name, shapes)
    results = jax.tree.leaves(program(*placed))
    root = re.search(r"ROOT \S+ = (.*?) \w[\w-]*\(", entry).group(1)
    assert re.findall(r"\w+\[[\d,]*\]", root) == [shape_text(array, array.sharding) for array in results], (name, root)
    if expected is None:  # the program on JAX's CPU must have the same
        expected = collectives(compiled("cpu", function, *arguments)[0].as_text())
    assert {kind: count for kind, count in found.items() if count} == {kind: count for kind, count in expected.items() if count}, (name, found, expected, text)
    print(f"{name}: {dict(+found)}")
    return text


def mapped(body, inside, outside):
    return lambda mesh: jax.shard_map(body, mesh=mesh, in_specs=inside, out_specs=outside, check_vma=False)


x = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
w = np.ones((32, 24), np.float32)

text = check("no communication", lambda mesh: lambda x: jnp.tanh(x) + 1, (x, P("x", "y")), expected={})
assert "HloModule jit__lambda" in text and "num_partitions=8" in text and " tanh(" in text, text
text = check("contraction", lambda mesh: jnp.dot, (x, P("x", "y")), (w, P("y", None)), expected={"all-reduce": 1})
assert re.search(r" dot\(%\S+, %\S+\).*lhs_contracting_dims=\{1\}, .*rhs_contracting_dims=\{0\}", text), text
assert "replica_groups={{0,1,2,3},{4,5,6,7}}" in text and "to_apply=%sum.f32" in text, text
assert "source_file=" in text and "program_text.py" in text, text
check("two results", lambda mesh: lambda x, w: (x @ w, x.sum(), (x > 0).all(1)), (x, P("x", "y")), (w, P("y", None)),
      expected={"all-reduce": 3})
check("psum", mapped(lambda v: lax.psum(v, "x"), P("x", "y"), P(None, "y")), (x, P("x", "y")))
check("psum of three", mapped(lambda v: (lax.psum(v, "x"), lax.pmax(v, "y"), lax.psum(v, ("x", "y"))), P("x", "y"), (P(None, "y"), P("x"), P())), (x, P("x", "y")),
      expected={"all-reduce": 3})
check("all_gather", mapped(lambda v: lax.all_gather(v, "y", axis=1, tiled=True), P("x", "y"), P("x", None)), (x, P("x", "y")))
check("psum_scatter", mapped(lambda v: lax.psum_scatter(v, "y", scatter_dimension=1, tiled=True), P("x", None), P("x", "y")), (x, P("x", None)))
check("all_to_all", mapped(lambda v: lax.all_to_all(v, "y", 1, 0, tiled=True), P("x", None), P(("x", "y"), None)), (x, P("x", None)))
text = check("ppermute", mapped(lambda v: lax.ppermute(v, "y", [(0, 1), (1, 2), (2, 3), (3, 0)]), P("x", "y"), P("x", "y")), (x, P("x", "y")))
assert "source_target_pairs={" in text and all(pair in text for pair in ("{0,1}", "{3,0}", "{7,4}")), text
text = check("counted loop", mapped(lambda v: lax.fori_loop(0, 400, lambda _, c: jnp.tanh(lax.psum(c, "y")), v), P("x", "y"), P("x", "y")), (x, P("x", "y")), expected={"all-reduce": 1})
assert " while(" in text and "body=%" in text, text
text = check("a branch", mapped(lambda v: lax.cond(v.sum() > 1, lambda v: lax.psum(v, "y"), lambda v: v * 2, v), P("x", "y"), P("x", "y")), (x, P("x", "y")), expected={"all-reduce": 1})
assert " conditional(" in text, text
one = jax.jit(lambda x: x.sum()).lower(jax.device_put(x, jax.devices("weft")[0])).compile().as_text()
assert "num_partitions=1" in one and " reduce(" in one and not any(collectives(one).values()), one
print("all texts agree")
