"""Runs loops of 100,000 rounds that change one element of an array of 1 MB, which they swap or reshape in each round, or
which is sharded over four devices.

    check_loop_updates.py WEFT

The results are NumPy's. A copy of the array in each round would take more than ten times as long as the limit of CPU time.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

N, ROUNDS, SECONDS = 512, 100_000, 4
T, FLAT = f"tensor<{N}x{N}xi32>", f"tensor<{N * N}xi32>"
S = "tensor<i32>"

SWAPPED = f"""
func.func @main(%a: {T} {{weft.name = "a"}}, %b: {T} {{weft.name = "b"}}) -> ({T} {{weft.name = "r0"}}, {T} {{weft.name = "r1"}}) {{
  %r:2 = weft.for {ROUNDS + 1} (%a, %b) : ({T}, {T}) -> ({T}, {T}) {{
  ^bb0(%i: {S}, %u: {T}, %v: {T}):
    %zero = weft.constant dense<0> : {S}
    %mask = weft.constant dense<{N - 1}> : {S}
    %p = weft.and %i, %mask : {S}
    %new = weft.reshape %i : {S} -> tensor<1x1xi32>
    %0 = weft.dynamic_update_slice %v, %new at (%zero, %p) : ({T}, tensor<1x1xi32>, {S}, {S}) -> {T}
    weft.yield %0, %u : {T}, {T}
  }}
  return %r#0, %r#1 : {T}, {T}
}}
"""

RESHAPED = f"""
func.func @main(%a: {T} {{weft.name = "a"}}) -> ({T} {{weft.name = "r0"}}) {{
  %r = weft.for {ROUNDS} (%a) : ({T}) -> {T} {{
  ^bb0(%i: {S}, %v: {T}):
    %one = weft.constant dense<1> : {S}
    %f = weft.reshape %v : {T} -> {FLAT}
    %old = weft.dynamic_slice %f at (%i) : ({FLAT}, {S}) -> tensor<1xi32>
    %next = weft.add %i, %one : {S}
    %0 = weft.dynamic_update_slice %f, %old at (%next) : ({FLAT}, tensor<1xi32>, {S}) -> {FLAT}
    %1 = weft.reshape %0 : {FLAT} -> {T}
    weft.yield %1 : {T}
  }}
  return %r : {T}
}}
"""

SHARDED = f"""
#mesh = #weft.mesh<"x"=4>
#rows = #weft.layout<#mesh, [{{"x"}}, {{}}]>
module attributes {{weft.mesh = #mesh}} {{
func.func @main(%a: {T} {{weft.name = "a", weft.layout = #rows}}) -> ({T} {{weft.name = "r0", weft.layout = #rows}}) {{
  %r = weft.for {ROUNDS} (%a) : ({T}) -> {T} {{
  ^bb0(%i: {S}, %v: {T}):
    %seven = weft.constant dense<7> : {S}
    %three = weft.constant dense<3> : {S}
    %p = weft.mul %i, %seven : {S}
    %mask = weft.constant dense<1023> : {S}
    %row = weft.and %p, %mask : {S}
    %column = weft.mul %i, %three : {S}
    %low = weft.and %column, %mask : {S}
    %new = weft.broadcast %i dims [] : {S} -> tensor<3x2xi32>
    %0 = weft.dynamic_update_slice %v, %new at (%row, %low) : ({T}, tensor<3x2xi32>, {S}, {S}) -> {T}
    weft.yield %0 : {T}
  }}
  return %r : {T}
}}
}}
"""


def swapped(a, b):
    for i in range(ROUNDS + 1):
        b[0, i & (N - 1)] = i
        a, b = b, a
    return a, b


def reshaped(a):
    a = a.reshape(-1)
    a[1:ROUNDS + 1] = a[0]
    return (a.reshape(N, N),)


def sharded(a):
    """Starts are clamped, so that boxes lie at the array's end, on one device and on two."""
    for i in range(ROUNDS):
        row, low = min(7 * i & 1023, N - 3), min(3 * i & 1023, N - 2)
        a[row:row + 3, low:low + 2] = i
    return (a,)


def main():
    weft = sys.argv[1]
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text, arrays, expected in (("swapped", SWAPPED, "ab", swapped), ("reshaped", RESHAPED, "a", reshaped),
                                             ("sharded", SHARDED, "a", sharded)):
            program, inputs, outputs = folder / f"{name}.mlir", folder / f"{name}.npz", folder / f"{name}-out.npz"
            program.write_text(text)
            values = {key: random.integers(-9, 9, (N, N)).astype(np.int32) for key in arrays}
            np.savez(inputs, **values)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([weft, "run", program, "--inputs", inputs, "--outputs", outputs], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            results = np.load(outputs)
            same = all(np.array_equal(results[f"r{i}"], each) for i, each in enumerate(expected(*values.values())))
            print(f"{name}: {'NumPy agrees' if same else 'NumPy differs'},",
                  "few seconds" if seconds < SECONDS else f"{seconds:.1f} seconds of CPU time")


if __name__ == "__main__":
    main()
