"""Checks that zeros of both signs, NaN and sums that leave f16 on the way have the same bits on any number of devices.

    check_special_numbers.py WEFT

Expected values follow from IEEE 754-2019 (maximum, minimum, totalOrder) and from exact sums.
"""

import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

# MLIR's name of a type: NumPy's name, its code in Python's struct, its bytes, and the code of an integer of the width.
TYPES = {"f16": ("f2", "e", 2, "H"), "f32": ("f4", "f", 4, "I"), "f64": ("f8", "d", 8, "Q")}
DEVICES = (1, 2, 3, 8)
HEAD = """module @m attributes {{mhlo.num_partitions = {n} : i32, mhlo.num_replicas = 1 : i32}} {{
  sdy.mesh @mesh = <["x"={n}]>
"""
NEGATIVE_NAN = {"f16": 0xfe00, "f32": 0xffc00000, "f64": 0xfff8000000000000}


def bits_of(number, element):
    if isinstance(number, str):  # "-nan"
        return NEGATIVE_NAN[element] if number[0] == "-" else NEGATIVE_NAN[element] & ~(1 << 8 * TYPES[element][2] - 1)
    _, code, _, integer = TYPES[element]
    return struct.unpack("<" + integer, struct.pack("<" + code, number))[0]


def number_of(bits, element):
    _, code, _, integer = TYPES[element]
    return struct.unpack("<" + code, struct.pack("<" + integer, bits))[0]


def total(bits, element):
    """A signed integer that orders floats by totalOrder of IEEE 754."""
    width = 8 * TYPES[element][2]
    signed = bits - (1 << width) if bits >> width - 1 else bits
    return signed ^ ((1 << width - 1) - 1) if signed < 0 else signed


def write(path, shape, bits, element):
    name, _, _, integer = TYPES[element]
    header = f"{{'descr': '<{name}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("in/000.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                         + struct.pack(f"<{len(bits)}{integer}", *bits))


def read(path, element):
    with zipfile.ZipFile(path) as archive:
        data = archive.read("out/000.npy")
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(data) // TYPES[element][2]}{TYPES[element][3]}", data))


def run(weft, text, shape, bits, element, what):
    """The bits of the result, which must not depend on the number of devices."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write(folder / "in.npz", shape, bits, element)
        results = {}
        for n in DEVICES:
            (folder / "p.mlir").write_text(text.format(n=n))
            done = subprocess.run([weft, "run", folder / "p.mlir", "--devices", f"cpu:{n}", "--inputs", folder / "in.npz",
                                   "--outputs", folder / "out.npz"], capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{what} on {n} devices: {done.stderr}")
            results[n] = read(folder / "out.npz", element)
    for n, found in results.items():
        if found != results[1]:
            sys.exit(f"{what}: {found} on {n} devices, {results[1]} on one")
    return results[1]


def expect(what, element, found, expected):
    if found != expected:
        show = [[f"{number_of(bits, element)!r} ({bits:x})" for bits in values] for values in (found, expected)]
        sys.exit(f"{what} of {element}: {show[0]} instead of {show[1]}")


def check_extremes(weft, element):
    """Checks extremes of columns of 13 zeros, all of one sign or one of the other sign somewhere, and of NaN."""
    draw = random.Random(5)
    zero, minus, nan = (bits_of(value, element) for value in (0.0, -0.0, "nan"))
    columns = [[zero] * 13, [minus] * 13] + [[a] * i + [b] + [a] * (12 - i) for i in (0, 6, 12)
                                               for a, b in ((zero, minus), (minus, zero))]
    columns += [[draw.choice((zero, minus)) for _ in range(13)], [zero] * 5 + [nan] + [minus] * 7]
    rows = [column[i] for i in range(13) for column in columns]
    shape = (13, len(columns))
    tensor, row = f"tensor<13x{len(columns)}x{element}>", f"tensor<{len(columns)}x{element}>"
    for name, first in (("maximum", zero), ("minimum", minus)):
        init = bits_of(-math.inf if name == "maximum" else math.inf, element)
        head = HEAD + f"""  func.func public @main(%a: {tensor} {{{{sdy.sharding = #sdy.sharding<@mesh, [{{{{"x"}}}}, {{{{}}}}]>}}}}) -> RESULT {{{{
    %i = stablehlo.constant dense<0x{init:X}> : tensor<{element}>
"""
        reduce = head.replace("RESULT", row) + f"""    %r = stablehlo.reduce(%a init: %i) applies stablehlo.{name} across dimensions = [0] : ({tensor}, tensor<{element}>) -> {row}
    return %r : {row}
  }}}}
}}}}
"""
        scan = head.replace("RESULT", tensor) + f"""    %r = "stablehlo.reduce_window"(%a, %i) <{{{{window_dimensions = array<i64: 13, 1>, padding = dense<[[12, 0], [0, 0]]> : tensor<2x2xi64>}}}}> ({{{{
    ^bb0(%p: tensor<{element}>, %q: tensor<{element}>):
      %m = stablehlo.{name} %p, %q : tensor<{element}>
      stablehlo.return %m : tensor<{element}>
    }}}}) : ({tensor}, tensor<{element}>) -> {tensor}
    return %r : {tensor}
  }}}}
}}}}
"""

        def extreme(values):
            return nan if nan in values else first if first in values else minus if name == "maximum" else zero

        def plain(bits):  # all NaNs count as one
            return [nan if math.isnan(number_of(b, element)) else b for b in bits]
        expect(name, element, plain(run(weft, reduce, shape, rows, element, name)), [extreme(c) for c in columns])
        expect("running " + name, element, plain(run(weft, scan, shape, rows, element, "running " + name)),
               [extreme(column[:i + 1]) for i in range(13) for column in columns])


CANONICAL = """      %zero{v} = stablehlo.constant dense<0.0> : tensor<{e}>
      %isZero{v} = stablehlo.compare EQ, %{v}, %zero{v}, FLOAT : (tensor<{e}>, tensor<{e}>) -> tensor<i1>
      %{v}z = stablehlo.select %isZero{v}, %zero{v}, %{v} : tensor<i1>, tensor<{e}>
"""
ONE_NAN = """      %nan{v} = stablehlo.constant dense<0x{nan:X}> : tensor<{e}>
      %isNan{v} = stablehlo.compare NE, %{v}, %{v}, FLOAT : (tensor<{e}>, tensor<{e}>) -> tensor<i1>
      %{v}n = stablehlo.select %isNan{v}, %nan{v}, %{v}{after} : tensor<i1>, tensor<{e}>
"""


def check_sorts(weft, element):
    """Checks sorts whose comparators use total order, as it is or with one zero, one NaN, or both, as JAX's own."""
    draw = random.Random(7)
    values = [bits_of(v, element) for v in (0.0, -0.0, 1.0, -0.0, 0.0, "-nan", "nan", math.inf, -math.inf, -1.0, 0.5)]
    bits = values + [draw.choice(values) for _ in range(10)]
    tensor = f"tensor<{len(bits)}x{element}>"
    nan = bits_of("nan", element)
    for direction in ("LT", "GT"):
        for zeros, nans in ((0, 0), (1, 0), (0, 1), (1, 1)):
            body, names = "", []
            for v in "pq":
                name = v
                if zeros:
                    body += CANONICAL.format(v=v, e=element)
                    name = v + "z"
                if nans:
                    body += ONE_NAN.format(v=v, e=element, nan=nan, after="z" if zeros else "")
                    name = v + "n"
                names.append("%" + name)
            text = HEAD + f"""  func.func public @main(%a: {tensor} {{{{sdy.sharding = #sdy.sharding<@mesh, [{{{{"x"}}}}]>}}}}) -> {tensor} {{{{
    %r = "stablehlo.sort"(%a) <{{{{dimension = 0 : i64, is_stable = true}}}}> ({{{{
    ^bb0(%p: tensor<{element}>, %q: tensor<{element}>):
{body}      %z = stablehlo.compare {direction}, {names[0]}, {names[1]}, TOTALORDER : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
      stablehlo.return %z : tensor<i1>
    }}}}) : ({tensor}) -> {tensor}
    return %r : {tensor}
  }}}}
}}}}
"""

            def key(b):
                number = number_of(b, element)
                if zeros and number == 0:
                    b = 0
                if nans and math.isnan(number):
                    b = nan
                return total(b, element) * (1 if direction == "LT" else -1)
            what = f"sort {direction} with {'one zero' if zeros else 'two zeros'}, {'one NaN' if nans else 'all NaNs'}"
            expect(what, element, run(weft, text, (len(bits),), bits, element, what), sorted(bits, key=key))


def check_sums(weft):
    """Checks finite sums of f16 whose partial sums are not finite; the last result is rounded once."""
    big = [60000.0] * 8 + [-60000.0] * 8
    fine = [2048.0] + [1.0] * 15  # rounded each time, the ones would be lost
    for values in (big, fine):
        bits = [bits_of(v, "f16") for v in values]
        text = HEAD + """  func.func public @main(%a: tensor<16xf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> tensor<f16> {{
    %i = stablehlo.constant dense<0.0> : tensor<f16>
    %r = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : (tensor<16xf16>, tensor<f16>) -> tensor<f16>
    return %r : tensor<f16>
  }}
}}
"""
        expect("sum", "f16", run(weft, text, (16,), bits, "f16", "sum"), [bits_of(sum(values), "f16")])
        # A contraction, scattered over the devices; and two sums that one all-reduce takes, of which one is moved.
        text = HEAD + """  func.func public @main(%a: tensor<16xf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> (tensor<8xf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) {{
    %o = stablehlo.constant dense<1.0> : tensor<16x8xf16>
    %r = stablehlo.dot_general %a, %o, contracting_dims = [0] x [0] : (tensor<16xf16>, tensor<16x8xf16>) -> tensor<8xf16>
    %t = stablehlo.negate %r : tensor<8xf16>
    %n = stablehlo.negate %t : tensor<8xf16>
    return %n : tensor<8xf16>
  }}
}}
"""
        expect("contraction", "f16", run(weft, text, (16,), bits, "f16", "contraction"), [bits_of(sum(values), "f16")] * 8)
    # A sum accumulated by a loop: 6 times the same terms.
    text = HEAD + """  func.func public @main(%a: tensor<16xf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> tensor<f16> {{
    %i = stablehlo.constant dense<0.0> : tensor<f16>
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %r:3 = stablehlo.while(%k = %k0, %s = %i, %x = %a) : tensor<i32>, tensor<f16>, tensor<16xf16>
     cond {{
      %six = stablehlo.constant dense<6> : tensor<i32>
      %c = stablehlo.compare LT, %k, %six, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %z = stablehlo.constant dense<0.0> : tensor<f16>
      %n = stablehlo.add %k, %one : tensor<i32>
      %t = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<16xf16>, tensor<f16>) -> tensor<f16>
      %u = stablehlo.add %s, %t : tensor<f16>
      stablehlo.return %n, %u, %x : tensor<i32>, tensor<f16>, tensor<16xf16>
    }}
    return %r#1 : tensor<f16>
  }}
}}
"""
    expect("accumulated sum", "f16", run(weft, text, (16,), [bits_of(v, "f16") for v in big], "f16", "accumulated sum"), [0])


def check_bytes(weft):
    """Checks the bytes that explain counts: four for an element of f16's sums, two for one of bf16's."""
    for element, each in (("f16", 4), ("bf16", 2), ("f32", 4)):
        text = HEAD.format(n=8) + f"""  func.func public @main(%a: tensor<16x64x{element}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) -> tensor<64x{element}> {{
    %i = stablehlo.constant dense<0.0> : tensor<{element}>
    %r = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : (tensor<16x64x{element}>, tensor<{element}>) -> tensor<64x{element}>
    return %r : tensor<64x{element}>
  }}
}}
"""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "p.mlir"
            program.write_text(text)
            report = json.loads(subprocess.run([weft, "explain", program, "--json"], capture_output=True, text=True, check=True).stdout)
        if report["total"]["bytes"] != 2 * 7 * 64 * each // 8:
            sys.exit(f"a sum of 64 {element} over 8 devices sends {report['total']['bytes']} bytes")


def main():
    weft = sys.argv[1]
    for element in TYPES:
        check_extremes(weft, element)
        check_sorts(weft, element)
    check_sums(weft)
    check_bytes(weft)
    print("special numbers are the same on", *DEVICES, "devices")


main()
