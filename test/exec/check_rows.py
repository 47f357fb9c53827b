"""Runs Fourier transforms and sorts of many rows or columns at once, and compares with NumPy in double.

    check_rows.py WEFT

Transforms take groups of lines in the lanes of vectors: lines in a row, side by side, or neither, as many as fill groups and others, of
lengths with small primes and with a large one, real ones of even and odd length, of tensors in memory and of computed ones. Sorts of one
key go by its digits: all kinds of numbers, with NaNs, infinities and both zeros, alone and with other tensors that follow.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"float16": "f16", "float32": "f32", "float64": "f64", "complex64": "complex<f32>", "complex128": "complex<f64>", "bool": "i1",
         "int8": "i8", "uint8": "ui8", "int16": "i16", "uint16": "ui16", "int32": "i32", "uint32": "ui32", "int64": "i64", "uint64": "ui64"}


def type_of(array):
    return f"tensor<{''.join(f'{n}x' for n in array.shape)}{TYPES[str(array.dtype)]}>"


class Program:
    """The text of a program, its inputs, and the checks of its results."""

    def __init__(self):
        self.lines, self.inputs, self.results = [], {}, []

    def take(self, array):
        self.inputs[f"x{len(self.inputs)}"] = array
        return f"%x{len(self.inputs) - 1}"

    def line(self, text, results=1):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name}{f':{results}' if results > 1 else ''} = weft.{text}")
        return name

    def give(self, name, value, expected, tolerance=None):
        """Compares all bits, or by the 2-norm of the difference."""
        self.results.append((name, value, expected, tolerance))

    def text(self):
        given = ", ".join(f'%{name}: {type_of(array)} {{weft.name = "{name}"}}' for name, array in self.inputs.items())
        types = [type_of(expected) for _, _, expected, _ in self.results]
        named = ", ".join(f'{each} {{weft.name = "r{i}"}}' for i, each in enumerate(types))
        values = ", ".join(value for _, value, _, _ in self.results)
        return ("module attributes {weft.mesh = #weft.mesh<\"a\"=1>} {\n" + f"func.func @main({given}) -> ({named}) {{\n"
                + "\n".join(self.lines) + f"\n  return {values} : {', '.join(types)}\n}}\n}}\n")

    def check(self, weft):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            (out / "program.mlir").write_text(self.text())
            np.savez(out / "in.npz", **self.inputs)
            subprocess.run([weft, "run", out / "program.mlir", "--inputs", out / "in.npz", "--outputs", out / "out.npz"], check=True)
            found = np.load(out / "out.npz")
            for i, (name, _, expected, tolerance) in enumerate(self.results):
                got = found[f"r{i}"]
                if tolerance is None and got.tobytes() != expected.tobytes():
                    sys.exit(f"{name}: {np.sum(got != expected)} elements differ")
                if tolerance is not None and not np.linalg.norm(got - expected) <= tolerance * np.linalg.norm(expected):
                    sys.exit(f"{name}: {np.linalg.norm(got - expected) / np.linalg.norm(expected):.1e} apart, {tolerance:.1e} are allowed")
        return len(self.results)


def transform(p, random, kind, shape, dim, length, computed, dtype="float32"):
    real = random.normal(0, 1, shape).astype(dtype)
    a = real if kind == "rfft" else (real + 1j * random.normal(0, 1, shape)).astype("complex64" if dtype == "float32" else "complex128")
    wide = 2 * a.astype("float64" if kind == "rfft" else "complex128") if computed else a.astype("complex128" if kind != "rfft" else "float64")
    functions = {"fft": np.fft.fft, "ifft": np.fft.ifft, "rfft": np.fft.rfft, "irfft": lambda x, axis: np.fft.irfft(x, n=length, axis=axis)}
    expected = functions[kind](wide, axis=dim)
    expected = expected.astype(dtype if kind == "irfft" else {"float32": "complex64", "float64": "complex128"}[dtype])
    x = p.take(a)
    if computed:
        x = p.line(f"add {x}, {x} : {type_of(a)}")
    value = p.line(f"fft {kind} {x} dim {dim} : {type_of(a)} -> {type_of(expected)}")
    p.give(f"{kind} of {shape}, dimension {dim}", value, expected, 4e-7 if dtype == "float32" else 1e-15)


def transforms(p, random):
    # Rows of a matrix; columns; dimensions with few elements after them, which are neither.
    for n in (1, 2, 7, 8, 16, 34, 60, 77, 100, 257, 2048):
        for lines in (4, 16, 21):
            for computed in (False, True):
                transform(p, random, "fft", (lines, n), 1, n, computed)
            transform(p, random, "ifft", (n, lines), 0, n, False)
            transform(p, random, "rfft", (lines, n), 1, n, lines == 4)
            transform(p, random, "irfft", (lines, n // 2 + 1), 1, n, lines == 4)
    for shape in ((3, 12, 37), (9, 30, 5), (2, 17, 32), (5, 16, 16, 3)):
        for computed in (False, True):
            for dtype in ("float32", "float64"):
                transform(p, random, "fft", shape, 1, shape[1], computed, dtype)
                transform(p, random, "rfft", shape, 1, shape[1], computed, dtype)
                for length in (2 * shape[1] - 2, 2 * shape[1] - 1):
                    transform(p, random, "irfft", shape, 1, length, computed, dtype)


def numbers(random, dtype, shape, few):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.randint(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return random.randint(0, 5, shape).astype(dtype) if few else np.frombuffer(random.bytes(dtype.itemsize * int(np.prod(shape))), dtype).reshape(shape)
    x = random.normal(0, 1, shape).astype(dtype)
    if few:
        special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf], dtype)
        kind = random.randint(0, 7, shape)
        x = np.where(kind < 5, special[np.minimum(kind, 4)], x)
    return x


def sort(p, random, dtype, shape, dim, few):
    x, follows = numbers(random, dtype, shape, few), random.normal(0, 1, shape).astype("float32")
    small = np.arange(np.prod(shape)).astype("int8").reshape(shape)
    order = np.argsort(x, axis=dim, kind="stable")
    # NumPy has NaN last and equal zeros, as Weft has.
    a, t = p.take(x), type_of(x)
    p.give(f"sort of {dtype} {shape}, dimension {dim}", p.line(f"sort {a} dim {dim} keys 1 : ({t}) -> {t}"), np.take_along_axis(x, order, dim))
    types = f"{t}, {type_of(follows)}, {type_of(small)}"
    value = p.line(f"sort {a}, {p.take(follows)}, {p.take(small)} dim {dim} keys 1 : ({types}) -> ({types})", 3)
    for i, each in enumerate((x, follows, small)):
        p.give(f"sort of {dtype} {shape} with others, number {i}", f"{value}#{i}", np.take_along_axis(each, order, dim))
    if np.dtype(dtype).kind != "f":
        turned = np.iinfo(dtype).max - x if np.dtype(dtype).kind == "u" else ~x
        last = np.argsort(turned, axis=dim, kind="stable")
        value = p.line(f"sort {a}, {p.take(small)} dim {dim} keys 1 descending : ({t}, {type_of(small)}) -> ({t}, {type_of(small)})", 2)
        p.give(f"descending {dtype}", f"{value}#1", np.take_along_axis(small, last, dim))


def sorts(p, random):
    for dtype in TYPES:
        if not dtype.startswith("complex"):
            for shape, dim in (((3, 700), 1), ((300, 5), 0), ((1, 15), 1), ((1500,), 0), ((4, 129, 2), 1)):
                for few in (False, True):
                    sort(p, random, dtype, shape, dim, few)


def main():
    count, random = 0, np.random.RandomState(0)
    for fill in (transforms, sorts):
        p = Program()
        fill(p, random)
        count += p.check(sys.argv[1])
    print(f"{count} results agree")


if __name__ == "__main__":
    main()
