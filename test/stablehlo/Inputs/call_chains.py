"""A program of N functions, each of which calls the one before TIMES times; the first is one op.

    call_chains.py N TIMES [LATE [OP]]

With LATE above 0 @main calls function N, and then the last of so many further functions around it. The op is
stablehlo.abs if no other is named.
"""

import sys

TYPE = "tensor<4xf32>"


def function(name, body, visibility="private"):
    lines = "".join(f"  {line}\n" for line in body)
    return f"func.func {visibility} @{name}(%x0: {TYPE}) -> {TYPE} {{\n{lines}}}\n"


def calls(callee, times):
    lines = [f"%x{i + 1} = call @{callee}(%x{i}) : ({TYPE}) -> {TYPE}" for i in range(times)]
    return [*lines, f"return %x{times} : {TYPE}"]


def main():
    count, times = int(sys.argv[1]), int(sys.argv[2])
    more = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    op = sys.argv[4] if len(sys.argv) > 4 else "stablehlo.abs"
    print(function("f0", [f"%x1 = {op} %x0 : {TYPE}", f"return %x1 : {TYPE}"]))
    for i in range(1, count):
        print(function(f"f{i}", calls(f"f{i - 1}", times)))
    last = f"f{count - 1}"
    for i in range(more):
        print(function(f"g{i}", calls(last, 1)))
        last = f"g{i}"
    first = calls(f"f{count - 1}", 1)[:1] if more else []
    late = calls(last, times)
    print(function("main", [*[line.replace("%x1", "%y") for line in first], *late], "public"))


if __name__ == "__main__":
    main()
