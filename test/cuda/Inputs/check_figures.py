"""Compares the programs that bench/gpu times, in tiny sizes on the fake driver, with their formulas in double precision.

    python check_figures.py WEFT FAKE_FOLDER OUT_FOLDER
"""

import math
import os
import pathlib
import subprocess
import sys

import figures
import gpu_programs
import npz_values

TOLERANCE = 1e-5  # of the largest value


def by_row(function, rows, columns, *arrays):
    """The results of `function` on each row of arrays of rows, one after the other."""
    return [value for row in range(rows) for value in function(*(array[row * columns:(row + 1) * columns] for array in arrays))]


def columns_of(array, columns):
    return [array[column::columns] for column in range(columns)]


def mean(values):
    return math.fsum(values) / len(values)


def gemm(m, n, k, a, b):
    return [[math.fsum(a[i * k + p] * b[p * n + j] for p in range(k)) for i in range(m) for j in range(n)]]


def bias_gelu(rows, columns, x, bias):
    def gelu(v):
        return v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3)))
    return [by_row(lambda row: [gelu(v + b) for v, b in zip(row, bias)], rows, columns, x)]


def residual_mul(rows, columns, x, y, z):
    return [[(a + b) * c for a, b, c in zip(x, y, z)]]


def softmax(rows, columns, x):
    return [by_row(lambda row: [math.exp(v) / math.fsum(map(math.exp, row)) for v in row], rows, columns, x)]


def softmax_gradient(rows, columns, y, dy):
    def gradient(y, dy):
        dot = math.fsum(a * b for a, b in zip(y, dy))
        return [a * (b - dot) for a, b in zip(y, dy)]
    return [by_row(gradient, rows, columns, y, dy)]


def normalized(row):
    variance = mean([(v - mean(row)) ** 2 for v in row])
    return [(v - mean(row)) / math.sqrt(variance + 1e-3) for v in row], math.sqrt(variance + 1e-3)


def layer_norm(rows, columns, x, scale, offset):
    return [by_row(lambda row: [v * s + o for v, s, o in zip(normalized(row)[0], scale, offset)], rows, columns, x)]


def layer_norm_gradient(rows, columns, x, scale, dy):
    """The gradients by the Jacobian of v -> (v - mean) / deviation, element by element."""
    def gradient(row, dy):
        one, deviation = normalized(row)
        g = [d * s for d, s in zip(dy, scale)]
        return [math.fsum(g[j] * ((i == j) - 1 / columns - one[i] * one[j] / columns) for j in range(columns)) / deviation
                for i in range(columns)]
    ones = by_row(lambda row: normalized(row)[0], rows, columns, x)
    return [by_row(gradient, rows, columns, x, dy), [math.fsum(column) for column in
                                                     columns_of([d * v for d, v in zip(dy, ones)], columns)],
            [math.fsum(column) for column in columns_of(dy, columns)]]


def moments(rows, columns, x):
    means = [mean(column) for column in columns_of(x, columns)]
    return [means, [mean([(v - m) ** 2 for v in column]) for m, column in zip(means, columns_of(x, columns))]]


def column_sums(rows, columns, x):
    return [[math.fsum(column) for column in columns_of(x, columns)]]


def adam(count, weight, m, v, gradient):
    m = [0.9 * a + 0.1 * g for a, g in zip(m, gradient)]
    v = [0.999 * a + 0.001 * g * g for a, g in zip(v, gradient)]
    return [[w - 0.001 * a / (math.sqrt(b) + 1e-7) for w, a, b in zip(weight, m, v)], m, v]


def exchange(rows, columns, x):
    return [list(x)]


def all_reduce(count, x):
    return column_sums(8, count, x)


def check(weft, fake, folder, figure):
    *sizes, _ = figure.tiny
    source, devices = folder / "figure.mlir", f"cuda:{figure.devices}"
    source.write_text(figure.source("tiny"))
    program = folder / "figure.weft"
    subprocess.run([weft, "compile", source, "--devices", devices, "-o", program], check=True)
    arguments = gpu_programs.inputs(source, gpu_programs.listing(weft, program))
    npz_values.write(folder / "in.npz", arguments)
    subprocess.run([weft, "run", program, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--devices", devices],
                   check=True, env=os.environ | {"LD_LIBRARY_PATH": fake})
    found = [values for _, values in npz_values.read(folder / "out.npz").values()]
    wanted = globals()[figure.make.__name__](*sizes, *(values for _, values in arguments.values()))
    assert len(found) == len(wanted), f"{figure.name}: {len(found)} results, not {len(wanted)}"
    for number, (has, wants) in enumerate(zip(found, wanted)):
        worst = npz_values.worst_difference(has, wants)
        assert worst <= TOLERANCE, f"{figure.name}: result {number} differs by {worst:.1e} of the largest value"


def main():
    weft, fake, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    its = {figure.make: figure for figure in figures.FIGURES if figure.tiny[-1] == "f32"}  # the last of each program
    assert set(its) == {figure.make for figure in figures.FIGURES}, "a program has no figure of f32"
    for figure in its.values():
        check(weft, fake, folder, figure)
    print(f"{len(its)} programs agree with their formulas")


if __name__ == "__main__":
    main()
