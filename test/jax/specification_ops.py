"""Ops of StableHLO files that JAX itself writes rarely or never, against NumPy's figures by the specification.

    python specification_ops.py WEFT FOLDER

Each program runs on one device and on four, with its first argument sharded over both axes of a mesh where its
shape allows that. On four devices it also runs as a portable artifact, or in the generic form of the text.
"""

import pathlib
import subprocess
import sys

import numpy as np
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

# The current version of JAX 0.10; that of 0.11.2, 1.20, has an op that Weft does not read. The plugin asks for 1.13.7.
VERSION = "1.17.0"

R = np.random.RandomState(3)
X = R.randn(8, 6).astype(np.float32)
Y = R.randn(8, 6).astype(np.float32)
Z = (R.randn(8, 6) + 1j * R.randn(8, 6)).astype(np.complex64)
W = (R.randn(8, 6) + 1j * R.randn(8, 6)).astype(np.complex64)
W[::2] = Z[::2].real + 1j * W[::2].imag  # equal real parts: the imaginary parts decide
TYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "uint8": "ui8", "uint32": "ui32", "uint64": "ui64",
         "complex64": "complex<f32>", "complex128": "complex<f64>", "bool": "i1"}


def type_of(array):
    return "tensor<" + "".join(f"{n}x" for n in array.shape) + TYPES[str(array.dtype)] + ">"


def lexicographic(pick, a, b):
    a_first = np.where(a.real == b.real, pick(a.imag, b.imag), pick(a.real, b.real))
    return np.where(a_first, a, b)


ROUNDED = np.array([np.inf, -np.inf, np.nan, 1.4, 1.6, 3.0, -2.9, 0.0, -0.0, np.finfo(np.float64).max])
BYTES = R.randint(0, 256, (8, 6)).astype(np.uint8)
BITS = R.rand(4, 8) < 0.5
PAIRS = R.randn(8, 2)
# name: (body with {0}, {1} for the arguments' types and {r} for the result's, arguments, result). Results are %r.
CASES = {
    "dynamic_reshape": ("""%s = stablehlo.constant dense<[6, 8]> : tensor<2xi32>
        %r = stablehlo.dynamic_reshape %0, %s : ({0}, tensor<2xi32>) -> {r}""", [X], X.reshape(6, 8)),
    "dynamic_reshape of an unknown type": ("""%s = stablehlo.constant dense<[6, 8]> : tensor<2xi32>
        %a = stablehlo.dynamic_reshape %0, %s : ({0}, tensor<2xi32>) -> tensor<?x?xf32>
        %b = stablehlo.add %a, %a : tensor<?x?xf32>
        %n = stablehlo.compare LT, %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xi1>
        %r = stablehlo.select %n, %a, %b : tensor<?x?xi1>, tensor<?x?xf32>""", [X], np.minimum(X, 2 * X).reshape(6, 8)),
    "get_dimension_size": ("""%n = stablehlo.get_dimension_size %0, dim = 0 : ({0}) -> tensor<i32>
        %m = stablehlo.get_dimension_size %0, dim = 1 : ({0}) -> tensor<i32>
        %p = stablehlo.multiply %n, %m : tensor<i32>
        %s = stablehlo.reshape %p : (tensor<i32>) -> tensor<1xi32>
        %r = stablehlo.dynamic_reshape %0, %s : ({0}, tensor<1xi32>) -> tensor<?xf32>""", [X], X.reshape(48)),
    "dynamic_broadcast_in_dim": ("""%s = stablehlo.constant dense<[3, 8, 6]> : tensor<3xi64>
        %r = stablehlo.dynamic_broadcast_in_dim %0, %s, dims = [1, 2] : ({0}, tensor<3xi64>) -> tensor<?x?x?xf32>""",
                                 [X], np.broadcast_to(X, (3, 8, 6))),
    "dynamic_iota": ("""%s = stablehlo.constant dense<[8, 6]> : tensor<2xi64>
        %i = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<8x6xf32>
        %r = stablehlo.add %i, %0 : {r}""", [X], X + np.arange(6, dtype=np.float32)),
    "dynamic_pad": ("""%z = stablehlo.constant dense<7.0> : tensor<f32>
        %l = stablehlo.constant dense<[1, -1]> : tensor<2xi32>
        %h = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
        %i = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
        %r = stablehlo.dynamic_pad %0, %z, %l, %h, %i
          : ({0}, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>""", [X],
                    np.pad(np.insert(X, np.arange(1, 8), 7, axis=0), ((1, 0), (0, 2)), constant_values=7)[:, 1:]),
    "real_dynamic_slice": ("""%b = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
        %e = stablehlo.constant dense<[8, 5]> : tensor<2xi32>
        %t = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
        %r = stablehlo.real_dynamic_slice %0, %b, %e, %t
          : ({0}, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>""", [X], X[1:8:3, 0:5:2]),
    "dynamic_gather": ("""%s = stablehlo.constant dense<[1, 6]> : tensor<2xi32>
        %r = "stablehlo.dynamic_gather"(%0, %1, %s) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}}>
          : ({0}, {1}, tensor<2xi32>) -> tensor<?x?xf32>""", [X, np.array([5, 0, 2], np.int32)], X[[5, 0, 2]]),
    "dynamic_conv": ("""%p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi32>
        %a = stablehlo.reshape %0 : ({0}) -> tensor<8x6x1xf32>
        %r = "stablehlo.dynamic_conv"(%a, %1, %p) <{{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
          feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1>}}>
          : (tensor<8x6x1xf32>, {1}, tensor<1x2xi32>) -> {r}""", [X, np.array([[[2]], [[3]], [[5]]], np.float32)],
                     (2 * np.pad(X, ((0, 0), (1, 0)))[:, :6] + 3 * X + 5 * np.pad(X, ((0, 0), (0, 1)))[:, 1:])[..., None]),
    "complex cbrt": ("%r = stablehlo.cbrt %0 : {0}", [Z], np.exp(np.log(Z) / 3)),
    "complex atan2": ("%r = stablehlo.atan2 %0, %1 : {0}", [Z, W],
                      -1j * np.log((W + 1j * Z) / np.sqrt(W * W + Z * Z))),
    "complex maximum": ("%r = stablehlo.maximum %0, %1 : {0}", [Z, W], lexicographic(np.greater, Z, W)),
    "complex minimum": ("%r = stablehlo.minimum %0, %1 : {0}", [Z, W], lexicographic(np.less, Z, W)),
    "argmax from a pair": ("""%p = stablehlo.iota dim = 1 : tensor<8x6xi32>
        %v = stablehlo.constant dense<1.0> : tensor<f32>
        %q = stablehlo.constant dense<-1> : tensor<i32>
        %s:2 = stablehlo.reduce(%0 init: %v), (%p init: %q) across dimensions = [1]
          : ({0}, tensor<8x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
          reducer(%x: tensor<f32>, %y: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {{
          %larger = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %take = stablehlo.or %larger, %nan : tensor<i1>
          %equal = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %before = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %tie = stablehlo.and %equal, %before : tensor<i1>
          %first = stablehlo.or %take, %tie : tensor<i1>
          %value = stablehlo.select %take, %x, %y : tensor<i1>, tensor<f32>
          %position = stablehlo.select %first, %i, %j : tensor<i1>, tensor<i32>
          stablehlo.return %value, %position : tensor<f32>, tensor<i32>
        }}
        %zero = stablehlo.constant dense<0> : {r}
        %r = stablehlo.add %s#1, %zero : {r}""", [X], np.where(X.max(1) > 1, X.argmax(1), -1).astype(np.int32)),
    "reduced complex maximum": ("""%i = stablehlo.constant dense<(0xFF800000,0xFF800000)> : tensor<complex<f32>>
        %r = stablehlo.reduce(%0 init: %i) applies stablehlo.maximum across dimensions = [1]
          : ({0}, tensor<complex<f32>>) -> {r}""", [Z], Z[np.arange(8), Z.real.argmax(1)]),
    "real of a real": ("%r = stablehlo.real %0 : ({0}) -> {0}", [X], X),
    "imag of a real": ("%r = stablehlo.imag %0 : ({0}) -> {0}", [X], np.zeros_like(X)),
    "complex to boolean": ("%r = stablehlo.convert %0 : ({0}) -> {r}",
                           [np.array([1j, 1, 0, 1 + 1j, -0.0, 2j, 3, 0], np.complex64)],
                           np.array([0, 1, 0, 1, 0, 0, 1, 0], bool)),
    "complex to integer": ("%r = stablehlo.convert %0 : ({0}) -> {r}", [Z], Z.real.astype(np.int32)),
    "map": ("""%c = stablehlo.constant dense<3.0> : tensor<f32>
        %r = "stablehlo.map"(%0, %1) <{{dimensions = array<i64: 0, 1>}}> ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %two = stablehlo.constant dense<2.0> : tensor<f32>
          %d = stablehlo.multiply %a, %two : tensor<f32>
          %s = stablehlo.subtract %d, %b : tensor<f32>
          %p = stablehlo.compare GT, %s, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %t = stablehlo.select %p, %c, %s : tensor<i1>, tensor<f32>
          stablehlo.return %t : tensor<f32>
        }}) : ({0}, {1}) -> {r}""", [X, Y], np.minimum(2 * X - Y, 3)),
    "tuple": ("""%t = stablehlo.tuple %0, %1 : tuple<{0}, {1}>
        %u = "stablehlo.tuple"(%1, %t) : ({1}, tuple<{0}, {1}>) -> tuple<{1}, tuple<{0}, {1}>>
        %v = stablehlo.get_tuple_element %u[1] : (tuple<{1}, tuple<{0}, {1}>>) -> tuple<{0}, {1}>
        %a = stablehlo.get_tuple_element %v[0] : (tuple<{0}, {1}>) -> {0}
        %b = "stablehlo.get_tuple_element"(%u) <{{index = 0 : i32}}> : (tuple<{1}, tuple<{0}, {1}>>) -> {1}
        %r = stablehlo.subtract %a, %b : {r}""", [X, Y], X - Y),
    "reduce_precision of f64 to powers of two": ("%r = stablehlo.reduce_precision %0, format = e11m0 : {0}", [ROUNDED],
                                                 np.array([np.inf, -np.inf, np.nan, 1, 2, 2, -2, 0, -0.0, np.inf])),
    "reduce_precision to few exponents": ("%r = stablehlo.reduce_precision %0, format = e5m2 : {0}", [ROUNDED],
                                          np.array([np.inf, -np.inf, np.nan, 1.5, 1.5, 3, -3, 0, -0.0, np.inf])),
    "bits of a byte": ("%r = stablehlo.bitcast_convert %0 : ({0}) -> {r}", [BYTES],
                       np.unpackbits(BYTES[..., None], axis=-1, bitorder="little").astype(bool)),
    "a byte of bits": ("%r = stablehlo.bitcast_convert %0 : ({0}) -> {r}", [BITS],
                       np.packbits(BITS, axis=-1, bitorder="little")[:, 0]),
    "a wide complex number of narrow ones": ("%r = stablehlo.bitcast_convert %0 : ({0}) -> {r}",
                                             [Z[:, :2].copy()], Z[:, :2].copy().view(np.complex128)[:, 0]),
    "narrow complex numbers of a wide one": ("%r = stablehlo.bitcast_convert %0 : ({0}) -> {r}",
                                             [PAIRS.view(np.complex128)[:, 0]], PAIRS.view(np.complex64)),
    "a transform of length 0": ("""%e = stablehlo.slice %0 [0:8, 0:0] : ({0}) -> tensor<8x0xcomplex<f32>>
        %f = stablehlo.fft %e, type = FFT, length = [0] : (tensor<8x0xcomplex<f32>>) -> tensor<8x0xcomplex<f32>>
        %r = stablehlo.concatenate %f, %0, dim = 1 : (tensor<8x0xcomplex<f32>>, {0}) -> {0}""", [Z], Z),
    "values that nothing uses but a sink": ("""%s = stablehlo.sine %0 : {0}
        stablehlo.custom_call @dce_sink(%s) {{has_side_effect = true}} : ({0}) -> ()
        %r = stablehlo.negate %0 : {0}""", [X], -X),
    # Shardy's collectives leave values as they are.
    "sdy.all_gather": ("""%a = stablehlo.negate %0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x", "y"}}, {{}}]>]>}} : {0}
        %r = sdy.all_gather [{{"x", "y"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : {0}""", [X], -X),
    "sdy.all_slice": ("""%a = stablehlo.negate %0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x"}}, {{}}]>]>}} : {0}
        %r = sdy.all_slice [{{}}, {{"y"}}] %a out_sharding=<@mesh, [{{"x"}}, {{"y"}}]> : {0}""", [X], -X),
    "sdy.all_to_all": ("""%a = stablehlo.negate %0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x", "y"}}, {{}}]>]>}} : {0}
        %r = sdy.all_to_all [{{"y"}}: 0->1] %a out_sharding=<@mesh, [{{"x"}}, {{"y"}}]> : {0}""", [X], -X),
    "sdy.all_to_all in its older form": ('%r = sdy.all_to_all {{"y"}} 0->1 %0 out_sharding=<@mesh, [{{"x"}}, {{"y"}}]> : {0}',
                                         [X], X),
    "sdy.collective_permute": ("""%a = stablehlo.negate %0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x", "y"}}, {{}}]>]>}} : {0}
        %r = sdy.collective_permute %a out_sharding=<@mesh, [{{"y", "x"}}, {{}}]> : {0}""", [X], -X),
    "sdy.all_reduce": ("""%d = stablehlo.dot_general %0, %1, contracting_dims = [0] x [0] : ({0}, {1}) -> {r}
        %r = sdy.all_reduce {{"x", "y"}} %d out_sharding=<@mesh, [{{}}, {{}}]> : {r}""", [X, Y], X.T @ Y),
    "sdy.reduce_scatter": ("""%d = stablehlo.dot_general %0, %1, contracting_dims = [0] x [0] : ({0}, {1}) -> {r}
        %r = sdy.reduce_scatter [{{"x"}}, {{}}] %d out_sharding=<@mesh, [{{"x"}}, {{}}]> : {r}""", [X, Y], X.T @ Y),
    "sdy.constant": ("""%c = sdy.constant dense<2.5> : {0}
        %r = stablehlo.multiply %0, %c : {0}""", [X], 2.5 * X),
    "sdy.data_flow_edge": ("%r = sdy.data_flow_edge %0 sharding=<@mesh, [{{\"x\"}}, {{?}}]> : {0}", [X], X),
}
OLDER = "sdy.all_to_all in its older form"
# Ops that jaxlib does not put into an artifact.
NO_ARTIFACT = {"sdy.all_gather", "sdy.all_slice", "sdy.all_to_all", "sdy.collective_permute", "sdy.data_flow_edge"}
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'


def program(name, sharded):
    body, arguments, result = CASES[name]
    types = [type_of(array) for array in arguments]
    says = [""] * len(types)
    if sharded:
        dims = ['{"x", "y"}'] + ["{}"] * (arguments[0].ndim - 1)
        says[0] = f" {{sdy.sharding = #sdy.sharding<@mesh, [{', '.join(dims)}]>}}"
    inputs = ", ".join(f"%{i}: {t}{s}" for i, (t, s) in enumerate(zip(types, says)))
    text = body.format(*types, r=type_of(result))
    # The result's type is the one that the last op states; unknown sizes follow from operands.
    last = text.rsplit("%r", 1)[-1]
    stated = (last.rsplit(" -> ", 1)[-1] if " -> " in last else last.rsplit(":", 1)[-1].rsplit(", ", 1)[-1]).strip()
    return f"{MESH}func.func public @main({inputs}) -> {stated} {{\n{text}\nreturn %r : {stated}\n}}\n"


def other_form(name, text):
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        if name in NO_ARTIFACT:
            return module.operation.get_asm(print_generic_op_form=True).encode()
        return stablehlo.serialize_portable_artifact(module, VERSION, True)


def check(weft, folder, name, devices, rewritten):
    """The reason why the program is wrong, or nothing."""
    stem = f"{name.replace(' ', '-')}-{devices}"
    source, inputs, outputs = (folder / (stem + s) for s in (".mlir", ".in.npz", ".out.npz"))
    _, arguments, expected = CASES[name]
    text = program(name, devices > 1)
    source.write_text(text)
    if rewritten:
        source = folder / f"{stem}-rewritten.mlir{'' if name in NO_ARTIFACT else 'bc'}"
        source.write_bytes(other_form(name, text))
    np.savez(inputs, **{f"in/{i:03}": array for i, array in enumerate(arguments)})
    done = subprocess.run([weft, "run", source, "--inputs", inputs, "--outputs", outputs,
                           "--devices", f"cpu:{devices}"], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    found = np.load(outputs)["out/000"]
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"is {found.dtype}{list(found.shape)}, not {expected.dtype}{list(expected.shape)}"
    if not np.allclose(found, expected, rtol=1e-5, atol=1e-6, equal_nan=True):
        return f"is\n{found}\nnot\n{expected}"
    return ""


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    failures = runs = 0
    for name, (_, arguments, _) in CASES.items():
        for devices, rewritten in ((1, False), (4, False), (4, True)):
            if arguments[0].shape[0] % devices or rewritten and name == OLDER:
                continue
            runs += 1
            if why := check(weft, folder, name, devices, rewritten):
                failures += 1
                print(f"FAIL {name} on {devices} devices{', rewritten' * rewritten}: {why}")
    print(f"{runs - failures} of {runs} programs of {len(CASES)} forms give NumPy's figures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
