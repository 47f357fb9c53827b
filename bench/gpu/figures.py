"""The programs whose speed is measured on a GPU: rows of docs/performance.md, with sizes, anchors and closed formulas.

    for figure in FIGURES: figure.source("full"), figure.bytes("full"), figure.operations("full")

Operations count a multiply-add as one. `peer` names the functions of PyTorch and JAX for the same sizes (peers.py).
"""

import dataclasses

WIDTH = {"f32": 4, "bf16": 2}


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}{'x' if shape else ''}{kind}>"


def function(arguments, body, results):
    """StableHLO of one function; `arguments` are types, %0, %1, ...; `body` ends with its return."""
    listed = ", ".join(f"%arg{i}: {kind}" for i, kind in enumerate(arguments))
    return f"func.func public @main({listed}) -> ({', '.join(results)}) {{\n{body}\n}}\n"


def gemm(m, n, k, kind):
    a, b, c = tensor([m, k], kind), tensor([k, n], kind), tensor([m, n], kind)
    return function([a, b], f"  %y = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}\n"
                            f"  return %y : {c}", [c])


def residual_mul(rows, columns, kind):
    t = tensor([rows, columns], kind)
    return function([t, t, t], f"  %s = stablehlo.add %arg0, %arg1 : {t}\n  %y = stablehlo.multiply %s, %arg2 : {t}\n"
                               f"  return %y : {t}", [t])


def bias_gelu(rows, columns, kind):
    """x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) of x + a bias of columns."""
    t, b = tensor([rows, columns], kind), tensor([columns], kind)
    constants = "".join(f"  %{name} = stablehlo.constant dense<{value}> : {t}\n"
                        for name, value in (("half", "0.5"), ("one", "1.0"), ("cubic", "0.044715"), ("scale", "0.7978845608")))
    return function([t, b], f"""{constants}  %bb = stablehlo.broadcast_in_dim %arg1, dims = [1] : ({b}) -> {t}
  %x = stablehlo.add %arg0, %bb : {t}
  %x2 = stablehlo.multiply %x, %x : {t}
  %x3 = stablehlo.multiply %x2, %x : {t}
  %c = stablehlo.multiply %x3, %cubic : {t}
  %i = stablehlo.add %x, %c : {t}
  %s = stablehlo.multiply %i, %scale : {t}
  %t = stablehlo.tanh %s : {t}
  %p = stablehlo.add %t, %one : {t}
  %h = stablehlo.multiply %x, %half : {t}
  %y = stablehlo.multiply %h, %p : {t}
  return %y : {t}""", [t])


def reduced(operation, value, over, result, dims, start):
    return f"stablehlo.reduce({value} init: {start}) applies stablehlo.{operation} across dimensions = [{dims}] : " \
           f"({over}, tensor<f32>) -> {result}"


def softmax(rows, columns, kind):
    t, r = tensor([rows, columns], kind), tensor([rows], kind)
    return function([t], f"""  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = {reduced("maximum", "%arg0", t, r, 1, "%low")}
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : ({r}) -> {t}
  %d = stablehlo.subtract %arg0, %mb : {t}
  %e = stablehlo.exponential %d : {t}
  %s = {reduced("add", "%e", t, r, 1, "%zero")}
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : ({r}) -> {t}
  %y = stablehlo.divide %e, %sb : {t}
  return %y : {t}""", [t])


class Rows:
    """The lines of a function on rows of numbers; a name is given to each new value."""

    def __init__(self, rows, columns):
        self.types = {"rows": tensor([rows, columns], "f32"), "row": tensor([rows], "f32"), "column": tensor([columns], "f32")}
        self.sizes = {"row": columns, "column": rows}  # number of terms of a sum over a row, and over a column
        self.lines = ["  %zero = stablehlo.constant dense<0.0> : tensor<f32>"]

    def add(self, line):
        self.lines.append(f"  %v{len(self.lines)} = {line}")
        return f"%v{len(self.lines) - 1}"

    def op(self, name, *values, on="rows"):
        return self.add(f"stablehlo.{name} {', '.join(values)} : {self.types[on]}")

    def number(self, value, on="rows"):
        return self.add(f"stablehlo.constant dense<{value:e}> : {self.types[on]}")

    def sum(self, value, to):
        """Sums of the rows, or of the columns."""
        return self.add(reduced("add", value, self.types["rows"], self.types[to], 1 if to == "row" else 0, "%zero"))

    def mean(self, value, to):
        return self.op("divide", self.sum(value, to), self.number(self.sizes[to], to), on=to)

    def spread(self, value, of):
        dims = 0 if of == "row" else 1
        return self.add(f"stablehlo.broadcast_in_dim {value}, dims = [{dims}] : ({self.types[of]}) -> {self.types['rows']}")

    def function(self, arguments, results):
        """A function of arguments of these types, which returns {value: type}."""
        types = [self.types[name] for name in results.values()]
        body = "\n".join([*self.lines, f"  return {', '.join(results)} : {', '.join(types)}"])
        return function([self.types[name] for name in arguments], body, types)


def softmax_gradient(rows, columns, kind):
    """y * (dy - sum of y * dy over the row), of a softmax's results y."""
    its, y, dy = Rows(rows, columns), "%arg0", "%arg1"
    dot = its.sum(its.op("multiply", y, dy), "row")
    result = its.op("multiply", y, its.op("subtract", dy, its.spread(dot, "row")))
    return its.function(["rows", "rows"], {result: "rows"})


EPSILON = 1e-3  # for layer norms, as in Keras


def normalized(its, x):
    """(x - mean) / sqrt(variance + EPSILON) of each row, and 1 / sqrt(variance + EPSILON)."""
    far = its.op("subtract", x, its.spread(its.mean(x, "row"), "row"))
    variance = its.mean(its.op("multiply", far, far), "row")
    scale = its.op("rsqrt", its.op("add", variance, its.number(EPSILON, "row"), on="row"), on="row")
    return its.op("multiply", far, its.spread(scale, "row")), scale


def layer_norm(rows, columns, kind):
    its = Rows(rows, columns)
    one, _ = normalized(its, "%arg0")
    scaled = its.op("multiply", one, its.spread("%arg1", "column"))
    return its.function(["rows", "column", "column"], {its.op("add", scaled, its.spread("%arg2", "column")): "rows"})


def layer_norm_gradient(rows, columns, kind):
    """Gradients of the input, the scale and the offset, from x, the scale and dy."""
    its, dy = Rows(rows, columns), "%arg2"
    one, scale = normalized(its, "%arg0")
    g = its.op("multiply", dy, its.spread("%arg1", "column"))
    along = its.op("multiply", one, its.spread(its.mean(its.op("multiply", g, one), "row"), "row"))
    rest = its.op("subtract", its.op("subtract", g, its.spread(its.mean(g, "row"), "row")), along)
    dx = its.op("multiply", rest, its.spread(scale, "row"))
    return its.function(["rows", "column", "rows"], {dx: "rows", its.sum(its.op("multiply", dy, one), "column"): "column",
                                                     its.sum(dy, "column"): "column"})


def moments(rows, columns, kind):
    """Mean and variance of each column, as in keras.ops.moments: the mean of squares less the square of the mean."""
    its, x = Rows(rows, columns), "%arg0"
    mean, squares = its.mean(x, "column"), its.mean(its.op("multiply", x, x), "column")
    variance = its.op("subtract", squares, its.op("multiply", mean, mean, on="column"), on="column")
    return its.function(["rows"], {mean: "column", variance: "column"})


def column_sums(rows, columns, kind):
    t, c = tensor([rows, columns], kind), tensor([columns], kind)
    return function([t], f"  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                         f"  %y = {reduced('add', '%arg0', t, c, 0, '%zero')}\n  return %y : {c}", [c])


def adam(count, kind):
    """Kingma and Ba, Adam, 2014, algorithm 1 without the corrections of the first steps; state in place."""
    t = tensor([count], kind)
    values = {"b1": 0.9, "c1": 0.1, "b2": 0.999, "c2": 0.001, "eps": 1e-7, "rate": 0.001}
    constants = "".join(f"  %{name} = stablehlo.constant dense<{value:e}> : {t}\n" for name, value in values.items())
    text = function([t, t, t, t], f"""{constants}  %m0 = stablehlo.multiply %arg1, %b1 : {t}
  %m1 = stablehlo.multiply %arg3, %c1 : {t}
  %m = stablehlo.add %m0, %m1 : {t}
  %g2 = stablehlo.multiply %arg3, %arg3 : {t}
  %v0 = stablehlo.multiply %arg2, %b2 : {t}
  %v1 = stablehlo.multiply %g2, %c2 : {t}
  %v = stablehlo.add %v0, %v1 : {t}
  %root = stablehlo.sqrt %v : {t}
  %low = stablehlo.add %root, %eps : {t}
  %step = stablehlo.divide %m, %low : {t}
  %d = stablehlo.multiply %step, %rate : {t}
  %w = stablehlo.subtract %arg0, %d : {t}
  return %w, %m, %v : {t}, {t}, {t}""", [t, t, t])
    for i in range(3):
        text = text.replace(f"%arg{i}: {t}", f"%arg{i}: {t} {{tf.aliasing_output = {i} : i32}}", 1)
    return text


def all_reduce(count, kind):
    """Eight devices sum `count` numbers each."""
    wide, t = tensor([8, count], kind), tensor([count], kind)
    return f"""#mesh = #weft.mesh<"x"=8>
#rows = #weft.layout<#mesh, [{{"x"}}, {{}}]>
#whole = #weft.layout<#mesh, [{{}}]>
module attributes {{weft.mesh = #mesh}} {{
  func.func @main(%x: {wide} {{weft.layout = #rows}}) -> ({t} {{weft.layout = #whole}}) {{
    %y = weft.reduce sum %x dims [0] : {wide} -> {t}
    return %y : {t}
  }}
}}
"""


def exchange(rows, columns, kind):
    """Eight devices, which have rows, get columns."""
    t = tensor([rows, columns], kind)
    return f"""#mesh = #weft.mesh<"x"=8>
#rows = #weft.layout<#mesh, [{{"x"}}, {{}}]>
#columns = #weft.layout<#mesh, [{{}}, {{"x"}}]>
module attributes {{weft.mesh = #mesh}} {{
  func.func @main(%x: {t} {{weft.layout = #rows}}) -> ({t} {{weft.layout = #columns}}) {{
    %y = weft.constrain %x to #columns : {t} -> {t}
    return %y : {t}
  }}
}}
"""


@dataclasses.dataclass(frozen=True)
class Figure:
    row: int             # number of the table's row
    name: str
    make: object         # source of the program for the sizes
    full: tuple          # sizes, then the element type
    tiny: tuple          # smaller sizes and the element type, for tests
    anchor: str          # reference: "torch", or "copy": bytes at the speed of a copy
    arrays: float = 0    # bytes moved, as a number of arrays of the sizes
    devices: int = 1
    library: bool = True # whether a library may compute it

    def sizes(self, size):
        return getattr(self, size)

    def source(self, size):
        return self.make(*self.sizes(size))

    def operations(self, size):
        """Multiply-adds of a contraction; else 0, as memory bounds the program."""
        *sizes, _ = self.sizes(size)
        return sizes[0] * sizes[1] * sizes[2] if self.make is gemm else 0

    def bytes(self, size):
        *sizes, kind = self.sizes(size)
        if self.make is gemm:
            m, n, k = sizes
            return WIDTH[kind] * (m * k + k * n + m * n)
        count = 1
        for n in sizes:
            count *= n
        return int(self.arrays * count * WIDTH[kind])


GEMMS = [(8192, 8192, 8192), (4096, 4096, 1024), (16384, 768, 3072)]
FIGURES = [
    *(Figure(1, f"gemm bf16 {m}x{n}x{k}", gemm, (m, n, k, "bf16"), (64, 64, 32, "bf16"), "torch") for m, n, k in GEMMS),
    *(Figure(2, f"gemm bf16 {m}x{n}x{k}, own code", gemm, (m, n, k, "bf16"), (64, 64, 32, "bf16"), "torch", library=False)
      for m, n, k in GEMMS),
    Figure(3, "gemm f32 4096x4096x4096", gemm, (4096, 4096, 4096, "f32"), (64, 64, 32, "f32"), "torch"),
    Figure(4, "bias and GELU, f32", bias_gelu, (16384, 4096, "f32"), (8, 32, "f32"), "copy", arrays=2),
    Figure(4, "bias and GELU, bf16", bias_gelu, (16384, 8192, "bf16"), (8, 32, "bf16"), "copy", arrays=2),
    Figure(4, "residual and product, f32", residual_mul, (16384, 4096, "f32"), (8, 32, "f32"), "copy", arrays=4),
    Figure(5, "softmax 32768x1024", softmax, (32768, 1024, "f32"), (8, 32, "f32"), "copy", arrays=2),
    Figure(5, "softmax 8192x8192", softmax, (8192, 8192, "f32"), (8, 32, "f32"), "copy", arrays=2),
    Figure(5, "gradient of softmax 32768x1024", softmax_gradient, (32768, 1024, "f32"), (8, 32, "f32"), "copy", arrays=3),
    Figure(5, "layer norm 32768x1024", layer_norm, (32768, 1024, "f32"), (8, 32, "f32"), "copy", arrays=2),
    Figure(5, "layer norm 8192x8192", layer_norm, (8192, 8192, "f32"), (8, 32, "f32"), "copy", arrays=2),
    Figure(5, "gradient of layer norm 32768x1024", layer_norm_gradient, (32768, 1024, "f32"), (8, 32, "f32"), "copy", arrays=3),
    Figure(6, "moments of a batch norm 65536x768", moments, (65536, 768, "f32"), (32, 8, "f32"), "copy", arrays=1),
    Figure(6, "column sums 65536x768", column_sums, (65536, 768, "f32"), (32, 8, "f32"), "copy", arrays=1),
    Figure(7, "Adam on 124 M weights", adam, (124_000_000, "f32"), (256, "f32"), "copy", arrays=7),
    Figure(8, "exchange of 8 x 64 MiB on one GPU", exchange, (16384, 8192, "f32"), (16, 24, "f32"), "copy", arrays=2, devices=8),
    Figure(8, "all_reduce of 8 x 64 MiB on one GPU", all_reduce, (16 << 20, "f32"), (64, "f32"), "copy", arrays=16, devices=8),
]
