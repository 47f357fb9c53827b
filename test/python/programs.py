"""weft.compile, weft.load and runs on NumPy arrays, against NumPy's figures."""

import os
import pathlib
import signal
import sys
import tempfile
import zipfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax
import numpy as np
import weft
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from refusals import compare, refused, refused_by_weft
from weft import arrays

scratch = pathlib.Path(tempfile.mkdtemp())
random = np.random.default_rng(1)
a, b = random.normal(size=(6, 8)).astype("float32"), random.normal(size=(8, 5)).astype("float32")
wanted = np.tanh(a @ b)

def aligned(value):
    out = weft.empty(value.shape, value.dtype)
    out[...] = value
    return out


# A plain function is compiled and run; its file is kept and loaded without a compiler.
program = weft.compile(lambda x, y: jax.numpy.tanh(x @ y), a, b, out=scratch / "f.weft")
np.testing.assert_allclose(program(a, b), wanted, rtol=1e-5, atol=1e-6)
program = weft.load(scratch / "f.weft")
names = [port.name for port in program.inputs]
out = program.outputs[0].name
assert program.device_count == 1 and program.outputs[0].shape == (6, 5) and program.outputs[0].dtype == np.float32
np.testing.assert_allclose(program.run(dict(zip(names, (a, b))))[out], wanted, rtol=1e-5, atol=1e-6)

# Functions are lowered for Weft, also where JAX's platform is its CPU: files have Weft's own programs where it has one.
square = a @ a.T + np.eye(6, dtype="float32")
for solve in (jax.numpy.linalg.inv, jax.numpy.linalg.det, jax.numpy.linalg.eigvalsh):
    numpys = getattr(np.linalg, solve.__name__)
    np.testing.assert_allclose(weft.compile(solve, square)(square), numpys(square), rtol=1e-3, atol=1e-4)
values = weft.compile(jax.numpy.linalg.eigvals, square)(square)  # by LAPACK
np.testing.assert_allclose(np.sort(np.real(values)), np.linalg.eigvalsh(square), rtol=1e-3)
refused_by_weft(["pure_callback calls a function of this process"], weft.compile, lambda x: jax.pure_callback(np.sin, x, x), square)
lowered = jax.jit(jax.numpy.linalg.cholesky).lower(square)
np.testing.assert_allclose(weft.compile(lowered)(square), np.linalg.cholesky(square), rtol=1e-4, atol=1e-5)

# Arrays are not copied: the program reads and writes the caller's memory.
made = []
empty = arrays.empty
arrays.empty = lambda *given: made.append(empty(*given)) or made[-1]
result = aligned(np.zeros((6, 5), "float32"))
inputs = dict(zip(names, (aligned(a), aligned(b))))
made.clear()
given = program.run(inputs, outputs={out: result}, copy=False)
assert given[out] is result and not made
np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)
arrays.empty = empty

shifted = empty(a.size + 1, "float32")[1:].reshape(a.shape)
shifted[...] = a
refused([names[0], "begins 4 bytes behind a multiple of 64", "weft.empty"], program.run, inputs | {names[0]: shifted}, copy=False)
refused(["not dense"], program.run, inputs | {names[0]: np.asfortranarray(a)}, copy=False)
np.testing.assert_allclose(program.run(inputs | {names[0]: shifted})[out], wanted, rtol=1e-5, atol=1e-6)
refused(["(6, 8)", "(8, 6)"], program.run, inputs | {names[0]: a.T})
refused(["float64", "float32", "astype"], program.run, inputs | {names[0]: a.astype("float64")})
refused(["no such input", names[1]], program.run, inputs | {"other": a})
refused(["is missing", "(6, 8)"], program.run, {names[1]: b})
refused(["takes 2 arrays", "1 were given"], program, a)
refused(["no such output"], program.run, inputs, outputs={"other": result})

# Memory to which the program writes is given once: not an input, nor another output, nor a part of one.
flip = weft.Context().parse("""module { func.func public @main(%a: tensor<4096xf32>, %b: tensor<4096xf32>)
      -> (tensor<4096xf32>, tensor<4096xf32>) {
  %r = stablehlo.reverse %a, dims = [0] : tensor<4096xf32>
  %s = stablehlo.add %r, %b : tensor<4096xf32>
  %t = stablehlo.subtract %a, %b : tensor<4096xf32>
  return %s, %t : tensor<4096xf32>, tensor<4096xf32> } }""", name="flip").compile()
long = aligned(random.normal(size=4096 + 16).astype("float32"))
left, right, room = long[:4096], aligned(random.normal(size=4096).astype("float32")), weft.empty(4096)
pair = {"in/000": left, "in/001": right}
for outputs in ({"out/000": left}, {"out/001": right}, {"out/000": long[16:]}, {"out/000": room, "out/001": room}):
    refused(["shares memory"], flip.run, pair, outputs=outputs)
same = flip.run({"in/000": left, "in/001": left}, outputs={"out/000": room}, copy=False)  # only read: may be one array
assert same["out/000"] is room and (room == left[::-1] + left).all() and not same["out/001"].any()

# A donated input that is bound has the new value after each run; if it is passed, the caller's array stays.
step = weft.compile(jax.jit(lambda w, x: (w - 0.5 * x, (w * x).sum()), donate_argnums=0), a, a + 1)
donated = next(port for port in step.inputs if port.donated is not None)
other = next(port.name for port in step.inputs if port.donated is None)
before = a.copy()
new, total = step(a, a + 1)
np.testing.assert_allclose(new, a - 0.5 * (a + 1), rtol=1e-6, atol=1e-6)
np.testing.assert_allclose(total, (a * (a + 1)).sum(), rtol=1e-4)
assert (a == before).all()
step.bind({donated.name: a})
for _ in range(3):
    step(a + 1)
np.testing.assert_allclose(step.bound(donated.name), a - 1.5 * (a + 1), rtol=1e-5, atol=1e-5)
assert (a == before).all()
refused(["no such input"], step.bind, {"other": a})
refused([donated.name, "reuses the memory"], step.run, {other: a},
        outputs={step.outputs[donated.donated].name: result})

both = weft.compile(jax.jit(lambda x, y: (x + 1, y * 2), donate_argnums=(0, 1)), a, a)
refused(["shares memory"], both.run, dict.fromkeys([port.name for port in both.inputs], aligned(a)), copy=False)
one, two = both(a, a)
assert (one == a + 1).all() and (two == a * 2).all()

# A program on four devices takes and returns global arrays, too.
mesh = Mesh(np.array(jax.devices()), ("rows",))
rows = NamedSharding(mesh, PartitionSpec("rows"))
split = weft.compile(jax.jit(lambda x, y: jax.numpy.tanh(x @ y), in_shardings=(None, rows)), a, b)
assert split.device_count == 4 and "rows" in split.mesh and split.inputs[1].layout != split.inputs[0].layout
np.testing.assert_allclose(split(a, b), wanted, rtol=1e-5, atol=1e-6)
square = weft.compile(jax.jit(lambda x: (x + 1, x * 2), in_shardings=rows), aligned(np.ones((8, 8), "float32")))
room = weft.empty((8, 8))
refused(["shares memory"], square.run, {square.inputs[0].name: np.ones((8, 8), "float32")},
        outputs={port.name: room for port in square.outputs})
refused(["cpu:4", "scattered"], split.run, dict(zip([p.name for p in split.inputs], (a, b))), copy=False)

# explain lists the collectives and their reasons: the sum over four devices of a 6 x 5 result.
explanation = weft.explain(jax.jit(lambda x, y: jax.numpy.tanh(x @ y), in_shardings=(None, rows)), a, b)
assert "on 4 devices" in str(explanation) and "<html" in explanation.html and "<iframe" in explanation._repr_html_()
assert explanation.data, "--json says nothing"
refused_by_weft(["budget", "180"], weft.explain, jax.jit(lambda x, y: x @ y, in_shardings=(None, rows)), a, b, expect="bytes<=1")

# Other element types, and files that are no programs.
for dtype in ("int32", "bool", "complex64", "float64"):
    with jax.enable_x64(dtype == "float64"):
        values = np.arange(6).astype(dtype)
        assert (weft.compile(lambda x: ~x if x.dtype == bool else x + x, values)(values) ==
                (~values if dtype == "bool" else values + values)).all(), dtype
half = jax.numpy.arange(4, dtype="bfloat16")
assert (np.asarray(weft.compile(lambda x: x * 2, half)(half)) == np.asarray(half * 2)).all()
(scratch / "no.weft").write_bytes(b"nothing at all")
refused_by_weft(["no.weft"], weft.load, scratch / "no.weft")
refused(["no function"], weft.compile, 3)
refused_by_weft(["a.mlir"], weft.compile, scratch / "a.mlir")
refused(["takes no arguments"], weft.compile, scratch / "f.weft", a)
refused(["has its arguments"], weft.compile, jax.jit(lambda x: x).lower(a), a)
with zipfile.ZipFile(scratch / "steps.weft", "w") as archive:
    for size in (1, 8):
        archive.writestr(f"predict-{size}.weft", (scratch / "f.weft").read_bytes())
refused(["predict-1, predict-8", "batch_size="], weft.load, scratch / "steps.weft", step="predict")
np.testing.assert_allclose(weft.load(scratch / "steps.weft", batch_size=8)(a, b), wanted, rtol=1e-5, atol=1e-6)
read_only = aligned(a)
read_only.flags.writeable = False
refused(["read-only"], step.run, {donated.name: read_only, other: aligned(a)}, copy=False)
# A forked process runs a program that already ran: it has threads of its own.
flip.run(pair)
if not os.fork():
    signal.alarm(20)
    again = flip.run(pair)
    os._exit(int(not (again["out/000"] == left[::-1] + right).all()))
assert os.wait()[1] == 0, "the forked process hangs, or its result is wrong"
compare("python-programs")
print("programs run")
