"""Products by blocks that travel around have the values of closed formulas, and the bytes of the collectives that they replace.

    check_rings.py WEFT [PROCESSES ...]

Each program is run with --rings on and off, in one process and in so many that mpirun starts. NumPy computes in f64.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import check_processes
import numpy as np

# Rows are sharded over "x", of n devices with s rows each.
LAYERS = """#mesh = #weft.mesh<"x"={n}>
#rows = #weft.layout<#mesh, [{{"x"}}, {{}}]>
#columns = #weft.layout<#mesh, [{{}}, {{"x"}}]>
module attributes {{weft.mesh = #mesh}} {{
  func.func @layers(%x: tensor<{r}x24xf32> {{weft.name = "x", weft.layout = #rows}}, %w: tensor<24x{r}xf32> {{weft.name = "w", weft.layout = #columns}},
                    %v: tensor<{r}x20xf32> {{weft.name = "v", weft.layout = #rows}}) -> (tensor<{r}x20xf32> {{weft.name = "y", weft.layout = #rows}}) {{
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<{r}x24xf32>, tensor<24x{r}xf32> -> tensor<{r}x{r}xf32>
    %1 = weft.tanh %0 : tensor<{r}x{r}xf32>
    %2 = weft.dot %1, %v contract [1] x [0] : tensor<{r}x{r}xf32>, tensor<{r}x20xf32> -> tensor<{r}x20xf32>
    return %2 : tensor<{r}x20xf32>
  }}
}}
"""
# Weights are sharded along the dimension that is contracted.
SHARDED = """#mesh = #weft.mesh<"x"={n}>
#rows = #weft.layout<#mesh, [{{"x"}}, {{}}]>
module attributes {{weft.mesh = #mesh}} {{
  func.func @sharded(%x: tensor<{m}x{r}x{t}> {{weft.name = "x", weft.layout = #rows}}, %w: tensor<{r}x20x{t}> {{weft.name = "w", weft.layout = #rows}})
      -> (tensor<{m}x20x{t}> {{weft.name = "y", weft.layout = #rows}}) {{
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<{m}x{r}x{t}>, tensor<{r}x20x{t}> -> tensor<{m}x20x{t}>
    return %0 : tensor<{m}x20x{t}>
  }}
}}
"""
# Attention of two heads over sequences of r words; `mask` is an op on the positions %i of queries and %j of keys.
ATTENTION = """#mesh = #weft.mesh<"x"={n}>
#words = #weft.layout<#mesh, [{{}}, {{"x"}}, {{}}]>
module attributes {{weft.mesh = #mesh}} {{
  func.func @attention(%q: tensor<2x{r}x8xf32> {{weft.name = "q", weft.layout = #words}}, %k: tensor<2x{r}x8xf32> {{weft.name = "k", weft.layout = #words}},
                       %v: tensor<2x{r}x6xf32> {{weft.name = "v", weft.layout = #words}}) -> (tensor<2x{r}x6xf32> {{weft.name = "y", weft.layout = #words}}) {{
    %s = weft.dot %q, %k batch [0] x [0] contract [2] x [2] : tensor<2x{r}x8xf32>, tensor<2x{r}x8xf32> -> tensor<2x{r}x{r}xf32>
    %b = weft.constant dense<{s}> : tensor<2x{r}x{r}xi32>
    %ip = weft.iota dim 1 : tensor<2x{r}x{r}xi32>
    %jp = weft.iota dim 2 : tensor<2x{r}x{r}xi32>
    %ib = weft.div %ip, %b : tensor<2x{r}x{r}xi32>
    %jb = weft.div %jp, %b : tensor<2x{r}x{r}xi32>
    %c = weft.compare {mask} : tensor<2x{r}x{r}xi32>, tensor<2x{r}x{r}xi32> -> tensor<2x{r}x{r}xi1>
    %low = weft.constant dense<0xFF800000> : tensor<2x{r}x{r}xf32>
    %t = weft.select %c, %s, %low : tensor<2x{r}x{r}xi1>, tensor<2x{r}x{r}xf32>, tensor<2x{r}x{r}xf32> -> tensor<2x{r}x{r}xf32>
    %m = weft.reduce max %t dims [2] : tensor<2x{r}x{r}xf32> -> tensor<2x{r}xf32>
    %mb = weft.broadcast %m dims [0, 1] : tensor<2x{r}xf32> -> tensor<2x{r}x{r}xf32>
    %d = weft.sub %t, %mb : tensor<2x{r}x{r}xf32>
    %e = weft.exp %d : tensor<2x{r}x{r}xf32>
    %l = weft.reduce sum %e dims [2] : tensor<2x{r}x{r}xf32> -> tensor<2x{r}xf32>
    %lb = weft.broadcast %l dims [0, 1] : tensor<2x{r}xf32> -> tensor<2x{r}x{r}xf32>
    %p = weft.div %e, %lb : tensor<2x{r}x{r}xf32>
    %o = weft.dot %p, %v batch [0] x [0] contract [2] x [1] : tensor<2x{r}x{r}xf32>, tensor<2x{r}x6xf32> -> tensor<2x{r}x6xf32>
    return %o : tensor<2x{r}x6xf32>
  }}
}}
"""
MASKS = {"whole": ("ge %ip, %ip", lambda i, j, s: i >= i),
         "causal": ("ge %ip, %jp", lambda i, j, s: i >= j),
         # No row has a score of its device's own block.
         "others": ("ne %ib, %jb", lambda i, j, s: i // s != j // s)}


def attention(q, k, v, mask, s):
    scores = q @ k.swapaxes(1, 2)
    i, j = np.indices(scores.shape[1:])
    scores = np.where(MASKS[mask][1](i, j, s), scores, -np.inf)
    e = np.exp(scores - scores.max(axis=2, keepdims=True))
    return e / e.sum(axis=2, keepdims=True) @ v


def report(weft, source, rings):
    """Bytes that a device sends, bytes that it holds, and how often each kind of collective is there."""
    out = subprocess.run([weft, "explain", source, "--rings", rings, "--json", "--fix-seconds", "0"], check=True, capture_output=True, text=True).stdout
    told = json.loads(out)
    return told["total"]["bytes"], told["memory"]["total"], {row["kind"] for row in told["collectives"]}


def check(weft, folder, name, text, inputs, expected, counts, tolerance=2e-5):
    source = folder / f"{name.replace(' ', '-')}.mlir"
    source.write_text(text)
    np.savez(folder / "in.npz", **inputs)
    devices = int(re.search(r'"x"=(\d+)', text)[1])
    for rings in ("off", "on"):
        file, out, stats = folder / "p.weft", folder / "out.npz", folder / "stats.json"
        check_processes.succeed([weft, "compile", source, "--rings", rings, "--overlap", "on", "-o", file])
        sent, held, kinds = report(weft, source, rings)
        for count in (count for count in counts if count <= devices):
            command = [weft, "run", file, "--inputs", folder / "in.npz", "--outputs", out, "--stats", stats]
            check_processes.succeed(command if count == 1 else check_processes.mpirun(count, *command))
            with np.load(out) as results:
                worst = np.abs(results["y"] - expected).max()
            check_processes.expect(worst <= tolerance * np.abs(expected).max(), f"{name}, rings {rings}, {count} processes: {worst:.1e} off")
            counted = sum(kind["bytes"] for kind in json.loads(stats.read_text())["collectives"].values())
            check_processes.expect(counted == sent, f"{name}, rings {rings}, {count} processes: {counted} bytes sent, {sent} explained")
        if rings == "off":
            before = sent, held
    check_processes.expect(kinds == {"collective_permute"}, f"{name}: all blocks travel, {sorted(kinds)}")
    check_processes.expect(sent == before[0], f"{name}: a ring sends {sent} bytes, collectives {before[0]}")
    return held, before[1]


def main():
    weft, counts = sys.argv[1], list(map(int, sys.argv[2:])) or [1]
    chance = np.random.default_rng(1)

    def draw(*shape):
        return chance.standard_normal(shape).astype(np.float32)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for n in (2, 3, 4, 5, 8):
            s = 3 if n % 2 else 4
            r = n * s
            x, w, v = draw(r, 24), draw(24, r), draw(r, 20)
            check(weft, folder, f"layers on {n}", LAYERS.format(n=n, r=r), {"x": x, "w": w, "v": v},
                  np.tanh(x.astype(np.float64) @ w) @ v, counts)
            x, w = draw(64 * n, r), draw(r, 20)
            check(weft, folder, f"sharded weights on {n}", SHARDED.format(n=n, r=r, m=64 * n, t="f32"), {"x": x, "w": w},
                  x.astype(np.float64) @ w, counts)
            for mask in MASKS:
                q, k, v = draw(2, r, 8), draw(2, r, 8), draw(2, r, 6)
                text = ATTENTION.format(n=n, r=r, s=s, mask=MASKS[mask][0])
                check(weft, folder, f"attention {mask} on {n}", text, {"q": q, "k": k, "v": v},
                      attention(q.astype(np.float64), k, v, mask, s), counts)
        # 512 words on each of 8 devices: neither keys nor a row's scores are whole anywhere.
        q, k, v = draw(2, 4096, 8), draw(2, 4096, 8), draw(2, 4096, 6)
        ring, whole = check(weft, folder, "attention long on 8", ATTENTION.format(n=8, r=4096, s=512, mask=MASKS["causal"][0]),
                            {"q": q, "k": k, "v": v}, attention(q.astype(np.float64), k, v, "causal", 512), counts)
        check_processes.expect(ring < whole / 3, f"attention long on 8: a device holds {ring} bytes, {whole} without rings")
    print(f"{len(check_processes.FAILURES)} failures")


main()
