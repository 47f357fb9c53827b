"""weft.Context: texts, stages, layouts, messages and programs, compared with NumPy.

    context.py
"""

import gc
import threading

import jax
import numpy as np

import weft
from weft.context import Diagnostic, Value

TEXT = """
func.func @dense(%x: tensor<6x8xf32> {weft.name = "x"}, %w: tensor<8x4xf32> {weft.name = "w"})
    -> (tensor<6x4xf32> {weft.name = "y"}) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<6x8xf32>, tensor<8x4xf32> -> tensor<6x4xf32> loc("dense")
  return %0 : tensor<6x4xf32>
}
"""
X, W = np.arange(48, dtype="float32").reshape(6, 8) % 7 - 3, np.arange(32, dtype="float32").reshape(8, 4) % 5 - 2
SEEN = []
CONTEXT = weft.Context(on_diagnostic=SEEN.append)


def annotated():
    """y = x w, its sum over "m"."""
    module = CONTEXT.parse(TEXT, name="dense.mlir")
    module.set_mesh("m=2")
    module.set_layout("w", "[m,-]")
    return module


def refusal(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except weft.Error as error:
        return str(error)
    raise AssertionError(f"{call} accepted {arguments} {options}")


def test_stages():
    module = annotated()
    assert CONTEXT.stages[:3] == ("imported", "differentiated", "sharded") and CONTEXT.stages[-1] == "plan"
    assert "cpu:avx2" in CONTEXT.targets
    before = str(module)
    assert module.values()[0] == Value("x", "argument", (6, 8), "float32", "")
    sharded = module.clone().reach("sharded")
    assert (module.stage, sharded.stage, str(module)) == ("imported", "sharded", before)
    values = {(value.made_by, value.name): value.layout for value in sharded.values()}
    assert values["argument", "x"] == "[-,m]" and values["argument", "w"] == "[m,-]", values
    assert values["weft.dot", "dense"] == "[-,-]+sum(m)", values
    assert "coll.all_reduce" in str(module.clone().reach("partitioned"))
    # The result may be laid out as well: rows of y, whose sum is scattered over them.
    rows = annotated()
    rows.set_layout("y", "[m,-]")
    assert {value.name: value.layout for value in rows.clone().reach("sharded").values()}["y"] == "[m,-]"
    assert rows.values()[0].layout == "" and "coll.reduce_scatter" in str(rows.reach("partitioned"))
    # Passes of one's own choice lead to the same, and so does the text in between.
    again = module.clone().run_passes("builtin.module(weft-pipeline{from=imported to=sharded})")
    assert str(again) == str(sharded) and again.stage == "imported"
    again = CONTEXT.parse(str(sharded))
    again.stage = "sharded"
    np.testing.assert_array_equal(again.compile()(X, W), X @ W)


def test_costs():
    module = annotated()
    (collective,) = module.explain()["collectives"]
    assert (collective["kind"], collective["bytes"]) == ("all_reduce", 6 * 4 * 4), collective  # 96 bytes, of which a ring of 2 sends 2 * 1 / 2
    assert "a step sends 0 bytes instead of 96" in collective["fix"], collective
    assert module.explain(target="cpu:avx2")["collectives"][0]["bytes"] == 96
    (why,) = module.why("x")
    assert why["layout"] == "[-,m]" and "annotated" in why["origins"][0]["steps"][-1], why
    module.set_layout("w", None)
    assert module.explain()["collectives"] == []


def test_programs():
    program = annotated().compile(expect="all_reduce=1")
    assert (program.device_count, program.mesh) == (2, "m=2")
    np.testing.assert_array_equal(program(X, W), X @ W)
    lowered = jax.jit(lambda x, w: jax.numpy.tanh(x) @ w).lower(X, W).as_text()
    np.testing.assert_allclose(CONTEXT.parse(lowered).compile()(X, W), np.tanh(X) @ W, rtol=1e-5, atol=1e-5)
    assert annotated().image(target="cpu:generic")[-8:] == b"WEFTPROG"


def test_refusals():
    SEEN.clear()
    assert refusal(CONTEXT.parse, "func.func @f(", name="cut.mlir").startswith("cut.mlir:1:13: error: ")
    assert SEEN and SEEN[0].severity == "error" and (SEEN[0].place, SEEN[0].line, SEEN[0].column) == ("cut.mlir", 1, 13), SEEN
    assert isinstance(SEEN[0], Diagnostic)
    module = annotated()
    assert "broken: a dense step has 1 (all_reduce)" in refusal(module.compile, expect=["bytes<=9999", "all_reduce=0"])
    assert "no such stage: 'shard'" in refusal(module.reach, "shard")
    assert "the tensor 2" in refusal(module.set_layout, "x", "[m]")
    assert refusal(module.why, "X").startswith("no tensor is called 'X'; name an argument")
    assert "unknown target" in refusal(module.image, target="pdp11")
    assert module.stage == "imported" and np.array_equal(module.compile()(X, W), X @ W)


def test_threads():
    """Modules of one context in four threads, some of them collected meanwhile."""
    errors = []

    def work():
        try:
            for _ in range(3):
                assert annotated().reach("plan").stage == "plan"
                gc.collect()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


for test in (test_stages, test_costs, test_programs, test_refusals, test_threads):
    test()
print("a context compiles")
