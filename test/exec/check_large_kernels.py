"""Runs kernels whose intermediate values are larger than a worker's stack, and compares with NumPy in double.

    check_large_kernels.py WEFT

One program has products with the functions that follow them in models (leaky ReLU, ELU, Mish, ...), products of bf16 and f16, reductions
of many rows, and long Fourier transforms, also of lengths with a large prime.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"float32": "f32", "complex64": "complex<f32>", "int32": "i32"}


class Program:
    """The text of a program, its inputs, and the results that are expected."""

    def __init__(self):
        self.lines, self.inputs, self.results, self.count = [], {}, [], 0

    def type_of(self, array, element=None):
        return f"tensor<{''.join(f'{n}x' for n in array.shape)}{element or TYPES[str(array.dtype)]}>"

    def take(self, array):
        name = f"%x{len(self.inputs)}"
        self.inputs[name] = array
        return name

    def line(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = weft.{text}")
        return f"%v{self.count}"

    def give(self, name, value, expected, tolerance=1e-5):
        """Compares by the 2-norm of the difference."""
        self.results.append((name, value, expected, tolerance))

    def text(self):
        given = ", ".join(f'{name}: {self.type_of(array)} {{weft.name = "{name[1:]}"}}' for name, array in self.inputs.items())
        types = [self.type_of(expected) for _, _, expected, _ in self.results]
        named = ", ".join(f'{each} {{weft.name = "r{i}"}}' for i, each in enumerate(types))
        values = ", ".join(value for _, value, _, _ in self.results)
        body = "\n".join("  " + line for line in self.lines)
        return (f"module attributes {{weft.mesh = #weft.mesh<\"a\"=1>}} {{\nfunc.func @main({given}) -> ({named}) {{\n{body}\n"
                f"  return {values} : {', '.join(types)}\n}}\n}}\n")


def products(p, random):
    """A product of 448 x 448 behind which its value is used twice or narrowed."""
    n = 448
    a, b = (random.normal(0, 0.1, (n, n)).astype("float32") for _ in range(2))
    x, y, t, bools = p.take(a), p.take(b), f"tensor<{n}x{n}xf32>", f"tensor<{n}x{n}xi1>"
    z = a.astype("float64") @ b
    zero, slope = (p.line(f"constant dense<{value}> : {t}") for value in ("0.0", "0.1"))

    def product():
        return p.line(f"dot {x}, {y} contract [1] x [0] : {t}, {t} -> {t}")

    def chosen(v, other):
        above = p.line(f"compare gt {v}, {zero} : {t}, {t} -> {bools}")
        return p.line(f"select {above}, {v}, {other} : {bools}, {t}, {t} -> {t}")

    v = product()
    p.give("leaky_relu", chosen(v, p.line(f"mul {v}, {slope} : {t}")), np.where(z > 0, z, 0.1 * z))
    v = product()
    p.give("elu", chosen(v, p.line(f"expm1 {v} : {t}")), np.where(z > 0, z, np.expm1(z)))
    v = product()
    grown = p.line(f"log1p {p.line(f'exp {v} : {t}')} : {t}")
    p.give("mish", p.line(f"mul {v}, {p.line(f'tanh {grown} : {t}')} : {t}"), z * np.tanh(np.log1p(np.exp(z))))
    v = product()
    both = p.line(f"relu {v} : {t}")
    p.give("relu squared", p.line(f"mul {both}, {both} : {t}"), np.maximum(z, 0) ** 2)
    for element, digits in (("bf16", 8), ("f16", 11)):
        short = f"tensor<{n}x{n}x{element}>"
        narrow = [p.line(f"convert {v} : {t} -> {short}") for v in (x, y)]
        v = p.line(f"dot {narrow[0]}, {narrow[1]} contract [1] x [0] : {short}, {short} -> {short}")
        p.give(f"product of {element}", p.line(f"convert {v} : {short} -> {t}"), z, 4 * 2.0 ** -digits)


def reductions(p, random):
    """Reductions of 262,145 rows, whose results are used twice."""
    n, k = 262145, 3
    a = random.normal(0, 2, (n, k)).astype("float32")
    a[5] = -np.inf
    x, t, row, bools = p.take(a), f"tensor<{n}x{k}xf32>", f"tensor<{n}xf32>", f"tensor<{n}xi1>"
    largest = p.line(f"reduce max {x} dims [1] : {t} -> {row}")
    isFinite = p.line(f"is_finite {largest} : {row} -> {bools}")
    zero = p.line(f"constant dense<0.0> : {row}")
    shift = p.line(f"select {isFinite}, {largest}, {zero} : {bools}, {row}, {row} -> {row}")
    spread = p.line(f"broadcast {shift} dims [0] : {row} -> {t}")
    powers = p.line(f"exp {p.line(f'sub {x}, {spread} : {t}')} : {t}")
    total = p.line(f"reduce sum {powers} dims [1] : {t} -> {row}")
    logarithm = p.line(f"add {p.line(f'log {total} : {row}')}, {shift} : {row}")
    with np.errstate(divide="ignore"):
        p.give("logsumexp", logarithm, np.log(np.sum(np.exp(a.astype("float64")), axis=1)))
    squares = p.line(f"reduce sum {p.line(f'mul {spread}, {spread} : {t}')} dims [1] : {t} -> {row}")
    above = p.line(f"compare gt {squares}, {zero} : {row}, {row} -> {bools}")
    one = p.line(f"constant dense<1.0> : {row}")
    safe = p.line(f"select {above}, {squares}, {one} : {bools}, {row}, {row} -> {row}")
    norm = p.line(f"select {above}, {p.line(f'sqrt {safe} : {row}')}, {zero} : {bools}, {row}, {row} -> {row}")
    shifts = np.where(np.isfinite(a.max(1)), a.max(1), 0).astype("float64")
    p.give("norm", norm, np.sqrt(k) * np.abs(shifts))


def transforms(p, random):
    for shape in ((1 << 20,), (2, 1 << 17), (2, 65537), (3 * (1 << 16),)):
        parts = random.normal(0, 1, (2, *shape))
        a = (parts[0] + 1j * parts[1]).astype("complex64")
        x, t, dim = p.take(a), f"tensor<{''.join(f'{n}x' for n in shape)}complex<f32>>", len(shape) - 1
        p.give(f"fft of {shape}", p.line(f"fft fft {x} dim {dim} : {t} -> {t}"), np.fft.fft(a.astype("complex128")), 1e-6)
        p.give(f"ifft of {shape}", p.line(f"fft ifft {x} dim {dim} : {t} -> {t}"), np.fft.ifft(a.astype("complex128")), 1e-6)


def main():
    random, p = np.random.RandomState(0), Program()
    products(p, random)
    reductions(p, random)
    transforms(p, random)
    p.results = [(name, value, expected.astype("complex64" if expected.dtype.kind == "c" else "float32"), tolerance)
                 for name, value, expected, tolerance in p.results]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        (out / "program.mlir").write_text(p.text())
        np.savez(out / "in.npz", **{name[1:]: array for name, array in p.inputs.items()})
        subprocess.run([sys.argv[1], "run", out / "program.mlir", "--inputs", out / "in.npz", "--outputs", out / "out.npz"], check=True)
        found = np.load(out / "out.npz")
        for i, (name, _, expected, tolerance) in enumerate(p.results):
            got = found[f"r{i}"]
            same = got == expected
            with np.errstate(invalid="ignore"):
                apart = np.linalg.norm(np.where(same, 0, got - expected)) / np.linalg.norm(np.where(np.isfinite(expected), expected, 0))
            if not apart <= tolerance:
                sys.exit(f"{name}: {apart:.1e} apart, {tolerance:.1e} are allowed")
            if "-v" in sys.argv:
                print(f"{name}: {apart:.1e} apart")
    print(f"{len(p.results)} results of large kernels agree")


if __name__ == "__main__":
    main()
