"""A transformer as a program of weft, forward or one step of training.

    python3 bench/transformer.py [--layers 32] [--devices 8] [--train] [--microbatches 64 [--stages 8]] > transformer.mlir

Pre-norm blocks (RMS norm, attention of 4 heads, an MLP of four times the width),
width 64, sequences of 16. Batches lie over the mesh's "data"; heads and the MLP's
inner dimension over "model"=4, so that each block reduces twice. A step of
training takes gradients of a squared loss and updates all weights in place. With
--microbatches the step divides its batch, and with --stages it is a 1F1B pipeline:
the blocks are on the coordinates of a further axis "stage", with `devices` each.
"""

import argparse

BATCH, SEQUENCE, WIDTH, HEADS, KEY, INNER = 4096, 16, 64, 4, 16, 256


def tensor(*shape):
    return "tensor<" + "".join(f"{n}x" for n in shape) + "f32>"


STREAM = tensor(BATCH, SEQUENCE, WIDTH)
# The name and shape of each weight, and its dimension that "model" shards.
WEIGHTS = [("norm1", (WIDTH,), None), ("query", (WIDTH, HEADS, KEY), 1), ("key", (WIDTH, HEADS, KEY), 1), ("value", (WIDTH, HEADS, KEY), 1),
           ("output", (HEADS, KEY, WIDTH), 0), ("norm2", (WIDTH,), None), ("up", (WIDTH, INNER), 1), ("down", (INNER, WIDTH), 0)]


class Program:
    """Lines of a function, and the names of its values."""

    def __init__(self):
        self.lines, self.count = [], 0

    def emit(self, text):
        self.count += 1
        self.lines.append(f"  %{self.count} = weft.{text}")
        return f"%{self.count}"

    def unary(self, op, x, shape):
        return self.emit(f"{op} {x} : {tensor(*shape)}")

    def binary(self, op, x, y, shape):
        return self.emit(f"{op} {x}, {y} : {tensor(*shape)}")

    def splat(self, number, shape):
        return self.emit(f"constant dense<{number:.9f}> : {tensor(*shape)}")

    def reduce(self, kind, x, dims, shape):
        kept = [n for i, n in enumerate(shape) if i not in dims]
        return self.emit(f"reduce {kind} {x} dims {dims} : {tensor(*shape)} -> {tensor(*kept)}")

    def spread(self, x, dims, shape):
        return self.emit(f"broadcast {x} dims {dims} : {tensor(*[shape[i] for i in dims])} -> {tensor(*shape)}")

    def dot(self, x, y, contract, xs, ys, result, batch=""):
        return self.emit(f"dot {x}, {y} {batch}contract {contract} : {tensor(*xs)}, {tensor(*ys)} -> {tensor(*result)}")

    def norm(self, x, scale):
        stream, rows = (BATCH, SEQUENCE, WIDTH), (BATCH, SEQUENCE)
        total = self.reduce("sum", self.binary("mul", x, x, stream), [2], stream)
        mean = self.binary("mul", total, self.splat(1 / WIDTH, rows), rows)
        root = self.unary("rsqrt", self.binary("add", mean, self.splat(1e-5, rows), rows), rows)
        x = self.binary("mul", x, self.spread(root, [0, 1], stream), stream)
        return self.binary("mul", x, self.spread(scale, [2], stream), stream)

    def attention(self, x, weights):
        heads, scores = (BATCH, SEQUENCE, HEADS, KEY), (BATCH, HEADS, SEQUENCE, SEQUENCE)
        q, k, v = (self.dot(x, weights[name], "[2] x [0]", (BATCH, SEQUENCE, WIDTH), (WIDTH, HEADS, KEY), heads) for name in ("query", "key", "value"))
        s = self.dot(q, k, "[3] x [3]", heads, heads, scores, batch="batch [0, 2] x [0, 2] ")
        s = self.binary("mul", s, self.splat(KEY ** -0.5, scores), scores)
        s = self.binary("sub", s, self.spread(self.reduce("max", s, [3], scores), [0, 1, 2], scores), scores)
        p = self.unary("exp", s, scores)
        p = self.binary("div", p, self.spread(self.reduce("sum", p, [3], scores), [0, 1, 2], scores), scores)
        mixed = (BATCH, HEADS, SEQUENCE, KEY)
        o = self.dot(p, v, "[3] x [1]", scores, heads, mixed, batch="batch [0, 1] x [0, 2] ")
        return self.dot(o, weights["output"], "[1, 3] x [0, 1]", mixed, (HEADS, KEY, WIDTH), (BATCH, SEQUENCE, WIDTH))

    def block(self, x, weights):
        stream, inner = (BATCH, SEQUENCE, WIDTH), (BATCH, SEQUENCE, INNER)
        x = self.binary("add", x, self.attention(self.norm(x, weights["norm1"]), weights), stream)
        h = self.dot(self.norm(x, weights["norm2"]), weights["up"], "[2] x [0]", stream, (WIDTH, INNER), inner)
        y = self.dot(self.unary("relu", h, inner), weights["down"], "[2] x [0]", inner, (INNER, WIDTH), stream)
        return self.binary("add", x, y, stream)


def placed(rank, stage=None, **dims):
    """A layout: each axis in `dims` shards its dimension, on a stage or the whole mesh."""
    cuts = ["{}"] * rank
    for axis, dim in dims.items():
        if dim is not None:
            cuts[dim] = f'{{"{axis}"}}'
    at = "" if stage is None else f', at = {{"stage" = {stage}}}'
    return f"#weft.layout<#mesh, [{', '.join(cuts)}]{at}>"


def layout(rank, stage=None, **dims):
    return f"weft.layout = {placed(rank, stage, **dims)}"


def stage_of(layer, layers, stages):
    return layer * stages // layers if stages else None


def forward(layers, stages=0):
    """Builds the blocks on %x: returns the program and its last value."""
    program, x, last = Program(), "%x", None
    for i in range(layers):
        stage = stage_of(i, layers, stages)
        for at in dict.fromkeys((last, stage)) if stage != last else ():
            x = x if at is None else program.emit(f"constrain {x} to {placed(3, at, data=0)} : {STREAM} -> {STREAM}")
        last = stage
        x = program.block(x, {name: f"%{name}_{i}" for name, _, _ in WEIGHTS})
    if stages:
        x = program.emit(f"constrain {x} to {placed(3, last, data=0)} : {STREAM} -> {STREAM}")
    return program, x


def text(layers, devices, train, stages=0, microbatches=0):
    weights = [(f"%{name}_{i}", tensor(*shape), layout(len(shape), stage_of(i, layers, stages), model=dim))
               for i in range(layers) for name, shape, dim in WEIGHTS]
    rows, labels = (layout(3, stage, data=0) for stage in ((0, stages - 1) if stages else (None, None)))
    program, y = forward(layers, stages)
    axis = f'"stage"={stages}, ' if stages else ""
    facts = f", weft.microbatches = {microbatches} : i64" if microbatches else ""
    facts += ', weft.pipeline = {axis = "stage", schedule = "1f1b"}' if stages else ""
    head = f'#mesh = #weft.mesh<{axis}"data"={devices // 4}, "model"=4>\nmodule attributes {{weft.mesh = #mesh{facts}}} {{\n'
    if not train:
        arguments = ", ".join(f"{name}: {kind} {{{where}}}" for name, kind, where in weights)
        return (head + f"func.func @main(%x: {STREAM} {{{rows}}}, {arguments}) -> {STREAM} {{\n" + "\n".join(program.lines)
                + f"\n  return {y} : {STREAM}\n}}\n}}\n")
    stream = (BATCH, SEQUENCE, WIDTH)
    error = program.binary("sub", y, "%y", stream)
    loss = program.reduce("sum", program.binary("mul", error, error, stream), [0, 1, 2], stream)
    plain = ", ".join(f"{name}: {kind}" for name, kind, _ in weights)
    body = f"func.func private @loss(%x: {STREAM}, %y: {STREAM}, {plain}) -> tensor<f32> {{\n" + "\n".join(program.lines) + f"\n  return {loss} : tensor<f32>\n}}\n"
    results = ", ".join(f"{kind} {{{where}}}" for _, kind, where in weights)
    names, kinds = ", ".join(name for name, _, _ in weights), ", ".join(kind for _, kind, _ in weights)
    donated = ", ".join(f'{name}: {kind} {{{where}, weft.role = "weight", weft.donated = {i + 1} : i64}}' for i, (name, kind, where) in enumerate(weights))
    given = f'%x: {STREAM} {{weft.role = "input", {rows}}}, %y: {STREAM} {{weft.role = "label", {labels}}}'
    body += f"func.func @main({given}, {donated}) -> (tensor<f32>, {results}) {{\n"
    body += (f"  %g:{len(weights) + 1} = weft.value_and_grad @loss(%x, %y, {names}) wrt {list(range(2, len(weights) + 2))}"
             f" : ({STREAM}, {STREAM}, {kinds}) -> (tensor<f32>, {kinds})\n")
    for i, (name, kind, _) in enumerate(weights):
        body += f"  %rate{i} = weft.constant dense<0.01> : {kind}\n  %step{i} = weft.mul %g#{i + 1}, %rate{i} : {kind}\n  %new{i} = weft.sub {name}, %step{i} : {kind}\n"
    new = ", ".join(f"%new{i}" for i in range(len(weights)))
    return head + body + f"  return %g#0, {new} : tensor<f32>, {kinds}\n}}\n}}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--microbatches", type=int, default=0)
    parser.add_argument("--stages", type=int, default=0)
    options = parser.parse_args()
    print(text(options.layers, options.devices, options.train, options.stages, options.microbatches), end="")


if __name__ == "__main__":
    main()
