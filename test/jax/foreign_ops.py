"""StableHLO that other producers than JAX write, against NumPy's figures by the specification.

    python foreign_ops.py WEFT FOLDER

Each program runs on one device, and as a portable artifact on four, with its first argument sharded. Scatters whose windows are partly outside are compared with JAX on XLA's CPU.
"""

import os
import pathlib
import subprocess
import sys

os.environ["JAX_PLATFORMS"], os.environ["XLA_FLAGS"] = "cpu", "--xla_force_host_platform_device_count=4"
import jax
import numpy as np
from jax import lax
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from specification_ops import MESH, VERSION, type_of

R = np.random.RandomState(5)


def floats(*shape):
    return R.randn(*shape).astype(np.float32)


A, B, V, W = floats(8, 5), floats(5, 7), floats(5), floats(8)
X, SCALE, OFFSET, MEAN, GRAD = floats(8, 2, 4, 3), floats(3), floats(3), floats(3), floats(8, 2, 4, 3)
VARIANCE = R.rand(3).astype(np.float32) + 0.5
SQUARE, BATCH = floats(8, 4, 4), floats(8, 5, 6)
ROWS = R.randint(0, 5, (8, 3)).astype(np.int32)
EPSILON = np.float32(0.001)


def normalized(x, mean, variance, scale, offset):
    return scale * (x - mean) / np.sqrt(variance + EPSILON) + offset


def batch_norm_grad(x, scale, mean, variance, grad):
    axes, count = (0, 1, 2), x[..., 0].size
    raised, centered = variance + EPSILON, x - mean
    along = (grad * centered).sum(axes) * centered / raised
    of_x = scale / np.sqrt(raised) / count * (count * grad - grad.sum(axes) - along)
    return of_x, (grad * centered / np.sqrt(raised)).sum(axes), grad.sum(axes)


def norm(op, operands):
    types = ", ".join("{%d}" % i for i in range(operands))
    values = ", ".join(f"%{i}" for i in range(operands))
    return f'"stablehlo.{op}"({values}) <{{{{epsilon = 0.001 : f32, feature_index = 3 : i64}}}}> : ({types}) -> ({{r}})'


def reducer(body):
    """A sum over dimension 1 of %0, with %s or another value from around the region."""
    return """%z = stablehlo.constant dense<0.0> : tensor<f32>
        %r = "stablehlo.reduce"(%0, %z) <{{dimensions = array<i64: 1>}}> ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        """ + body + "}}) : ({0}, tensor<f32>) -> {r}"


def index_select(batch_dims):
    return (f'%r = "stablehlo.torch_index_select"(%0, %1) <{{{{dim = 1 : i64, batch_dims = {batch_dims} : i64}}}}> '
            ": ({0}, {1}) -> {r}")


def topk(largest):
    call = "stablehlo.custom_call @mhlo.topk(%0)"
    return "%r:2 = " + call + " {{mhlo.attributes = {{k = 3 : i64, largest = " + largest + "}}}} : ({0}) -> ({r})"


def ordered(x, sign):
    order = np.argsort(sign * x, axis=-1, kind="stable")[..., :3]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


SPOTS = np.array([[2], [5], [2], [9], [7]], np.int32)  # one is there twice, one is outside


def scatter(body, unique):
    """Changes rows of %0 at %1 by those of %2 and a scalar from around the region."""
    return """%s = stablehlo.reshape %3 : ({3}) -> tensor<f32>
        %r = "stablehlo.scatter"(%0, %1, %2) <{{indices_are_sorted = false, unique_indices = """ + unique + """,
          scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        """ + body + "}}) : ({0}, {1}, {2}) -> {r}"


def changed(rows, spots, updates, change):
    result = rows.copy()
    for (spot,), update in zip(spots, updates):
        if spot < len(rows):
            result[spot] = change(result[spot], update)
    return result


# name: (body with {0}, {1} for the types of arguments and {r} for those of results, arguments, results)
CASES = {
    "dot": ("%r = stablehlo.dot %0, %1 : ({0}, {1}) -> {r}", [A, B], [A @ B]),
    "dot of a vector": ("%r = stablehlo.dot %0, %1, precision = [HIGHEST, DEFAULT] : ({0}, {1}) -> {r}", [A, V], [A @ V]),
    "dot of vectors": ("%r = stablehlo.dot %0, %0 : ({0}, {0}) -> {r}", [W], [W @ W]),
    "broadcast": ("%r = stablehlo.broadcast %0, sizes = [2, 3] : ({0}) -> {r}", [A], [np.broadcast_to(A, (2, 3, 8, 5))]),
    "arith.constant": ("%c = arith.constant dense<2.5> : {0}\n%r = stablehlo.add %0, %c : {0}", [A], [A + 2.5]),
    "batch_norm_inference": ("%r = " + norm("batch_norm_inference", 5), [X, SCALE, OFFSET, MEAN, VARIANCE],
                             [normalized(X, MEAN, VARIANCE, SCALE, OFFSET)]),
    "batch_norm_training": ("%r:3 = " + norm("batch_norm_training", 3), [X, SCALE, OFFSET],
                            [normalized(X, X.mean((0, 1, 2)), X.var((0, 1, 2)), SCALE, OFFSET), X.mean((0, 1, 2)),
                             X.var((0, 1, 2))]),
    "batch_norm_grad": ("%r:3 = " + norm("batch_norm_grad", 5), [X, SCALE, MEAN, VARIANCE, GRAD],
                        batch_norm_grad(X, SCALE, MEAN, VARIANCE, GRAD)),
    **{f"einsum {config}": (f'%r = stablehlo.einsum %0, %1, config = "{config}" : ({{0}}, {{1}}) -> {{r}}', [a, b],
                            [np.einsum(config, a, b)])
       for config, a, b in (("ik,kj->ji", A, B), ("bij,bjk->bki", BATCH, floats(8, 6, 2)), ("bii,bj->bij", SQUARE, floats(8, 3)),
                            ("ij,kl->kj", A, B), ("bij,bij->b", BATCH, BATCH), ("bij,b->ji", BATCH, W),
                            ("...ij,...jk->...ik", BATCH, floats(8, 6, 2)))},
    **{f"unary_einsum {config}": (f'%r = stablehlo.unary_einsum %0, config = "{config}" : ({{0}}) -> {{r}}', [a],
                                  [np.einsum(config, a)])
       for config, a in (("bij->jb", BATCH), ("bii->bi", SQUARE), ("bii->b", SQUARE), ("b...->...b", BATCH))},
    "torch_index_select": (index_select(0), [BATCH, ROWS], [BATCH[:, ROWS]]),
    "torch_index_select in batches": (index_select(1), [BATCH, ROWS], [np.take_along_axis(BATCH, ROWS[:, :, None], 1)]),
    "mhlo.topk": (topk("true"), [A], ordered(A, -1)),
    "mhlo.topk of the least": (topk("false"), [A], ordered(A, 1)),
    "mhlo.tan": ("%r = stablehlo.custom_call @mhlo.tan(%0) {{mhlo.attributes = {{}}}} : ({0}) -> {r}", [A], [np.tan(A)]),
    "mhlo.erf": ("%e = stablehlo.custom_call @mhlo.erf(%0) : ({0}) -> {0}\n%m = chlo.erf %0 : {0} -> {0}\n"
                 "%r = stablehlo.compare EQ, %e, %m : ({0}, {0}) -> {r}", [A], [np.ones(A.shape, bool)]),
    "a reducer that gives a constant": ("%s = stablehlo.constant dense<3.0> : tensor<f32>\n" + reducer("stablehlo.return %s : tensor<f32>"),
                                        [A], [np.full(8, 3, np.float32)]),
    "a reducer that gives an argument": (
        "%s = stablehlo.reshape %1 : ({1}) -> tensor<f32>\n" + reducer("stablehlo.return %s : tensor<f32>"),
        [A, V[:1]], [np.full(8, V[0])]),
    "a reducer with a factor from around": (
        "%s = stablehlo.reshape %1 : ({1}) -> tensor<f32>\n" + reducer(
            """%m = stablehlo.maximum %a, %b : tensor<f32>
            %n = stablehlo.maximum %m, %s : tensor<f32>
            stablehlo.return %n : tensor<f32>"""),
        [A, V[:1] * 0 + 0.7], [np.maximum(A.max(1), 0.7).astype(np.float32)]),
}
AROUND = {"scales": ("%m = stablehlo.multiply %a, %s : tensor<f32>\n%n = stablehlo.add %m, %b : tensor<f32>\n"
                     "stablehlo.return %n : tensor<f32>", lambda a, b: a * V[0] + b),
          "fills": ("stablehlo.return %s : tensor<f32>", lambda a, b: V[0])}
for _name, (_body, _change) in AROUND.items():
    for _unique, _spots in (("false", SPOTS), ("true", SPOTS[1:4])):
        _updates = floats(len(_spots), 5)
        CASES[f"a scatter that {_name} from around, unique {_unique}"] = (
            scatter(_body, _unique), [A, _spots, _updates, V[:1]], [changed(A, _spots, _updates, _change)])
# A text that jaxlib does not parse, or that has no artifact.
NO_ARTIFACT = {"arith.constant", "mhlo.erf"}


def program(name, sharded):
    body, arguments, results = CASES[name]
    types = [type_of(array) for array in arguments]
    says = [""] * len(types)
    if sharded:
        dims = ['{"x", "y"}'] + ["{}"] * (arguments[0].ndim - 1)
        says[0] = f" {{sdy.sharding = #sdy.sharding<@mesh, [{', '.join(dims)}]>}}"
    inputs = ", ".join(f"%{i}: {t}{s}" for i, (t, s) in enumerate(zip(types, says)))
    gives = ", ".join(type_of(array) for array in results)
    values = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    text = body.format(*types, r=gives)
    return f"{MESH}func.func public @main({inputs}) -> ({gives}) {{\n{text}\nreturn {values} : {gives}\n}}\n"


def artifact(text):
    with mlir.make_ir_context():
        return stablehlo.serialize_portable_artifact(ir.Module.parse(text), VERSION, True)


def run(weft, source, arguments, devices):
    """The results, or the error as text."""
    inputs, outputs = source.with_suffix(".in.npz"), source.with_suffix(".out.npz")
    np.savez(inputs, **{f"in/{i:03}": array for i, array in enumerate(arguments)})
    done = subprocess.run([weft, "run", source, "--inputs", inputs, "--outputs", outputs, "--devices", f"cpu:{devices}"],
                          capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    found = np.load(outputs)
    return [found[name] for name in sorted(found.files)]


def difference(found, expected):
    if isinstance(found, str):
        return found
    for result, (a, b) in enumerate(zip(found, expected, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {result} is {a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
        if not np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
            return f"result {result} is\n{a}\nnot\n{b}"
    return ""


def check_programs(weft, folder):
    for number, (name, (_, arguments, expected)) in enumerate(CASES.items()):
        for devices in (1, 4):
            rewritten = devices > 1 and name not in NO_ARTIFACT
            source = folder / f"{number}-{devices}{'-artifact.mlirbc' if rewritten else '.mlir'}"
            text = program(name, devices > 1)
            source.write_bytes(artifact(text) if rewritten else text.encode())
            yield f"{name} on {devices}", difference(run(weft, source, arguments, devices), expected)


def scatters():
    """(name, function, arguments): windows at these starts, some of them partly outside."""
    def numbers(window, inserted, dims):
        return lax.ScatterDimensionNumbers(update_window_dims=window, inserted_window_dims=inserted, scatter_dims_to_operand_dims=dims)

    x = floats(8, 6)
    starts = np.array([[0, 0], [7, 1], [3, 5], [-1, 2], [5, 3], [6, 4], [2, -3], [9, 9]], np.int32)
    blocks, rows = floats(8, 2, 3), floats(8, 6)
    both, first = numbers((1, 2), (), (0, 1)), numbers((1, 2), (), (0,))
    mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS  # JAX adds nothing, so that XLA's own meaning is seen
    for kind in (lax.scatter, lax.scatter_add, lax.scatter_mul, lax.scatter_min, lax.scatter_max):
        yield kind.__name__, lambda x, s, u, kind=kind: kind(x, s, u, both, mode=mode), [x, starts, blocks]
    yield "constant", lambda x, u: lax.scatter_add(x, starts, u, both, mode=mode), [x, blocks]
    yield "drop", lambda x, s, u: lax.scatter_add(x, s, u, both, mode="drop"), [x, starts, blocks]
    yield "clip", lambda x, s, u: lax.scatter_add(x, s, u, both, mode="clip"), [x, starts, blocks]
    yield "unsigned", lambda x, s, u: lax.scatter_add(x, s.astype(np.uint32), u, both, mode=mode), [x, starts, blocks]
    yield "one index", lambda x, s, u: lax.scatter_add(x, s[:, :1], u, first, mode=mode), [x, starts, floats(8, 3, 6)]
    yield "rows", lambda x, s, u: lax.scatter_add(x, s[:, :1], u, numbers((1,), (0,), (0,)), mode=mode), [x, starts, rows]
    yield "by a body", lambda x, s, u: lax.scatter_apply(
        x, s, lambda v: v * 2 + 1, both, update_shape=(8, 2, 3), mode=mode), [x, starts[:3], blocks]
    # Derivatives, as JAX writes them, and batches.
    yield "gradient", jax.grad(lambda x, s, u: (lax.scatter_add(x, s, u, both, mode="drop") ** 2).sum(), (0, 2)), [x, starts, blocks]
    yield "batch", jax.vmap(lambda x, s, u: lax.scatter_add(x, s, u, both, mode=mode)), [
        floats(4, 8, 6), np.stack([starts + i for i in range(4)]), floats(4, 8, 2, 3)]


def check_scatters(weft, folder):
    for number, (name, function, arguments) in enumerate(scatters()):
        if name == "by a body":
            arguments = [arguments[0], np.array([[0, 0], [7, 1], [3, 5], [5, 3], [6, 4], [2, -3], [9, 9], [-1, 2]], np.int32), arguments[2]]
        mesh = jax.make_mesh((4,), ("x",), devices=jax.devices()[:4])
        rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]
        for devices in (1, 4):
            shardings = (rows, *[None] * (len(arguments) - 1)) if devices > 1 else None
            lowered = jax.jit(function, **({"in_shardings": shardings} if shardings else {})).lower(*arguments)
            kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
            source = folder / f"scatter-{number}-{devices}.mlir"
            source.write_text(lowered.as_text())
            yield f"scatter: {name} on {devices}", difference(run(weft, source, [arguments[i] for i in kept], devices), expected)


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    failures = runs = 0
    for name, why in [*check_programs(weft, folder), *check_scatters(weft, folder)]:
        runs += 1
        if why:
            failures += 1
            print(f"{name}: {why}")
    print(f"{runs} programs ran, {failures} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
