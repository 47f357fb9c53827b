"""N loops of 32 rounds inside each other; the innermost adds 1 to a value.

    nested_loops.py N
"""

import sys


def loop(depth, value, indent):
    pad = "  " * indent
    carried = f"%i{depth} = %zero, %v{depth} = {value}"
    body = [f"{pad}  %w{depth} = stablehlo.add %v{depth}, %one : tensor<i32>"]
    last = f"%w{depth}"
    if depth > 1:
        body = loop(depth - 1, f"%v{depth}", indent + 1)
        last = f"%r{depth - 1}#1"
    return [f"{pad}%r{depth}:2 = stablehlo.while({carried}) : tensor<i32>, tensor<i32>",
            f"{pad}cond {{",
            f"{pad}  %c{depth} = stablehlo.compare LT, %i{depth}, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>",
            f"{pad}  stablehlo.return %c{depth} : tensor<i1>",
            f"{pad}}} do {{", *body,
            f"{pad}  %n{depth} = stablehlo.add %i{depth}, %one : tensor<i32>",
            f"{pad}  stablehlo.return %n{depth}, {last} : tensor<i32>, tensor<i32>",
            f"{pad}}}"]


def main():
    depth = int(sys.argv[1])
    lines = ["func.func public @main(%x: tensor<i32>) -> tensor<i32> {",
             *[f"  %{name} = stablehlo.constant dense<{number}> : tensor<i32>"
               for name, number in (("zero", 0), ("one", 1), ("rounds", 32))],
             *loop(depth, "%x", 1), f"  return %r{depth}#1 : tensor<i32>", "}"]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
